# SPDX-License-Identifier: Apache-2.0
"""Everything there is of a command, in one call."""

from __future__ import annotations

from pathlib import Path

from .nsight import NsightComputeProfiler, NsightSystemsProfiler
from .program import ask, run_command, say
from .results import ProfileResult, ProfilerType


class ProfileCollector:
    """`gapless profile --comprehensive` from Python."""

    def profile_comprehensive(
        self, command: list[str], output_dir: str = "run", include_kernel_details: bool = True
    ) -> dict[ProfilerType, ProfileResult]:
        """Records the command with what is installed: PyTorch's profiler, nsys, ncu on the five largest kernels, telemetry.

        Leaves `report.html` and every tool's own files in `output_dir`. A tool that is missing is missing in the result; the
        recommendations of PyTorch's entry are those of the whole run.
        """
        tools = "nsys,ncu" if include_kernel_details else "nsys"
        missing = run_command(["--python=sample", "--with", tools], command, output_dir)
        found = ask("analyze", output_dir, "--no-cache")
        say("analyze", output_dir, "--no-cache", "-o", str(Path(output_dir) / "report.html"))
        whole = ProfileResult(ProfilerType.PYTORCH_PROFILER, output_dir, dict(found["run"]))
        whole.summary["bottlenecks"] = found["bottlenecks"]
        whole.summary["missing"] = missing
        whole.recommendations = [one["text"] for each in found["bottlenecks"] for one in each["recommendations"]]
        results = {ProfilerType.PYTORCH_PROFILER: whole}
        for report in sorted(Path(output_dir).glob("nsys/*.sqlite"))[:1]:
            timeline = NsightSystemsProfiler().analyze_timeline(str(report))
            results[ProfilerType.NSIGHT_SYSTEMS] = ProfileResult(ProfilerType.NSIGHT_SYSTEMS, str(report), timeline)
        for report in sorted(Path(output_dir).glob("ncu/*.ncu.csv"))[:1]:
            kernels = NsightComputeProfiler()
            result = ProfileResult(ProfilerType.NSIGHT_COMPUTE, str(report.parent), kernels.metrics(str(report)))
            result.recommendations = kernels.identify_bottlenecks(result)
            results[ProfilerType.NSIGHT_COMPUTE] = result
        return results
