# SPDX-License-Identifier: Apache-2.0
"""Nsight's tools from Python, with stand-ins on the PATH that write recorded reports: what is asked of them, and what is made of it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import gapless
from cases import in_ci
from gapless import nsight
from gapless.program import NOT_THERE, ProgramError

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("GAPLESS_CORPUS") or ROOT.parent / "shared" / "data")
TIMELINE = CORPUS / "nsys/GindaChen__nsys-ai/tests/fixtures/h100_2gpu_1s.sqlite"
KERNELS = ROOT / "tests/data/kernels.ncu.csv"
# As nsys does: runs the command, writes the report, and exports it.
NSYS = """
    #!/bin/sh
    echo "nsys $*" >>"$STAND_IN_CALLS"
    for word; do case "$word" in --output=*) out="${word#--output=}";; esac; done
    if [ "$1" = export ]; then cp "$STAND_IN_TIMELINE" "$out"; exit; fi
    echo report >"$out.nsys-rep"
    while [ "${1#-}" != "$1" ] || [ "$1" = profile ]; do shift; done
    exec "$@"
"""
NCU = """
    #!/bin/sh
    echo "ncu $*" >>"$STAND_IN_CALLS"
    if [ "$1" = --import ]; then cat "$STAND_IN_KERNELS"; exit; fi
    while [ $# -gt 0 ]; do [ "$1" = --export ] && echo report >"$2"; shift; done
"""


@in_ci
class WeightedKernels(unittest.TestCase):
    def test_a_short_kernel_counts_as_much_as_it_takes(self) -> None:
        """A kernel of 2 µs with an occupancy of 5 % beside one of 1,250 µs with 55 %: the mean by launches would be low, that by time is not."""
        rows = [
            ("long", "Compute (SM) Throughput", "35.2"),
            ("long", "Duration", "1250"),
            ("long", "Achieved Occupancy", "55"),
        ]
        rows += [
            ("short", "Compute (SM) Throughput", "9"),
            ("short", "Duration", "2"),
            ("short", "Achieved Occupancy", "1"),
        ]
        units = {"Duration": "usecond"}
        lines = [
            '"ID","Kernel Name","Block Size","Grid Size","Section Name","Metric Name","Metric Unit","Metric Value"'
        ]
        for name, metric, value in rows:
            lines.append(
                f'"{int(name == "short")}","{name}","(256, 1, 1)","(128, 1, 1)","s","{metric}","{units.get(metric, "%")}","{value}"'
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "two.ncu.csv"
            path.write_text("\n".join(lines) + "\n")
            given = gapless.ProfileResult(gapless.ProfilerType.NSIGHT_COMPUTE, str(path), {}, [])
            self.assertEqual(
                gapless.NsightComputeProfiler().identify_bottlenecks(given), ["Compute bound - optimize algorithm"]
            )


class Tools(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.calls = self.folder / "calls"
        variables = {
            "STAND_IN_CALLS": str(self.calls), "STAND_IN_TIMELINE": str(TIMELINE), "STAND_IN_KERNELS": str(KERNELS),
            "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def tool(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(textwrap.dedent(text).lstrip())
        path.chmod(0o755)

    def output(self) -> str:
        return str(self.folder / "run")

    @in_ci
    def test_the_timeline_of_a_command(self) -> None:
        if not TIMELINE.exists():
            self.skipTest(f"no recording {TIMELINE}: set GAPLESS_CORPUS")
        self.tool("nsys", NSYS)
        result = gapless.NsightSystemsProfiler().profile(f"{sys.executable} -c pass", self.output(), duration=30)
        self.assertIs(result.profiler_type, gapless.ProfilerType.NSIGHT_SYSTEMS)
        summary = result.summary
        # As the recording itself says (sqlite3: sum(end - start) of its kernels and copies).
        self.assertAlmostEqual(summary["kernel_time_ms"], 44.83, places=2)
        self.assertAlmostEqual(summary["memory_time_percent"], 97.67, places=2)
        self.assertEqual(summary["cuda_memory"][0]["type"], "HtoD")
        self.assertEqual(len(summary["cuda_kernels"][0]["grid"]), 3)
        self.assertLessEqual({"gpu_idle_time_ms", "sync_overhead_ms", "memory_transfer_concurrent"}, summary.keys())
        self.assertIn("Memory transfers are 98 % of GPU time", " ".join(result.recommendations))
        calls = self.calls.read_text()
        self.assertIn("--duration=30", calls)
        self.assertIn("nsys export --type=sqlite", calls)
        # The analyser of plain figures takes the summary as it is.
        found = gapless.DataLoadingAnalyzer().analyze(summary)
        self.assertIn("Copies to the GPU take", found[0].description)

    @in_ci
    def test_the_metrics_of_a_kernel(self) -> None:
        self.tool("ncu", NCU)
        result = gapless.NsightComputeProfiler().profile_kernel([sys.executable, "-c", "pass"], "gemm", self.output())
        self.assertIn("--kernel-name regex:gemm", self.calls.read_text())
        self.assertEqual([kernel["name"][:9] for kernel in result.summary["kernels"]], ["void gemm", "add(float"])
        self.assertEqual(result.summary["kernels"][0]["sm_efficiency"], 37.5)
        self.assertEqual(result.summary["registers_per_thread"], 53)
        self.assertEqual(result.recommendations, [nsight.COMPUTE_BOUND])
        found = gapless.BottleneckAnalyzer().analyze_all({"kernel_metrics": result.summary})
        self.assertIn("void gemm", found[0].description)

    def test_everything_of_a_command(self) -> None:
        if not TIMELINE.exists():
            self.skipTest(f"no recording {TIMELINE}: set GAPLESS_CORPUS")
        self.tool("nsys", NSYS)
        self.tool("ncu", NCU)
        results = gapless.ProfileCollector().profile_comprehensive(f"{sys.executable} -c pass", self.output())
        self.assertLessEqual(
            {gapless.ProfilerType.PYTORCH_PROFILER, gapless.ProfilerType.NSIGHT_SYSTEMS}, results.keys()
        )
        self.assertIn("ncu ", self.calls.read_text())
        self.assertIn(gapless.ProfilerType.NSIGHT_COMPUTE, results)

    @in_ci
    def test_a_tool_that_is_missing(self) -> None:
        path = os.pathsep.join(
            place for place in os.environ["PATH"].split(os.pathsep) if not shutil.which("nsys", path=place)
        )
        with mock.patch.dict(os.environ, {"PATH": path}):
            calls: list[Callable[[], Any]] = [
                lambda: gapless.NsightSystemsProfiler().profile("true", self.output()),
                lambda: gapless.NsightComputeProfiler().profile_kernel("true", "gemm", self.output()),
            ]
            for call in calls:
                with self.assertRaisesRegex(ProgramError, r"cannot find (nsys|ncu) on the PATH") as caught:
                    call()
                self.assertEqual(caught.exception.status, NOT_THERE)
            self.assertFalse(Path(self.output()).exists())  # the command did not run for nothing
            results = gapless.ProfileCollector().profile_comprehensive(f"{sys.executable} -c pass", self.output())
            missing = results[gapless.ProfilerType.PYTORCH_PROFILER].summary["missing"]
            self.assertEqual(len([text for text in missing if "is not installed" in text]), 2, missing)

    @in_ci
    def test_an_earlier_recording_is_kept(self) -> None:
        for _ in range(2):
            gapless.ProfileCollector().profile_comprehensive([sys.executable, "-c", "pass"], self.output(), False)
        self.assertTrue((self.folder / "run-1" / "manifest.json").exists())
        with self.assertRaisesRegex(ProgramError, "it ended with 7") as caught:
            gapless.ProfileCollector().profile_comprehensive(
                f"{sys.executable} -c 'exit(7)'", str(self.folder / "failing")
            )
        self.assertEqual(caught.exception.status, 5)


@in_ci
class Verdicts(unittest.TestCase):
    def said(self, **metrics: Any) -> list[str]:
        result = gapless.ProfileResult(gapless.ProfilerType.NSIGHT_COMPUTE, "", metrics)
        return gapless.NsightComputeProfiler().identify_bottlenecks(result)

    def test_the_words(self) -> None:
        self.assertEqual(self.said(sm_efficiency=50.0, memory_bw_utilization=90.0, occupancy=10.0, warp_efficiency=50.0), [
            "Compute bound - optimize algorithm", "Memory bound - reduce memory access",
            "Low occupancy - reduce register usage or increase blocks", "Branch divergence - reduce conditional code",
        ])  # fmt: skip

    def test_each_limit(self) -> None:
        self.assertEqual(self.said(sm_efficiency=59.9), [nsight.COMPUTE_BOUND])
        self.assertEqual(
            self.said(sm_efficiency=50.0, memory_bw_utilization=80.1), [nsight.COMPUTE_BOUND, nsight.MEMORY_BOUND]
        )
        self.assertEqual(self.said(occupancy=29.0), [nsight.LOW_OCCUPANCY])
        self.assertEqual(self.said(warp_efficiency=79.0), [nsight.DIVERGENT])
        ratio = {"smsp__thread_inst_executed_per_inst_executed.ratio": 16.0}  # of 32 threads
        self.assertEqual(self.said(**ratio), [nsight.DIVERGENT])
        long = {
            "sm__throughput.avg.pct_of_peak_sustained_elapsed": 50.0,
            "dram__throughput.avg.pct_of_peak_sustained_elapsed": 90.0,
        }
        self.assertEqual(self.said(**long), [nsight.COMPUTE_BOUND, nsight.MEMORY_BOUND])

    def test_nothing_measured_is_nothing_said(self) -> None:
        self.assertEqual(self.said(), [])
        self.assertEqual(
            self.said(sm_efficiency=60.0, memory_bw_utilization=95.0, occupancy=30.0, warp_efficiency=80.0), []
        )


if __name__ == "__main__":
    unittest.main()
