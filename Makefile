# One command each; every target sets up .venv by itself. Needs only Python 3.11+ and make.
PYTHON ?= python3
PY := .venv/bin/python
DATA ?= ../shared/data
export KEEPSENSE_DATA := $(DATA)

.PHONY: help demo test golden check format bench docs experiments wordnet clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -e 's/:[^#]*## /\t/' | expand -t 14

.venv/.base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Keepsense needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=/path/to/a/newer/python.")'
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable .
	@touch .venv/.base

.venv/.dev: .venv/.base
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch .venv/.dev

.venv/.docs: .venv/.dev
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch .venv/.docs

.venv/.bench: .venv/.dev
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch .venv/.bench

demo: .venv/.base ## map a sample table of synthetic people and show what their words mean
	@$(PY) -m keepsense demo

test: .venv/.dev ## run every test (what needs ../shared/data is skipped with a reason where it is missing)
	@$(PY) -m pytest -n auto --dist loadfile $(ARGS)

golden: .venv/.dev ## run only the published numbers
	@$(PY) -m pytest -m golden $(ARGS)

check: .venv/.dev ## lint, format, types, import rules
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@PYTHONPATH=src .venv/bin/python -c 'import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())'

format: .venv/.dev ## format the code
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

bench: .venv/.bench ## run the benchmarks, a ratio within one run each
	@$(PY) -m benchmarks run all $(ARGS)

docs: .venv/.docs ## build the documentation into site/, offline
	@$(PY) -m mkdocs build --strict

experiments: .venv/.dev ## reproduce the papers' tables
	@$(PY) -m experiments run all

wordnet: .venv/.dev ## compile the embedded WordNet again from its database files (WNDB=/usr/share/wordnet)
	@$(PY) scripts/compile_wordnet.py $(WNDB)

clean: ## remove what the targets made
	@rm -rf .venv site .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
