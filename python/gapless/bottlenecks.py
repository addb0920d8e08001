# SPDX-License-Identifier: Apache-2.0
"""What slows a recorded training down, worst first."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .program import ask
from .results import ProfileResult, ProfilerType

MOST = 5
CRITICAL, WARNING = 0.7, 0.4
READ_FIRST = (
    ProfilerType.PYTORCH_PROFILER,
    ProfilerType.NSIGHT_SYSTEMS,
    ProfilerType.NSIGHT_COMPUTE,
    ProfilerType.DCGM,
)


class BottleneckType(enum.Enum):
    KERNEL_EFFICIENCY = "KERNEL_EFFICIENCY"
    MEMORY_BANDWIDTH = "MEMORY_BANDWIDTH"
    DATA_LOADING = "DATA_LOADING"
    CPU_GPU_SYNC = "CPU_GPU_SYNC"
    MULTI_GPU_COMM = "MULTI_GPU_COMM"
    MEMORY_ALLOCATION = "MEMORY_ALLOCATION"
    LAUNCH_BOUND = "LAUNCH_BOUND"
    HOST_BOUND = "HOST_BOUND"
    SMALL_BATCH = "SMALL_BATCH"
    RECOMPILATION = "RECOMPILATION"
    IO = "IO"
    STEP_VARIATION = "STEP_VARIATION"
    RECORDING = "RECORDING"


@dataclass
class Bottleneck:
    """One entry of `bottlenecks` in `gapless analyze --json`. `gain` is what fixing it brings after those
    above it: low, expected, high; None where unknown, and where the fix of `cured_by` cures it."""

    type: BottleneckType
    severity: float  # 0–1
    description: str
    evidence: list[dict[str, Any]] = field(default_factory=list)
    recommendations: list[dict[str, Any]] = field(default_factory=list)
    id: str = ""  # of the rule
    title: str = ""
    share_of_step: float | None = None
    gain: dict[str, Any] | None = None
    part_of: str = ""  # the rule that claims the same time in more general terms
    cured_by: str = ""  # the id of the bottleneck above whose fix cures it, too
    step_left: float = 1.0  # of the recorded step, when all above it is fixed
    also: str = ""  # what its fix does beside the time at stake, where that is more
    apart: bool = False  # its fix changes the training: a choice, which no sum counts

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Bottleneck:
        return cls(
            type=BottleneckType(found["type"]),
            severity=float(found["severity"]),
            description=found["description"],
            evidence=list(found.get("evidence", [])),
            recommendations=list(found.get("recommendations", [])),
            id=found.get("id", ""),
            title=found.get("title", ""),
            share_of_step=found.get("share_of_step"),
            gain=found.get("gain"),
            part_of=found.get("part_of", ""),
            cured_by=found.get("cured_by", ""),
            step_left=float(found.get("step_left", 1)),
            also=found.get("also", ""),
            apart=bool(found.get("apart", False)),
        )

    def fixes(self) -> list[str]:
        """The items of `gapless optimize --only` and `gapless predict --what` that cure it."""
        return [one["fix"] for one in self.recommendations if one.get("fix")]


class BottleneckAnalyzer:
    """`gapless analyze` from Python."""

    def analyze_all(self, profile_results: Mapping[ProfilerType, ProfileResult] | str) -> list[Bottleneck]:
        """The worst five, by severity. Takes what `ProfileCollector` gave, or the path of a recording or a run folder."""
        found = ask("analyze", _path_of(profile_results), "--no-cache")["bottlenecks"]
        return sorted((Bottleneck.of(one) for one in found), key=lambda one: -one.severity)[:MOST]

    def generate_report(self, bottlenecks: Iterable[Bottleneck]) -> str:
        """Critical issues and warnings with evidence and recommendations, and the factor that curing all of them would bring."""
        given = list(bottlenecks)
        parts = [
            _group("Critical Issues (severity >0.7)", [one for one in given if one.severity > CRITICAL]),
            _group("Warnings (severity 0.4-0.7)", [one for one in given if WARNING <= one.severity <= CRITICAL]),
            f"Estimated Performance Improvement\n{_estimate(given)}\n",
        ]
        return "\n".join(parts)


def _path_of(results: Mapping[ProfilerType, ProfileResult] | str) -> str:
    if isinstance(results, str):
        return results
    for kind in READ_FIRST:
        if kind in results:
            return results[kind].profile_path
    raise ValueError("no profile is among the results")


def _group(title: str, bottlenecks: list[Bottleneck]) -> str:
    lines = [title]
    for number, one in enumerate(bottlenecks, 1):
        lines += [f"{number}. {one.type.value} (severity {one.severity:.2f}): {one.title}", f"   {one.description}"]
        for piece in one.evidence:
            lines.append(f"   - {piece['text']}" + (f" ({piece['source']})" if piece.get("source") else ""))
        lines += [f"   -> {advice['text']}" for advice in one.recommendations]
    return "\n".join(lines if bottlenecks else [title, "none"]) + "\n"


def _estimate(bottlenecks: list[Bottleneck]) -> str:
    """Each gain is of what those above it leave, so that they multiply; what is part of another given one is not counted
    twice, and what would change the training not at all."""
    whole = {one.id for one in bottlenecks if one.gain}
    counted = [one.gain for one in bottlenecks if one.gain and not one.apart and one.part_of not in whole]
    counted = [gain for gain in counted if gain["expected"] > 1]
    if not counted:
        return "none can be estimated"
    expected, low, high = (math.prod(float(gain[bound]) for gain in counted) for bound in ("expected", "low", "high"))
    return f"{expected:.2f}x ({low:.2f}-{high:.2f}x) if all of the above are fixed"
