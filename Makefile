# The project's jobs. `make` alone lists them. Needed beforehand: Python >= 3.11, and `pulumi` or Go.

SHELL := bash
.DEFAULT_GOAL := help

BIN := .venv/bin
PYTHONS := $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14

.PHONY: help env up down test check format lock prove bench golden clean

help: ## list the jobs
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env: .venv/.ready ## make .venv as uv.lock says (done by the other jobs, too)

.venv/.ready: pyproject.toml uv.lock
	@for python in $(PYTHONS); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	    exec "$$python" .ci/environment.py; \
	done; \
	echo "make env: Python 3.11 or newer is needed, and python3 is $$(python3 --version 2>&1)." >&2; \
	echo "  Install one, or name one: make env PYTHON=/path/to/python3.12" >&2; \
	exit 1

up: env ## both example clusters on the local cloud, and what they give
	@$(BIN)/python -m cli.demo up

down: env ## destroy them
	@$(BIN)/python -m cli.demo down

test: check ## all checks, then all tests, those on the real Pulumi engine too
	@$(BIN)/python -m localcloud.engine > /dev/null || [ "$${CI:-}" != true ]
	@echo "== Tests without the engine"
	$(BIN)/pytest -q -n auto -m "not engine"
	@echo "== Tests on the real Pulumi engine"
	$(BIN)/pytest -q -n auto -m engine

check: env ## format, lint, types, import arrows, workflows, lock file
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/ty check --output-format concise
	$(BIN)/lint-imports --no-cache
	$(BIN)/zizmor --offline --quiet .github/workflows
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/shellcheck .ci/run
	$(BIN)/uv lock --check --offline --quiet

format: env ## rewrite the Python files in the project's format, and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: env ## bring uv.lock up to date with pyproject.toml
	$(BIN)/uv lock

prove: env ## that no spec which `check` accepts is refused by the local cloud: 2,000 whole specs, some minutes
	@$(BIN)/python -m tests.agreement.prove

bench: env ## how long the commands take and how much memory they need
	@$(BIN)/python -m tests.bench

golden: env ## rewrite the snapshots of the tests and the output in the README; read the difference before you commit it
	@$(BIN)/python -m localcloud.engine > /dev/null
	$(BIN)/pytest -q --snapshot-update tests/components/test_golden.py tests/project/test_pages.py tests/localcloud/test_page.py tests/planning/test_jsonschema.py tests/policies/test_page.py tests/policies/test_profiles.py tests/engine/test_demo.py

clean: ## remove the environment, the local cloud and all caches of this checkout
	rm -rf .venv .local .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
