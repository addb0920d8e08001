#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts beside the wheels of `make wheel` what else a release holds, into dist/: the source, the program of each wheel alone, the list of what is
# linked in, and the checksums of all.   usage: release.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
epoch=$(git log -1 --format=%ct)
pack() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -c "$@" | gzip -9n; }

for wheel in dist/gapless-"$version"-*.whl; do
  [ -e "$wheel" ] || { echo "There is no wheel of $version in dist/; \`make wheel\` builds one." >&2; exit 4; }
  arch=$(sed -E 's/.*manylinux_[0-9]+_[0-9]+_(.*)\.whl/\1/' <<<"$wheel")
  whole=$PWD/build/wheel/$arch/whole
  program=gapless-$version-linux-$arch
  pack -C "$whole/bin" gapless -C "$whole" LICENSES libgapless.so gapless.cdx.json -C "$PWD" LICENSE NOTICE README.md include/gapless \
    --transform "s,^,$program/," >"dist/$program.tar.gz"
  cp "$whole/gapless.cdx.json" dist/
done
build/wheel/venv/bin/python -c 'from setuptools import build_meta; build_meta.build_sdist("dist")' >build/wheel/sdist.log 2>&1 ||
  { tail -30 build/wheel/sdist.log >&2; exit 1; }
(cd dist && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
cat dist/SHA256SUMS
