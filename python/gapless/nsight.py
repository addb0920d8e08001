# SPDX-License-Identifier: Apache-2.0
"""Nsight's tools around a command, through the program `gapless`, which finds them, runs them and reads their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .program import ProgramError, ask, run_command
from .results import ProfileResult, ProfilerType

LONG_GAP_NS = 1_000_000  # what counts as idle: gaps of more than a millisecond

# Requirement A4's lines, percent.
LEAST_SM, CRITICAL_SM, MOST_DRAM, LEAST_OCCUPANCY, LEAST_WARP_EFFICIENCY = 60.0, 40.0, 80.0, 30.0, 80.0
METRICS = {
    "sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "threads": "smsp__thread_inst_executed_per_inst_executed.ratio",
}
WARP = 32


class NsightSystemsProfiler:
    """Nsight Systems: the timeline of a whole command."""

    def profile(self, command: list[str], output_path: str = "run", duration: float | None = None) -> ProfileResult:
        """Runs the command under nsys, after one run that gapless watches itself. The result's path is the run folder."""
        options = [] if duration is None else ["--duration", str(duration)]
        run_command(["--with", "nsys", "--no-record", *options], command, output_path)
        reports = sorted(Path(output_path).glob("nsys/*.sqlite"))
        if not reports:
            raise ProgramError("nsys recorded nothing; `gapless doctor` says what is missing")
        path = str(reports[0])
        return ProfileResult(ProfilerType.NSIGHT_SYSTEMS, path, self.analyze_timeline(path))

    def analyze_timeline(self, profile_path: str) -> dict[str, Any]:
        """Idle time in gaps of more than 1 ms, time the host waits for the device, and whether copies run beside kernels.

        What the recording does not tell is missing.
        """
        found: dict[str, Any] = {}
        idle = ask("query", profile_path, f"SELECT sum(dur_ns) ns FROM idle WHERE dur_ns > {LONG_GAP_NS}")[0]
        waits = ask("query", profile_path, "SELECT sum(wait_ns) ns FROM sync")[0]
        copies = ask("query", profile_path, "SELECT max(overlap_share) share FROM copies")[0]
        if ask("query", profile_path, "SELECT count(*) n FROM gpu_op")[0]["n"] > 0:
            found["gpu_idle_time_ms"] = (idle.get("ns") or 0) / 1e6
            found["sync_overhead_ms"] = (waits.get("ns") or 0) / 1e6
        if copies.get("share") is not None:
            found["memory_transfer_concurrent"] = copies["share"] > 0
        return found


class NsightComputeProfiler:
    """Nsight Compute: the metrics of single kernels."""

    def profile_kernel(self, command: list[str], kernel_name: str, output_path: str = "run") -> ProfileResult:
        """Measures a kernel by name (or `regex:…`) in a run of its own. The summary has the mean of each metric."""
        run_command(["--with", "ncu", "--no-record", "--kernel-name", kernel_name], command, output_path)
        reports = sorted(Path(output_path).glob("ncu/*.ncu.csv"))
        if not reports:
            raise ProgramError("ncu measured nothing; `gapless doctor` says what is missing")
        path = str(reports[0])
        result = ProfileResult(ProfilerType.NSIGHT_COMPUTE, path, self.metrics(path))
        result.recommendations = self.identify_bottlenecks(result)
        return result

    def metrics(self, profile_path: str) -> dict[str, float]:
        """The mean of every numeric metric over the launches that were measured."""
        rows = ask(
            "query",
            profile_path,
            "SELECT metric, avg(value) mean FROM kernel_metric WHERE value IS NOT NULL GROUP BY 1",
        )
        return {row["metric"]: row["mean"] for row in rows}

    def identify_bottlenecks(self, profile_result: ProfileResult) -> list[str]:
        """What the metrics say is wrong, a sentence each; a metric that was not measured says nothing."""
        values = {name: profile_result.summary.get(metric) for name, metric in METRICS.items()}
        sm, dram, occupancy, threads = values["sm"], values["dram"], values["occupancy"], values["threads"]
        said = []
        if sm is not None and sm < LEAST_SM:
            how = "critically " if sm < CRITICAL_SM else ""
            said.append(f"the compute side is {how}underused: SM throughput {sm:.0f} % of its peak")
        if dram is not None and sm is not None and dram > MOST_DRAM and sm < LEAST_SM:
            said.append(f"memory bound: DRAM at {dram:.0f} % of its peak, SMs at {sm:.0f} %")
        if occupancy is not None and occupancy < LEAST_OCCUPANCY:
            said.append(f"low occupancy: {occupancy:.0f} % of the warps there could be")
        if threads is not None and threads / WARP * 100 < LEAST_WARP_EFFICIENCY:
            said.append(f"threads of a warp diverge: {threads:.1f} of {WARP} are active on average")
        return said
