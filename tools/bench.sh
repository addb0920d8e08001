#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark program that was built, then bench/run, which makes its input and prints the table, where there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in build/release/bench/*_bench; do
  [ -x "$program" ] || continue
  echo "== ${program##*/}"
  "$program"
done
if [ -x bench/run ]; then bench/run build/release; fi
