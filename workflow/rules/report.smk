"""Report: one page of everything that a run found.

in:  results/tables and figures; for its digests every file of data/ that was not fetched
out: results/report.html
"""


rule report:
    input:
        planned.inputs(plan),
    output:
        report("results/report.html", caption="../report/report.rst", category="Report"),
    log:
        "logs/report.log",
    localrule: True
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("report"),
        runtime=demand.runtime("report"),
    params:
        spec=jobs.report_spec(),
        code=jobs.report_code(),
        catalogue=jobs.catalogue_digest(),
        template=jobs.template_digest(),
    message:
        "report"
    shell:
        "python -m sagebench report {output} --spec {params.spec:q} --log {log}"
