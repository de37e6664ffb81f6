# Each target makes .venv and installs what it needs; a second run finds a stamp and starts at once.
#   make demo    profile PPO on a Petri net, with its quick engine and against the plain one; reports in demo-report/
#   make test    lint, then every test but the long campaigns
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# What is installed is compiled when it is first imported (scripts/setup.sh); where nothing may be written down, every
# process would compile torch again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
INSTALLED_FROM := pyproject.toml setup.py constraints.txt scripts/setup.sh src/rlprof/_core.pyx $(wildcard src/rlprof/core/*.pxi)
DEMO := demo-report
DEMO_BATCHES := 5
LINTED := src tests examples benchmarks scripts setup.py

.PHONY: help demo test lint pytest slow bench wheel page clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 14

demo: .venv/.for-demo ## profile a real PPO, compare its two engines; report files in demo-report/
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@$(BIN)/rlprof demo petri --no-html --out $(DEMO)/petri.rlprof --batches $(DEMO_BATCHES) --breakdown --compare
	@$(BIN)/rlprof report $(DEMO)/petri.rlprof --text $(DEMO)/report.txt --json $(DEMO)/report.json \
		--markdown $(DEMO)/report.md --html $(DEMO)/report.html
	@$(BIN)/rlprof compare $(DEMO)/petri-turbo.rlprof --by turbo --markdown $(DEMO)/comparison.md \
		--html $(DEMO)/comparison.html > /dev/null
	@echo
	@echo "Look at: $(DEMO)/report.html  $(DEMO)/report.txt  $(DEMO)/report.md  $(DEMO)/report.json" \
		" $(DEMO)/comparison.html  $(DEMO)/comparison.md"

test: lint pytest ## lint, then all tests but the campaigns marked slow

pytest: .venv/.for-test
	@scripts/run_tests.sh $(PYTEST_ARGS)

lint: .venv/.for-test ## ruff check, ruff format --check, mypy
	@$(BIN)/ruff check $(LINTED)
	@$(BIN)/ruff format --check $(LINTED)
	@$(BIN)/mypy

slow: .venv/.for-test ## the long campaigns (tests marked slow)
	@$(BIN)/python -m pytest -m slow --timeout 3600 $(PYTEST_ARGS)

bench: .venv/.for-bench ## every benchmark: rlprof's own cost, accuracy, scale (BENCH_ARGS=--quick for a look)
	@$(BIN)/python benchmarks/run_all.py $(BENCH_ARGS)

wheel: .venv/.for-wheel ## a wheel in dist/, built in isolation
	@rm -rf build/lib* build/bdist*
	@$(BIN)/python -m pip wheel -qq --disable-pip-version-check --constraint constraints.txt --no-deps -w dist .
	@ls dist/*.whl

page: .venv/.for-test ## build the page of HTML reports from web/ into the package
	@npm run --silent check --prefix web && npm run --silent build --prefix web

clean: ## remove what was made: .venv, build, dist, caches, reports
	rm -rf .venv build dist web/node_modules $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find src -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: when one of these files changes, the next run installs anew (and so compiles _core again).
.venv/.for-wheel: REQUIREMENTS :=
.venv/.for-demo:  REQUIREMENTS := -e '.[demos]'
.venv/.for-test:  REQUIREMENTS := -e '.[dev,demos,examples,sb3,torchrl,pettingzoo,ray]'
.venv/.for-test:  ALSO := .venv/.for-demo
.venv/.for-test:  PAGE := --page
.venv/.for-test:  web/package-lock.json
.venv/.for-bench: REQUIREMENTS := -e . -r benchmarks/requirements.txt
.venv/.for-bench: benchmarks/requirements.txt
.venv/.for-%: $(INSTALLED_FROM)
	@scripts/setup.sh $(PAGE) $(REQUIREMENTS)
	@touch $@ $(ALSO)
