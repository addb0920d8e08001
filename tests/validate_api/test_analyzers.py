# SPDX-License-Identifier: Apache-2.0
"""The analysers of plain figures, bottlenecks made by hand, the report of them, and the decision tree. Needs no PyTorch."""

from __future__ import annotations

import enum
import itertools
import json
import math
import re
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import gapless
from cases import in_ci
from gapless import thresholds
from gapless.decisions import CHANGES, decide
from gapless.program import ask

ROOT = Path(__file__).resolve().parents[2]
Type = gapless.BottleneckType
NCU_HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
    '"Section Name","Metric Name","Metric Unit","Metric Value"'
)


def kinds(found: list[gapless.Bottleneck]) -> list[str]:
    return [bottleneck.type.name for bottleneck in found]


class Kernels(unittest.TestCase):
    def analyze(self, **metrics: Any) -> list[gapless.Bottleneck]:
        return gapless.KernelAnalyzer().analyze(metrics)

    @in_ci
    def test_each_limit(self) -> None:
        for metrics, names in (
            ({"sm_efficiency": 59.9}, ["KERNEL_EFFICIENCY"]),
            ({"sm_efficiency": 60.0}, []),
            ({"sm_efficiency": 50.0, "memory_bw_utilization": 81.0}, ["MEMORY_BANDWIDTH"]),
            ({"sm_efficiency": 50.0, "memory_bw_utilization": 20.0}, ["KERNEL_EFFICIENCY"]),
            ({"sm_efficiency": 70.0, "memory_bw_utilization": 95.0}, []),
            ({"sm_efficiency": 70.0, "memory_bw_utilization": 10.0}, []),  # it computes: bandwidth is not what it lacks
            ({"memory_bw_utilization": 59.0}, ["MEMORY_BANDWIDTH"]),
            ({"occupancy": 29.9}, ["KERNEL_EFFICIENCY"]),
            ({"occupancy": 30.0}, []),
            ({"warp_efficiency": 79.0}, ["KERNEL_EFFICIENCY"]),
            ({"warp_efficiency": 80.0}, []),
            ({"smsp__thread_inst_executed_per_inst_executed.ratio": 24.0}, ["KERNEL_EFFICIENCY"]),  # 75 %
            ({"sm__throughput.avg.pct_of_peak_sustained_elapsed": 10.0}, ["KERNEL_EFFICIENCY"]),
        ):
            self.assertEqual(kinds(self.analyze(**metrics)), names, metrics)

    @in_ci
    def test_the_program_finds_the_same(self) -> None:
        names = ("Compute (SM) Throughput", "DRAM Throughput", "Achieved Occupancy")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for sm, dram, occupancy in itertools.product((None, 35.0, 70.0), (None, 20.0, 85.0), (None, 10.0)):
            rows = [
                f'"0","1","python","h","k","1","7","(256, 1, 1)","(128, 1, 1)","0","8.0","S","{name}","%","{value}"'
                for name, value in zip(names, (sm, dram, occupancy))
                if value is not None
            ]
            if not rows:
                continue
            table = Path(folder.name) / "kernels.ncu.csv"
            table.write_text("\n".join([NCU_HEAD, *rows]) + "\n", encoding="utf-8")
            answer = ask("analyze", str(table), "--no-cache")
            measured = {"sm_efficiency": sm, "memory_bw_utilization": dram, "occupancy": occupancy}
            ours = self.analyze(**{name: value for name, value in measured.items() if value is not None})
            program = [each["type"] for each in answer["bottlenecks"]]
            self.assertCountEqual(program, kinds(ours), measured)

    @in_ci
    def test_severity_and_words(self) -> None:
        critical, warning = self.analyze(sm_efficiency=35.0)[0], self.analyze(sm_efficiency=45.2)[0]
        self.assertAlmostEqual(critical.severity, 0.65)
        self.assertEqual(
            (critical.description, warning.description),
            ("Critically low SM efficiency: 35.0%", "Low SM efficiency: 45.2%"),
        )
        self.assertEqual(warning.evidence, {"sm_efficiency": 45.2})
        self.assertIn("Consider kernel fusion to reduce launch overhead", warning.recommendations)

    @in_ci
    def test_a_metric_that_was_not_measured_is_no_finding(self) -> None:
        self.assertEqual(self.analyze(), [])
        self.assertEqual(self.analyze(sm_efficiency=None, occupancy=math.nan), [])
        self.assertEqual(kinds(self.analyze(sm_efficiency=0.0)), ["KERNEL_EFFICIENCY"])  # 0 was measured
        for wrong in ("35", True, -1.0):
            with self.assertRaisesRegex(ValueError, "cannot use sm_efficiency"):
                self.analyze(sm_efficiency=wrong)

    @in_ci
    def test_several_kernels_are_weighted_by_their_time(self) -> None:
        kernels = [
            {"name": "short", "sm_efficiency": 10.0, "time_ms": 1.0},
            {"name": "long", "sm_efficiency": 50.0, "time_ns": 10e6},
        ]
        found = gapless.KernelAnalyzer().analyze(kernels)
        self.assertEqual(
            [(each.evidence["kernel"], round(each.severity, 2)) for each in found], [("long", 0.5), ("short", 0.09)]
        )
        by_name = {"short": {"sm_efficiency": 10.0, "time_ms": 1.0}, "long": {"sm_efficiency": 50.0, "time_us": 10_000}}
        self.assertEqual(gapless.KernelAnalyzer().analyze(by_name), found)
        share = gapless.KernelAnalyzer().analyze({"name": "k", "sm_efficiency": 50.0, "share_of_step": 0.18})
        self.assertAlmostEqual(share[0].severity, 1 - math.exp(-0.18 / 0.15))  # as in gapless analyze

    @in_ci
    def test_limits_of_a_subclass_count(self) -> None:
        class Strict(gapless.KernelAnalyzer):
            THRESHOLDS: ClassVar[dict[str, float]] = {**gapless.KernelAnalyzer.THRESHOLDS, "sm_efficiency_min": 90.0}

        self.assertEqual(kinds(Strict().analyze({"sm_efficiency": 85.0})), ["KERNEL_EFFICIENCY"])

    @in_ci
    def test_limits_are_those_of_the_program(self) -> None:
        # A threshold stands in the file of its rule, or in a header where several share it.
        files = [ROOT / "include/gapless/metrics.h", *sorted((ROOT / "src/diagnose").rglob("*.[hc]*"))]
        text = "".join(file.read_text(encoding="utf-8") for file in files)

        def limit(name: str) -> float:
            found = re.search(rf"\b{name} = ([\d.']+)", text)
            assert found is not None, name
            return float(found.group(1).replace("'", ""))

        for name, ours in (
            ("sm_throughput_pct", thresholds.SM_EFFICIENCY_PERCENT),
            ("sm_throughput_critical_pct", thresholds.SM_EFFICIENCY_CRITICAL_PERCENT),
            ("achieved_occupancy_pct", thresholds.OCCUPANCY_PERCENT),
            ("warp_efficiency_pct", thresholds.WARP_EFFICIENCY_PERCENT),
            ("dram_throughput_pct", thresholds.MEMORY_BOUND_PERCENT),
            ("kMostlyCopiesShare", thresholds.COPIES_SHARE),
            ("kImbalance", thresholds.IMBALANCE),
            ("kGoodOverlapShare", thresholds.OVERLAP_SHARE),
            ("kScalingEfficiency", thresholds.SCALING_EFFICIENCY),
        ):
            # In the header of metrics the first of two with the same name is "not measured".
            values = [float(value.replace("'", "")) for value in re.findall(rf"\b{name} = ([\d.']+)", text)]
            self.assertIn(ours, values, name)
        self.assertEqual(limit("kLongGapNs") / 1e6, thresholds.LOADING_GAP_MS)


