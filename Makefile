# podsim: install, build, run, test. `make help` lists the targets.
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc)
QUICKSTART := scenarios/quickstart/llama3-70b-v5p-pod.yaml
CODE := sim topology collectives workloads scenarios tests bench
SOURCES = find $(CODE) \( -name '*.h' -o -name '*.cpp' \) -print0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: deps
deps: ## install the Debian packages that are missing (packages.txt)
	@.ci/deps build

.PHONY: build
build: deps ## build the program: build/release/podsim
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

.PHONY: run
run: build ## simulate the quick start: a training step of LLaMA 3-70B on a v5p pod
	build/release/podsim run $(QUICKSTART)

.PHONY: test
test: deps ## run every test, without sanitizers
	@.ci/deps test
	cmake --preset test
	cmake --build --preset test --parallel $(JOBS)
	ctest --preset test --parallel $(JOBS)

.PHONY: sanitize
sanitize: deps ## run the quick tests with ASan and UBSan (half an hour on 2 cores)
	@.ci/deps test
	cmake --preset sanitize
	cmake --build --preset sanitize --parallel $(JOBS)
	ctest --preset sanitize --parallel $(JOBS) --label-regex quick

.PHONY: check
check: deps ## the quick tests, in a build that a change recompiles little of
	@.ci/deps test
	cmake --preset check
	cmake --build --preset check --parallel $(JOBS)
	ctest --preset check --parallel $(JOBS) --label-regex quick

# The distribution's Python, for which its pybind11 is, and where `import podsim` is to work.
PYTHON := /usr/bin/python3
VENV ?= build/python/venv

.PHONY: python
python: deps ## pack the Python package as a wheel and install it into VENV=build/python/venv
	@.ci/deps python
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target podsim_python
	rm -rf build/python/package build/python/*.whl
	cmake --install build/release --component python --prefix build/python/package
	$(PYTHON) -m wheel pack build/python/package --dest-dir build/python
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --no-index --no-deps --force-reinstall build/python/podsim-*.whl

PREFIX ?= /usr/local
.PHONY: install
install: build ## install program, scenarios, docs and libraries into PREFIX=/usr/local
	cmake --build build/release --target podsim_manual
	cmake --install build/release --prefix $(PREFIX)

.PHONY: package
package: build ## make Debian packages: build/package/*.deb
	cmake --build build/release --target podsim_manual
	cpack --config build/release/CPackConfig.cmake -G DEB -B build/package

.PHONY: reproducible
reproducible: deps ## build the program twice, in different folders, and compare the bytes
	tests/supply/reproducible.sh

SECONDS ?= 60
.PHONY: fuzz
fuzz: deps ## run each fuzz target (tests/fuzz) for SECONDS=60, with clang's sanitizers
	@.ci/deps style
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS)
	tests/fuzz/run.sh build/fuzz $(SECONDS)

HOUR ?= 3600
.PHONY: soak
soak: build ## end commands at 200 random instants, kill 100 sweeps; then scenarios at random for HOUR=3600 seconds
	@.ci/deps test
	tests/soak/soak.py build/release/podsim . --instants 200 --kills 100 --strict
	tests/soak/properties.py build/release/podsim --seconds $(HOUR) --keep build/soak

.PHONY: readme
readme: build ## write the output of the quick start into README.md
	tests/house/update_docs.sh build/release/podsim

.PHONY: bench
bench: deps ## run the benchmarks (10 minutes) and show them in docs/performance.md
	@.ci/deps bench
	cmake --preset bench
	cmake --build --preset bench --parallel $(JOBS)
	build/bench/podsim_bench --benchmark_out=build/bench/results.json \
	    --benchmark_out_format=json --benchmark_min_time=0.2
	bench/performance.py keep build/bench/results.json
	$(MAKE) bench-docs

.PHONY: bench-docs
bench-docs: ## write bench/results.json into docs/performance.md, with plots
	@.ci/deps build bench
	bench/performance.py tables
	bench/performance.py plots

.PHONY: format
format: ## format all C++ files in place
	@.ci/deps build style
	$(SOURCES) | xargs -0 clang-format -i

.PHONY: format-check
format-check: ## fail where make format would change a file
	@.ci/deps build style
	$(SOURCES) | xargs -0 clang-format --dry-run -Werror

.PHONY: lint
lint: ## build the program with clang, run clang-tidy on its code; warnings are errors
	@.ci/deps build style
	cmake --preset clang
	cmake --build --preset clang --parallel $(JOBS)
	.ci/units build/clang | xargs -d '\n' -P $(JOBS) -n 1 clang-tidy -p build/clang --quiet

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build
