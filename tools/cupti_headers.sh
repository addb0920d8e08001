#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts the headers of CUPTI 12, CUPTI 13 and CUDA into build/deps/cupti/{cupti12,cupti13,cuda}/, from the packages that
# tools/cupti_wheels.txt pins by hash. The two libcupti beside the headers are for a test that loads them. Nothing is done when
# it is all there. Headers are the same on every processor, so the packages for x86-64 serve everywhere.
set -euo pipefail
cd "$(dirname "$0")/.."
pins=tools/cupti_wheels.txt
folder=build/deps/cupti
if cmp -s "$pins" "$folder/made_from"; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder/wheels"
echo "fetching the headers of CUPTI (26 MB) from PyPI"
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip download -q --disable-pip-version-check --retries 2 --no-deps --only-binary=:all: \
  --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux_2_25_x86_64 \
  --require-hashes -r "$pins" -d "$folder/wheels" || {
  echo "The headers of CUPTI could not be fetched from PyPI: the packages of $pins are needed once, so connect and run" \
    "\`make deps\` again, or copy a filled $folder here." >&2
  exit 4
}

take() { # <wheel> <folder inside it> <target>: its headers and libcupti
  rm -rf "$folder/unpacked"
  python3 -m zipfile -e "$folder"/wheels/"$1"-*.whl "$folder/unpacked"
  mkdir -p "$folder/$3/include"
  cp -r "$folder/unpacked/nvidia/$2/include/." "$folder/$3/include/"
  if compgen -G "$folder/unpacked/nvidia/$2/lib/libcupti.so.*" >/dev/null; then
    mkdir -p "$folder/$3/lib"
    cp "$folder/unpacked/nvidia/$2"/lib/libcupti.so.* "$folder/$3/lib/"
  fi
}

take nvidia_cuda_cupti_cu12 cuda_cupti cupti12
take nvidia_cuda_cupti cu13 cupti13
take nvidia_cuda_runtime cu13 cuda
take nvidia_cuda_crt cu13 cuda
rm -rf "$folder/unpacked" "$folder/wheels" "$folder/venv"
cp "$pins" "$folder/made_from"
