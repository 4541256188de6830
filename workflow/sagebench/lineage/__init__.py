"""Where each artifact comes from: the one room that knows Snakemake's and DVC's stores.

records      the record of each artifact that travels with the data, data/provenance/<stage>.json
ledger       which record, if any, speaks of a file as it lies here
persistence  Snakemake's store, asked through the ledger
stages       collecting, restoring and pruning the files of one stage of dvc.yaml
handover     finished files given to DVC after a run of Snakemake
"""
