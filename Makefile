# podsim: install, build, run, test. `make help` lists the targets.
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc)
export JOBS
QUICKSTART := scenarios/quickstart/llama3-70b-v5p-pod.yaml
# Tests need the packages of all targets, since they try them.
TESTS := program pages tests python mpi bench
CODE := sim topology collectives workloads scenarios tests bench
SOURCES = find $(CODE) \( -name '*.h' -o -name '*.cpp' \) -print0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

.PHONY: deps
deps: ## install the missing Debian packages of the program (packages.txt)
	@.ci/deps program

# Processor seconds of a fresh build, from which the duration is announced.
BUILD_SECONDS := 350
TEST_SECONDS := 1000
minutes = about $(shell expr \( $(1) / $(JOBS) + 59 \) / 60) minutes with $(JOBS) jobs

.PHONY: build
build: ## build the program: build/release/podsim
	@.ci/deps --then "the build then takes $(call minutes,$(BUILD_SECONDS))" program
	@.ci/build release

.PHONY: run
run: build ## simulate the quick start: a training step of LLaMA 3-70B on a v5p pod
	build/release/podsim run $(QUICKSTART)

.PHONY: test
test: ## run every test, without sanitizers
	@.ci/deps --then "to build and run the tests then takes $(call minutes,$(TEST_SECONDS))" $(TESTS)
	@.ci/build test
	ctest --preset test --parallel $(JOBS)

.PHONY: sanitize
sanitize: ## run the quick tests with ASan and UBSan (half an hour on 2 cores)
	@.ci/deps $(TESTS)
	@.ci/build sanitize
	ctest --preset sanitize --parallel $(JOBS) --label-regex quick

.PHONY: check
check: ## run the quick tests, in a build that recompiles little after a change
	@.ci/deps $(TESTS)
	@.ci/build check
	ctest --preset check --parallel $(JOBS) --label-regex quick

# The distribution's Python: its pybind11 is for it, and `import podsim` has to work there.
PYTHON := /usr/bin/python3
VENV ?= build/python/venv

.PHONY: wheel
wheel: ## pack the Python package: build/python/podsim-*.whl
	@.ci/deps program python
	@.ci/build python podsim_python
	rm -rf build/python/package build/python/*.whl
	cmake --install build/python --component python --prefix build/python/package
	$(PYTHON) -m wheel pack build/python/package --dest-dir build/python

.PHONY: python
python: wheel ## install the Python package into a virtual environment, VENV=build/python/venv
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --no-index --no-deps --force-reinstall build/python/podsim-*.whl

.PHONY: mpi
mpi: ## build the module that `mpirun podsim sweep` loads, beside the program
	@.ci/deps program mpi
	@.ci/build release --with PODSIM_MPI=ON

.PHONY: pages
pages: ## make the bundle of the pages' libraries anew, from its lock file: scenarios/src/report/bundle
	@.ci/deps pages
	mkdir -p build/pages
	cp scenarios/src/report/web/package.json scenarios/src/report/web/package-lock.json build/pages
	cd build/pages && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund
	node scenarios/src/report/web/build.mjs build/pages/node_modules scenarios/src/report/bundle

PREFIX ?= /usr/local
.PHONY: install
install: build ## install program, scenarios, docs and libraries into PREFIX=/usr/local
	@.ci/build release podsim_manual
	cmake --install build/release --prefix $(PREFIX)

.PHONY: package
package: build ## make Debian packages: build/package/*.deb
	@.ci/deps release
	@.ci/build release podsim_manual
	cpack --config build/release/CPackConfig.cmake -G DEB -B build/package

.PHONY: release
release: ## make the downloads of users in build/dist: an archive, a Debian package, a wheel, checksums
	@.ci/deps program python release
	@.ci/release

.PHONY: reproducible
reproducible: ## make a release twice, in different folders, and compare the bytes
	@.ci/deps program python release
	tests/supply/reproducible.sh

SECONDS ?= 60
.PHONY: fuzz
fuzz: ## run each fuzz target (tests/fuzz) for SECONDS=60, with clang's sanitizers
	@.ci/deps program style
	@.ci/build fuzz
	tests/fuzz/run.sh build/fuzz $(SECONDS)

HOUR ?= 3600
.PHONY: soak
soak: build ## end commands at 200 random instants, kill 100 sweeps; then run random scenarios for HOUR=3600 seconds
	@.ci/deps tests
	tests/soak/soak.py build/release/podsim . --instants 200 --kills 100 --strict
	tests/soak/properties.py build/release/podsim --seconds $(HOUR) --keep build/soak

PAIRS ?= 2000
MODULES ?= 1000000
.PHONY: properties
properties: build ## run properties at full size: PAIRS=2000 random steps on faster hardware, ledgers, traces, HLO modules
	@.ci/deps $(TESTS)
	tests/soak/faster.py build/release/podsim --pairs $(PAIRS) --jobs $(JOBS)
	.ci/build test scenarios_tests workloads_tests house_tests
	PODSIM_WHOLE_PAGES=1 build/test/tests/house_tests --gtest_filter='*/calibrate'
	PODSIM_STEPS=50 build/test/tests/scenarios_tests --gtest_filter='LedgerOfSteps.EachTerm*'
	PODSIM_STEPS=500 build/test/tests/scenarios_tests --gtest_filter='LedgerOfSteps.TermsAddUp*'
	PODSIM_MODULES=$(MODULES) build/test/tests/workloads_tests --gtest_filter='MadeModules.*'
	PODSIM_WHOLE_LIBRARY=1 build/test/tests/scenarios_tests --gtest_filter='*LibraryTraces*'

.PHONY: readme
readme: build ## write what the program prints into the marked blocks of docs/ and scenarios/book
	tests/house/update_docs.sh build/release/podsim

.PHONY: bench
bench: ## run the benchmarks (10 minutes) and show them in docs/performance.md
	@.ci/deps program bench plots
	@.ci/build bench
	build/bench/podsim_bench --benchmark_out=build/bench/results.json \
	    --benchmark_out_format=json --benchmark_min_time=0.2
	bench/performance.py keep build/bench/results.json
	$(MAKE) bench-docs

.PHONY: bench-docs
bench-docs: ## write bench/results.json into docs/performance.md, with plots
	@.ci/deps bench plots
	bench/performance.py tables
	bench/performance.py plots

.PHONY: format
format: ## format all C++ files in place
	@.ci/deps style
	$(SOURCES) | xargs -0 clang-format -i

.PHONY: format-check
format-check: ## fail if make format would change a file
	@.ci/deps style
	$(SOURCES) | xargs -0 clang-format --dry-run -Werror

.PHONY: lint
lint: ## build the program with clang, run clang-tidy on its code; warnings are errors
	@.ci/deps program style
	@.ci/build clang
	.ci/units build/clang | xargs -d '\n' -P $(JOBS) -n 1 clang-tidy -p build/clang --quiet

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build
