#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows that nothing is needed beyond what is promised. Run as root: tools/try_fresh.sh [ci] [demo] [test] [bare]
#   ci           in a fresh minimal Debian with git: clone this repository, `.ci/run`
#   demo, test   the same with make installed: `make demo`, `make test`
#   bare         in an empty Debian: only the program that `demo` built and the sample; shows what it is linked to
# The archives are those this machine's apt uses. The installations are made below TRY_FRESH (default: a temporary folder),
# and removed at the end unless KEEP=1. With WORKTREE=1 the files as they are now are taken, instead of the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."
source_folder=$PWD
[ "$(id -u)" = 0 ] || { echo "debootstrap and chroot need root" >&2; exit 4; }
command -v debootstrap >/dev/null || tools/install_packages.sh chroot
work=${TRY_FRESH:-$(mktemp -d)}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
what="${*:-demo test bare}"

mirror() { # the first archive of this release that apt knows
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' "Created-By: Packages" 2>/dev/null |
    awk -v release="$release" '$2 == release { print $1; exit }'
}

make_root() { # <folder> <debootstrap option>...
  [ ! -e "$1/etc/os-release" ] || return 0
  local keyring
  keyring=/usr/share/keyrings/$(. /etc/os-release && echo "$ID")-archive-keyring.gpg
  echo "== an installation of $release with nothing in it: $1"
  debootstrap --variant=minbase --keyring="$keyring" "${@:2}" "$release" "$1" "$(mirror)" >"$1.log" 2>&1 ||
    { tail -20 "$1.log"; return 1; }
  # the same archives as here, and the same way to reach them
  rm -f "$1"/etc/apt/sources.list
  cp -r /etc/apt/sources.list* "$1/etc/apt/"
  grep -lZ Acquire /etc/apt/apt.conf.d/* | xargs -0 -r cp -t "$1/etc/apt/apt.conf.d/"
  find "$1/etc/apt/sources.list.d" -type f -print0 | xargs -0 -r grep -LZ -E "[[:space:]]$release([-/[:space:]]|\$)" | xargs -0 -r rm
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  cp /etc/hosts "$1/etc/hosts"
  cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/as_here.crt"
}

with_mounts() { # <folder> <command>
  mount -t proc proc "$1/proc" 2>/dev/null || mount --bind /proc "$1/proc" 2>/dev/null || true
  mount --bind /dev "$1/dev" 2>/dev/null || true
  mount --bind /dev/pts "$1/dev/pts" 2>/dev/null || true
  local status=0
  env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    "${reach[@]}" chroot "$1" /bin/bash -c "$2" || status=$?
  umount "$1/dev/pts" "$1/dev" "$1/proc" 2>/dev/null || true
  return $status
}

# Whom this machine trusts, which may be more than the distribution does.
reach=()
for name in NODE_EXTRA_CA_CERTS PIP_CERT SSL_CERT_FILE; do
  [ -z "${!name:-}" ] || reach+=("$name=/etc/ssl/as_here.crt")
done
for name in http_proxy https_proxy no_proxy; do
  [ -z "${!name:-}" ] || reach+=("$name=${!name}")
done

copy_source() { # <folder>
  rm -rf "$1/src/gapless"
  mkdir -p "$1/src"
  if [ "${WORKTREE:-}" = 1 ]; then
    mkdir "$1/src/gapless"
    git ls-files -co --exclude-standard -z | tar --null -T - -cf - | tar -xf - -C "$1/src/gapless"
    git -C "$1/src/gapless" init -q
  else
    git clone -q "$source_folder" "$1/src/gapless"
  fi
}

clean() {
  if [ "${KEEP:-}" != 1 ]; then rm -rf --one-file-system "$work"; fi
}
trap clean EXIT
mkdir -p "$work"

if [ "$what" != bare ]; then
  make_root "$work/fresh" --include=git,ca-certificates
  copy_source "$work/fresh"
  prepare="cd /src/gapless && git config --global --add safe.directory /src/gapless"
  if [[ " $what " == *" ci "* ]]; then
    echo "== .ci/run"
    with_mounts "$work/fresh" "$prepare && .ci/run"
  fi
  for target in demo test; do
    [[ " $what " == *" $target "* ]] || continue
    echo "== make $target"
    with_mounts "$work/fresh" "$prepare && { command -v make || { apt-get update && apt-get install -y make; } >/dev/null; } &&
      make $target"
  done
fi
if [[ " $what " == *" bare "* ]]; then
  make_root "$work/bare"
  program=$work/fresh/src/gapless/build/release/gapless
  [ -x "$program" ] || program=$source_folder/build/gapless
  cp "$program" "$work/bare/usr/local/bin/gapless"
  cp samples/*.json.gz "$work/bare/root/"
  echo "== the program alone"
  with_mounts "$work/bare" 'ldd /usr/local/bin/gapless; cd /root && gapless analyze *.json.gz'
fi
