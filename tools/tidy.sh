#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over sources: tools/tidy.sh [--all | --changed [REVISION]]
# --changed takes what differs from REVISION, or from the point where this branch left origin/main, or from the last commit
# but one on main itself; a changed header brings the first source that includes it. The schedule takes all.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:---changed}

base() { # <revision, may be unknown>
  local fork
  if git rev-parse --verify -q "${1:-}^{commit}"; then return; fi
  fork=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -n "$fork" ] && [ "$fork" != "$(git rev-parse HEAD)" ]; then
    echo "$fork"
  else
    git rev-parse --verify -q HEAD~1 || git hash-object -t tree /dev/null
  fi
}

changed() {
  local names header
  names=$(git diff --name-only --diff-filter=d "$(base "${1:-}")" -- src include fuzz bench tests; git ls-files -o --exclude-standard src)
  grep '\.cc$' <<<"$names" || true
  for header in $(grep -E '^(src|include)/.*\.h$' <<<"$names" || true); do
    grep -rl --include='*.cc' "#include \"${header#*/}\"" src | grep -v _test | sort | sed -n 1p || true
  done
}

if [ "$mode" = --all ]; then
  files=$(find src -name '*.cc')
else
  files=$(changed "${2:-}" | sort -u)
fi
# Tests are left to the compiler: the checks mostly find faults of the test macros there.
files=$(grep -v -E '_test\.cc$|_bench\.cc$' <<<"$files" | grep '^src/' || true)
[ -n "$files" ] || { echo "tidy: nothing changed"; exit 0; }
echo "tidy: $(wc -l <<<"$files") files"
# Configures as if CI had not compiled the sources in batches.
build=build/tidy
mkdir -p build
cmake --preset ci -B "$build" -DGAPLESS_UNITY=OFF -DGAPLESS_PRECOMPILE=OFF >build/configure-tidy.log 2>&1 ||
  { cat build/configure-tidy.log; exit 1; }
xargs -d '\n' -P "$(nproc)" -n 2 clang-tidy-16 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option \
  <<<"$files" 2> >(grep -v -E 'warnings? (and [0-9]+ errors? )?generated|^Suppressed|header-filter' >&2)
