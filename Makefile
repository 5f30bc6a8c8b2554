# `make demo` and `make test` do all the set-up themselves, into .venv.
PYTHON ?= python3
BIN := .venv/bin
# Data sets are looked for here first; without the folder they are downloaded when asked for.
ifneq ($(wildcard ../shared/data),)
export NOREGRET_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-slow test-integrations docs notebooks pictures bench reproduce results format clean

# A library of candidates on disk, run through the command line; then 10,000 evaluations in one process.
demo: .venv/demo.stamp
	$(BIN)/python examples/library_demo.py demo
	$(BIN)/python examples/demo.py

test: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python -m pytest -n auto

# The long tests; property tests draw new examples here.
test-slow: .venv/dev.stamp
	$(BIN)/python -m pytest -n auto -m slow --hypothesis-profile=search

# What plugs into other tools, with those tools installed.
test-integrations: .venv/integrations.stamp
	$(BIN)/python -m pytest tests/integrations

# The documentation as a site, in the folder site.
docs: .venv/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The tutorials as notebooks, in the folder notebooks.
notebooks:
	$(PYTHON) docs/notebooks.py

# The pictures of the documentation, drawn again by the package.
pictures: .venv/dev.stamp
	$(BIN)/python docs/make_pictures.py

# The baselines need PyTorch; without them `$(BIN)/python -m benchmarks` prints the rest.
bench: .venv/bench.stamp
	$(BIN)/python -m benchmarks

# The papers' experiments, two or three hours on two cores; an interrupted run goes on.
reproduce: .venv/dev.stamp
	$(BIN)/noregret reproduce --all --out results

# The pages of docs/results from the summaries in docs/results/data, new ones from the folder results taken first.
results: .venv/dev.stamp
	$(BIN)/python -m noregret.experiments.page docs --from results

format: .venv/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[demo]"
	@touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

.venv/integrations.stamp: .venv/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[ax,baybe,botorch,optuna,sklearn]" loky
	@touch $@

.venv/bench.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench,demo,experiments]"
	@touch $@
