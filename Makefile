# Every target first makes .venv what it should be; that takes no time when it already is.
#
#   make lab PORT=9000               another port
#   make lab PYTHON=python3.12       another Python
#   make lab LATEST=1                the newest packages that pyproject.toml allows, not those of constraints.txt
#   make lab TORCH='torch --index-url https://download.pytorch.org/whl/cu130'
#                                    another PyTorch: here a build for NVIDIA GPUs
#   make formgrader COURSE=demo      another course folder: here the one of `make demo`
#   make lab LAB_ARGS='--ip=0.0.0.0' more for JupyterLab

PYTHON ?= python3
CHROMIUM ?= /usr/bin/chromium
LAB_ARGS ?=
PYTEST_ARGS ?=

environment := $(PYTHON) -m deploy $(if $(LATEST),--latest)
pytest = $(environment) --extra test --extra postgresql --run pytest \
    -n 3 --no-loadscope-reorder -o console_output_style=count --ignore=tests/browser
nbval := --nbval --nbval-current-env --nbval-sanitize-with=tests/nbval.cfg \
    --nbval-cell-timeout=1800 --nbval-kernel-startup-timeout=600

# One thread per kernel: sums then come out the same on every machine, and workers do not fight. Three of them on two
# cores: many tests wait, for a process that stands still or a server that starts.
test test-all test-quick: export OMP_NUM_THREADS = 1
# Each of the three rewrites the assertions of all tests, which takes it five seconds; they write that down for the next.
test test-all test-quick: export PYTHONDONTWRITEBYTECODE =
test-browser: export CHROMIUM := $(CHROMIUM)

.DEFAULT_GOAL := help
.PHONY: help lab formgrader test test-all test-quick test-browser build release book grade demo bench lint constraints

help: ## List what make can do
	@sed -n 's/^\([a-z-]*\): ## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

lab: ## Open work/, your own copy of the notebooks, in JupyterLab (a student's way)
	@$(environment) --lab -- $(if $(PORT),--port=$(PORT)) $(LAB_ARGS)

formgrader: ## Open the whole course in JupyterLab with nbgrader's menu (an instructor's way)
	@$(environment) --formgrader $(if $(COURSE),--course "$(COURSE)") -- $(if $(PORT),--port=$(PORT)) $(LAB_ARGS)

# tests/conftest.py writes the notebooks without their experiments into .cache/replay.
test: ## Prove every exercise, and replay every notebook without its experiments (five to ten minutes on two cores)
	@$(pytest) $(nbval) $(PYTEST_ARGS) tests .cache/replay

test-all: ## Run all tests, and replay every notebook in full (about an hour); PYTEST_ARGS=--rest: what `make test` leaves out
	@$(pytest) --all $(nbval) $(PYTEST_ARGS) tests solutions

test-quick: ## Run what is quick, and prove the exercises of changed notebooks, or of 00 and 01 (1.5 minutes)
	@$(pytest) --quick $(PYTEST_ARGS) tests

test-browser: ## Drive JupyterLab in Chromium, as a student and as an instructor, and a hub (as root)
	@test -x "$(CHROMIUM)" || { echo "There is no Chromium at $(CHROMIUM): install it (apt install chromium) or name yours, make test-browser CHROMIUM=/path/to/chromium" >&2; exit 1; }
	@$(environment) --extra test --extra browser --extra book --extra hub --run pytest \
	    -n 2 --no-loadscope-reorder $(PYTEST_ARGS) tests/browser

build: ## Make the notebooks from their sources; CHECK=1 only says what is out of date
	@$(environment) --run grading build $(if $(CHECK),--check)

release: ## Write what students get into dist/: a wheel of the helpers, and a zip with the notebooks (or those of ROUTE=six-weeks)
	@$(environment) --run grading release $(if $(ROUTE),--route "$(ROUTE)")

book: ## Write the course as a book for reading into dist/book/ (Sphinx)
	@$(environment) --extra book --run grading book

# Status 3: the run has ended as it should, and some submissions could not be graded. That is no failure of make's.
grade: ## Grade all submissions in sandboxes, in parallel (Linux)
	@$(environment) --run grading autograde || { status=$$?; test $$status -eq 3 || exit $$status; \
	    echo "Some submissions have no mark (the lines above say which, and why); all others have theirs." >&2; }

demo: ## Grade a small class of seven in demo/, from submission to feedback
	@$(environment) --run grading demo

bench: ## Compare the autograder and the training loop with the usual ones (downloads a corpus)
	@$(environment) --run benchmarks.autograde
	@$(environment) --run benchmarks.training

lint: ## Check style, format, types and dependencies
	@$(environment) --extra test --run ruff check .
	@$(environment) --extra test --run ruff format --check .
	@$(environment) --extra test --run mypy
	@$(environment) --extra test --run deptry .

# The libraries for NVIDIA GPUs are left out: they follow from PyTorch's version, and TORCH may name another.
constraints: environment := $(PYTHON) -m deploy
constraints: ## Pin what pyproject.toml wants in constraints.txt; LATEST=1 takes newer versions
	@$(environment) --run pip install --quiet uv
	@$(environment) --run uv pip compile --quiet --universal --python-version 3.10 --all-extras $(if $(LATEST),--upgrade) \
	    --no-annotate --no-header --output-file constraints.txt pyproject.toml
	@grep -v -E '^(cuda|nvidia|triton)' constraints.txt > constraints.tmp && mv constraints.tmp constraints.txt
