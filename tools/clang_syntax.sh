#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks that clang 16 accepts every source without a warning, by reading only (no code is made).
set -euo pipefail
cd "$(dirname "$0")/.."
check() {
  # What only benchmarks include comes with `make bench`.
  case $1 in *_bench.cc) [ -e /usr/include/benchmark/benchmark.h ] || return 0 ;; esac
  clang++-16 -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Isrc -Iinclude -I. \
    -isystem build/deps/cupti/cupti13/include -isystem build/deps/cupti/cuda/include -isystem build/deps/cupti -isystem /usr/include/postgresql \
    -DGAPLESS_INJECT_FILE='""' -DGAPLESS_STANDINS='""' -DGAPLESS_STAND_IN_FOLDER='""' -DGAPLESS_CUPTI_FOLDER='""' \
    -DFMT_HEADER_ONLY -DSPDLOG_FMT_EXTERNAL -DGAPLESS_VERSION='"0"' "$1"
}
export -f check
find src tests -name '*.cc' -print0 | xargs -0 -P "$(nproc)" -I{} bash -c 'check "$1"' _ {}
