#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environment build/cluster with the engines and stores on which tests/cluster_test.py and tests/cluster_engines_test.py
# run gapless.cluster: Ray, Dask, submitit, loky, and S3 as moto plays it.
# usage: cluster_env.sh
# Exits with 77 and says why when it cannot be made.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly PACKAGES=("ray>=2.10,<3" dask distributed submitit loky "moto[server]" s3fs fsspec)

cannot() {
  echo "skipped: $1"
  exit 77
}

[ -x build/cluster/bin/python ] && build/cluster/bin/python -c "import ray, distributed, submitit, loky, moto.server, s3fs" 2>/dev/null && exit
python3 -m venv build/cluster || cannot "no venv of Python"
build/cluster/bin/python -m pip install --quiet "${PACKAGES[@]}" >build/cluster-pip.log 2>&1 || cannot "pip: $(tail -1 build/cluster-pip.log)"
