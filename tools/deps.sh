#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches and builds in parallel what a build needs besides the distribution's packages: static libraries, the bundler of the page
# of web/, the headers of CUPTI, the parser of Python. usage: deps.sh [build|test]   (what of web/ is needed)
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
names=(libraries web cupti tree-sitter)
tools/build_deps.sh >build/deps-libraries.log 2>&1 &
pids=($!)
tools/web_deps.sh "${1:-build}" >build/deps-web.log 2>&1 &
pids+=($!)
tools/cupti_headers.sh >build/deps-cupti.log 2>&1 &
pids+=($!)
tools/tree_sitter.sh >build/deps-tree-sitter.log 2>&1 &
pids+=($!)
failed=0
for i in "${!names[@]}"; do
  status=0
  wait "${pids[$i]}" || status=$?
  grep -v -E '^(Get|Hit|Ign):|^Reading|^Fetched' "build/deps-${names[$i]}.log" || true
  [ "$status" = 0 ] || failed=$status
done
exit "$failed"
