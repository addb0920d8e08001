# SPDX-License-Identifier: Apache-2.0
"""`gapless analyze` from Python: the bottlenecks of recordings, and the report of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Union

from .analyzers import DataLoadingAnalyzer, KernelAnalyzer, MultiGPUAnalyzer
from .bottlenecks import Bottleneck
from .program import ask
from .results import ProfileResult, ProfilerType
from .thresholds import CRITICAL, SEVERITY_SCALE, WARNING

MAX_BOTTLENECKS = 5
READ_FIRST = (
    ProfilerType.PYTORCH_PROFILER,
    ProfilerType.NSIGHT_SYSTEMS,
    ProfilerType.NSIGHT_COMPUTE,
    ProfilerType.DCGM,
)
TITLE = "=== GPU Performance Analysis Report ==="
GROUPS = ("Critical Issues (severity >0.7):", "Warnings (severity 0.4-0.7):", "Minor Issues (severity <0.4):")
Profiles = Union[Mapping[Any, Any], str, Path]


class BottleneckAnalyzer:
    """The worst bottlenecks of recordings, and a report of them.

    >>> analyzer = BottleneckAnalyzer()
    >>> print(analyzer.generate_report(analyzer.analyze_all({"kernel_metrics": {"sm_efficiency": 25.0}})))
    === GPU Performance Analysis Report ===
    <BLANKLINE>
    Critical Issues (severity >0.7):
    1. [KERNEL_EFFICIENCY] Critically low SM efficiency: 25.0%
       Recommendations:
       - Profile with Nsight Compute to identify compute bottlenecks
       - Consider kernel fusion to reduce launch overhead
       - Optimize algorithm for better parallelism
    <BLANKLINE>
    Warnings (severity 0.4-0.7):
    None.
    <BLANKLINE>
    Estimated Performance Improvement: up to 1.3× faster training (from the severities; no gain was predicted)
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self.kernel_analyzer = KernelAnalyzer()
        self.data_loading_analyzer = DataLoadingAnalyzer()
        self.multi_gpu_analyzer = MultiGPUAnalyzer()

    def analyze_all(self, profile_results: Profiles) -> list[Bottleneck]:
        """Returns the worst five bottlenecks, the most severe first.

        `profile_results` is the result of `ProfileCollector` or of one profiler, the path of a recording or run folder, or figures: a mapping with
        `kernel_metrics`, `timeline` and `nccl_metrics` with `num_gpus`, as the three analysers take them. A recording goes to
        `gapless analyze`. Raises ValueError for a mapping with none of these, ProgramError for a recording that cannot be read.
        """
        if isinstance(profile_results, ProfileResult):
            profile_results = {profile_results.profiler_type: profile_results}
        found = self._of_path(str(profile_results)) if isinstance(profile_results, (str, Path)) else []
        if isinstance(profile_results, Mapping):
            found = self._of_results(profile_results)
        return sorted(found, key=lambda bottleneck: -bottleneck.severity)[:MAX_BOTTLENECKS]

    def generate_report(self, bottlenecks: Iterable[Any]) -> str:
        """Returns the report of bottlenecks (also plain dictionaries): groups by severity, numbered through, and the estimate.

        The estimate is the product of the predicted gains. Without any it is the limit that the shares of step time set, which the
        severities stand for (severity = 1 − exp(−share / 0.15)).
        """
        given = [Bottleneck.of(found) for found in bottlenecks]
        groups: tuple[list[Bottleneck], ...] = ([], [], [])
        for bottleneck in given:
            level = 0 if bottleneck.severity > CRITICAL else 1 if bottleneck.severity >= WARNING else 2
            groups[level].append(bottleneck)
        lines, number = [TITLE, ""], 0
        for title, group in zip(GROUPS, groups):
            if title == GROUPS[2] and not group:
                continue
            lines.append(title)
            for bottleneck in group:
                number += 1
                lines += _entry(number, bottleneck)
            lines += ["" if group else "None.\n"]
        return "\n".join([*lines, f"Estimated Performance Improvement: {_estimate(given)}", ""])

    def _of_path(self, path: str) -> list[Bottleneck]:
        return [Bottleneck.of(found) for found in ask("analyze", path, "--no-cache")["bottlenecks"]]

    def _of_results(self, results: Mapping[Any, Any]) -> list[Bottleneck]:
        found: list[Bottleneck] = []
        by_kind = {_kind_of(key): result for key, result in results.items() if _kind_of(key) is not None}
        for kind in READ_FIRST:
            path = getattr(by_kind.get(kind), "profile_path", "")
            if path and Path(path).exists():
                return self._of_path(str(path))  # with the recordings of the other profilers, which lie beside it
        figures = dict(results)
        for kind, name in ((ProfilerType.NSIGHT_COMPUTE, "kernel_metrics"), (ProfilerType.NSIGHT_SYSTEMS, "timeline")):
            if kind in by_kind:
                figures.setdefault(name, getattr(by_kind[kind], "summary", by_kind[kind]))
        if not by_kind and not {"kernel_metrics", "timeline", "nccl_metrics"} & figures.keys():
            raise ValueError(
                "cannot analyze the results: no profile is among them; pass what profile_comprehensive returned"
            )
        if figures.get("kernel_metrics"):
            kernels = figures["kernel_metrics"]
            kernels = kernels.get("kernels", kernels) if isinstance(kernels, Mapping) else kernels
            found += self.kernel_analyzer.analyze(kernels)
        if figures.get("timeline"):
            found += self.data_loading_analyzer.analyze(figures["timeline"])
        if figures.get("nccl_metrics"):
            metrics = figures["nccl_metrics"]
            found += self.multi_gpu_analyzer.analyze(
                metrics, int(figures.get("num_gpus") or metrics.get("num_gpus") or 0)
            )
        return found


def _kind_of(key: Any) -> ProfilerType | None:
    try:
        return ProfilerType(getattr(key, "value", key))
    except ValueError:
        return None


def _entry(number: int, bottleneck: Bottleneck) -> list[str]:
    title, description = bottleneck.title, bottleneck.description
    lines = [f"{number}. [{bottleneck.type.name}] {title or description}"]
    if title and description and title != description:
        lines.append(f"   {description}")
    if bottleneck.recommendations:
        lines += ["   Recommendations:", *(f"   - {text}" for text in bottleneck.recommendations)]
    return lines


def _estimate(bottlenecks: list[Bottleneck]) -> str:
    """Returns the improvement if all are fixed: each gain is of the time that those above leave, so that gains multiply. A part of
    another given bottleneck is not counted twice, and a fix that changes the training not at all."""
    whole = {bottleneck.id for bottleneck in bottlenecks if bottleneck.gain} - {""}
    counted = [each for each in bottlenecks if each.gain and not each.apart and each.part_of not in whole]
    gains = [each.gain for each in counted if each.gain and each.gain["expected"] > 1]
    if gains:
        expected, low, high = (math.prod(float(gain[bound]) for gain in gains) for bound in ("expected", "low", "high"))
        return f"{expected:.1f}× faster training ({low:.1f}× to {high:.1f}×, predicted)"
    if not bottlenecks or any(each.gain or each.id for each in bottlenecks):
        return "none can be estimated"
    left = 1 - sum(
        each.share_of_step if each.share_of_step is not None else _share_of(each.severity) for each in bottlenecks
    )
    if left < 0.01:
        return "unknown (the bottlenecks overlap; measure with gapless optimize)"
    return f"up to {1 / left:.1f}× faster training (from the severities; no gain was predicted)"


def _share_of(severity: float) -> float:
    return -SEVERITY_SCALE * math.log(max(1e-9, 1 - severity))
