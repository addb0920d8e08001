#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds dist/gapless-<version>-py3-none-manylinux_2_17_x86_64.whl: the program, the C library and the Python package for every Linux with
# glibc 2.17 or newer and every Python from 3.10 on. The compiler is zig's (PyPI: ziglang), with the symbols of that glibc and with
# libc++, so the libraries are compiled anew as well, from the distribution's sources. All of it stays below build/wheel.
# usage: build.sh [aarch64]   (`make wheel` installs the packages of the distribution first)
# With aarch64 the wheel is for that processor; the few archives that are not compiled here come from Debian's packages for it.
set -euo pipefail
cd "$(dirname "$0")/../.."
arch=${1:-$(uname -m)}
glibc=2.17
platform=manylinux_${glibc/./_}_$arch
folder=$PWD/build/wheel/$arch
zig=$folder/bin
deps=$folder/deps
python=$PWD/build/wheel/venv/bin/python
if [ "$(uname -m)" != x86_64 ]; then
  echo "Wheels are built on x86_64 so far; this machine is $(uname -m). \`make build && pip install .\` makes the package for this machine." >&2
  exit 4
fi

say() { printf '%s\n' "$*"; }

# libgcc.a, and the folder of the distribution's libre2.a.
from_distribution() {
  libgcc=$(g++ -print-libgcc-file-name)
  export DISTRIBUTION BUILT_FOR=$arch
  DISTRIBUTION=/usr/lib/$(env -u CC dpkg-architecture -qDEB_HOST_MULTIARCH)
  case $arch in
    x86_64) return ;;
    aarch64) tools/wheel/foreign.sh arm64 "$folder/distribution" libre2-dev "libgcc-$(basename "$(dirname "$libgcc")")-dev" ;;
    *) echo "Wheels are for x86_64 and aarch64, not for $arch." >&2; exit 4 ;;
  esac
  libgcc=$(echo "$folder/distribution/usr/lib/gcc/$arch-linux-gnu"/*/libgcc.a)
  DISTRIBUTION=$folder/distribution/usr/lib/$arch-linux-gnu
}

# Archives and headers of the libraries. Everything is made anew when the compiler or one of the scripts is another.
libraries() {
  local made_from
  export GAPLESS_DEPS=$deps CC=$zig/zig-cc CXX=$zig/zig-c++ AR=$zig/zig-ar CXX_FAST="-Xclang -O3 -fomit-frame-pointer"
  made_from=$(cat tools/wheel/requirements.txt "$zig"/zig-* tools/build_deps.sh - <<<"$CXX_FAST" | sha256sum)
  [ "$(cat "$deps/made_from" 2>/dev/null)" = "$made_from" ] || rm -rf "$deps"
  mkdir -p "$deps/include"
  tools/build_deps.sh simdjson isal cpp-httplib re2 sqlite3 zstd lz4 xxhash yaml >"$folder/libraries.log" 2>&1 ||
    { tail -30 "$folder/libraries.log" >&2; return 1; }
  tools/tree_sitter.sh
  headers
  echo "$made_from" >"$deps/made_from"
}

# zig does not look into /usr/include, and must not: its glibc is older than the one whose headers are there.
headers() {
  local package file name own
  own=$(env -u CC dpkg-architecture -qDEB_HOST_MULTIARCH)
  for package in libsimdjson-dev libisal-dev libzstd-dev liblz4-dev libsqlite3-dev libxxhash-dev libyaml-dev libre2-dev libcli11-dev \
    libcpp-httplib-dev libpq-dev; do
    while read -r file; do
      name=${file#/usr/include/}
      name=${name#"$own/"}
      [ -f "$file" ] || continue
      mkdir -p "$deps/include/$(dirname "$name")"
      ln -sfn "$file" "$deps/include/$name"
    done < <(dpkg -L "$package" | grep '^/usr/include/')
  done
  ln -sfn /usr/include/boost "$deps/include/boost"
}

compile() {
  cmake -S . -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/zig.cmake" \
    -DGAPLESS_ZIG="$zig" -DGAPLESS_ZIG_ARCH="$arch" -DGAPLESS_LIBGCC="$libgcc" \
    -DGAPLESS_PRECOMPILE=OFF -DBUILD_TESTING=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF -DGAPLESS_DEPS="$deps" \
    -DGAPLESS_CUPTI="$PWD/build/deps/cupti" -DGAPLESS_libpq_INCLUDE="$deps/include/postgresql" >"$folder/configure.log" 2>&1 ||
    { cat "$folder/configure.log" >&2; return 1; }
  cmake --build "$folder/build" --target gapless gapless_shared
}

# Puts the parts of the wheel into $folder/whole.
collect() {
  rm -rf "$folder/whole"
  mkdir -p "$folder/whole/bin"
  cp "$folder/build/gapless" "$folder/whole/bin/"
  cp -L "$folder/build/libgapless.so" "$folder/whole/"
  tools/wheel/licences.sh "$deps" "$python" >"$folder/whole/LICENSES"
  tools/wheel/sbom.py "$python" "$platform" >"$folder/whole/gapless.cdx.json"
  tools/wheel/check.py "$folder/whole/bin/gapless" "$folder/whole/libgapless.so" "$folder/build/libgapless_inject.so"
}

pack() {
  local made
  rm -rf "build/python-$platform" "$folder/dist"
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s) GAPLESS_WHEEL=$folder/whole GAPLESS_WHEEL_PLATFORM=$platform \
    "$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$folder/dist" . >"$folder/pack.log" 2>&1 ||
    { cat "$folder/pack.log" >&2; return 1; }
  made=("$folder"/dist/*.whl)
  "$python" -m auditwheel show "${made[0]}" >"$folder/auditwheel.txt"
  tr '\n' ' ' <"$folder/auditwheel.txt" | grep -q "following platform tag: *\"$platform\"" || { cat "$folder/auditwheel.txt" >&2; return 1; }
  mkdir -p dist
  mv "${made[0]}" dist/
  say "dist/$(basename "${made[0]}"): $(du -b --apparent-size "dist/$(basename "${made[0]}")" | awk '{ printf "%.1f MB", $1 / 1e6 }')"
}

cmp -s tools/wheel/requirements.txt build/wheel/venv/made_from || say "fetching the compiler from PyPI (101 MB)"
tools/venv.sh build/wheel/venv tools/wheel/requirements.txt
tools/wheel/zig.sh "$python" "$arch-linux-gnu.$glibc" "$zig"
tools/web_deps.sh build
tools/cupti_headers.sh
from_distribution
[ -e "$deps/made_from" ] || say "compiling the libraries, and libc++ (minutes)"
(libraries)
compile
collect
pack
