# make demo: verify the examples.  make test: lint, type-check and test.  Both make their environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types release-check compiled compiled-release test-compiled site clean
demo: $(VENV)/done
	mkdir -p out
	$(BIN)/python -m pt2lint --verify examples --output out/pt2lint.sarif --also-text --exit-zero
	@echo "SARIF: out/pt2lint.sarif"

test: $(VENV)/done lint types
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/done
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/done
	$(BIN)/mypy

# Wheel and sdist, checked, and the wheel run where nothing else is: no torch, no checkout.
release-check: $(VENV)/done
	rm -rf dist out/installed
	$(BIN)/python -m pip install --quiet --editable ".[release]"
	$(BIN)/python -m build .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(PYTHON) -m venv out/installed
	out/installed/bin/python -m pip install --quiet dist/*.whl
	cd out && installed/bin/pt2lint --exit-zero ../examples && installed/bin/pt2lint skill > skill.md

# A wheel for this Python and machine whose interpreter is compiled (a C compiler, a minute), in out/compiled.
compiled: $(VENV)/done
	rm -rf build out/compiled
	PT2LINT_COMPILE=1 $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir out/compiled .
	rm -rf build

# The same for all Linux machines of this kind, in dist, for an index beside the pure one; tried where nothing else is.
compiled-release: compiled
	$(BIN)/python -m pip install --quiet --editable ".[release]"
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist out/compiled/*.whl
	rm -rf out/installed
	$(PYTHON) -m venv out/installed
	out/installed/bin/python -m pip install --quiet dist/*manylinux*.whl
	cd out && installed/bin/python -c "from pt2lint.static import values; assert values.__file__.endswith('.so')"
	cd out && installed/bin/pt2lint --exit-zero ../examples

# The tests of what is compiled, compiled in place; it is all gone afterwards.
test-compiled: $(VENV)/done
	PT2LINT_COMPILE=1 $(BIN)/python setup.py --quiet build_ext --inplace
	$(BIN)/python -c "from pt2lint.static import values; assert values.__file__.endswith('.so')"
	status=0; PYTHONPATH="$(CURDIR)" $(BIN)/python -m pytest -n 2 --dist worksteal tests/static || status=$$?; \
	find build pt2lint__mypyc*.so pt2lint -name "*.so" -delete; exit $$status

# The site, in out/site; a link that leads nowhere is an error.
site: $(VENV)/done
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	$(BIN)/mkdocs build --strict

$(VENV)/done: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[verify,dev]"
# pip compiles what it copies, not what it links; the tests start pt2lint some hundred times.
	$(BIN)/python -m compileall -q pt2lint rules
	touch $@

clean:
	rm -rf $(VENV) out
