# Two commands do everything: `make solve` and `make test`. Both create .venv when it is missing.
PYTHON ?= python3
BIN := .venv/bin
JOB ?= examples/T1.toml
SEED ?= 1
CASES ?= 10000
SECONDS ?= 1800
SPHINX := $(BIN)/python -m sphinx --quiet --doctree-dir build/docs/doctrees
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
PARALLEL ?= --numprocesses auto --maxprocesses 8 --dist worksteal

.PHONY: solve upac test test-slow smoke fuzz bench study lint notebooks docs figures links lab release numbers clean

.DELETE_ON_ERROR:

solve: .venv/ready
	$(BIN)/spewy solve $(JOB)

upac: .venv/ready
	for job in examples/upac-ladder/*.toml; do \
		$(BIN)/spewy solve $$job --out results/upac-ladder/$$(basename $$job .toml) || exit; done
	$(BIN)/spewy package upac results/upac.zip --ladder results/upac-ladder

test: .venv/ready
	$(BIN)/python -m pytest $(PARALLEL)

test-slow: .venv/ready
	$(BIN)/python -m pytest -m slow
	$(MAKE) smoke
	$(MAKE) fuzz

smoke: .venv/ready
	$(BIN)/python -m benchmarks.speed.solve --quick
	$(BIN)/python -m benchmarks.studies.lp_or_cfr --quick
	$(BIN)/python -m benchmarks.speed.buckets --quick
	$(BIN)/python -m benchmarks.studies.clustering --quick --sweeps 50
	$(BIN)/python -m benchmarks.studies.whole_games study --quick
	$(BIN)/python -m benchmarks.speed.bot_budget --quick
	$(BIN)/python -m benchmarks.studies.walks act

fuzz: .venv/ready
	PYTHONPATH=$(CURDIR)/tests $(BIN)/python -m fuzz --seed $(SEED) --cases $(CASES) --seconds $(SECONDS)

bench: .venv/ready
	$(BIN)/python -m benchmarks.speed.exact
	$(BIN)/python -m benchmarks.speed.small_spots
	$(BIN)/python -m benchmarks.speed.start
	$(BIN)/python -m benchmarks.speed.pages
	$(BIN)/python -m benchmarks.speed.solve
	$(BIN)/python -m benchmarks.speed.policy
	$(BIN)/python -m benchmarks.speed.look
	$(BIN)/python -m benchmarks.speed.lockers
	$(BIN)/python -m benchmarks.studies.lp_or_cfr
	$(BIN)/python -m benchmarks.speed.buckets --flops
	$(BIN)/python -m benchmarks.speed.whole_games
	$(BIN)/python -m benchmarks.speed.bot_budget

study: .venv/ready
	$(BIN)/python -m benchmarks.studies.clustering
	$(BIN)/python -m benchmarks.studies.mixed_leaves
	$(BIN)/python -m benchmarks.studies.whole_games study

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

notebooks: .venv/ready
	$(MAKE) --silent --jobs 2 --keep-going $(NOTEBOOKS:notebooks/%=check-%)

check-%: .venv/ready
	$(BIN)/python notebooks/run.py --check $*

lab: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check jupyterlab
	$(BIN)/jupyter lab notebooks

figures: .venv/ready
	$(BIN)/python docs/figures/make.py

docs: .venv/ready
	$(SPHINX) -b html --fail-on-warning --keep-going docs build/docs/html

release: .venv/ready
	.ci/release

numbers: .venv/ready
	$(BIN)/python -m benchmarks.numbers

links: .venv/ready
	$(SPHINX) -b linkcheck docs build/docs/links

.venv/ready: setup.cfg pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[export,plot,dask,web,test,notebooks,docs,lint]'
	touch $@

clean:
	rm -rf .venv build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
