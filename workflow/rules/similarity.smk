"""Similarity: one system on one corpus of a task, by the same code path for every system.

in:  samples, perturbed texts; for a model its embeddings, for a metric its sources
out: data/similarity/<task>/<corpus>/<system>.parquet
"""


rule similarity:
    input:
        texts=lambda w: plan.task_inputs(w.task, w.corpus),
        system=lambda w: plan.system_inputs(w.task, w.system),
    output:
        layout.similarity(DATA, "{task}", "{corpus}", "{system}"),
    log:
        "logs/similarity/{task}/{corpus}/{system}.log",
    benchmark:
        "benchmarks/similarity/{task}/{corpus}/{system}.tsv"
    group:
        together("scores")
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("similarity"),
        runtime=demand.runtime("similarity"),
    params:
        spec=lambda w: jobs.similarity_spec(w.task, w.corpus, w.system),
        code=lambda w: jobs.similarity_code(w.task, w.system),
    message:
        "similarity {wildcards.task}/{wildcards.corpus}: {wildcards.system}"
    shell:
        "python -m sagebench similarity {output} --data data --spec {params.spec:q} --log {log}"
