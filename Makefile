# make demo     set up .venv, run the toy example under depyf, show what was found
# make test     the same set-up with the development tools, then the first tier of tests in two processes (JOBS=N)
# make test-all the whole test suite; TIER=second runs only what `make test` leaves out
# make gpu-check  everything that only a GPU can show, in at most eight minutes, uninstalled, with this PYTHON's torch
# make test-triton  the tests of Triton's kernels, which need no GPU, in an environment with triton
# make docs     build the documentation into docs/_build (warnings are errors)
# make gallery  build the reports of ten programs into gallery
# make dist     build the sdist and the wheel into dist
# make lint, make types, make measure, make bars, make clean
#
# Everything happens in .venv; a second run finds it ready. On Linux a plain `torch` is a CUDA build of several
# gigabytes. Where a CPU build is enough, name one: `make demo TORCH=torch==2.13.0+cpu`, with pip configured for
# PyTorch's CPU wheels (`export PIP_EXTRA_INDEX_URL=...`, the address is on PyTorch's "get started" page).

PYTHON  ?= python3
TORCH   ?= torch==2.13.0
BACKEND ?= inductor
OUT     ?= depyf_output
TESTS   ?=
TIER    ?=
JOBS    ?= 2
TRITON  ?= triton
GPU_CHECK ?=

VENV  := .venv
BIN   := $(VENV)/bin
PIP   := $(BIN)/python -m pip --disable-pip-version-check
# One stamp per torch: with another TORCH the environment is brought up to date, not trusted.
STAMP := $(VENV)/.for-$(subst /,_,$(subst +,_,$(subst =,_,$(subst >,_,$(subst <,_,$(TORCH))))))

.PHONY: demo test test-all test-cuda gpu-check test-triton triton-tests docs docs-outputs dist gallery lint types check measure bars readme clean
.DEFAULT_GOAL := demo

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "depyf needs Python 3.10 or newer; '$(PYTHON)' is `$(PYTHON) --version 2>&1`. Say which: make PYTHON=python3.12"; exit 1; }
	@echo "making $(VENV) with `$(PYTHON) --version`"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --upgrade 'pip>=25.1'  # knows dependency groups
	@touch $@

$(STAMP)-demo: $(VENV)/.made pyproject.toml
	@echo "installing depyf and $(TORCH) (some minutes, once)"
	@rm -f $(VENV)/.for-*
	@$(PIP) install --quiet --editable '.[torch,cli]' '$(TORCH)'
	@$(BIN)/python -m compileall -q src/depyf  # as pip does with what it copies: an import takes a third
	@touch $@

$(STAMP)-dev: $(STAMP)-demo
	@echo "installing the development tools (once)"
	@$(PIP) install --quiet --editable '.[torch,cli,notebook,remote]' --group dev '$(TORCH)'
	@touch $@

$(STAMP)-docs: $(STAMP)-demo
	@echo "installing what builds the documentation (once)"
	@$(PIP) install --quiet --editable '.[torch,cli]' --group docs '$(TORCH)'
	@touch $@

$(STAMP)-gallery: $(STAMP)-demo
	@echo "installing transformers, for the models of the gallery (once)"
	@$(PIP) install --quiet --editable '.[torch,cli]' --group gallery '$(TORCH)'
	@touch $@

docs: $(STAMP)-docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "docs/_build/index.html"

# Writes the outputs of all code blocks into the pages again.
docs-outputs: $(STAMP)-dev
	@$(BIN)/python -m scripts.documented --write

gallery: $(STAMP)-gallery
	@$(BIN)/python -m scripts.gallery --out gallery

demo: $(STAMP)-demo
	@$(BIN)/python scripts/demo.py --backend $(BACKEND) --out $(OUT)

test: $(STAMP)-dev
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(if $(TESTS),$(TESTS),-m 'not second')

test-all: $(STAMP)-dev
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(if $(TIER),-m '$(TIER)') $(TESTS)

dist: $(VENV)/.made
	@$(PIP) install --quiet 'build>=1.2'
	@rm -rf dist
	@$(BIN)/python -m build --quiet --outdir dist .
	@ls dist

# The contract suite, with what only a GPU can show.
test-cuda: $(STAMP)-dev
	@if $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then \
		$(BIN)/python -m pytest -rs tests/torch tests/links/inductor; \
	else echo "test-cuda needs a GPU that torch can use; there is none here, and nothing was tested" >&2; exit 1; fi

# Needs no installation and no network: only a Python with torch, triton, click, rich, jinja2, numpy, transformers and
# pytest. Without a GPU every part says that it is skipped; GPU_CHECK="--device cpu" runs a small form of each.
gpu-check:
	@PYTHONPATH=src$${PYTHONPATH:+:$$PYTHONPATH} $(PYTHON) -W ignore -m benchmarks.gpu_check $(GPU_CHECK)

# Triton's kernels run in its interpreter. The environment is one of its own, so that other tests run as ever.
test-triton:
	@$(MAKE) --no-print-directory VENV=.venv-triton triton-tests

triton-tests: $(STAMP)-dev
	@$(BIN)/python -c 'import triton' 2>/dev/null || $(PIP) install --quiet '$(TRITON)'
	@$(BIN)/python -m pytest -rs tests/torch/kernels tests/torch/numerics tests/torch/profile/test_interpreted.py \
		tests/links/inductor

lint: $(STAMP)-dev
	@$(BIN)/ruff check .

types: $(STAMP)-dev
	@$(BIN)/mypy

check: lint types test-all

# The bars of the project: each prints its number, and fails when it is not met.
bars: $(STAMP)-dev
	@$(BIN)/python -m benchmarks

# Round trip over the standard library of every Python at hand: the table of docs/measurements.md.
measure: $(STAMP)-dev
	@$(BIN)/python -m benchmarks.measure_roundtrip

# Writes the output of the README's example into README.md again.
readme: $(STAMP)-dev
	@$(BIN)/python scripts/readme_example.py --write

clean:
	rm -rf $(VENV) $(OUT) gallery docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
