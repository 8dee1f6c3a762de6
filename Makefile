# Two commands do everything: `make run` and `make test`. Python >= 3.11 and make are all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup run test bench

help:
	@echo 'make run                 the job on a sample of web sites, through an embedded Apache Kafka'
	@echo 'make run PAGES="FILE…"   the job on your pages: .html, JSON Lines, WARC, folders'
	@echo 'make test                all tests'
	@echo 'make bench               speed, memory and state, beside other extractors'

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

run: setup
	@$(BIN)/python -m demo $(PAGES)

test: setup
	@$(BIN)/python -m pytest

bench: setup
	@$(BIN)/python -m bench
