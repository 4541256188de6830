# The front door: `snakemake --cores all` rebuilds every table and figure of results/.


configfile: f"{workflow.basedir}/params.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/acquire.smk"
include: "workflow/rules/perturb.smk"
include: "workflow/rules/embed.smk"
include: "workflow/rules/similarity.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/results.smk"


rule all:
    default_target: True
    input:
        rules.results.input,
