#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environment build/cluster with what the tests run gapless.cluster on: loky, and S3 as moto plays it, for
# tests/cluster_test.py and cluster_stores_test.py; with `all` also Ray, Dask and submitit, of several hundred MB, for
# tests/cluster_engines_test.py.
# usage: cluster_env.sh [all]
# Exits with 77 and says why when it cannot be made.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

packages=(loky "moto[server]" s3fs fsspec)
modules="loky, moto.server, s3fs"
if [ "${1:-}" = all ]; then
  packages+=("ray>=2.10,<3" dask distributed submitit)
  modules+=", ray, distributed, submitit"
fi

cannot() {
  echo "skipped: $1"
  exit 77
}

[ -x build/cluster/bin/python ] && build/cluster/bin/python -c "import $modules" 2>/dev/null && exit
python3 -m venv build/cluster || cannot "no venv of Python"
build/cluster/bin/python -m pip install --quiet "${packages[@]}" >build/cluster-pip.log 2>&1 || cannot "pip: $(tail -1 build/cluster-pip.log)"
