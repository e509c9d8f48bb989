# The front door. `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CACHE := $(or $(DGLOP_CACHE),$(HOME)/.cache/dglop)
UV_VERSION := 0.13.9
UV := $(or $(shell command -v uv 2>/dev/null),$(CACHE)/tools/bin/uv)
PY := .venv/bin/python
STAMP := .venv/.ready

##@ The two commands

.PHONY: demo
demo: $(STAMP) ## Bring up a cluster, install the operator, train a graph network to the end
	@$(PY) -m hack.demo

.PHONY: test
test: $(STAMP) ## Run all tests: unit, scripted server, envtest and e2e, with what they need
	@$(PY) -m hack.test

##@ Cluster

.PHONY: up
up: $(STAMP) ## Bring the cluster up and install the operator
	@$(PY) -m hack.stack

.PHONY: down
down: $(STAMP) ## Leave nothing running
	@$(PY) -m hack.cluster down

.PHONY: status
status: $(STAMP) ## Say what runs
	@$(PY) -m hack.cluster status

.PHONY: env
env: $(STAMP) ## Print what a shell must know to use the cluster: eval "$$(make -s env)"
	@$(PY) -m hack.cluster env

##@ Development

.PHONY: setup
setup: $(STAMP) ## Make the virtual environment from the lock file

.PHONY: lint
lint: $(STAMP) ## Check style, types and their completeness, import directions, generated files and dglrun's Python floor
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@PATH="$(CURDIR)/.venv/bin:$$PATH" basedpyright --verifytypes dglop --ignoreexternal > .venv/completeness.txt \
		|| { grep -B 1 -A 2 error .venv/completeness.txt; exit 1; }
	@PYTHONPATH=src .venv/bin/lint-imports
	@.venv/bin/vermin -q --no-tips --no-parse-comments -t=3.8- --violations src/dglop/dglrun
	@$(PY) -m hack.generate --check

.PHONY: fmt
fmt: $(STAMP) ## Format and mend what can be mended without thought
	@.venv/bin/ruff check --fix-only --quiet .
	@.venv/bin/ruff format .

.PHONY: generate
generate: $(STAMP) ## Write CRDs, RBAC and docs from the code
	@$(PY) -m hack.generate

.PHONY: docs
docs: $(STAMP) ## Build the pages and the API reference into docs/_build/html
	@$(PY) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

.PHONY: unit
unit: $(STAMP) ## Run the tests that need nothing but Python
	@.venv/bin/pytest test/unit

.PHONY: envtest
envtest: $(STAMP) ## Run the tests that need etcd and kube-apiserver
	@$(PY) -m hack.test envtest

.PHONY: e2e
e2e: $(STAMP) ## Run the tests that need a cluster
	@$(PY) -m hack.test e2e

.PHONY: bench
bench: $(STAMP) ## Print the figures that the docs quote; takes long
	@$(PY) -m hack.bench

.PHONY: scale
scale: $(STAMP) ## Run 1 000 jobs of 10 pods on the fake node and explain each write to the API server; SCALE=1000x10
	@$(PY) -m hack.bench scale --scale $(or $(SCALE),1000x10)

.PHONY: soak
soak: $(STAMP) ## Run a Manager against a breaking network and API server; SOAK_SECONDS=1800
	@$(PY) -m hack.soak --seconds $(or $(SOAK_SECONDS),1800)

.PHONY: bugs
bugs: $(STAMP) ## Bring each known bug of others into a copy of the code and see its test fail
	@$(PY) -m hack.bugs $(BUGS)

.PHONY: contracts
contracts: $(STAMP) ## Try what we take for granted of the official client on its other versions; VERSIONS="37.0.2"
	@UV="$(UV)" $(PY) -m hack.contracts $(VERSIONS)

.PHONY: calls
calls: $(STAMP) ## Kill the operator, and have the API server fail, at each call of seven jobs' whole lives
	@DGLOP_EVERY_CALL=1 .venv/bin/pytest test/unit/common/calls

.PHONY: images
images: $(STAMP) ## Build the images: the operator's, DGL's and Open MPI's
	@$(PY) -m hack.images build

.PHONY: clean
clean: ## Remove the virtual environment and build leftovers (the cache stays)
	@rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis docs/_build docs/reference

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml uv.lock
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "dglop needs Python 3.11 or newer as python3; this is $$(python3 --version)" >&2; exit 1; }
	@if ! command -v "$(UV)" >/dev/null; then \
	  python3 -m venv "$(CACHE)/tools" \
	    || { echo "python3 has no venv module: install it (on Debian: apt-get install python3-venv)" >&2; exit 1; }; \
	  "$(CACHE)/tools/bin/pip" install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"; \
	fi
	@"$(UV)" sync --frozen --quiet --all-extras --all-groups --no-group kopf --python "$$(command -v python3)"
	@touch $@
