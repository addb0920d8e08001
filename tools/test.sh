#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `make test` runs. Without CI: the checks of the sources, one optimised build, every test.
# With CI=true: the checks; the optimised program, made by g++, under the end-to-end tests; everything once more made by
# clang 16 with the address and undefined-behaviour sanitizers and coverage, every test; clang-tidy over what changed; line
# coverage of src/, which must be 85 % at least. TIDY=all takes every source instead (the schedule does),
# TIDY_SINCE=REVISION what changed since then.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
lowest_coverage=85
mkdir -p build

step() { # <title> <command>...
  local start=$SECONDS
  printf '\n== %s\n' "$1"
  "${@:2}" || { printf '== FAILED: %s\n' "$1"; exit 1; }
  printf '== %s: %d s\n' "$1" $((SECONDS - start))
}

configure_and_build() { # <preset> [<build option>...]
  cmake --preset "$1" >"build/configure-$1.log" 2>&1 || { cat "build/configure-$1.log"; return 1; }
  cmake --build --preset "$1" "${@:2}" | tail -40
}

run_tests() { # <preset> [<ctest option>...]
  ctest --test-dir "build/$1" --output-on-failure --no-tests=error -j "$jobs" "${@:2}" | grep --line-buffered -v -E '^ *Start +[0-9]'
}

program() {
  configure_and_build release --target gapless validate_probe predict_probe patch_probe
  ln -f build/release/gapless build/gapless
}

# PyTorch for the tests of collecting is fetched while the program is built. Without network or room those tests are skipped.
mkdir -p build
tools/torch_env.sh newest oldest >build/torch.log 2>&1 &
torch=$!
torch_is_there() {
  wait "$torch" || true
  cat build/torch.log
}

step "static libraries" tools/build_deps.sh
step "tools of web/" tools/web_deps.sh test
step "headers of CUPTI" tools/cupti_headers.sh
if [ "${CI:-}" != true ]; then
  step "optimised build" configure_and_build release
  ln -f build/release/gapless build/gapless
  step "checks of the sources" tools/lint.sh
  step "PyTorch for the tests" torch_is_there
  step "tests" run_tests release
  exit
fi
step "optimised program" program
step "checks of the sources" tools/lint.sh
step "build with clang, sanitizers and coverage" configure_and_build ci
step "clang-tidy" tools/tidy.sh build/ci "--${TIDY:-changed}" "${TIDY_SINCE:-}"
step "PyTorch for the tests" torch_is_there
# Real training on a machine of unknown load: what fails is tried once more, and both attempts are in the log.
step "end-to-end tests of the optimised program" run_tests release -E '^test_' --repeat until-pass:2
# Values are compared with the corpus, statistics simulated, processes killed by the thousand and commands run by the hundred with the
# optimised program; with sanitizers that would take ten to twenty times as long.
step "tests with sanitizers" run_tests ci -E "change points and gate|history in a crash|command line|bench, compare, bisect|whole: trend|example that records|continuous integration|workflows|control of the gate|oracle counts|independent answers|json schema|tensorboard's answers|rankings|html report|in a browser|converted and read back|commands in the docs|recorded options|agent, |python measures|real training|examples|python, four steps|replays|patches|pictures|simulated programs|advice"
step "coverage" tools/coverage.py build/ci "$lowest_coverage"
