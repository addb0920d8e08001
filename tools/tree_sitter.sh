#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds build/deps/lib/libtree-sitter-python.a, the parser of Python scripts, from the sources of tree-sitter and of its grammar
# of Python, and puts the header and both licences beside it. Both sources are pinned by hash. The core is a source package for
# Python (tools/tree_sitter.txt). The grammar's package of that kind lacks src/scanner.c, so its package for Node is taken. Nothing
# is done when it is all there. For wheels GAPLESS_DEPS is another folder than build/deps, and CC and AR are others.
set -euo pipefail
cd "$(dirname "$0")/.."
pins=tools/tree_sitter.txt
grammar=tree-sitter-python@0.25.0
grammar_sha256=63b76b3fa8181fd79eaad4abcdb21e2babcb504dbfc7710a89934fa456d26096
deps=${GAPLESS_DEPS:-$PWD/build/deps}
folder=$deps/tree-sitter
made_from=$(cat "$pins" "$0" | sha256sum)
if [ -e "$deps/lib/libtree-sitter-python.a" ] && [ "$(cat "$folder/made_from" 2>/dev/null)" = "$made_from" ]; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder/src/grammar" "$deps/lib" "$deps/include/tree_sitter"
echo "building libtree-sitter-python.a from packages of PyPI and npm (1 MB)"

fetch_core() {
  python3 -m venv "$folder/venv"
  local pip=("$folder/venv/bin/python" -m pip -q --disable-pip-version-check --retries 2)
  "${pip[@]}" install --no-deps --only-binary=:all: --require-hashes -r <(grep '^setuptools' "$pins") &&
    "${pip[@]}" download --no-deps --no-binary=:all: --no-build-isolation --require-hashes -r <(grep '^tree-sitter' "$pins") \
      -d "$folder/src" && tar -xzf "$folder"/src/tree[-_]sitter-*.tar.gz -C "$folder/src"
}

fetch_grammar() {
  local packed
  packed=$(npm pack --silent --ignore-scripts --pack-destination "$folder/src" "$grammar" 2>/dev/null) &&
    echo "$grammar_sha256  $folder/src/$packed" | sha256sum --check --quiet &&
    tar -xzf "$folder/src/$packed" -C "$folder/src/grammar" --strip-components=1
}

{ fetch_core && fetch_grammar; } || {
  echo "The sources of tree-sitter could not be fetched: the packages of $pins and $grammar are needed once, so connect and run" \
    "\`make deps\` again, or copy a filled $folder and $deps/lib here." >&2
  exit 4
}

core=$(echo "$folder"/src/tree[-_]sitter-*/tree_sitter/core/lib)
flags=(-std=c11 -O2 -DNDEBUG -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -DTREE_SITTER_HIDE_SYMBOLS)
cc=${CC:-cc}
ar=${AR:-ar}
"$cc" "${flags[@]}" -D_POSIX_C_SOURCE=200112L -D_DEFAULT_SOURCE -I"$core/include" -I"$core/src" -c "$core/src/lib.c" \
  -o "$folder/src/core.o"
"$cc" "${flags[@]}" -I"$folder/src/grammar/src" -c "$folder/src/grammar/src/parser.c" -o "$folder/src/parser.o"
# src/optimize/patch/python_tree.cc stands between the parser and this function.
"$cc" "${flags[@]}" -I"$folder/src/grammar/src" -Dtree_sitter_python_external_scanner_scan=tree_sitter_python_scan \
  -c "$folder/src/grammar/src/scanner.c" -o "$folder/src/scanner.o"
rm -f "$deps/lib/libtree-sitter-python.a"
"$ar" rcs "$deps/lib/libtree-sitter-python.a" "$folder"/src/{core,parser,scanner}.o
cp "$core/include/tree_sitter/api.h" "$deps/include/tree_sitter/"
cp "$folder/src/grammar/LICENSE" "$folder/LICENSE.grammar"
cp "$folder"/src/tree[-_]sitter-*/LICENSE "$folder/LICENSE.core"
cp "$core/src/unicode/LICENSE" "$folder/LICENSE.unicode"
rm -rf "$folder/src" "$folder/venv"
echo "$made_from" >"$folder/made_from"