@in_ci
class Loading(unittest.TestCase):
    def analyze(self, **data: Any) -> list[gapless.Bottleneck]:
        return gapless.DataLoadingAnalyzer().analyze(data)

    def test_gaps(self) -> None:
        self.assertEqual(self.analyze(gaps_ms=[5.0, 4.0], step_time_ms=20), [])
        found = self.analyze(gaps_ms=[6.0, 0.1, 6.0], step_time_ms=100)[0]
        self.assertEqual(found.share_of_step, 0.12)
        self.assertIn("GPU idle time detected: 12% of training time", found.description)
        self.assertEqual(found.evidence, {"gaps": 2, "longest_gap_ms": 6.0, "gap_time_ms": 12.0})

    def test_copies(self) -> None:
        self.assertEqual(self.analyze(h2d_time_ms=50, step_time_ms=100), [])
        found = self.analyze(h2d_time_us=51_000, step_time_s=0.1)[0]
        self.assertEqual(found.description, "Copies to the GPU take 51% of the step")
        self.assertIn("Prefetch to GPU (non_blocking=True)", found.recommendations)

    def test_preprocessing(self) -> None:
        self.assertEqual(self.analyze(cpu_time_ms=10, gpu_time_ms=10), [])
        self.assertIn("Simplify transforms", self.analyze(cpu_time_ms=30, gpu_time_ms=10)[0].recommendations)

    def test_lists_of_events(self) -> None:
        kernels = [
            {"name": "a", "start_ns": 0, "time_ns": 1_000_000},
            {"name": "b", "start_ns": 9_000_000, "time_ns": 1_000_000},
        ]
        found = self.analyze(
            cuda_kernels=kernels, cuda_memory=[{"type": "HtoD", "size_bytes": 4096, "time_ns": 6_000_000}]
        )
        self.assertEqual([each.description for each in found], [
            "GPU idle time detected: 80% of training time, in 1 gaps of more than 5 ms", "Copies to the GPU take 60% of the step",
        ])  # fmt: skip

    def test_idle_time_of_a_timeline(self) -> None:
        """The idle time that analyze_timeline returns counts without waiting for the device."""
        timeline = {"gpu_idle_time_ms": 150, "sync_overhead_ms": 45, "memory_transfer_concurrent": False}
        analyzer = gapless.DataLoadingAnalyzer()
        (found,) = analyzer.analyze(timeline)
        self.assertEqual((found.type, found.severity), (Type.DATA_LOADING, thresholds.WARNING))
        self.assertIn("105.0 ms", found.description)
        self.assertIn("non_blocking=True", found.recommendations[-1])
        (found,) = analyzer.analyze({**timeline, "total_time_ms": 210})
        self.assertIn("50% of training time", found.description)
        self.assertEqual(analyzer.analyze({**timeline, "total_time_ms": 10_000}), [], "1 % is nothing")
        self.assertEqual(analyzer.analyze({"gpu_idle_time_ms": 45, "sync_overhead_ms": 45}), [], "all of it waits")
        self.assertEqual(len(analyzer.analyze({**timeline, "gaps_ms": [12, 9], "step_time_ms": 60})), 1, "once")

    def test_nothing_known(self) -> None:
        self.assertEqual(self.analyze(), [])


