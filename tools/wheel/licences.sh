#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the licences of everything that is linked into the program and the library of a wheel, whole, each below a line with its name:
# licences.sh <folder of the archives> <python with ziglang>
set -euo pipefail
cd "$(dirname "$0")/../.."
deps=$1
common=/usr/share/common-licenses
read_texts=()
zig=$("$2" -c 'import ziglang, pathlib; print(pathlib.Path(ziglang.__file__).parent)')

one() { # <name> <file>
  [ -s "$2" ] || { echo "The licence of $1 is missing: $2" >&2; exit 1; }
  printf '%s\n%s\n\n' "$1" "${1//?/=}"
  cat "$2"
  printf '\n\n'
  read_texts+=("$2")
}

echo "Code of these libraries is in the program gapless and in libgapless.so of this package. The licence of gapless is in LICENSE."
printf '\n\n'
while read -r name _ package; do
  [ "$name" = boost ] || one "$name" "/usr/share/doc/$package/copyright"
done < <(grep -v '^#' tools/wheel/parts.txt)
# libboost-dev itself is empty, and what holds the headers lists the holders of each file of Boost, in 2 MB: the licence is what we need.
text=$(mktemp)
trap 'rm -f "$text"' EXIT
awk 'BEGIN { RS = "" } /^License: BSL-1.0\n/' \
  "/usr/share/doc/$(dpkg -S /usr/include/boost/version.hpp | cut -d: -f1)/copyright" >"$text"
one boost "$text"
one "tree-sitter" "$deps/tree-sitter/LICENSE.core"
one "tree-sitter, tables of Unicode" "$deps/tree-sitter/LICENSE.unicode"
one "tree-sitter, grammar of Python" "$deps/tree-sitter/LICENSE.grammar"
one "libc++" "$zig/lib/libcxx/LICENSE.TXT"
one "libc++abi" "$zig/lib/libcxxabi/LICENSE.TXT"
one "libunwind" "$zig/lib/libunwind/LICENSE.TXT"
one "zig" "$zig/LICENSE"
one "glibc, of which the parts that are never shared" "$zig/lib/libc/glibc/LICENSES"
# The page of reports, bundled into the program; each report carries these as well.
for name in echarts zrender tslib preact @tanstack/table-core; do
  for file in "web/node_modules/$name"/{LICENSE,LICENSE.txt,NOTICE}; do
    [ ! -e "$file" ] || one "$name, $(basename "$file")" "$file"
  done
  [ -n "$(compgen -G "web/node_modules/$name/LICENSE*")" ] || { echo "$name has no licence file" >&2; exit 1; }
done
gcc=$(dirname "$(g++ -print-libgcc-file-name)")
one "libgcc" "/usr/share/doc/libgcc-$(basename "$gcc")-dev/copyright"
# The distribution's texts name these instead of holding them.
while read -r name; do
  one "$name" "$name"
done < <(grep -hoE "$common/[A-Za-z]+[-0-9.]*[0-9]" "${read_texts[@]}" | sort -u)
