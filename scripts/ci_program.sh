#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts the program `gapless` into a folder, for a job of CI: from a wheel that is named; else from the wheel of this version's release, where
# the repository of the action has one; else built here, which takes minutes and Debian 12 or Ubuntu 24.04.
# usage: ci_program.sh FOLDER [PACKAGE]   PACKAGE: a wheel's file or address, or what pip calls a requirement
# Without PACKAGE nothing is fetched from an index of packages, where somebody else might own the name.
set -euo pipefail
sources=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
package=${2:-}

install_wheel() { # <package>
  local target
  target=$(mktemp -d)
  python3 -m pip install -q --root-user-action=ignore --disable-pip-version-check --no-deps --only-binary :all: --target "$target" "$1" &&
    install -m 755 "$target/bin/gapless" "$folder/gapless"
  local status=$?
  rm -rf "$target"
  return "$status"
}

of_release() {
  local version arch
  version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$sources/pyproject.toml")
  case ${RUNNER_ARCH:-} in X64) arch=x86_64 ;; ARM64) arch=aarch64 ;; *) return 1 ;; esac
  [ -n "$version" ] && [ -n "${GITHUB_ACTION_REPOSITORY:-}" ] &&
    echo "$GITHUB_SERVER_URL/$GITHUB_ACTION_REPOSITORY/releases/download/v$version/gapless-$version-py3-none-manylinux_2_17_$arch.whl"
}

mkdir -p "$folder"
if [ -n "$package" ]; then
  install_wheel "$package"
  exit
fi
if address=$(of_release) && install_wheel "$address"; then
  exit
fi
echo "gapless: there is no wheel of this version's release; it is built here"
make -C "$sources" packages build
cp "$sources/build/gapless" "$folder/gapless"
