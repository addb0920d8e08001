#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Cross-compiles the library that reads recordings for macOS on ARM: build/wheel/macos/libgapless.dylib, with which `gapless.open()` of
# the Python package works there. It is compiled and linked here by zig; nobody has run it. The program itself starts and watches
# processes by calls of Linux and is not part of it. The libraries come from the distribution's sources, as those of the wheels do;
# the tables of characters that RE2's lack come from the npm package re2.
# usage: macos.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
target=aarch64-macos.11.0
folder=$PWD/build/wheel/macos
zig=$folder/bin
deps=$folder/deps
python=$PWD/build/wheel/venv/bin/python
re2_tables=re2@1.18.0

# The tables are constants of RE2; this release has those of the distribution's version.
tables() {
  [ -d "$folder/tables/package" ] && return
  mkdir -p "$folder/tables"
  (cd "$folder/tables" && npm pack --silent "$re2_tables" >/dev/null && tar xzf re2-*.tgz)
}

libraries() {
  export GAPLESS_DEPS=$deps CC=$zig/zig-cc CXX=$zig/zig-c++ AR=$zig/zig-ar BUILT_FOR=base_aliases GAPLESS_RE2_TABLES=$folder/tables/package/vendor/re2
  mkdir -p "$deps/include"
  tools/build_deps.sh simdjson isal re2 sqlite3 zstd lz4 xxhash >"$folder/libraries.log" 2>&1 ||
    { tail -30 "$folder/libraries.log" >&2; return 1; }
}

# The distribution's headers, without those of its libc.
headers() {
  local package file name
  for package in libsimdjson-dev libisal-dev libzstd-dev liblz4-dev libsqlite3-dev libxxhash-dev libre2-dev libpq-dev; do
    while read -r file; do
      name=${file#/usr/include/}
      [ -f "$file" ] || continue
      mkdir -p "$deps/include/$(dirname "$name")"
      ln -sfn "$file" "$deps/include/$name"
    done < <(dpkg -L "$package" | grep '^/usr/include/')
  done
  ln -sfn /usr/include/boost "$deps/include/boost"
}

check() {
  "$python" - "$folder/libgapless.dylib" <<'EOF'
import struct, sys

data = open(sys.argv[1], "rb").read()
magic, processor = struct.unpack_from("<Ii", data)
assert (magic, processor) == (0xFEEDFACF, 0x0100000C), "not a library of macOS on ARM"
wanted = (b"_gapless_open", b"_gapless_query", b"_gapless_table_export", b"_gapless_render")
missing = [name for name in wanted if name + b"\0" not in data]
assert not missing, f"{missing} are not in it"
print(f"{sys.argv[1]}: {len(data) / 1e6:.1f} MB, for macOS 11 on ARM; compiled and linked, not run")
EOF
}

tools/venv.sh build/wheel/venv tools/wheel/requirements.txt
tools/wheel/zig.sh "$python" "$target" "$zig"
tools/web_deps.sh build
tables
(libraries)
headers
cmake -S . -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/macos.cmake" \
  -DGAPLESS_ZIG="$zig" -DGAPLESS_PRECOMPILE=OFF -DBUILD_TESTING=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF \
  -DGAPLESS_DEPS="$deps" -DGAPLESS_libpq_INCLUDE="$deps/include/postgresql" >"$folder/configure.log" 2>&1 ||
  { cat "$folder/configure.log" >&2; exit 1; }
cmake --build "$folder/build" --target gapless_shared
cp -L "$folder/build/libgapless.dylib" "$folder/"
check
