#!/usr/bin/env bash
# Run by Snakemake in the new environment, from the project's folder.
set -euo pipefail
python -m pip install --quiet -r requirements.lock
python -m pip install --quiet --no-deps --no-build-isolation --editable .