@in_ci
class SeveralGpus(unittest.TestCase):
    def analyze(self, num_gpus: int = 4, **metrics: Any) -> list[gapless.Bottleneck]:
        return gapless.MultiGPUAnalyzer().analyze(metrics, num_gpus)

    def test_communication(self) -> None:
        self.assertEqual(self.analyze(allreduce_time_ms=10, step_time_ms=100), [])
        found = self.analyze(nccl_time_ms=30, step_time_ms=100, overlap_time_ms=6, gradient_as_bucket_view=True)[0]
        self.assertAlmostEqual(found.share_of_step or 0, 0.24)  # the rest is hidden
        self.assertAlmostEqual(found.evidence["overlap_share"], 0.2)
        self.assertIn("Overlap the gradient all-reduce", found.recommendations[0])
        self.assertFalse([text for text in found.recommendations if "bucket_view" in text])
        self.assertIn(
            "gradient_as_bucket_view=True", self.analyze(nccl_time_ms=30, step_time_ms=100)[0].recommendations[-1]
        )
        self.assertEqual(self.analyze(1, nccl_time_ms=30, step_time_ms=100), [])

    def test_ratios_need_no_unit(self) -> None:
        analyze = gapless.MultiGPUAnalyzer().analyze
        for metrics, said in (
            ({"single_gpu_time": 100, "multi_gpu_time": 38}, "Scaling efficiency of 4 GPUs: 65.8%"),
            ({"max_gpu_time": 115, "min_gpu_time": 100}, "the slowest GPU takes 1.15 times"),
            ({"allreduce_time": 30, "step_time": 100}, "takes 30.0% of the step"),
            ({"nccl_share": 0.3}, "takes 30.0% of the step"),
            ({"imbalance": 1.2}, "1.20 times"),
            ({"scaling_efficiency": 60.0}, "60.0%"),
            ({"gradient_as_bucket_view": False}, "gradient_as_bucket_view is off"),
        ):
            with self.subTest(metrics):
                (found,) = analyze(metrics, 4)
                self.assertIn(said, found.description)
        for metrics in (
            {"allreduce_time": 30, "step_time_ms": 100},
            {"max_gpu_time": 105, "min_gpu_time": 100},
            {"imbalance": 1.1},
        ):
            self.assertEqual(analyze(metrics, 4), [], metrics)

    def test_evidence_is_understood_again(self) -> None:
        analyze = gapless.MultiGPUAnalyzer().analyze
        (found,) = analyze({"allreduce_time_ms": 30, "step_time_ms": 100, "overlap_time_ms": 25}, 4)
        (again,) = analyze(found.evidence, 4)
        self.assertEqual((again.description, round(again.severity, 6)), (found.description, round(found.severity, 6)))

    def test_imbalance(self) -> None:
        self.assertEqual(self.analyze(gpu_times_ms=[100, 109]), [])
        found = self.analyze(gpu_times_ms={0: 100, 3: 150})[0]
        self.assertEqual((found.evidence["slowest_rank"], found.evidence["imbalance"]), (3, 1.5))
        self.assertIn("the slowest GPU", self.analyze(max_gpu_time_ms=150, min_gpu_time_ms=100)[0].description)

    def test_scaling(self) -> None:
        self.assertEqual(self.analyze(single_gpu_time_s=4.0, multi_gpu_time_s=1.1), [])  # 91 %
        found = self.analyze(single_gpu_time_s=4.0, multi_gpu_time_s=2.0)[0]
        self.assertEqual(found.description, "Scaling efficiency of 4 GPUs: 50.0%")
        self.assertEqual(
            self.analyze(single_gpu_throughput=100, total_throughput=200)[0].evidence["scaling_efficiency"], 50.0
        )
        self.assertIsNone(gapless.MultiGPUAnalyzer().scaling_efficiency({}, 4))


