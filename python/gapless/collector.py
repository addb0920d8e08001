# SPDX-License-Identifier: Apache-2.0
"""Every recording of a command, in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .collect import PyTorchProfiler, add_findings
from .nsight import NsightComputeProfiler, NsightSystemsProfiler, kernel_result, timeline_result
from .operators import breakdown
from .program import Command, ask, run_command, say
from .results import ProfileResult, ProfilerType


class ProfileCollector:
    """`gapless profile --comprehensive` from Python.

    >>> results = ProfileCollector().profile_comprehensive("python train.py", "profiles/baseline")  # doctest: +SKIP
    >>> results[ProfilerType.PYTORCH_PROFILER].summary["missing"]  # doctest: +SKIP
    ['nsys: is not on the PATH']
    """

    def __init__(self) -> None:
        self.nsys_profiler = NsightSystemsProfiler()
        self.ncu_profiler = NsightComputeProfiler()
        self.pytorch_profiler = PyTorchProfiler()

    def profile_comprehensive(
        self, command: Command, output_dir: str = "run", include_kernel_details: bool = True
    ) -> dict[ProfilerType, ProfileResult]:
        """Records the command (a text or a list of words) with what is installed: PyTorch's profiler, nsys, ncu, telemetry.

        ncu measures the five longest kernels, unless `include_kernel_details` is False. Leaves `report.html` and each tool's own files
        in `output_dir`. A missing tool does not stop the others: it has no key in the result, and `summary["missing"]` of PyTorch's result
        says why. Raises ProgramError if the command fails.
        """
        tools = "nsys,ncu" if include_kernel_details else "nsys"
        missing = run_command(["--python=sample", "--with", tools], command, output_dir)
        whole = ProfileResult(ProfilerType.PYTORCH_PROFILER, output_dir, {})
        whole.recommendations = add_findings(whole.summary, output_dir)
        whole.summary.update(operators=breakdown(output_dir), missing=missing)
        say("analyze", output_dir, "--no-cache", "-o", str(Path(output_dir) / "report.html"))
        results = {ProfilerType.PYTORCH_PROFILER: whole}
        for report in sorted(Path(output_dir).glob("nsys/*.sqlite"))[:1]:
            results[ProfilerType.NSIGHT_SYSTEMS] = timeline_result(str(report))
        for report in sorted(Path(output_dir).glob("ncu/*.ncu.csv"))[:1]:
            results[ProfilerType.NSIGHT_COMPUTE] = kernel_result(str(report))
        dcgm = _dcgm(output_dir)
        if dcgm:
            results[ProfilerType.DCGM] = ProfileResult(ProfilerType.DCGM, output_dir, dcgm)
        return results


def _dcgm(folder: str) -> dict[str, Any]:
    """Returns the mean of each metric of DCGM that was sampled."""
    words = "SELECT name, avg(value) mean FROM counter WHERE name LIKE 'gpu.dcgm.%' GROUP BY 1"
    return {row["name"]: row["mean"] for row in ask("query", folder, words, "--no-cache")}
