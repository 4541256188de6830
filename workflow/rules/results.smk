"""Results: tables from scores, figures from tables, data card, metrics for DVC.

in:  data/scores, data/embeddings (truncation), data/perturbed (edits), data/corpora/*.card.json
out: results/tables/<table>.{csv,md,tex}, results/figures/<figure>.{svg,png}, results/corpora.md,
     results/metrics.json
"""


# Short and many: a cluster is not asked for them.
localrules:
    table,
    figure,
    data_card,
    metrics,


rule table:
    input:
        lambda w: tables.inputs(w.table, plan.params, DATA),
    output:
        csv="results/tables/{table}.csv",
        tex="results/tables/{table}.tex",
        md=report(
            "results/tables/{table}.md",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        "logs/table/{table}.log",
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("table"),
        runtime=demand.runtime("table"),
    params:
        spec=jobs.params_spec(),
        code=jobs.table_code(),
        catalogue=jobs.catalogue_digest(),
    message:
        "table {wildcards.table}"
    shell:
        "python -m sagebench table {wildcards.table} results/tables --data data"
        " --spec {params.spec:q} --log {log}"


rule figure:
    input:
        lambda w: figures.inputs(w.figure, RESULTS / "tables"),
    output:
        svg="results/figures/{figure}.svg",
        png=report(
            "results/figures/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    log:
        "logs/figure/{figure}.log",
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("figure"),
        runtime=demand.runtime("figure"),
    params:
        code=jobs.code("figure"),
    message:
        "figure {wildcards.figure}"
    shell:
        "python -m sagebench figure {wildcards.figure} results/figures --tables results/tables --log {log}"


rule data_card:
    input:
        plan.cards(),
    output:
        report("results/corpora.md", caption="../report/corpora.rst", category="Data"),
    log:
        "logs/card.log",
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("card"),
        runtime=demand.runtime("card"),
    params:
        code=jobs.code("card"),
    message:
        "data card"
    shell:
        "python -m sagebench card {output} {input} --log {log}"


rule metrics:
    input:
        [RESULTS / "tables" / f"{name}.csv" for name in tables.metrics.TABLES],
    output:
        "results/metrics.json",
    log:
        "logs/metrics.log",
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("metrics"),
        runtime=demand.runtime("metrics"),
    params:
        code=jobs.code("metrics"),
    message:
        "metrics for `dvc metrics show`"
    shell:
        "python -m sagebench metrics {output} --tables results/tables --log {log}"


rule results:
    input:
        results_files(RESULTS),
