#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environments that the tests of the agent run PyTorch in, from PyPI, CPU builds where there are any:
#   build/torch          the newest version supported
#   build/torch-oldest   the oldest
#   build/torch-frameworks   only where asked for: the packages of build/torch, and the frameworks that are tested on it
# usage: torch_env.sh [newest|oldest|frameworks]...   (default: newest and oldest)
# Exits with 77 and says why when one cannot be made. GAPLESS_PYTHON_NEWEST and GAPLESS_PYTHON_OLDEST choose the Pythons.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly NEWEST="torch==2.15.0" OLDEST="torch==2.0.1"

cannot() {
  echo "skipped: $1"
  exit 77
}

# The oldest torch has no wheels for newer Pythons than 3.11, and needs a numpy of its time.
python_for() { # <newest|oldest>
  local candidate
  if [ "$1" = newest ]; then
    echo "${GAPLESS_PYTHON_NEWEST:-python3}"
    return
  fi
  for candidate in "${GAPLESS_PYTHON_OLDEST:-}" python3.9 python3.10 python3.11 python3; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

# PyTorch from PyPI brings CUDA's libraries with it: 5.5 GB unpacked, and as much again while it is installed.
readonly ROOM_KB=16000000

make_one() { # <newest|oldest> <folder> <package>...
  local python output
  python=$(python_for "$1")
  [ -n "$python" ] || cannot "no Python from 3.9 to 3.11, which the oldest torch needs"
  if "$2/bin/python" -c 'import torch' 2>/dev/null; then
    echo "$2: torch $("$2/bin/python" -c 'import torch; print(torch.__version__)'), already there"
    return
  fi
  [ "$(df --output=avail . | tail -1)" -ge "$ROOM_KB" ] || cannot "less than 16 GB are free here, which PyTorch needs"
  output=$("$python" -m venv --clear "$2" 2>&1) || cannot "$2 cannot be made: $(tail -1 <<<"$output")"
  output=$("$2/bin/python" -m pip install --quiet --disable-pip-version-check "${@:3}" 2>&1) ||
    cannot "${*:3} cannot be installed: $(tail -1 <<<"$output")"
  echo "$2: torch $("$2/bin/python" -c 'import torch; print(torch.__version__)')"
}

# PyTorch itself is that of build/torch: its folder is on the path behind the one of the frameworks.
make_frameworks() {
  local folder=build/torch-frameworks
  make_one newest build/torch "$NEWEST" "numpy"
  build/torch/bin/python -m venv --clear "$folder" || cannot "$folder cannot be made"
  build/torch/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$(
    "$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
  )/torch.pth"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r tests/agent/frameworks/requirements.txt ||
    cannot "the frameworks cannot be installed"
  echo "$folder: the frameworks of tests/agent/frameworks/requirements.txt"
}

for which in "${@:-newest}" $([ $# -eq 0 ] && echo oldest); do
  case $which in
  newest) make_one newest build/torch "$NEWEST" "numpy" ;;
  oldest) make_one oldest build/torch-oldest "$OLDEST" "numpy<2" ;;
  frameworks) make_frameworks ;;
  *)
    echo "torch_env.sh: newest, oldest or frameworks, not $which" >&2
    exit 2
    ;;
  esac
done
