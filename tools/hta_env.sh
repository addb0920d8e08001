#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environment build/hta with HolisticTraceAnalysis, against which tests/compat_hta_test.py and bench/beside_hta.py hold our
# interface of it, and with what our interface needs.
# usage: hta_env.sh
# Exits with 77 and says why when it cannot be made.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly PACKAGES=(traceinsight==0.6.1 pandas==3.1.1 networkx==3.6.1 plotly==7.1.0 psutil)

cannot() {
  echo "skipped: $1"
  exit 77
}

[ -x build/hta/bin/python ] && build/hta/bin/python -c "import hta, networkx, plotly" 2>/dev/null && exit
python3 -m venv build/hta || cannot "no venv of Python"
build/hta/bin/python -m pip install --quiet "${PACKAGES[@]}" >build/hta-pip.log 2>&1 || cannot "pip: $(tail -1 build/hta-pip.log)"