@in_ci
class MadeByHand(unittest.TestCase):
    def test_kinds_by_value_and_by_name(self) -> None:
        class Theirs(enum.Enum):
            DATA = "data_loading"

        for value in ("data_loading", "DATA_LOADING", Type.DATA_LOADING, Theirs.DATA):
            self.assertIs(Type(value), Type.DATA_LOADING)
        with self.assertRaises(ValueError):
            Type("slowness")
        self.assertEqual(json.dumps({"type": Type.IO}), '{"type": "io"}')

    def test_of_mappings_and_of_other_objects(self) -> None:
        @dataclass
        class Theirs:
            type: str
            severity: float
            description: str
            evidence: dict[str, Any]
            recommendations: list[str]

        theirs = Theirs("memory_bandwidth", 0.5, "slow", {"dram": 90}, ["fuse"])
        for given in (theirs, dict(theirs.__dict__)):
            found = gapless.Bottleneck.of(given)
            self.assertEqual(
                (found.type, found.evidence, found.recommendations), (Type.MEMORY_BANDWIDTH, {"dram": 90}, ["fuse"])
            )
            self.assertIn("1. [MEMORY_BANDWIDTH] slow", gapless.BottleneckAnalyzer().generate_report([given]))
        for wrong in ({"severity": 1}, {"type": "io"}, "io", None):
            with self.assertRaisesRegex(ValueError, "cannot read a bottleneck"):
                gapless.Bottleneck.of(wrong)
        with self.assertRaisesRegex(ValueError, "between 0 and 1"):
            gapless.Bottleneck(Type.IO, 1.5, "x")

    def test_of_the_program(self) -> None:
        entry = {
            "id": "rule", "type": "DATA_LOADING", "severity": 0.9, "title": "waits", "description": "long",
            "evidence": [{"text": "35 ms a batch", "value": 35e6, "unit": "ns"}, {"text": "in train.py", "source": "train.py:3"}],
            "recommendations": [{"text": "more workers", "fix": "workers=2"}],
        }  # fmt: skip
        found = gapless.Bottleneck.of(entry)
        self.assertEqual(found.evidence, {"35 ms a batch": 35e6, "in train.py": "train.py:3"})
        self.assertEqual((found.recommendations, found.fixes()), (["more workers"], ["workers=2"]))
        self.assertEqual((found.evidence_rows, found.advice), (entry["evidence"], entry["recommendations"]))
        self.assertEqual(found.to_program()["recommendations"], entry["recommendations"])
        self.assertEqual(json.loads(json.dumps(found))["type"], "data_loading")

    def test_figures_in_one_mapping(self) -> None:
        figures = {
            "kernel_metrics": {"sm_efficiency": 20.0}, "timeline": {"cpu_time_ms": 3, "gpu_time_ms": 1},
            "nccl_metrics": {"nccl_time_ms": 50, "step_time_ms": 100}, "num_gpus": 2,
        }  # fmt: skip
        found = gapless.BottleneckAnalyzer().analyze_all(figures)
        self.assertEqual(kinds(found), ["DATA_LOADING", "MULTI_GPU_COMM", "KERNEL_EFFICIENCY"])
        result = gapless.ProfileResult(gapless.ProfilerType.NSIGHT_COMPUTE, "gone.csv", {"occupancy": 5.0})
        self.assertEqual(kinds(gapless.BottleneckAnalyzer().analyze_all({"ncu": result})), ["KERNEL_EFFICIENCY"])
        self.assertEqual(kinds(gapless.BottleneckAnalyzer().analyze_all(result)), ["KERNEL_EFFICIENCY"])
        with self.assertRaisesRegex(ValueError, "no profile is among them"):
            gapless.BottleneckAnalyzer().analyze_all({})


