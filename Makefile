# One command each; every target sets up .venv by itself. Needs only Python 3.11+ and make; uses uv where it is installed.
# Set PYTHON=/path/to/python to choose the interpreter, ARGS="..." to pass options on, UV= to do without uv.
NEW := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c '$(NEW)' >/dev/null 2>&1 && echo $$p && break; done)
UV ?= $(shell command -v uv 2>/dev/null)
PY := .venv/bin/python
DATA ?= ../shared/data
SECONDS ?= 10
export KEEPSENSE_DATA := $(DATA)
# Tests start many interpreters, and each would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE
# Each file's tests run in one worker, files in the order in which they are collected: those that take longest first.
TEST := $(PY) -m pytest -n logical --dist loadfile --no-loadscope-reorder
INSTALL = $(if $(UV),"$(UV)" pip install --quiet --python $(PY),$(PY) -m pip install --quiet --disable-pip-version-check)

.PHONY: help demo studio test test-fast test-all fuzz attack golden check lint types rules format bench docs experiments wordnet picture clean wheelhouse wheelcheck
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -e 's/:[^#]*## /\t/' | expand -t 14

.venv/.made:
	@if [ -n "$(UV)" ]; then "$(UV)" venv --quiet --seed --allow-existing --python "$(or $(PYTHON),3.11)" .venv; else \
	if [ -z "$(PYTHON)" ]; then echo "Keepsense needs Python 3.11 or newer and found none. Install it, or set PYTHON=/path/to/python." >&2; exit 1; fi; \
	"$(PYTHON)" -c '$(NEW)' >/dev/null 2>&1 || { echo "Keepsense needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" -V 2>&1). Set PYTHON=/path/to/a/newer/python." >&2; exit 1; }; \
	"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments. On Debian or Ubuntu: sudo apt install python3-venv. Or install uv." >&2; exit 1; }; \
	$(PY) -c 'import pip' 2>/dev/null || "$(PYTHON)" -m venv --clear .venv; fi
	@touch .venv/.made

.venv/.base: pyproject.toml .venv/.made
	@echo "Installing Keepsense into .venv"
	@$(INSTALL) --editable .
	@touch .venv/.base

.venv/.dev: pyproject.toml .venv/.made
	@echo "Installing Keepsense and its tools into .venv"
	@$(INSTALL) --editable '.[dev]'
	@touch .venv/.base .venv/.dev

.venv/.studio: .venv/.base
	@$(INSTALL) --editable '.[studio]'
	@touch .venv/.studio

.venv/.docs: .venv/.dev
	@$(INSTALL) --editable '.[docs]'
	@touch .venv/.docs

.venv/.bench: .venv/.dev
	@$(INSTALL) --editable '.[bench]'
	@touch .venv/.bench

studio: .venv/.studio ## the studio in your browser, on the sample (ARGS="people.csv" opens another table)
	@$(PY) -m keepsense studio $(or $(ARGS),--sample)

demo: .venv/.base ## publish a sample table of synthetic people: map, draft, run, verify
	@$(PY) -m keepsense demo

test: .venv/.dev ## run the tests of a change, in minutes: the lanes fast and contract (without ../shared/data some are skipped)
	@$(TEST) -m "not long" $(ARGS)

test-fast: .venv/.dev ## run the fast lane alone: no engine, no process
	@$(TEST) -m fast $(ARGS)

test-all: .venv/.dev ## run every lane, properties on more examples: Spark, a browser, PostgreSQL, faults at every place
	@$(TEST) --longer $(ARGS)

fuzz: .venv/.dev ## give damaged bytes to everything that reads files, SECONDS for each (ARGS names readers)
	@$(PY) -m tests.fuzz --seconds $(SECONDS) $(ARGS)

attack: .venv/.dev ## attack releases of every family of methods; fails where people are linked more often than promised
	@$(PY) -m experiments.attack.run

golden: .venv/.dev ## run only the published numbers
	@$(PY) -m pytest -m golden $(ARGS)

check: lint types rules ## lint, format, types, import rules

lint: .venv/.dev
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: .venv/.dev
	@$(PY) -m mypy

rules: .venv/.dev
	@PYTHONPATH=src $(PY) -c 'import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())'

format: .venv/.dev ## format the code
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

bench: .venv/.bench ## run the benchmarks, a ratio within one run each
	@$(PY) -m benchmarks run all $(ARGS)

docs: .venv/.docs ## build the documentation into site/, offline
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@echo "site/index.html"

experiments: .venv/.dev ## reproduce the papers' tables
	@$(PY) -m experiments run all

wheelhouse: .venv/.made ## a folder of wheels to install from on a machine without network (EXTRAS=excel,... adds theirs)
	@rm -rf wheelhouse
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --wheel-dir wheelhouse '.$(if $(EXTRAS),[$(EXTRAS)])'
	@echo "wheelhouse/: $$(ls wheelhouse | wc -l) wheels; pip install --no-index --find-links wheelhouse keepsense"

wheelcheck: wheelhouse ## install from it in a bare environment, and publish a table there
	@rm -rf wheelhouse/bare && $(PY) -m venv wheelhouse/bare
	@wheelhouse/bare/bin/python -m pip install --quiet --disable-pip-version-check --no-index --find-links wheelhouse keepsense
	@cd wheelhouse/bare && env -u PYTHONPATH bin/keepsense demo --rows 200 --seed 1 --quiet && env -u PYTHONPATH bin/keepsense version
	@rm -rf wheelhouse/bare

wordnet: .venv/.dev ## compile the embedded WordNet again from its database files (WNDB=/usr/share/wordnet)
	@$(PY) scripts/compile_wordnet.py $(WNDB)
	@$(PY) scripts/compile_lexicon.py $(WNDB)

oewn: .venv/.dev ## compile the embedded Open English WordNet again from its sources (OEWN=nouns.tar.xz)
	@$(PY) scripts/compile_oewn.py $(OEWN)

picture: .venv/.base ## draw the README's picture again from a run of the demo
	@$(PY) scripts/draw_demo.py

clean: ## remove what the targets made
	@rm -rf .venv site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist wheelhouse
