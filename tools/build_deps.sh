#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds static archives of the libraries that the distribution ships only as shared ones (simdjson, isa-l, cpp-httplib), so
# that the program carries them, and of the one whose archive cannot be part of a shared library (re2: it has thread-local
# data). The sources are the distribution's own source packages, of the same version as the headers that are installed, fetched
# by apt from the archives this machine already uses and checked by apt with the same keys. apt runs with state of its own below
# build/deps/src, so nothing on the machine changes and no root is needed.
#
# Leaves build/deps/lib/lib{simdjson,isal,cpp-httplib,re2}.a; a library whose version is already there is not built again.
# usage: build_deps.sh [library]...   for wheels also sqlite3, zstd, lz4, xxhash and yaml, which the distribution's archives serve otherwise:
# there CC, CXX and AR are those of an older libc, CXX_FAST its options for the innermost loops, and GAPLESS_DEPS the folder. For another
# processor BUILT_FOR names it, and DISTRIBUTION the folder with the distribution's libre2.a for it.
set -euo pipefail
cd "$(dirname "$0")/.."
deps=${GAPLESS_DEPS:-$PWD/build/deps}
apt_root=$deps/src/apt
cc=${CC:-cc}
cxx=${CXX:-g++}
ar=${AR:-ar}
read -ra fast <<<"${CXX_FAST:-}"
libraries=("$@")
[ $# -gt 0 ] || libraries=(simdjson isal cpp-httplib re2)
rm -rf "$deps/src"
mkdir -p "$deps/lib" "$apt_root"/{parts,lists/partial,cache/archives/partial,log}

# The machine's own archives of this release, as source archives. Other archives (drivers, tools) are left out.
write_source_lists() {
  local release
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -n "s/^deb\(-src\)\?\([[:space:]].*[[:space:]]${release}[-/ ].*\)/deb-src\2/p" | sort -u >"$apt_root/parts/own.list"
  local file n=0
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    n=$((n + 1))
    awk -v release="$release" 'BEGIN { RS = ""; ORS = "\n\n" }
      $0 ~ "(^|\n)Suites:[^\n]*[ \t]" release "([-/ \t\n]|$)" { sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb-src"); print }' \
      "$file" | sed '/./,$!d' >"$apt_root/parts/own$n.sources"
  done
  find "$apt_root/parts" -empty -delete
}

own_apt() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt_root/parts" \
    -o Dir::State="$apt_root" -o Dir::State::Lists="$apt_root/lists" -o Dir::State::status=/var/lib/dpkg/status \
    -o Dir::Cache="$apt_root/cache" -o Dir::Log="$apt_root/log" -o APT::Sandbox::User="" "$@"
}

fetch() { # <source package> <version>: prints the unpacked folder
  if [ -z "$(ls -A "$apt_root/parts")" ]; then
    write_source_lists
    own_apt update >&2
  fi
  rm -rf "${deps:?}/src/$1"
  mkdir -p "$deps/src/$1"
  (cd "$deps/src/$1" && own_apt source --only-source "$1=$2" >&2) || {
    echo "The source of $1 $2 is not in this machine's archives; bring the -dev packages up to date (apt-get upgrade)." >&2
    exit 4
  }
  find "$deps/src/$1" -mindepth 1 -maxdepth 1 -type d
}

archive() { # <library> <object>...: the archive appears whole or not at all
  rm -f "$deps/src/lib$1.a"
  "$ar" rcs "$deps/src/lib$1.a" "${@:2}"
  mv "$deps/src/lib$1.a" "$deps/lib/"
}

build_simdjson() { # <folder>: one source file, every CPU's implementation in it, chosen at run time
  "$cxx" -std=c++17 -O3 "${fast[@]}" -DNDEBUG -fPIC -I"$1/include" -I"$1/src" -c "$1/src/simdjson.cpp" -o "$1/simdjson.o"
  archive simdjson "$1/simdjson.o"
}

build_isal() { # <folder>: inflate and the checksums it needs. Two lines for ARM are as only GNU's assembler takes them.
  sed -i 's/\(sub.*next_in, \)x_dist, uxtw/\1w_dist, uxtw/' "$1/igzip/aarch64/gen_icf_map.S"
  sed -i 's/uxtw\([[:space:]]*read_in_length\),/mov\1,/' "$1/igzip/aarch64/igzip_decode_huffman_code_block_aarch64.S"
  make -C "$1" -s -f Makefile.unx -j"$(nproc)" units="crc igzip" CC="$cc" AR="$ar" host_cpu="${BUILT_FOR:-$(uname -m)}" lib >"$deps/src/isal.log" 2>&1 ||
    { tail -30 "$deps/src/isal.log" >&2; return 1; }
  cp "$1/bin/isa-l.a" "$deps/lib/libisal.a"
}

build_cpp-httplib() { # <folder>: without TLS; the header that is installed declares what is compiled here
  python3 "$1/split.py" -o "$1/split" >/dev/null
  "$cxx" -std=c++17 -O2 -DNDEBUG -fPIC -I"$1/split" -c "$1/split/httplib.cc" -o "$1/httplib.o"
  archive cpp-httplib "$1/httplib.o"
}

build_re2() { # <folder>: the tables of characters come from the distribution's archive, its sources lack them; they are constants alone
  mkdir -p "$1/tables"
  if [ -n "${GAPLESS_RE2_TABLES:-}" ]; then
    for table in perl_groups unicode_casefold unicode_groups; do
      "$cxx" -std=c++11 -O2 -I"$1" -c "$(find "$GAPLESS_RE2_TABLES" -name $table.cc)" -o "$1/tables/$table.o"
    done
  else
    (cd "$1/tables" && ar x "${DISTRIBUTION:-/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)}/libre2.a")
  fi
  printf '%s\n' "$1"/re2/*.cc "$1"/util/{rune,strutil}.cc | sed 's/\.cc$//' | xargs -P "$(nproc)" -I{} \
    "$cxx" -std=c++11 -O2 -DNDEBUG -pthread -fPIC -I"$1" -c {}.cc -o {}.o
  archive re2 "$1"/re2/*.o "$1"/util/*.o "$1"/tables/{perl_groups,unicode_casefold,unicode_groups}.o
}

build_sqlite3() { # <folder>: one source made from many, with the options of the distribution
  local flags=()
  mapfile -t flags < <(sed -n '/^export CFLAGS += /,/VARIABLE_NUMBER/p' "$1/debian/rules" | grep -o -e '-DSQLITE[A-Z0-9_=]*')
  mkdir -p "$1/whole"
  (cd "$1/whole" && "$1/configure" --disable-tcl --disable-readline --enable-threadsafe --enable-load-extension --enable-fts4 \
    --enable-fts5 CC=cc && make sqlite3.c OPTS="${flags[*]}") >"$deps/src/sqlite3.log" 2>&1 ||
    { tail -30 "$deps/src/sqlite3.log" >&2; return 1; }
  "$cc" -O2 -DNDEBUG -fPIC -fno-strict-aliasing "${flags[@]}" -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DHAVE_USLEEP=1 \
    -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_LOCALTIME_R=1 -DHAVE_MALLOC_USABLE_SIZE=1 -DHAVE_PREAD=1 -DHAVE_PWRITE=1 \
    -DHAVE_ISNAN=1 -c "$1/whole/sqlite3.c" -o "$1/sqlite3.o"
  archive sqlite3 "$1/sqlite3.o"
}

build_zstd() { # <folder>
  find "$1"/lib/{common,compress,decompress} -name '*.c' -o -name '*.S' | sed 's/\.[cS]$/ &/' | xargs -P "$(nproc)" -n 2 \
    sh -c '"$0" -O3 -DNDEBUG -DZSTD_MULTITHREAD -fPIC -c "$1$2" -o "$1.o"' "$cc"
  archive zstd "$1"/lib/{common,compress,decompress}/*.o
}

build_lz4() { # <folder>: the form of blocks alone, not that of files
  "$cc" -O3 -DNDEBUG -fPIC -c "$1/lib/lz4.c" -o "$1/lz4.o"
  archive lz4 "$1/lz4.o"
}

build_xxhash() { # <folder>
  "$cc" -O3 -DNDEBUG -fPIC -c "$1/xxhash.c" -o "$1/xxhash.o"
  archive xxhash "$1/xxhash.o"
}

build_yaml() { # <folder>
  local version
  version=$(dpkg-query -W -f '${source:Upstream-Version}' libyaml-dev)
  printf '%s\n' "$1"/src/{api,dumper,emitter,loader,parser,reader,scanner,writer} | xargs -P "$(nproc)" -I{} \
    "$cc" -O2 -DNDEBUG -fPIC -I"$1/include" -DYAML_VERSION_MAJOR="${version%%.*}" -DYAML_VERSION_MINOR="$(cut -d. -f2 <<<"$version")" \
    -DYAML_VERSION_PATCH="$(cut -d. -f3 <<<"$version")" -DYAML_VERSION_STRING="\"$version\"" -c {}.c -o {}.o
  archive yaml "$1"/src/*.o
}

for library in "${libraries[@]}"; do
  read -r source version < <(dpkg-query -W -f '${source:Package} ${source:Version}\n' "lib$library-dev")
  stamp=$deps/lib/$library.version
  if [ -e "$deps/lib/lib$library.a" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$version" ]; then continue; fi
  echo "building lib$library.a from the distribution's source package $source $version"
  folder=$(fetch "$source" "$version")
  build_"$library" "$folder"
  echo "$version" >"$stamp"
done
rm -rf "$deps/src"