REPORT = """=== GPU Performance Analysis Report ===

Critical Issues (severity >0.7):
1. [KERNEL_EFFICIENCY] Low SM efficiency: 25.2%
   Recommendations:
   - Profile with Nsight Compute to identify compute bottlenecks
   - Consider kernel fusion to reduce launch overhead

Warnings (severity 0.4-0.7):
2. [DATA_LOADING] GPU idle time detected: 12% of training time
   Recommendations:
   - Enable pinned memory

Estimated Performance Improvement: 2.1× faster training (1.8× to 2.4×, predicted)
"""


@in_ci
class Report(unittest.TestCase):
    def test_its_shape(self) -> None:
        kernel = gapless.Bottleneck(
            Type.KERNEL_EFFICIENCY, 0.75, "Low SM efficiency: 25.2%", {"sm_efficiency": 25.2},
            ["Profile with Nsight Compute to identify compute bottlenecks", "Consider kernel fusion to reduce launch overhead"],
            gain={"low": 1.8, "expected": 2.1, "high": 2.4},
        )  # fmt: skip
        loading = gapless.Bottleneck(
            Type.DATA_LOADING, 0.5, "GPU idle time detected: 12% of training time", {}, ["Enable pinned memory"]
        )
        self.assertEqual(gapless.BottleneckAnalyzer().generate_report([kernel, loading]), REPORT)

    def test_milder_ones_and_none(self) -> None:
        text = gapless.BottleneckAnalyzer().generate_report([gapless.Bottleneck(Type.IO, 0.1, "slow disk")])
        self.assertIn("Minor Issues (severity <0.4):\n1. [IO] slow disk\n", text)
        self.assertIn("Improvement: up to 1.0× faster", text)
        self.assertIn("Improvement: none can be estimated", gapless.BottleneckAnalyzer().generate_report([]))


@in_ci
class Decisions(unittest.TestCase):
    def test_every_kind_leads_to_a_change_or_a_reason(self) -> None:
        for kind in Type:
            decision = decide([{"type": kind.value, "severity": 0.9}])
            self.assertTrue(decision.changes or decision.reasons, kind)
            self.assertLessEqual(set(decision.changes), set(CHANGES.values()))

    def test_the_tree_of_the_request(self) -> None:
        for kind, changes in (
            ("kernel_efficiency", ["mixed_precision", "channels_last", "torch_compile"]),
            ("memory_bandwidth", ["gradient_checkpointing", "batch_size"]),
            ("data_loading", ["data_loading"]),
            ("multi_gpu_comm", ["gradient_accumulation", "gradient_as_bucket_view"]),
        ):
            self.assertEqual(decide([{"type": kind, "severity": 0.9}]).changes, changes)


if __name__ == "__main__":
    unittest.main()
