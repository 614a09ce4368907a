# Needs make and Python 3.11 or newer with venv and pip; everything else goes into .venv.
#
#   make crawl                   crawl the demo web that ships with the project
#   make crawl ARGS="-a topic=chemistry-senior -O media.csv"
#   make test ARGS="-k frontier -x"
#   make test ARGS=--hypothesis-profile=thorough   ten times the examples of property tests
#   make coverage                how much of the rooms without processes their tests reach
#   make test EXTRAS=dev,browse,spark   also the tests of Spark, which is large and wants Java
#   make lint
#   make docs                    build the documentation into site/
#   make constraints             pin the newest versions of all dependencies anew
#   make clean
#
# Another Python: make crawl PYTHON=/path/to/python3.12

PYTHON ?= python3
ARGS ?=
EXTRAS ?= dev,browse,parquet
# Two begin with the tests that mostly wait (tests/conftest.py), so two more than there are cores.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)

PINS := constraints.txt
VENV := .venv
ROOMS_COVERED := frontier page scoring text topic
BIN := $(VENV)/bin
# Also where the environment asks for no bytecode: else every worker of the tests compiles all anew.
unexport PYTHONDONTWRITEBYTECODE
PIP_FLAGS := --quiet --disable-pip-version-check --use-pep517
INSTALL := $(BIN)/python -m pip install $(PIP_FLAGS) --no-build-isolation --constraint $(PINS)

.PHONY: crawl test coverage coverage-rooms lint docs constraints clean

crawl: $(VENV)/ready
	@$(BIN)/python -m scrapy crawl focused -a algo=urlrule $(ARGS)

test: $(VENV)/ready-dev
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS); \
	code=$$?; [ $$code = 5 ] || exit $$code

coverage: $(VENV)/ready-dev
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal --cov --quiet \
	    $(addprefix tests/,$(ROOMS_COVERED)) $(addprefix mmcrawl/,$(ROOMS_COVERED))

coverage-rooms:
	@echo $(ROOMS_COVERED)

lint: $(VENV)/ready-dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# Without --quiet, which would hide warnings from `strict` too: a dead link or anchor fails.
docs: $(VENV)/ready-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --clean

# The stamps say when the environment was last brought in line with pyproject.toml and the pins.
# setuptools comes first, pinned as well: it builds the project and jieba, which has no wheel;
# setuptools-scm builds bagit for the tests.
$(VENV)/ready: pyproject.toml $(PINS)
	$(CHECK_PYTHON)
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install $(PIP_FLAGS) --constraint $(PINS) setuptools
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	@echo "Adding what tests need to $(VENV) …"
	@$(BIN)/python -m pip install $(PIP_FLAGS) --constraint $(PINS) setuptools-scm
	@$(INSTALL) --editable '.[$(EXTRAS)]'
	@touch $@

$(VENV)/ready-docs: $(VENV)/ready
	@$(INSTALL) --editable '.[docs]'
	@touch $@

# Only the requirements are installed, so that nothing is built in this folder.
constraints:
	$(CHECK_PYTHON)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	echo "Installing all dependencies into $$folder …" && \
	$(PYTHON) -m venv "$$folder/venv" && python="$$folder/venv/bin/python" && \
	"$$python" -c "$$REQUIREMENTS" >"$$folder/requirements.txt" && \
	"$$python" -m pip install $(PIP_FLAGS) --upgrade setuptools setuptools-scm && \
	"$$python" -m pip install $(PIP_FLAGS) --no-build-isolation -r "$$folder/requirements.txt" && \
	{ echo "$$PINS_HEADER" && "$$python" -m pip freeze --all --exclude pip; } >"$$folder/pins" && \
	cp "$$folder/pins" $(PINS) && "$$python" tools/write_licences.py && \
	echo "Wrote $(PINS) and LICENCES.md."

clean:
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis .import_linter_cache demo.db demo.db[-.]* demo-archive.db demo-archive.db-*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define CHECK_PYTHON
@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || { echo "mmcrawl needs Python \
3.11 or newer, which '$(PYTHON)' is not: name another with PYTHON=/path/to/python3" >&2; exit 1; }
@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || { echo "'$(PYTHON)' has no venv: install it \
(on Debian the package python3-venv) or name another with PYTHON=/path/to/python3" >&2; exit 1; }
endef

define REQUIREMENTS
import tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
print(*project["dependencies"], *sum(project["optional-dependencies"].values(), []), sep="\n")
endef

define PINS_HEADER
# Every package that mmcrawl, its tests and its tools need, at the version they were last run with.
# Remade by `make constraints`, with the oldest Python that is supported (3.11). pip reads it as
# `pip install -c constraints.txt .`; it installs nothing by itself.
endef
export REQUIREMENTS PINS_HEADER
