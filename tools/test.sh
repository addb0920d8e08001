#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs `make test` and `make test-all`. tools/test_plan.py selects the tests of each.
#   test.sh            one optimised build, the checks of the sources, the tests of a person's machine
#   CI=true test.sh    the program, made by g++, under its tests; the checks of the sources; clang's warnings of what changed
#                      lately; the rooms that read what strangers wrote made by clang 16 with the address and
#                      undefined-behaviour sanitizers, under their tests. THOROUGH=1 (the schedule) makes and tests everything
#                      so, and adds clang-tidy over every source, and line coverage of src/, which must be 85 % at least.
#                      `tools/tidy.sh` checks what a change touches.
#   test.sh all        as without, but every test there is and the statistics in full: hours
# Ends with a table of what the steps took and of the slowest tests.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
lowest_coverage=85
mkdir -p build
times=build/step-times.tsv
: >"$times"
results=()
more=()

step() { # <title> <command>...
  local start=$SECONDS
  printf '\n== %s\n' "$1"
  "${@:2}" || { printf '== FAILED: %s\n' "$1"; closing_table; exit 1; }
  printf '%s\t%d\n' "$1" $((SECONDS - start)) >>"$times"
  printf '== %s: %d s\n' "$1" $((SECONDS - start))
}

closing_table() { tools/ci_table.py "$times" build/release "${results[@]}" || true; }

configure_and_build() { # <preset> [<build option>...]; configured with the options in `more`
  cmake --preset "$1" "${more[@]}" >"build/configure-$1.log" 2>&1 || { cat "build/configure-$1.log"; return 1; }
  cmake --build --preset "$1" "${@:2}" | tail -40
}

readers() {
  configure_and_build ci --target sanitized_tests &&
    tools/clang_warnings.py build/ci build/release
}

run_tests() { # <preset> <run of test_plan.py> [<ctest option>...]
  local options
  mapfile -t options < <(tools/test_plan.py options "$2")
  results+=("build/tests-$2.xml")
  ctest --test-dir "build/$1" --output-on-failure --no-tests=error -j "$jobs" --no-label-summary \
    --output-junit "$PWD/build/tests-$2.xml" "${options[@]}" "${@:3}" | grep --line-buffered -v -E '^ *Start +[0-9]'
}

program() {
  configure_and_build release --target optimised_tests &&
    ln -f build/release/gapless build/gapless
}

everything() {
  configure_and_build release &&
    ln -f build/release/gapless build/gapless
}

# Commands that run beside the steps. `beside NAME COMMAND...` starts one, `is_done NAME` waits for the command and prints what it
# printed; its status is the command's.
declare -A running
beside() { "${@:2}" >"build/$1.log" 2>&1 & running[$1]=$!; }
is_done() {
  local status=0
  wait "${running[$1]}" || status=$?
  unset "running[$1]"
  cat "build/$1.log"
  return "$status"
}
# Runs a command that gives way to all others.
yielding() { renice -n 19 "$BASHPID" >/dev/null; "$@"; }
trap 'kill "${running[@]}" 2>/dev/null || true' EXIT

# PyTorch for the tests of collecting is fetched while the program is built. Without network or room those tests are skipped.
beside torch tools/torch_env.sh newest oldest
torch_is_there() { is_done torch || true; }
# HolisticTraceAnalysis and pandas, which the test of its interface needs, too.
beside hta tools/hta_env.sh
hta_is_there() { is_done hta || true; }

# nvcc, for the kernels that the program writes: it compiles them for one GPU in CI, for all where every test runs.
beside nvcc tools/nvcc_env.sh
nvcc_is_there() { is_done nvcc || true; }

# A pool of processes and a store that moto plays, for the tests of gapless.cluster; where every test runs, Ray, Dask and submitit.
if [ "${1:-}" = all ]; then beside cluster tools/cluster_env.sh all; else beside cluster tools/cluster_env.sh; fi
engines_are_there() { is_done cluster || true; }

step "libraries, headers and tools" tools/deps.sh test
if [ "${CI:-}" != true ] || [ "${1:-}" = all ]; then
  step "optimised build" everything
  step "checks of the sources" tools/lint.sh
  step "PyTorch for the tests" torch_is_there
  step "HolisticTraceAnalysis for the tests" hta_is_there
  step "engines for the tests" engines_are_there
  step "nvcc for the tests" nvcc_is_there
  if [ "${1:-}" = all ]; then
    GAPLESS_STATISTICS=all step "tests" run_tests release all
  else
    step "tests" run_tests release person
  fi
  closing_table
  exit
fi
more=(-DGAPLESS_TEST_SHARDS=4)
# What is released is compiled with -O3, which takes a third longer: on the schedule, and on a person's machine.
[ -n "${THOROUGH:-}" ] || more+=("-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
step "optimised program" program
more=()
with_sanitizers=sanitizers
# Tests wait for much of their time: what yields to them takes what they leave of the processors.
if [ -n "${THOROUGH:-}" ]; then
  beside lint tools/lint.sh
  step "build with clang and sanitizers" configure_and_build ci
  step "checks of the sources, what is left of them" is_done lint
  beside tidy nice -n 19 tools/tidy.sh --all
else
  with_sanitizers=ci-sanitizers
  more=(-DGAPLESS_COVERAGE=OFF)
  beside readers yielding readers
  step "checks of the sources" tools/lint.sh
fi
step "PyTorch for the tests" torch_is_there
step "HolisticTraceAnalysis for the tests" hta_is_there
step "engines for the tests" engines_are_there
step "nvcc for the tests" nvcc_is_there
# Real training on a machine of unknown load: what fails is tried once more, and both attempts are in the log.
step "tests of the optimised program" run_tests release ci-optimised --repeat until-pass:2
[ -n "${THOROUGH:-}" ] || step "readers with sanitizers, clang's warnings, what is left of them" is_done readers
step "tests with sanitizers" run_tests ci "$with_sanitizers"
if [ -n "${THOROUGH:-}" ]; then
  step "clang-tidy, what is left of it" is_done tidy
  step "coverage" tools/coverage.py build/ci "$lowest_coverage"
fi
closing_table
