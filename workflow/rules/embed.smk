"""Embed: one model's vector of every distinct text of a task, each visible text once ever.

in:  samples and perturbed texts of a task, the model's files
out: data/embeddings/<task>/<model>.parquet
"""


rule embed:
    input:
        lambda w: plan.embed_inputs(w.task, w.model),
    output:
        layout.embeddings(DATA, "{task}", "{model}"),
    log:
        "logs/embed/{task}/{model}.log",
    benchmark:
        "benchmarks/embed/{task}/{model}.tsv"
    priority: 10  # the long jobs first, so that they never run alone at the end
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("embed"),
        runtime=demand.runtime("embed"),
        gpu=demand.gpu,
    params:
        spec=lambda w: jobs.embed_spec(w.task, w.model),
        code=lambda w: jobs.embed_code(w.task, w.model),
    message:
        "embed {wildcards.task}: {wildcards.model}"
    shell:
        "python -m sagebench embed {output} --data data --spec {params.spec:q} --log {log}"
