#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes wrappers of zig's compiler and archiver for a target into a folder: zig.sh <python with ziglang> <target> <folder>
# -g0: zig adds debug information unless it is told not to.
set -euo pipefail
python=$(realpath -s "$1")
cache=$(realpath -s -m "$3/../../cache")
mkdir -p "$3" "$cache"
for tool in "cc:-target $2 -g0" "c++:-target $2 -g0" ar: ranlib:; do
  words=${tool#*:}
  printf '#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="%s" ZIG_LOCAL_CACHE_DIR="%s"\nexec "%s" -m ziglang %s%s "$@"\n' \
    "$cache" "$cache" "$python" "${tool%%:*}" "${words:+ $words}" >"$3/zig-${tool%%:*}.new"
  chmod +x "$3/zig-${tool%%:*}.new"
  if cmp -s "$3/zig-${tool%%:*}.new" "$3/zig-${tool%%:*}"; then rm "$3/zig-${tool%%:*}.new"; else mv "$3/zig-${tool%%:*}.new" "$3/zig-${tool%%:*}"; fi
done
