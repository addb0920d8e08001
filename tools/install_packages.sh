#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing of the given sections of packages.txt: tools/install_packages.sh build test
# A tool that is there, however it came (node from elsewhere), need not come from its package. Quiet when nothing is missing. Uses sudo only when it is not run by root.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted() {
  local section
  for section in "$@"; do
    sed -n "/^\[$section\]/,/^\[/ { /^\[/d; s/#.*//; s/[[:space:]]//g; /^\$/d; p }" packages.txt
  done | sort -u
}

missing=()
for package in $(wanted "$@"); do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || command -v "$package" >/dev/null || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing; as root, run: apt-get install ${missing[*]}" >&2
    exit 4
  fi
  as_root=(sudo)
fi
echo "installing (of: $*): ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
