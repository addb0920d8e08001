#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts beside the wheels of `make wheel` what else a release holds, into dist/: the source; for each wheel the program without Python, as an
# archive and as a package of Debian; a formula of Homebrew and a recipe of conda for these archives; the list of what is linked in; and the
# checksums of all.
# usage: release.sh [ADDRESS]   ADDRESS: where the files of a release will be, without the version: https://…/OWNER/gapless
# The man page and the completions are those that the program of `make build` wrote.
set -euo pipefail
cd "$(dirname "$0")/../.."
address=${1:-${GITHUB_REPOSITORY:+${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY}}
address=${address:-https://example.org/OWNER/gapless}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
pages=build/release/pages
[ -f "$pages/man/gapless.1" ] || { echo "The program writes its man page when it is built: \`make build\` comes first." >&2; exit 4; }

# Lays out what both the archive and the package of Debian hold, as below /usr.
lay_out() { # <arch> <folder>
  local whole=build/wheel/$1/whole to=$2 library
  library=$(readelf -d "$whole/libgapless.so" | sed -n 's/.*SONAME.*\[\(.*\)\]$/\1/p')
  rm -rf "$to"
  install -D -m 755 "$whole/bin/gapless" "$to/bin/gapless"
  install -D -m 644 "$whole/libgapless.so" "$to/lib/$library"
  ln -s "$library" "$to/lib/libgapless.so"
  install -D -m 644 -t "$to/include/gapless" include/gapless/*.h
  install -D -m 644 "$pages/man/gapless.1" "$to/share/man/man1/gapless.1"
  install -D -m 644 "$pages/completion/gapless.bash" "$to/share/bash-completion/completions/gapless"
  install -D -m 644 "$pages/completion/_gapless" "$to/share/zsh/site-functions/_gapless"
  install -D -m 644 "$pages/completion/gapless.fish" "$to/share/fish/vendor_completions.d/gapless.fish"
  install -D -m 644 -t "$to/share/doc/gapless" LICENSE NOTICE README.md "$whole/LICENSES" "$whole/gapless.cdx.json"
}

# A package for every Debian and Ubuntu: the C library stands where their linkers look.
package() { # <arch> <debian's word for it>
  local root=build/wheel/$1/deb doc
  rm -rf "$root"
  mkdir -p "$root/usr/lib/$1-linux-gnu" "$root/DEBIAN"
  cp -a "build/wheel/$1/prefix/." "$root/usr/"
  mv "$root"/usr/lib/libgapless.so* "$root/usr/lib/$1-linux-gnu/"
  mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
  gzip -9n "$root/usr/share/man/man1/gapless.1"
  doc=$root/usr/share/doc/gapless
  cat "$doc/NOTICE" "$doc/LICENSE" "$doc/LICENSES" >"$doc/copyright"
  rm "$doc/LICENSE" "$doc/LICENSES" "$doc/NOTICE"
  sed -e "s/@VERSION@/$version/; s/@ARCH@/$2/; s/@SIZE@/$(du -ks --apparent-size "$root/usr" | cut -f 1)/" \
    -e "s/@MAINTAINER@/$(git log -1 --format='%an <%ae>')/; s,@ADDRESS@,$address," packaging/debian-control.in >"$root/DEBIAN/control"
  echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
  (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group -Zxz --build "$root" "dist/gapless_${version}_$2.deb" >/dev/null
}

declare -A debian=([x86_64]=amd64 [aarch64]=arm64) sum=()
for wheel in dist/gapless-"$version"-*.whl; do
  [ -e "$wheel" ] || { echo "There is no wheel of $version in dist/; \`make wheel\` builds one." >&2; exit 4; }
  arch=$(sed -E 's/.*manylinux_[0-9]+_[0-9]+_(.*)\.whl/\1/' <<<"$wheel")
  program=gapless-$version-linux-$arch
  lay_out "$arch" "build/wheel/$arch/prefix"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --transform "s,^\.,$program," -c \
    -C "build/wheel/$arch/prefix" . | gzip -9n >"dist/$program.tar.gz"
  sum[$arch]=$(sha256sum "dist/$program.tar.gz" | cut -d ' ' -f 1)
  package "$arch" "${debian[$arch]}"
  cp "build/wheel/$arch/whole/gapless.cdx.json" dist/
done
for form in homebrew/gapless.rb conda/recipe.yaml; do
  sed "s,@VERSION@,$version,g; s,@ADDRESS@,$address,g; s,@SHA256_X86_64@,${sum[x86_64]:-none},; s,@SHA256_AARCH64@,${sum[aarch64]:-none}," \
    "packaging/$form.in" >"dist/$(basename "$form")"
done
build/wheel/venv/bin/python -c 'from setuptools import build_meta; build_meta.build_sdist("dist")' >build/wheel/sdist.log 2>&1 ||
  { tail -30 build/wheel/sdist.log >&2; exit 1; }
(cd dist && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
cat dist/SHA256SUMS
