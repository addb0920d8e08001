#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs nvcc from PyPI into build/nvcc, for tests/kernel_test.py: the compiler and the headers that it needs, no CUDA driver.
# Exits with 77 and says why when it cannot be installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly VERSION="13.2.*"
cannot() {
  echo "skipped: $1"
  exit 77
}
output=$(python3 -m venv --clear build/nvcc 2>&1) || cannot "build/nvcc cannot be made: $(tail -1 <<<"$output")"
output=$(build/nvcc/bin/pip install --quiet --disable-pip-version-check "nvidia-cuda-nvcc==$VERSION" \
  "nvidia-cuda-runtime==$VERSION" "nvidia-cuda-crt==$VERSION" "nvidia-nvvm==$VERSION" nvidia-cuda-cccl 2>&1) ||
  cannot "nvcc cannot be installed: $(tail -1 <<<"$output")"
compiler=(build/nvcc/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
echo "build/nvcc: $("${compiler[0]}" --version | tail -1)"
