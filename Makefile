# Every target sets up what it needs; `make demo` and `make test` are all that a new machine takes.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
DEMO := app/demo/vault
DEMO_INDEX := build/demo-index
# Golden sets to evaluate on: folders with vault.tar.gz and queries.jsonl. The results are named by
# commit, below results/.
EVAL_DATA ?= ../shared/data
export PYTHONUTF8 := 1
export WITHOUT_BROWSER
# What the tests and their processes compile, they compile once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: build/package setup demo wheel install-check browser test test-all record mutants check bench soak eval eval-answers docs clean

setup: .venv/.installed

# PyTorch comes first and exactly pinned, so that nothing after it picks another build. For the CPU
# build where the default is one for graphics cards: make setup TORCH="torch==2.13.0 --index-url …"
TORCH ?= torch==2.13.0

.venv/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "notehop needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	@echo "PyTorch and what notehop needs beside it are downloaded and installed: minutes, without a word"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@# Its command line, which is not used, wants an older typer; the rest of what it needs is there.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps openapi-python-client==0.29.1
	@touch $@

demo: setup
	$(BIN)/notehop index $(DEMO) --index-dir $(DEMO_INDEX)
	$(BIN)/notehop ask "What is the timeline of Hollin Reach?" --vault $(DEMO) --index-dir $(DEMO_INDEX)

# The tests of the page drive the Chromium or Chrome that there is, else Debian's.
browser:
	@[ -n "$$WITHOUT_BROWSER" ] || $(PYTHON) tests/browser/find_browser.py || { \
	  as=; [ "$$(id -u)" = 0 ] || as="sudo -n"; \
	  if command -v apt-get >/dev/null; then \
	    echo "no Chromium or Chrome here: installing Debian's, with $${as:+$$as }apt-get"; \
	    $$as apt-get -qq update || true; \
	    for name in chromium-headless-shell chromium; do \
	      $$as apt-get -qqy install --no-install-recommends $$name >/dev/null && break; \
	    done; \
	  fi; \
	  $(PYTHON) tests/browser/find_browser.py || \
	    echo "no Chromium or Chrome can be had here: the tests of the page are left out"; }

# What pip, pipx and uv install: dist/notehop-*.whl.
wheel: setup
	@rm -rf dist && $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

# Into empty environments, in each of the ways that docs/install.md names; HOW=pip for one of them.
HOW ?= pip pipx uv
install-check: wheel
	@for how in $(HOW); do PYTHON=$(PYTHON) sh tests/install.sh $$how dist/notehop-*.whl || exit 1; done

# As many processes as there are cores, at most four; what takes long is left to test-all.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n < 4 ? n : 4)))
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: setup browser
	$(PYTEST) -m "not slow"

test-all: setup browser
	$(PYTEST)

# The replies that tests/recorded holds the product to: look at the difference before you commit it.
record: setup
	$(BIN)/python -m pytest tests/recorded --record -q
	git diff --stat tests/recorded

# The package as an install lays it out, for tools that read files and import nothing.
build/package:
	@rm -rf $@ && mkdir -p $@
	@cp -Rp notehop $@/ && cp -Rp app indexing config $@/notehop/

check: setup build/package
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	cd build/package && ../../$(BIN)/lint-imports --config ../../pyproject.toml
	$(BIN)/python docs/generate.py --check

# Faults planted one at a time: does the suite see them? ONLY=stores for those of some files.
mutants: setup
	$(BIN)/python tests/mutants.py $(ONLY)

bench: setup
	$(BIN)/python -m pytest tests/benchmarks -o python_files='bench_*.py' -o timeout=3600 -s -q

# Minutes of each test that runs for long: edits without end, writers killed at random, many clients.
MINUTES ?= 20

soak: setup
	$(BIN)/python -m pytest tests/soak -o python_files='soak_*.py' -o timeout=0 -s -q --soak-minutes $(MINUTES)

eval: setup eval-answers
	@if [ -d $(EVAL_DATA) ]; then \
	  name=results/eval-$$(git describe --always --dirty); \
	  $(BIN)/notehop eval $(EVAL_DATA) --ablate --out $$name.json; \
	else echo "$(EVAL_DATA): no golden sets there; name a folder of them with EVAL_DATA=PATH"; fi

# Each answer set on its vault: the demo vault, else NAME.tar.gz beside the sets or in EVAL_DATA/vaults.
eval-answers: setup
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && mkdir -p results && \
	for set in tests/answers/*.jsonl; do \
	  name=$$(basename $$set .jsonl); vault=$(DEMO); packed=tests/answers/vaults/$$name.tar.gz; \
	  [ -f $$packed ] || packed=$(EVAL_DATA)/vaults/$$name.tar.gz; \
	  if [ $$name != demo ]; then \
	    [ -f $$packed ] || { echo "$$name: left out, there is no $$packed"; continue; }; \
	    vault=$$work/$$name; mkdir $$vault && tar -xzf $$packed -C $$vault || exit 1; \
	  fi; \
	  where="--vault $$vault --index-dir $$work/$$name-index"; \
	  $(BIN)/notehop index $$where >/dev/null && $(BIN)/notehop eval --answers $$set $$where \
	    --out results/eval-$$(git describe --always --dirty)-$$name.json || exit 1; \
	done

# The parts of the documentation that are made from the product itself.
docs: setup
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv build dist results *.egg-info
