# `make run` and `make test` need only Python >= 3.11 and make. CONTRIBUTING.md explains the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUIET := --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help set-up run check format generate test test-all chaos fuzz test-deploy test-apiserver \
  bench audit-dependencies kafka

help:
	@echo 'make run                 run the job on the feeds of sample web sites, with an embedded Apache Kafka'
	@echo 'make run FEEDS=my.opml CONTACT=you@example.org [SECONDS=n]   run it on real feeds, until Ctrl-C'
	@echo 'make run PAGES="FILE…"   run it on your pages: .html, JSON Lines, WARC, folders'
	@echo 'make check               format, lint, types, import contracts and fast tests, without Kafka (2 minutes)'
	@echo 'make format              format the code and fix lint findings that ruff can fix'
	@echo 'make generate            write all generated files: tables in docs/, JSON Schemas, the chart'
	@echo 'make test                run all tests that guard a promise (10 minutes)'
	@echo 'make test-all            run every test there is, with more seeds, test-deploy and test-apiserver'
	@echo 'make chaos [N=n] [SEED=s] [SECONDS=n]   run n schedules of faults on three brokers'
	@echo 'make test-deploy         test the chart and the image with tools that are built once (20 minutes)'
	@echo 'make test-apiserver      test the chart on a real Kubernetes API server, built once (30 minutes)'
	@echo 'make fuzz N=1000000      give damaged and hostile inputs to all parsers; prints crashes and slow inputs'
	@echo 'make bench               measure speed, memory and state beside other extractors'
	@echo 'make audit-dependencies  list the licences and the known vulnerabilities of the packages in the image'
	@echo 'make set-up              create the virtual environment that all other targets use'

# uv installs in 10 s, pip in 60 s. Bytecode is compiled here because a worker's imports take 5 s
# without it. pip is the fallback because it reads its own settings, such as a mirror of the package
# index, and uv does not read them. pip before 23.3 stops at two spellings of one extra of lxml, so
# the fallback raises pip first. The stamp is written last: an interrupted set-up starts again.
$(VENV)/.done: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { \
	  echo 'There is no $(PYTHON): install Python 3.11 or newer, or name it: make PYTHON=…' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1): make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo 'This Python cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }
	@echo 'Setting up $(VENV) (about a minute) …'
	@[ -f $@ ] || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install $(QUIET) -c constraints.txt uv
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode -c constraints.txt -e '.[dev]' || { \
	  echo 'uv failed, trying pip …'; \
	  $(BIN)/python -m pip install $(QUIET) --upgrade -c constraints.txt 'pip>=23.3' && \
	  $(BIN)/python -m pip install $(QUIET) -c constraints.txt -e '.[dev]'; }
	@touch $@

set-up: $(VENV)/.done

kafka: $(VENV)/.done
	@[ -n "$$KAFKA_BROKERS" ] || $(BIN)/python -m demo.kafka_install

run: kafka
	@$(BIN)/python -m demo $(if $(FEEDS),--feeds '$(FEEDS)') $(if $(CONTACT),--contact '$(CONTACT)') \
	  $(if $(SECONDS),--seconds '$(SECONDS)') $(PAGES)

# Writes all files that are made from others. helm and helm-docs are used where they are installed.
generate: $(VENV)/.done
	@$(BIN)/python -m deploy.tools.generate

# Three processes, each with a Kafka of its own, on two cores: tests of the job wait for Kafka, too.
test: kafka
	@$(PYTEST)

# A file stays in one process, which shares its fixtures; conftest.py orders the files, longest first.
PYTEST := $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder
FAST := not kafka and not slow and not deploy and not apiserver and not thorough
EVERY := not deploy and not apiserver

.PHONY: check format test-all
check: $(VENV)/.done
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(PYTEST) --numprocesses 2 -m '$(FAST)' --deselect tests/test_house.py::test_a_tool_finds_nothing

format: $(VENV)/.done
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# Storms with three seeds; then hypothesis again, whose seed is another in each run.
ROUNDS := 1 2 3
test-all: kafka
	@URLTREE_STORMS=3 $(PYTEST) -m '$(EVERY)' --hypothesis-profile thorough
	@for round in $(ROUNDS); do \
	  $(PYTEST) -m 'hypothesis and $(EVERY)' --hypothesis-profile thorough || exit 1; done
	@$(MAKE) --no-print-directory test-deploy test-apiserver

# Random seeds by default; each schedule prints the command that runs it again (docs/testing.md).
N := 1
OUT := chaos.jsonl
chaos: kafka
	@$(BIN)/python -u -m tests.chaos --runs '$(N)' $(if $(SEED),--seed '$(SEED)') \
	  $(if $(SECONDS),--seconds '$(SECONDS)') --out '$(OUT)'

# Go builds the tools once and a cache keeps them. Tests whose tool cannot be installed are skipped.
CHARTS := helm keda-crds prometheus-operator-crds
test-deploy: kafka
	@$(BIN)/python deploy/tools/install.py $(CHARTS) helm-unittest helm-docs kubeconform kube-score \
	  checkov promtool actionlint
	@$(BIN)/python -m pytest -m deploy tests/deploy

test-apiserver: $(VENV)/.done
	@$(BIN)/python deploy/tools/install.py $(CHARTS) etcd kube-apiserver
	@$(BIN)/python -m pytest -m apiserver tests/deploy

fuzz: $(VENV)/.done
	@$(BIN)/python -m tests.fuzz $(N)

bench: $(VENV)/.done
	@$(BIN)/python -m bench

# pip-audit runs in an environment of its own. A package that its database does not answer for is an
# error (--strict): silence would look like safety.
audit-dependencies: $(VENV)/.done
	@$(BIN)/python -m deploy.tools.licences
	@$(BIN)/uv tool run --from pip-audit pip-audit --strict --disable-pip --require-hashes \
	  --progress-spinner off --requirement deploy/image/requirements.txt
