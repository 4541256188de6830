"""Score: every system on one corpus of a task, with bootstrap intervals.

in:  samples, perturbed texts and all similarities of a task and corpus
out: data/scores/<task>/<corpus>.{units,cells,draws}.parquet
"""


rule score:
    input:
        texts=lambda w: plan.task_inputs(w.task, w.corpus),
        similarities=lambda w: plan.similarity_files(w.task, w.corpus),
    output:
        [layout.scores(DATA, "{task}", "{corpus}", part) for part in layout.SCORE_PARTS],
    log:
        "logs/score/{task}/{corpus}.log",
    benchmark:
        "benchmarks/score/{task}/{corpus}.tsv"
    group:
        together("scores")
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("score"),
        runtime=demand.runtime("score"),
    params:
        spec=lambda w: jobs.score_spec(w.task, w.corpus),
        code=lambda w: jobs.code("score", ("task", plan.tasks[w.task].kind)),
    message:
        "score {wildcards.task}/{wildcards.corpus}"
    shell:
        "python -m sagebench score --data data --spec {params.spec:q} --log {log}"
