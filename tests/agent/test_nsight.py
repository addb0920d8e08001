# SPDX-License-Identifier: Apache-2.0
"""Tests what the Python package says of files that Nsight's tools wrote: no PyTorch, no GPU, the program on its own samples."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from cases import in_ci
from gapless import NsightComputeProfiler, NsightSystemsProfiler, ProfileResult, ProfilerType

PROGRAM = Path(os.environ.get("GAPLESS_PROGRAM") or ROOT / "build/gapless")


@in_ci
class Nsight(unittest.TestCase):
    def test_verdicts_by_the_requirements_lines(self) -> None:
        def said(**metrics: float) -> list[str]:
            names = {
                "sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                "dram": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
                "threads": "smsp__thread_inst_executed_per_inst_executed.ratio",
            }
            summary = {names[name]: value for name, value in metrics.items()}
            return NsightComputeProfiler().identify_bottlenecks(ProfileResult(ProfilerType.NSIGHT_COMPUTE, "", summary))

        self.assertEqual(said(sm=61, dram=90, occupancy=31, threads=26), [])
        compute = "Compute bound - optimize algorithm"
        self.assertEqual(said(sm=59), [compute])
        self.assertEqual(said(sm=50, dram=81), [compute, "Memory bound - reduce memory access"])
        self.assertEqual(said(occupancy=29), ["Low occupancy - reduce register usage or increase blocks"])
        self.assertEqual(said(threads=25), ["Branch divergence - reduce conditional code"])
        self.assertEqual(said(), [], "what was not measured says nothing")

    @unittest.skipUnless(PROGRAM.exists(), "the program was not built")
    def test_a_timeline(self) -> None:
        os.environ["GAPLESS_PROGRAM"] = str(PROGRAM)
        found = NsightSystemsProfiler().analyze_timeline(str(ROOT / "tests/data/nsys_two_processes.sqlite"))
        self.assertGreaterEqual(found["gpu_idle_time_ms"], 0)
        self.assertGreaterEqual(found["sync_overhead_ms"], 0)


if __name__ == "__main__":
    unittest.main()
