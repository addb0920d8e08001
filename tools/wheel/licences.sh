#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the licences of everything that is linked into the program and the library of a wheel, whole, each below a line with its name:
# licences.sh <folder of the archives> <python with ziglang>. Those of the pages are inside every report.
set -euo pipefail
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
for library in simdjson isal zstd sqlite3 xxhash yaml re2 cli11 cpp-httplib boost; do
  package=lib$library-dev
  [ "$library" != boost ] || package=$(basename "$(dirname "$(readlink -f "/usr/share/doc/lib$library-dev/copyright")")")
  one "$library" "/usr/share/doc/$package/copyright"
done
one "tree-sitter" "$deps/tree-sitter/LICENSE.core"
one "tree-sitter, tables of Unicode" "$deps/tree-sitter/LICENSE.unicode"
one "tree-sitter, grammar of Python" "$deps/tree-sitter/LICENSE.grammar"
one "libc++" "$zig/lib/libcxx/LICENSE.TXT"
one "libc++abi" "$zig/lib/libcxxabi/LICENSE.TXT"
one "libunwind" "$zig/lib/libunwind/LICENSE.TXT"
one "zig" "$zig/LICENSE"
one "glibc, of which the parts that are never shared" "$zig/lib/libc/glibc/LICENSES"
gcc=$(dirname "$(g++ -print-libgcc-file-name)")
one "libgcc" "/usr/share/doc/libgcc-$(basename "$gcc")-dev/copyright"
# The distribution's texts name these instead of holding them.
while read -r name; do
  one "$name" "$name"
done < <(grep -hoE "$common/[A-Za-z]+[-0-9.]*[0-9]" "${read_texts[@]}" | sort -u)
