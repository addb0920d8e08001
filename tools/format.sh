#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rewrites every C++ source, and those of web/ where its tools are, in the house style; with --check only names the C++ ones that
# differ, and fails when there are any (tools/lint.sh checks web/ itself).
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -d '' -t files < <(find src include tests bench fuzz examples \( -name '*.cc' -o -name '*.h' \) -print0 2>/dev/null)
if [ "${1:-}" != --check ]; then
  printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 16 clang-format-16 -i
  [ ! -x web/node_modules/.bin/biome ] || (cd web && node_modules/.bin/biome check --write)
  exit
fi
differing=$(printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 16 clang-format-16 --dry-run 2>&1 |
  sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: warning:.*/\1/p' | sort -u)
[ -z "$differing" ] || { echo "$differing"; echo "run: make format"; exit 1; }
