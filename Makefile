# One way in, for people and for CI. Every verb sets up what it needs, once; the second time it starts at once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= $(shell for p in python3 python3.{11..16}; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
CARGO ?= cargo
SCENARIO ?= geo-retransmission-loss
OUT ?= results/$(basename $(notdir $(SCENARIO)))
FRESH ?= 8
TOOLS := $(VENV)/.tools-installed
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps
# uv installs in ten seconds what takes pip a minute; pip knows more settings, such as an index in its own file.
UV := --quiet --no-cache --python $(BIN)/python --require-hashes --no-deps
ENGINE := $(VENV)/.engine-built
RUST := Cargo.toml $(wildcard Cargo.lock rust-toolchain.toml) $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null)
LLVM_COV_TOOL := target/tools/bin/cargo-llvm-cov
MUTANTS_TOOL := target/tools/bin/cargo-mutants
WHEELS := target/wheels
INSTALLED := target/installed
COVERAGE := target/coverage
MUTANTS := target/mutants
# The crate for Python has no tests, and would need all of its dependencies once more; examples are built by the lint.
RUST_TESTS := $(CARGO) test --workspace --exclude ackclock-python --locked --quiet
say = @printf '\033[1m==> %s\033[0m\n' "$(1)"

.PHONY: help run reproduce test check wheel bench coverage mutants crosscheck crosscheck-linux campaign fuzz-python golden digest build build-tests lock clean

help: ## show this text
	@printf 'ackclock: a TCP performance laboratory\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nNeeds Python 3.11 or later (with venv), cargo, a C compiler and make. All else goes into %s/ and target/.\n' '$(VENV)'

run: build ## simulate a ready scenario, show its table and picture (SCENARIO=..., OUT=...)
	$(call say,simulating $(SCENARIO))
	$(BIN)/ackclock run $(SCENARIO) --out $(OUT)

reproduce: build ## make the papers' figures and tables again, and a report (PAPER=bottlenecks/figure-4, FULL=1)
	$(call say,making the papers again)
	$(BIN)/ackclock reproduce $(PAPER) $(if $(FULL),--full)

test: build ## run all tests, Rust and Python
	$(call say,testing the Rust crates)
	$(RUST_TESTS) --lib
	$(call say,testing the Python package)
	$(BIN)/pytest --quiet -n auto --dist loadgroup

build-tests: # the Rust tests, for CI to build while one core is free
	$(call say,building the tests of the Rust crates)
	$(RUST_TESTS) --lib --no-run

check: $(TOOLS) ## format, lint, types, who may import whom, and the words of docs/words.md
	$(call say,Python: format; lint; types; imports; words)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/pytest --quiet tests/test_import_contract.py tests/words
	$(call say,Rust: format; lint)
	$(CARGO) fmt --all --check
	rustfmt --check --edition 2021 benches/calibrate.rs
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(CARGO) clippy --manifest-path fuzz/Cargo.toml --target-dir target --no-default-features --locked --quiet -- -D warnings

