# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for what a GPU's vendor provides, so that tools/gpu_check can be tried without a GPU."""

from __future__ import annotations

import os
from pathlib import Path

from gpu_parts.session import ROOT

NSIGHT = ROOT / "tests" / "standins" / "nsight.py"


def environment(program: Path, work: Path) -> tuple[dict[str, str], list[str]]:
    """The variables that put the stand-ins before the real ones, and a line for each that is there or not."""
    tools = work / "tools"
    tools.mkdir()
    for name in ("nsys", "ncu"):
        (tools / name).symlink_to(NSIGHT)
    variables = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "GAPLESS_STANDIN_KEPT": str(work / "nsight.log"),
        "OMP_NUM_THREADS": "1",  # threads of PyTorch that wait for each other take minutes where others use the processors
    }
    notes = ["  nsys, ncu: tests/standins/nsight.py, whose reports are those of tests/data"]
    built = [program.parent / "standins", ROOT / "build" / "release" / "standins"]
    nvml = next((folder for folder in built if (folder / "libnvidia-ml.so.1").exists()), None)
    if nvml is None:
        notes.append("  NVML: not stood in for, no energy (cmake --build --preset release --target standin_nvml)")
    else:
        variables["LD_LIBRARY_PATH"] = os.pathsep.join([str(nvml), os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(
            os.pathsep
        )
        notes.append("  NVML: tests/standins/nvml.cc")
    notes.append("  our collector: nothing loads it on a CPU; what compares recordings reads samples/ instead")
    return variables, notes
