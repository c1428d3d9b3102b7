# Every task creates .venv by itself. `make help` lists the tasks.
PYTHON ?= python3
BIN := .venv/bin
# uv where it is on the PATH, for it installs in seconds; pip otherwise, or with `make UV= ...` (uv reads no pip.conf).
# `--group` needs uv 0.7 or pip 25.1.
UV := $(shell command -v uv 2>/dev/null)
VENV := $(if $(UV),uv venv --quiet --seed --python "$(PYTHON)" .venv,$(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet --upgrade pip)
INSTALL := $(if $(UV),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet)
WORKERS := $(shell $(PYTHON) -c "import os; print(os.cpu_count() + 2)")  # some tests wait for servers
# What is held to nearly full branch coverage, until what came last has tests of its rarest branches: the mathematics, experiments, and what holds after answers.
MATHS := src/possibal/*.py,src/possibal/numerics/*,src/possibal/theory/*,src/possibal/gp/*,src/possibal/acquisition/*,src/possibal/estimators/*,src/possibal/pool/*,src/possibal/campaign/*,src/possibal/experiments/**/*,src/possibal/labelling/agreement.py,src/possibal/labelling/evaluation.py,src/possibal/labelling/ranking.py,src/possibal/labelling/ranker.py,src/possibal/labelling/storage/journal.py

OUTCOMES := .works-with.jsonl

.DEFAULT_GOAL := help
.PHONY: help run demo long system reliability cluster faults screenshots works-with test check test-changed lint types format bench kills reproduction why recipe stopping plateau calibration recall variational hyperparameters label-efficiency features tables axioms picture clean notebook adapters label-studio recording docs lowest pythons interop

help:  ## list the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("possibal needs Python 3.11 or newer; set PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(VENV)

.venv/.run: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[image,plot]'
	@touch $@

.venv/.test: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[test]'
	$(MAKE) --no-print-directory system
	@touch $@ .venv/.run

# A real browser, PostgreSQL, proxy and strace for the tests; from Debian's packages where we may install them.
PACKAGES := chromium postgresql nginx-light strace
system:
	@if { ! command -v chromium || ! command -v strace || ! ls /usr/lib/postgresql/*/bin/initdb || ! ls /usr/sbin/nginx; } >/dev/null 2>&1; then \
	    if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	        DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 $(PACKAGES) >/dev/null \
	            || { apt-get update --quiet=2 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 $(PACKAGES) >/dev/null; }; \
	    else \
	        echo "Tests of the page need chromium, of teams PostgreSQL and nginx, of failing disks strace: they are skipped without."; \
	    fi; \
	fi

.venv/.dev: .venv/.test
	$(INSTALL) --group dev
	@touch $@

.venv/.notebook: .venv/.test
	$(INSTALL) --group notebook
	@touch $@

.venv/.adapters: .venv/.test
	$(INSTALL) --group adapters
	@touch $@

.venv/.interop: .venv/.test
	$(INSTALL) --group interop
	@touch $@

.venv/.docs: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable . --group docs
	@touch $@

.venv/.bench: .venv/.test
	$(INSTALL) --group bench
	@touch $@

run: .venv/.run  ## the main job: the labelling page, on built-in pictures
	$(BIN)/possibal label

demo: .venv/.run  ## an active-learning run on built-in data, compared with asking at random
	$(BIN)/possibal demo

test: .venv/.test  ## everything that must hold, with branch coverage
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder --cov --cov-report=
	$(BIN)/python -m coverage report --fail-under=95
	$(BIN)/python -m coverage report --precision=2 --fail-under=99.5 --include='$(MATHS)'

long: .venv/.test  ## the tests that take longest: servers killed and crowded, a loss of power, workers that die (minutes)
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder -m long

# The part of the suite that other versions may break, in seconds to a few minutes; warnings of theirs are theirs.
FAST := tests/test_*.py tests/numerics tests/theory tests/gp/test_posterior.py tests/estimators tests/data tests/campaign tests/acquisition/test_registry.py tests/cli/test_main.py tests/cli/test_rank.py tests/labelling/test_session.py tests/labelling/web tests/embedding/test_onnx_models.py
FASTEST := -m pytest --quiet --numprocesses=$(WORKERS) --dist=loadfile --override-ini=filterwarnings=default $(FAST)
OTHERS := 3.12 3.13

lowest:  ## the oldest versions that are promised, in a venv of their own, and the quick tests with them (minutes)
	$(subst .venv,.venv-lowest,$(VENV))
	.venv-lowest/bin/python tools/lowest.py > .venv-lowest/lowest.txt
	$(subst $(BIN),.venv-lowest/bin,$(INSTALL)) --editable '.[test]' --constraint .venv-lowest/lowest.txt
	.venv-lowest/bin/python $(FASTEST)

pythons:  ## the same with the newest versions on other Pythons (OTHERS="3.12 3.13"; minutes each)
	for version in $(OTHERS); do $(MAKE) --no-print-directory python-$$version || exit 1; done

python-%:
	$(subst .venv,.venv-$*,$(subst "$(PYTHON)",python$*,$(subst $(PYTHON) -m,python$* -m,$(VENV))))
	$(subst $(BIN),.venv-$*/bin,$(INSTALL)) --editable '.[test]'
	.venv-$*/bin/python $(FASTEST)

interop: .venv/.interop  ## a model in MLflow, logged and loaded (a minute)
	$(BIN)/python -m pytest --quiet -m "" tests/estimators/test_persistence.py

check: .venv/.dev  ## lint, types, and the tests of what changed since main
	$(MAKE) --no-print-directory --jobs=3 lint types test-changed

test-changed: .venv/.dev
	tests=$$(PYTHONPATH=tests $(BIN)/python tools/changed_tests.py) && $(BIN)/python -m pytest --quiet --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $$tests

lint: .venv/.dev  ## style, spelling, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src tests bench docs tools *.md
	$(BIN)/lint-imports

types: .venv/.dev  ## strict type check, ours and that of a user's script
	$(BIN)/basedpyright
	$(BIN)/mypy --strict tests/support/user_script.py

format: .venv/.dev  ## let ruff lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.bench  ## speed as ratios against peers, in one run
	$(BIN)/python bench/scores.py
	$(BIN)/python bench/models.py
	$(BIN)/python bench/linear_models.py
	$(BIN)/python bench/asks.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/replay.py
	$(BIN)/python bench/restart.py

# Label Studio has an environment of its own, for what it needs clashes with what we need.
.label-studio/bin/label-studio:
	$(if $(UV),uv venv --quiet --seed --python "$(PYTHON)" .label-studio,$(PYTHON) -m venv .label-studio)
	$(if $(UV),uv pip install --quiet --python .label-studio/bin/python,.label-studio/bin/python -m pip install --quiet) 'label-studio>=1.23'

label-studio: .venv/.test .label-studio/bin/label-studio  ## a campaign beside a real Label Studio on this machine (minutes)
	$(BIN)/python -m pytest -m long tests/system/test_label_studio.py

reliability: .venv/.test  ## the labelling server killed 1000 times, crowded, and at work for long (an hour and a half)
	PYTHONPATH=tests $(BIN)/python -m system.reliability crowd --pace 1
	PYTHONPATH=tests $(BIN)/python -m system.reliability crowd --pace 1 --postgres
	PYTHONPATH=tests $(BIN)/python -m system.reliability crowd --pace 1 --postgres --servers 3
	PYTHONPATH=tests $(BIN)/python -m system.reliability crowd
	PYTHONPATH=tests $(BIN)/python -m system.reliability question
	PYTHONPATH=tests $(BIN)/python -m system.reliability cost
	PYTHONPATH=tests $(BIN)/python -m system.reliability cost --postgres
	PYTHONPATH=tests $(BIN)/python -m system.reliability soak --minutes 10
	PYTHONPATH=tests $(BIN)/python -m system.reliability kills --times 500 --jobs 2
	PYTHONPATH=tests $(BIN)/python -m system.reliability kills --times 500 --jobs 2 --postgres

cluster: .venv/.test  ## three servers of one campaign with pauses, kills and wrong clocks, and a checker (10 minutes)
	PYTHONPATH=tests $(BIN)/python -m system.cluster --minutes 5 --servers 3 --people 2 --seed 1
	PYTHONPATH=tests $(BIN)/python -m system.cluster --minutes 5 --servers 3 --people 1 --seed 2

faults: .venv/.test  ## power cuts, calls of the writer that fail, and damaged files, by the thousand (an hour)
	PYTHONPATH=tests $(BIN)/python -m system.power_cuts --states 5000
	PYTHONPATH=tests $(BIN)/python -m system.failing_disk
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest --numprocesses=$(WORKERS) tests/system/test_damaged_files.py

notebook: .venv/.notebook  ## label in JupyterLab and marimo by the widget, and draw the picture of docs/notebooks.md again (minutes)
	$(BIN)/python -m pytest -m long tests/system/test_notebook.py
	PYTHONPATH=tests $(BIN)/python tools/widget_picture.py

adapters: .venv/.adapters  ## the tests of possibal inside other libraries: GPyTorch, BoTorch (minutes)
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile tests/adapters --cov=possibal.adapters.botorch --cov=possibal.adapters.gpytorch --cov-branch --cov-fail-under=100

screenshots: .venv/.test  ## pictures of the page, from a real browser
	mkdir -p screenshots
	POSSIBAL_SHOTS=screenshots $(BIN)/python -m pytest tests/system/test_page.py tests/system/test_picture_page.py tests/campaign/notebook/test_widget.py --quiet

works-with: .venv/.adapters .venv/.notebook .venv/.interop .label-studio/bin/label-studio  ## the table of tools and formats of docs/works-with.md, from the tests that show them (minutes)
	rm -f $(OUTCOMES)
	POSSIBAL_WORKS_WITH=$(OUTCOMES) $(BIN)/python -m pytest --quiet --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder -m works_with
	PYTHONPATH=tests $(BIN)/python -m support.works_with $(OUTCOMES)

stopping: .venv/.test  ## how far necessity and the advice to stop can be trusted (a quarter of an hour)
	$(BIN)/python bench/stopping.py

plateau: .venv/.test  ## how far the labels to come until one may stop are foretold (minutes)
	$(BIN)/python bench/plateau.py --runs 3

calibration: .venv/.bench  ## how far stated chances can be trusted (half an hour; DATA=folder of texts and pictures)
	PYTHONPATH=tools $(BIN)/python bench/calibration.py $(if $(DATA),--data "$(DATA)")

recall: .venv/.bench  ## how much of a rare class is found when it says so, beside published rules (half an hour; DATA=folder of texts)
	PYTHONPATH=tools $(BIN)/python bench/recall.py $(if $(DATA),--data "$(DATA)")

kills: .venv/.test  ## kill an experiment twenty times, and see that it ends with the same bytes
	PYTHONPATH=tests $(BIN)/python -m system.kills

reproduction: .venv/.test  ## the tables and figures of docs/reproduction.md (minutes)
	$(BIN)/possibal reproduce all --to reproduction
	$(BIN)/possibal reproduce all --recipe published --to reproduction/published
	$(BIN)/possibal reproduce table1 --model variational --runs 10 --to reproduction/variational

why: .venv/.test  ## which settings without a mean reproduce the paper's Table 1 (an hour)
	$(BIN)/python bench/why.py

recipe: .venv/.test  ## some of the search for the recipe of the paper's Table 1 (minutes)
	$(BIN)/python bench/table1_search.py --rules regression --shares 0.33,0.36 --amplitudes 15,30 --means 0,1,2

variational: .venv/.bench  ## the variational softmax beside GPyTorch's
	$(BIN)/python bench/variational.py

hyperparameters: .venv/.test  ## which way to deal with hyperparameters learns fastest (a quarter of an hour)
	$(BIN)/python bench/hyperparameters.py

label-efficiency: .venv/.bench  ## questions of ours beside those of the strongest peers: make label-efficiency DATA=folder (hours)
	PYTHONPATH=tools $(BIN)/python bench/label_efficiency.py $(if $(DATA),--data "$(DATA)")

features: .venv/.bench  ## embeddings of texts and pictures beside the features without, and peers: make features DATA=folder (half an hour)
	$(BIN)/python bench/features.py $(if $(DATA),--data "$(DATA)")

tables: .venv/.run  ## build the data tables again from their sources
	$(BIN)/python tools/build_tables.py

axioms: .venv/.run  ## search the axioms of epistemic uncertainty again, for docs/axioms.md
	$(BIN)/python tools/axiom_table.py

picture: .venv/.run  ## draw the pictures of the README, of docs/possibilistic-gp.md and of docs/ideas again
	$(BIN)/possibal demo --to docs/demo.png
	$(BIN)/python tools/process_picture.py
	$(BIN)/python tools/idea_pictures.py

recording: .venv/.test  ## record the page for the README and the site, from a real browser
	PYTHONPATH=tests $(BIN)/python tools/recording.py

docs: .venv/.docs  ## the site of README, docs and docstrings, in build/site; a broken link or anchor is an error
	$(BIN)/python -m sphinx --builder html --conf-dir docs --doctree-dir build/doctrees --fail-on-warning --keep-going --quiet . build/site
	@echo "Open build/site/index.html."

clean:  ## remove what the tasks made
	rm -rf .venv .venv-* .label-studio .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* build dist
