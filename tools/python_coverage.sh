#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Line coverage of the Python package, the agent included: its tests with PyTorch once more, with every Python that they start counting
# lines, also those that gapless starts. Exits 1 below LOWEST_PERCENT (85).
# usage: python_coverage.sh PROGRAM [LOWEST_PERCENT]
set -euo pipefail
program=$(realpath "$1") lowest=${2:-85}
cd "$(dirname "$0")/.."
folder=$PWD/build/python-coverage
python=$PWD/build/torch/bin/python
tools/torch_env.sh newest
rm -rf "$folder" && mkdir -p "$folder/data"
"$python" -m pip install --quiet --disable-pip-version-check --target "$folder/lib" "coverage==7.10.7"

# The agent is unpacked into a folder of each run; all of them are the one in the repository.
cat >"$folder/rc" <<RC
[run]
data_file = $folder/data/lines
parallel = true
sigterm = true
include = */gapless_agent/*, $PWD/python/gapless/*
[paths]
agent =
    $PWD/python/gapless/agent/gapless_agent
    */gapless_agent
[report]
precision = 1
skip_covered = true
show_missing = true
exclude_also =
    if TYPE_CHECKING:
RC
# Counting begins with the interpreter, before the agent is there; what tests say of tracebacks and profilers may then differ, so that
# a failing test does not stop this.
site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
starts=$site/gapless_python_coverage.pth
trap 'rm -f "$starts"' EXIT
echo "import sys; sys.path.append('$folder/lib'); import coverage; import os; os.environ.setdefault('COVERAGE_PROCESS_START', '$folder/rc'); coverage.process_startup()" >"$starts"

failed=()
for test in "agent_test.py --torch newest" "collect_test.py" "collect_findings_test.py" "validate_api_test.py --torch newest"; do
  read -ra words <<<"$test"
  python3 "tests/${words[0]}" "$program" "${words[@]:1}" >"$folder/${words[0]}.log" 2>&1 || failed+=("${words[0]}")
done
echo "failed while lines were counted: ${failed[*]:-none} (logs in ${folder#"$PWD/"})"
export PYTHONPATH=$folder/lib
"$python" -m coverage combine --quiet --rcfile "$folder/rc" "$folder/data"
# A file that nothing ran counts, too.
"$python" - "$folder/data/lines" python/gapless <<'PY'
import sys
from pathlib import Path

from coverage import CoverageData

data = CoverageData(sys.argv[1])
data.read()
data.touch_files([str(path) for path in Path(sys.argv[2]).resolve().rglob("*.py")], "")
data.write()
PY
"$python" -m coverage report --rcfile "$folder/rc" --fail-under "$lowest"
