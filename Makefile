# The verbs of the day. `make demo` and `make test` are all that a fresh clone needs: each makes the
# environment on its first run and re-uses it afterwards.
#
#   make demo PYTHON=python3.12              another interpreter
#   make demo DEMO_FLAGS="--kb-level 1"      more for pytest
#   make demo VENV_FLAGS=--system-site-packages   use the torch that the machine already has
#   make demo VENV=                          no environment at all: PYTHON as it is, the package from here

PYTHON ?= python3
VENV ?= .venv
VENV_FLAGS ?=
PIP_FLAGS ?=
DEMO_FLAGS ?=
TEST_FLAGS ?=

ifeq ($(strip $(VENV)),)
# Nothing is installed, so no entry point announces the plugin: it is named on the command line instead.
RUN := PYTHONPATH="$(CURDIR)$${PYTHONPATH:+:$$PYTHONPATH}" $(PYTHON)
ANNOUNCED := $(shell $(PYTHON) -c 'from importlib.metadata import entry_points as e; \
	print(*[p.name for p in e(group="pytest11") if p.name == "kernelbench"])')
PYTEST := $(RUN) -m pytest $(if $(ANNOUNCED),,-p pytest_kernelbench.plugin)
READY :=
DEV_READY :=
else
RUN := $(VENV)/bin/python
PYTEST := $(RUN) -m pytest
PIP := $(RUN) -m pip --disable-pip-version-check
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.ready-dev
endif

.PHONY: help setup demo test quick lint format typecheck imports check clean distclean
.DEFAULT_GOAL := help

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(READY) $(DEV_READY) ## make the environment with everything that working here needs

demo: $(READY) ## judge solutions/ on whatever device is there
	$(PYTEST) -c pyproject.toml --rootdir . solutions/ $(DEMO_FLAGS)

test: $(DEV_READY) ## run all tests
	$(PYTEST) $(TEST_FLAGS)

quick: $(DEV_READY) ## run the tests that take seconds
	$(PYTEST) -m "not slow and not gpu" $(TEST_FLAGS)

lint: $(DEV_READY) ## ruff: rules and format, nothing is changed
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

format: $(DEV_READY) ## ruff: put right what can be put right
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

typecheck: $(DEV_READY) ## mypy, strict
	$(RUN) -m mypy

imports: $(DEV_READY) ## each room imports only the rooms below it
	$(if $(VENV),$(VENV)/bin/)lint-imports

check: lint typecheck imports quick ## what should pass before a commit

clean: ## remove what runs leave behind; builds and the environment stay
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks dist
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove the environment and the build cache too
	rm -rf .venv .kernelbench

# Both stamps hang on pyproject.toml alone: the installation is editable, so code needs no new one.
$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and \
		f"{sys.executable} is Python {sys.version.split()[0]}; 3.10 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV_FLAGS) $(VENV)
	$(PIP) install --quiet $(PIP_FLAGS) --editable .
	@touch $@

# Dependency groups came with pip 25.1; the pip that venv brings along is often older.
$(VENV)/.ready-dev: pyproject.toml $(READY)
	$(PIP) install --quiet $(PIP_FLAGS) --upgrade 'pip>=25.1'
	$(PIP) install --quiet $(PIP_FLAGS) --group dev
	@touch $@
