#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets and runs each for the given number of seconds: tools/fuzz.sh 60
# Seeds come from fuzz/seeds/<target>/, words from fuzz/<target>.dict or else fuzz/json.dict, where there are such; inputs found
# useful are kept in build/fuzz/corpus/<target>/.
# A finding leaves its input in build/fuzz/findings/<target>-* and fails the command.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
cmake --preset fuzz >build/configure-fuzz.log 2>&1 || { cat build/configure-fuzz.log; exit 1; }
cmake --build --preset fuzz
mkdir -p build/fuzz/findings
failed=0
for program in build/fuzz/fuzz/fuzz_*; do
  target=${program##*/fuzz_}
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  seeds=()
  [ ! -d "fuzz/seeds/$target" ] || seeds=("fuzz/seeds/$target")
  echo "== $target: $seconds s"
  "$program" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build/fuzz/findings/$target-" -dict=fuzz/json.dict "$corpus" "${seeds[@]}" 2>&1 | tail -25 || failed=1
done
exit $failed
