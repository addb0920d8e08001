# SPDX-License-Identifier: Apache-2.0
"""Nsight's tools around a command, through the program `gapless`, which finds them, runs them and reads their files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from . import thresholds
from .program import NOT_THERE, Command, ProgramError, ask, run_command
from .results import ProfileResult, ProfilerType
from .thresholds import kernel_metric

LONG_GAP_NS = int(thresholds.IDLE_GAP_MS * 1e6)
MAX_ROWS = 20  # kernels and copies that a summary lists, the longest first
COPY_TYPES = {"h2d": "HtoD", "d2h": "DtoH", "d2d": "DtoD", "p2p": "PtoP"}
USAGE = {
    "launch__registers_per_thread": "registers_per_thread",
    "launch__shared_mem_per_block": "shared_bytes_per_block",
}

COMPUTE_BOUND = "Compute bound - optimize algorithm"
MEMORY_BOUND = "Memory bound - reduce memory access"
LOW_OCCUPANCY = "Low occupancy - reduce register usage or increase blocks"
DIVERGENT = "Branch divergence - reduce conditional code"


class NsightSystemsProfiler:
    """Nsight Systems: the timeline of a whole command.

    >>> result = NsightSystemsProfiler().profile("python train.py", "run", duration=30)  # doctest: +SKIP
    >>> result.summary["gpu_idle_time_ms"]  # doctest: +SKIP
    150.0
    """

    def profile(self, command: Command, output_path: str = "run", duration: float | None = None) -> ProfileResult:
        """Runs the command under nsys, after one run that gapless watches itself; the result's path is the exported recording.

        `command` is a text or a list of words, `duration` the seconds that nsys records (None: to the end). The summary has the keys of
        `analyze_timeline`, `cuda_kernels` and `cuda_memory` (the longest), and `kernel_time_percent`, `memory_time_percent` (of GPU
        time) and `cpu_overhead_percent` (gaps between kernels, of the recorded time). Raises ProgramError where nsys is missing.
        """
        need_tool("nsys")
        options = [] if duration is None else ["--duration", str(duration)]
        missing = run_command(["--with", "nsys", "--no-record", *options], command, output_path)
        reports = sorted(Path(output_path).glob("nsys/*.sqlite"))
        if not reports:
            why = missing[0] if missing else "it recorded no GPU work"
            raise ProgramError(f"cannot read a recording of nsys: {why}; see `gapless doctor`")
        return timeline_result(str(reports[0]))

    def analyze_timeline(self, profile_path: str) -> dict[str, Any]:
        """Returns `gpu_idle_time_ms` (gaps of more than 1 ms), `sync_overhead_ms` (the host waits for the GPU) and
        `memory_transfer_concurrent` (True if copies run beside kernels). A figure that was not recorded has no key."""
        found: dict[str, Any] = {}
        idle = ask(
            "query", profile_path, f"SELECT sum(dur_ns) ns, max(dur_ns) longest FROM idle WHERE dur_ns > {LONG_GAP_NS}"
        )[0]
        waits = ask("query", profile_path, "SELECT sum(wait_ns) ns FROM sync")[0]
        copies = ask("query", profile_path, "SELECT max(overlap_share) share FROM copies WHERE kind != 'memset'")[0]
        if ask("query", profile_path, "SELECT count(*) n FROM gpu_op")[0]["n"] > 0:
            found["gpu_idle_time_ms"] = (idle.get("ns") or 0) / 1e6
            found["sync_overhead_ms"] = (waits.get("ns") or 0) / 1e6
        if idle.get("longest"):
            found["max_gap_ms"] = idle["longest"] / 1e6
        if copies.get("share") is not None:
            found["memory_transfer_concurrent"] = copies["share"] > 0
        return found


class NsightComputeProfiler:
    """Nsight Compute: the metrics of single kernels.

    >>> result = ProfileResult(ProfilerType.NSIGHT_COMPUTE, "", {"sm_efficiency": 50.0, "occupancy": 20.0})
    >>> NsightComputeProfiler().identify_bottlenecks(result)
    ['Compute bound - optimize algorithm', 'Low occupancy - reduce register usage or increase blocks']
    """

    def profile_kernel(self, command: Command, kernel_name: str, output_path: str = "run") -> ProfileResult:
        """Measures a kernel by name (or `regex:…`) in a run of its own.

        The summary has the mean of each metric of Nsight Compute, the short names `sm_efficiency`, `memory_bw_utilization`, `occupancy` and
        `warp_efficiency` (percent), `registers_per_thread`, `shared_bytes_per_block`, and the same for each of `kernels`. Raises
        ProgramError where ncu is missing or no launch matched.
        """
        need_tool("ncu")
        missing = run_command(["--with", "ncu", "--no-record", "--kernel-name", kernel_name], command, output_path)
        reports = sorted(Path(output_path).glob("ncu/*.ncu.csv"))
        if not reports:
            why = missing[0] if missing else f"no launch matched {kernel_name}"
            raise ProgramError(f"cannot read metrics of ncu: {why}; see `gapless doctor`")
        return kernel_result(str(reports[0]))

    def metrics(self, profile_path: str) -> dict[str, float]:
        """Returns the mean of every numeric metric over the launches that were measured."""
        words = "SELECT metric, avg(value) mean FROM kernel_metric WHERE value IS NOT NULL GROUP BY 1"
        return {row["metric"]: row["mean"] for row in ask("query", profile_path, words)}

    def kernels(self, profile_path: str) -> list[dict[str, Any]]:
        """Returns the metrics of each kernel, the longest first, with the short names; time in ms over all measured launches."""
        words = "SELECT kernel_name, metric, avg(value) mean, sum(value) total FROM kernel_metric WHERE value IS NOT NULL GROUP BY 1, 2"
        by_name: dict[str, dict[str, Any]] = {}
        for row in ask("query", profile_path, words):
            kernel = by_name.setdefault(row["kernel_name"], {"name": row["kernel_name"]})
            kernel[row["metric"]] = row["mean"]
            if row["metric"] == "gpu__time_duration.sum":
                kernel["time_ns"] = row["total"]
        found = [{**kernel, **short_names(kernel)} for kernel in by_name.values()]
        return sorted(found, key=lambda kernel: -(kernel.get("time_ns") or 0))

    def identify_bottlenecks(self, profile_result: ProfileResult) -> list[str]:
        """Returns a verdict for each limit that the metrics of the summary miss; a metric that was not measured gives none.

        SM efficiency below 60 %: compute bound; memory bandwidth above 80 % with that: memory bound; occupancy below 30 %: low occupancy;
        warp efficiency below 80 %: branch divergence.
        """
        summary = profile_result.summary
        if not summary and profile_result.profile_path:  # a result made by hand, of a report that is there
            summary = kernel_summary(profile_result.profile_path)
        sm, dram, occupancy, warp = (kernel_metric(summary, name) for name in thresholds.METRICS)
        underused = sm is not None and sm < thresholds.SM_EFFICIENCY_PERCENT
        verdicts = [
            (underused, COMPUTE_BOUND),
            (underused and dram is not None and dram > thresholds.MEMORY_BOUND_PERCENT, MEMORY_BOUND),
            (occupancy is not None and occupancy < thresholds.OCCUPANCY_PERCENT, LOW_OCCUPANCY),
            (warp is not None and warp < thresholds.WARP_EFFICIENCY_PERCENT, DIVERGENT),
        ]
        return [text for missed, text in verdicts if missed]


def need_tool(name: str) -> None:
    """Raises ProgramError if the tool is not on the PATH, before a command runs for nothing."""
    if shutil.which(name) is None:
        raise ProgramError(f"cannot find {name} on the PATH: `gapless doctor` says how to install it", NOT_THERE)


def short_names(metrics: dict[str, Any]) -> dict[str, Any]:
    """Returns the short names of metrics that were measured under those of Nsight Compute."""
    percents = {name: kernel_metric(metrics, name) for name in thresholds.METRICS}
    used = {short: metrics.get(name) for name, short in USAGE.items()}
    return {name: value for name, value in {**percents, **used}.items() if value is not None}


def timeline_result(path: str) -> ProfileResult:
    """Returns the result of a recording of nsys: its figures, and advice where they miss the limits."""
    profiler = NsightSystemsProfiler()
    summary = {**_gpu_time(path), **profiler.analyze_timeline(path)}
    result = ProfileResult(ProfilerType.NSIGHT_SYSTEMS, path, summary)
    kernel, copies = summary.get("kernel_time_percent"), summary.get("memory_time_percent")
    if kernel is not None and kernel < thresholds.KERNEL_TIME_PERCENT:
        limit = f"{thresholds.KERNEL_TIME_PERCENT:.0f} %"
        result.recommendations.append(f"Kernels are {kernel:.0f} % of GPU time, below {limit}: reduce copies and fills")
    if copies is not None and copies > thresholds.COPY_TIME_PERCENT:
        text = f"Memory transfers are {copies:.0f} % of GPU time, above {thresholds.COPY_TIME_PERCENT:.0f} %: pin memory, keep data on the GPU"
        result.recommendations.append(text)
    if summary.get("memory_transfer_concurrent") is False:
        result.recommendations.append("No copy runs beside a kernel: use pinned memory with non_blocking=True")
    return result


def kernel_result(path: str) -> ProfileResult:
    """Returns the result of a report of ncu: the means over all launches, each kernel, and the verdicts."""
    result = ProfileResult(ProfilerType.NSIGHT_COMPUTE, path, kernel_summary(path))
    result.recommendations = NsightComputeProfiler().identify_bottlenecks(result)
    return result


def kernel_summary(path: str) -> dict[str, Any]:
    """Returns the means over all launches, each kernel, and the short names: means by time, so that a kernel of 2 µs counts as much as it takes."""
    profiler = NsightComputeProfiler()
    means: dict[str, Any] = dict(profiler.metrics(path))
    kernels = profiler.kernels(path)
    found = {**means, **short_names(means), "kernels": kernels}
    for name in thresholds.METRICS:
        timed = [(kernel[name], kernel["time_ns"]) for kernel in kernels if name in kernel and kernel.get("time_ns")]
        if timed:
            found[name] = sum(value * time for value, time in timed) / sum(time for _, time in timed)
    return found


def _gpu_time(path: str) -> dict[str, Any]:
    kernels = ask(
        "query", path,
        "SELECT name, sum(dur_ns) time_ns, count(*) calls, grid_x, grid_y, grid_z FROM gpu_op WHERE kind = 'kernel' GROUP BY 1 ORDER BY 2 DESC "
        f"LIMIT {MAX_ROWS}",
    )  # fmt: skip
    copies = ask(
        "query", path, "SELECT kind, bytes, total_ns FROM copies WHERE kind != 'memset' ORDER BY total_ns DESC"
    )
    total = {row["kind"]: row["ns"] for row in ask("query", path, "SELECT kind, sum(dur_ns) ns FROM gpu_op GROUP BY 1")}
    found: dict[str, Any] = {
        "cuda_kernels": [
            {"name": row["name"], "time_ns": row["time_ns"], "calls": row["calls"], **_grid(row)} for row in kernels
        ],
        "cuda_memory": [_copy(row) for row in copies],
    }
    whole = sum(total.values())
    if not whole:
        return found
    found["kernel_time_ms"] = total.get("kernel", 0) / 1e6
    found["memory_time_ms"] = total.get("memcpy", 0) / 1e6
    found["kernel_time_percent"] = total.get("kernel", 0) / whole * 100
    found["memory_time_percent"] = total.get("memcpy", 0) / whole * 100
    ledger = ask("query", path, "SELECT sum(idle_ns) idle, sum(wall_ns) wall FROM ledger")[0]
    if ledger.get("wall"):
        found["cpu_overhead_percent"] = (ledger["idle"] or 0) / ledger["wall"] * 100
        found["total_time_ms"] = ledger["wall"] / 1e6
    return found


def _grid(row: dict[str, Any]) -> dict[str, Any]:
    grid = [row.get(f"grid_{axis}") for axis in "xyz"]
    return {} if None in grid else {"grid": grid}


def _copy(row: dict[str, Any]) -> dict[str, Any]:
    bytes_moved = {} if row.get("bytes") is None else {"size_bytes": row["bytes"]}
    return {"type": COPY_TYPES.get(row["kind"].split("_")[0], row["kind"]), **bytes_moved, "time_ns": row["total_ns"]}
