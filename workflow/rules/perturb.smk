"""Perturb: draw each task's sample, then every perturbation of its documents.

in:  data/corpora/<role>/<corpus>.parquet
out: data/samples/<task>/<corpus>.parquet, data/perturbed/<task>/<corpus>/<perturbation>.parquet
"""

for task in plan.tasks.values():
    for corpus in task.corpora:

        rule:
            name:
                f"sample_{task.name}_{corpus}"
            input:
                corpus=plan.corpus_files(corpus)[0],
                beside=plan.corpus_files(corpus)[1:],
            output:
                sample=plan.sample_files(task.name, corpus)[0],
                beside=plan.sample_files(task.name, corpus)[1:],
            log:
                f"logs/sample/{task.name}/{corpus}.log",
            group:
                together("texts")
            conda:
                "../envs/sagebench.yaml"
            resources:
                mem_mb=demand.mem_mb("sample"),
                runtime=demand.runtime("sample"),
            params:
                spec=jobs.sample_spec(task.name, corpus),
                code=jobs.code("sample"),
            message:
                "sample {output.sample}"
            shell:
                "python -m sagebench sample {input.corpus} {output.sample} --spec {params.spec:q} --log {log}"


rule perturb:
    input:
        sample=layout.sample(DATA, "{task}", "{corpus}"),
        sources=lambda w: plan.needs("perturbation", w.perturbation),
    output:
        layout.perturbed(DATA, "{task}", "{corpus}", "{perturbation}"),
    log:
        "logs/perturb/{task}/{corpus}/{perturbation}.log",
    group:
        together("texts")
    conda:
        "../envs/sagebench.yaml"
    resources:
        mem_mb=demand.mem_mb("perturb"),
        runtime=demand.runtime("perturb"),
    params:
        spec=lambda w: jobs.perturb_spec(w.task, w.perturbation),
        code=lambda w: jobs.code("perturb", ("perturbation", w.perturbation)),
    message:
        "perturb {wildcards.task}/{wildcards.corpus}: {wildcards.perturbation}"
    shell:
        "python -m sagebench perturb {input.sample} {output} --raw data/raw"
        " --spec {params.spec:q} --log {log}"


# Everything that a model will be shown, for `make cost`.
rule texts:
    input:
        plan.text_files(*plan.embedded),
        [path for model in plan.api_models for path in plan.model_files(model)],