wheel: build ## build a wheel, install it where nothing can compile, and run the tests of an installed package there
	$(call say,building a wheel)
	rm -rf $(WHEELS) $(INSTALLED)
	PATH="$(CURDIR)/$(BIN):$$PATH" maturin build --release --locked --quiet --out $(WHEELS) --interpreter $(CURDIR)/$(BIN)/python3
	$(call say,installing $(WHEELS)/*.whl into $(INSTALLED))
	$(PYTHON) -m venv $(INSTALLED)
	sed -n 's/^\([a-z].*==.*[^ ]\) *\\$$/\1/p' requirements.lock > $(INSTALLED)/versions.txt
	$(INSTALLED)/bin/pip install --quiet --disable-pip-version-check --only-binary :all: \
	  --constraint $(INSTALLED)/versions.txt $(WHEELS)/*.whl pytest pytest-xdist
	$(call say,testing it)
	cd $(INSTALLED) && env -i PATH="$$PWD/bin" HOME="$$PWD" python -m pytest --quiet -ra -n auto -c /dev/null --rootdir . \
	  --noconftest --import-mode importlib -p no:cacheprovider $(CURDIR)/tests/installed

bench: build ## measure the cost of a packet, leave bench.json; or compare it with another checkout's (BASE=its path)
	$(call say,measuring)
	$(BIN)/python -m benches.$(if $(BASE),compare $(BASE),run_bench)

coverage: build $(LLVM_COV_TOOL) ## show the lines that no test runs, of the tree or of a change (SINCE=revision)
	$(call say,Rust: the tests of the crates)
	@mkdir -p $(COVERAGE)
	$(LLVM_COV_TOOL) llvm-cov --no-report --workspace --exclude ackclock-python --locked --quiet
	$(call say,Python: its tests)
	$(BIN)/pytest --quiet -n auto --dist loadgroup --cov ackclock --cov-report lcov:$(COVERAGE)/python.lcov \
	  --cov-report html:$(COVERAGE)/python --cov-report term:skip-covered
	$(LLVM_COV_TOOL) llvm-cov report --lcov --output-path $(COVERAGE)/rust.lcov
	$(LLVM_COV_TOOL) llvm-cov report --html --output-dir $(COVERAGE)/rust
	$(LLVM_COV_TOOL) llvm-cov report --summary-only
	$(if $(SINCE),$(BIN)/diff-cover $(COVERAGE)/rust.lcov $(COVERAGE)/python.lcov --compare-branch $(SINCE) \
	  --format html:$(COVERAGE)/change.html)
	$(call say,reports: $(COVERAGE)/rust/html/index.html $(COVERAGE)/python/index.html $(if $(SINCE),$(COVERAGE)/change.html))

mutants: $(MUTANTS_TOOL) ## break each line of Rust that changed, show what no test of its crate notices (SINCE=HEAD~1)
	@mkdir -p $(MUTANTS)
	git diff $(or $(SINCE),HEAD~1) -- crates > $(MUTANTS)/change.diff
	$(call say,breaking the lines of $(MUTANTS)/change.diff one by one)
	CARGO_TARGET_DIR=$(CURDIR)/$(MUTANTS)/build $(MUTANTS_TOOL) mutants --in-diff $(MUTANTS)/change.diff \
	  --output $(MUTANTS) --jobs 1 --timeout 300 -C=--locked || test $$? = 2 -o $$? = 3    # some missed, or timed out
	$(call say,reports: $(MUTANTS)/mutants.out)

crosscheck: build ## compare every window with ns-2's, where ns is installed (FRESH=8 scenarios from a fresh seed)
	$(call say,comparing with ns-2)
	$(BIN)/python -m crosscheck --fresh $(FRESH)
	$(BIN)/python -m crosscheck.queues --fresh 2

crosscheck-linux: build ## compare with the Linux kernel, built once from Debian's source (FRESH=6; SCENARIO=my.toml plays your own)
	$(call say,comparing with Linux)
	$(BIN)/python -m crosscheck.linux $(if $(filter command environment,$(firstword $(origin SCENARIO))),$(SCENARIO) \
	  --out $(OUT),--fresh $(if $(filter file,$(origin FRESH)),6,$(FRESH)))

campaign: build ## random legal runs held against what any run must obey (RUNS=1000, FIRST=0: the number of the first)
	$(call say,running the campaign)
	PYTHONPATH=python:tests nice $(BIN)/python -m campaign --runs $(or $(RUNS),1000) --first $(or $(FIRST),0)

fuzz-python: build ## fuzz the Python side with numbered cases (SCALE=0.1 for a tenth of them, SEED=2 for others)
	$(call say,mutating scenarios; overrides; captures; results; arguments)
	nice $(BIN)/python -m fuzz.campaign --scale $(or $(SCALE),1) --seed $(or $(SEED),1) $(TARGETS)

golden: build ## rewrite the golden traces (look at the diff before you commit it)
	$(call say,writing the golden traces)
	ACKCLOCK_BLESS=1 $(CARGO) test --locked --quiet -p sim golden
	$(BIN)/python -c 'from ackclock import _engine; print(_engine.contract())' | \
	  $(BIN)/python -m json.tool --indent 1 --sort-keys - python/ackclock/scenario/contract.json
	$(BIN)/pytest --quiet --bless -m golden
	-git --no-pager diff --stat -- '*golden*'

digest: build ## rewrite the digests of results (the commit says which change, and why that mends a fault)
	$(call say,writing the digests of results)
	$(BIN)/pytest --quiet --bless -m digest
	-git --no-pager diff --stat -- tests/digest

build: $(ENGINE) ## build the engine into .venv

lock: $(TOOLS) ## pin all Python dependencies in requirements.lock
	$(call say,resolving the dependencies)
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --quiet -o requirements.lock

clean: ## remove all that the verbs have built
	rm -rf $(VENV) target results bench.json

$(TOOLS): requirements.lock
	$(call say,setting up $(VENV) from requirements.lock)
	@test -n "$(PYTHON)" || { echo 'ackclock needs Python 3.11 or later: no such python3 on the PATH' >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@awk '/^[^ ]/ { chosen = /^uv==/ } chosen' requirements.lock > $(VENV)/uv.txt
	@$(PIP) --only-binary :all: -r $(VENV)/uv.txt && $(BIN)/uv pip install $(UV) -r requirements.lock || \
	  { echo 'pip installs what uv could not: it takes a minute longer'; $(PIP) -r requirements.lock; }
	$(BIN)/pip check --disable-pip-version-check > /dev/null    # the lock names all: left alone, pip looks past it for newer ones
	@touch $@

$(LLVM_COV_TOOL):
	$(call say,installing cargo-llvm-cov into target/tools and llvm-tools into the Rust toolchain)
	test -n "$${LLVM_COV:-}$${LLVM_PROFDATA:-}" || rustup component add llvm-tools
	$(CARGO) install --quiet --locked --root target/tools cargo-llvm-cov@0.9.1

$(MUTANTS_TOOL):
	$(call say,installing cargo-mutants into target/tools)
	$(CARGO) install --quiet --locked --root target/tools cargo-mutants@27.1.0

$(ENGINE): $(TOOLS) $(RUST) pyproject.toml
	$(call say,building the engine)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
