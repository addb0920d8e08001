# SPDX-License-Identifier: Apache-2.0
# The commands people type. CMakePresets.json says how each build is made; packages.txt what must be installed.
#
#   make demo     install what is missing, build, and analyse the recording in samples/
#   make test     install what is missing, build, run the checks and the tests that CI runs
#   make test-all every test there is, the statistics in full, training with every case: hours
#   make build    build/gapless, the program
#   make wheel    the Python package with the program, for every Linux with glibc 2.17: dist/*.whl (ARCH=aarch64: for ARM)
#   make deps     static archives of what the distribution ships only as shared libraries; what web/ is bundled with
#   make bench    the benchmarks of bench/ and their table
#   make fuzz     every fuzz target for FUZZ_SECONDS (60) each
#   make docs     the documentation as a site, in build/site     make pictures  draw docs/pictures anew
#   make format   rewrite the sources in the house style      make lint   check them
#   make install  PREFIX (/usr/local), DESTDIR                make clean  remove build/, dist/
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
SAMPLE := samples/resnet50_v100.pt.trace.json.gz

export CMAKE_CXX_COMPILER_LAUNCHER ?= $(shell command -v ccache)

.PHONY: demo test test-all build wheel deps bench fuzz docs pictures format lint install clean packages
.DEFAULT_GOAL := build

demo: packages build
	build/gapless analyze $(SAMPLE)

packages:
	@tools/install_packages.sh build

deps:
	@tools/deps.sh build

build: deps
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release --target gapless
	@ln -f build/release/gapless build/gapless

wheel:
	@tools/install_packages.sh build wheel
	@tools/wheel/build.sh $(ARCH)

test:
	@tools/install_packages.sh build test
	@tools/test.sh

test-all:
	@tools/install_packages.sh build test
	@tools/test.sh all

bench: build
	@tools/install_packages.sh build bench
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release --target benches
	@tools/bench.sh

fuzz: deps
	@tools/install_packages.sh build fuzz
	@tools/fuzz.sh $(FUZZ_SECONDS)

docs: build
	@tools/install_packages.sh docs
	@tools/docs.sh

pictures: build
	@tools/install_packages.sh docs
	@tools/venv.sh build/docs-venv docs/requirements.txt
	@build/docs-venv/bin/python tools/pictures.py build/gapless

format:
	@tools/format.sh

lint:
	@tools/lint.sh

install: build
	@cmake --build --preset release --target gapless_shared
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build dist
