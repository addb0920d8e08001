#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/venv.sh <folder> <requirements>: a virtual environment with exactly these packages; left alone when it is one already.
set -euo pipefail
"$1/bin/python" -V >/dev/null 2>&1 && cmp -s "$2" "$1/made_from" && exit
rm -rf "$1"
python3 -m venv "$1"
"$1/bin/python" -m pip install -q --disable-pip-version-check --retries 2 -r "$2"
cp "$2" "$1/made_from"
