#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks packages of the distribution for another processor into a folder; nothing on the machine changes:
# foreign.sh <arm64> <folder> <package>...   Nothing is done when they are there.
set -euo pipefail
arch=$1 folder=$2
shift 2
stamp=$folder/unpacked
[ "$(cat "$stamp" 2>/dev/null)" != "$*" ] || exit 0
apt_root=$(mktemp -d)
trap 'rm -rf "$apt_root"' EXIT
mkdir -p "$apt_root"/{lists/partial,cache/archives/partial,log,parts,got} "$folder"
: >"$apt_root/status"
# The machine's own archives of this release; others (drivers, tools) are left out.
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
cp /etc/apt/sources.list "$apt_root/parts/own.list" 2>/dev/null || true
for file in /etc/apt/sources.list.d/*; do
  if [ -e "$file" ] && grep -q "[ \t]$release\([-/ ]\|$\)" "$file"; then cp "$file" "$apt_root/parts/"; fi
done
own_apt() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt_root/parts" -o Dir::State="$apt_root" \
    -o Dir::State::Lists="$apt_root/lists" -o Dir::State::status="$apt_root/status" -o Dir::Cache="$apt_root/cache" \
    -o Dir::Log="$apt_root/log" -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User="" "$@"
}
own_apt update >&2
(cd "$apt_root/got" && own_apt download "$@" >&2)
for file in "$apt_root"/got/*.deb; do dpkg-deb -x "$file" "$folder"; done
echo "$*" >"$stamp"
