# Two commands: `make results` rebuilds the tables and figures, `make test` runs the tests.
# Both first make .venv from requirements.lock, and do nothing twice.
PYTHON ?= python3
SIZE ?= default
BIN := .venv/bin
OVERLAY := $(if $(filter-out default,$(SIZE)),--configfile config/$(SIZE).yaml)
STAMP := .venv/.installed
export PYTHONUTF8 = 1

SAMPLE ?= 5
MINUTES ?= 10
SOAK ?= 10
.PHONY: help results test test-slow soak fuzz audit verify verify-published cost bench mirror sync \
	push check-deps lint format docs notebooks release lock clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

results: $(STAMP)  ## rebuild every table and figure (SIZE=smoke|default|full)
	$(BIN)/snakemake --cores all $(OVERLAY)
	@echo
	@echo "report:  $(CURDIR)/results/report.html"
	@echo "tables:  $(CURDIR)/results/tables/summary.md   (also .csv and .tex, one per task)"
	@echo "figures: $(CURDIR)/results/figures/"

test: $(STAMP)  ## run the test suite
	$(BIN)/python -m pytest

test-slow: $(STAMP)  ## the tests that take minutes each
	$(BIN)/python -m pytest -m slow

soak: $(STAMP)  ## faults, SOAK times as many as in the suite (SOAK=10)
	SAGEBENCH_SOAK=$(SOAK) $(BIN)/python -m pytest -n 0 -m "slow or not slow" -v tests/test_faults.py

audit: $(STAMP)  ## write results/audit: what was made from what, for reviewers
	$(BIN)/python -m sagebench audit
	@echo "start at: $(CURDIR)/results/audit/index.md"

verify: $(STAMP)  ## compare every byte with its record, run SAMPLE random jobs again
	$(BIN)/python -m sagebench verify --sample $(SAMPLE)

verify-published: $(STAMP)  ## published scores beside ours (DATA=folder of benchmark data)
	$(BIN)/python -m sagebench verify-published $(if $(DATA),--data $(DATA))

cost: $(STAMP)  ## what the API models would cost, before anything is sent
	$(BIN)/snakemake --cores all --quiet all $(OVERLAY) -- texts
	@$(BIN)/python -m sagebench cost --params params.yaml $(filter-out --configfile,$(OVERLAY))

bench: $(STAMP) .cache/bench/packages/.installed  ## speed and memory: results/bench (DATA=…)
	$(BIN)/python -m sagebench bench results/bench $(if $(DATA),--published $(DATA))

# mteb is a yardstick only: beside the environment, so that nothing else ever sees its packages.
.cache/bench/packages/.installed: requirements-bench.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target $(@D) -r requirements-bench.lock
	touch $@

mirror: $(STAMP)  ## fill FOLDER with all that a run fetches, for use without a network
	$(BIN)/python -m sagebench mirror $(or $(FOLDER),$(error name the folder: make mirror FOLDER=…))

sync: $(STAMP)  ## pull missing files with DVC, restore the records that came with them
	$(BIN)/python -m sagebench sync

push: $(STAMP)  ## show the sources' licences, then push to DVC's remote (YES=1: despite them)
	$(BIN)/python -m sagebench push $(if $(YES),--yes)

fuzz: $(STAMP)  ## hostile input for every parser, MINUTES each (TARGET=one or several)
	$(BIN)/python tests/fuzz/nightly.py --minutes $(MINUTES) $(if $(TARGET),--target $(TARGET))

# pip-audit is a yardstick only: in an environment of its own, removed afterwards.
check-deps:  ## known vulnerabilities of the locked packages (needs PyPI's advisory service)
	rm -rf .cache/check-deps
	$(PYTHON) -m venv .cache/check-deps
	.cache/check-deps/bin/pip install --quiet --disable-pip-version-check "pip-audit>=2.10,<3"
	.cache/check-deps/bin/pip-audit --strict --progress-spinner off --no-deps --disable-pip \
		-r requirements.lock -r requirements-remotes.lock
	rm -rf .cache/check-deps

lint: $(STAMP)  ## style, types and the workflow's own linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

format: $(STAMP)  ## rewrite code in the house style
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

docs: $(STAMP)  ## build site/: these pages and the library's reference
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.lock
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "start at: $(CURDIR)/site/index.html"

notebooks: $(STAMP)  ## what runs notebooks/ in Jupyter; each .ipynb made anew from its .py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-notebooks.lock
	$(BIN)/python notebooks/pair.py

release: $(STAMP)  ## check every byte, pack results, records and locks into dist/
	$(BIN)/python -m sagebench release

lock: ## resolve pyproject.toml anew into requirements.lock
	rm -rf .venv-lock build
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet "torch==2.13.0"
	.venv-lock/bin/pip install --quiet ".[dev]" "setuptools>=77"
	.venv-lock/bin/pip freeze --all --exclude pip --exclude sagebench \
		| sed -e 's/+cpu$$//' -e '/^nvidia-/d' -e '/^cuda-/d' -e '/^triton==/d' > requirements.lock
	rm -rf .venv-lock build

clean:  ## forget computed results (fetched archives stay in the per-user cache)
	rm -rf .snakemake .cache logs benchmarks data/raw data/corpora data/samples data/perturbed \
		data/embeddings data/similarity data/scores

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || \
		{ echo "Python 3.11.5 or newer is needed: make PYTHON=python3.12 …" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --editable .
	touch $@
