# SPDX-License-Identifier: Apache-2.0
"""A bottleneck: its kind, how severe it is, its evidence, and its cures."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .record import Record


class BottleneckType(str, enum.Enum):
    """A kind of bottleneck. Accepts values in lower case and the names in upper case that the program writes.

    >>> BottleneckType("kernel_efficiency") is BottleneckType("KERNEL_EFFICIENCY")
    True
    """

    KERNEL_EFFICIENCY = "kernel_efficiency"
    MEMORY_BANDWIDTH = "memory_bandwidth"
    DATA_LOADING = "data_loading"
    CPU_GPU_SYNC = "cpu_gpu_sync"
    MULTI_GPU_COMM = "multi_gpu_comm"
    MEMORY_ALLOCATION = "memory_allocation"
    LAUNCH_BOUND = "launch_bound"
    HOST_BOUND = "host_bound"
    SMALL_BATCH = "small_batch"
    RECOMPILATION = "recompilation"
    IO = "io"
    STEP_VARIATION = "step_variation"
    RECORDING = "recording"

    @classmethod
    def _missing_(cls, value: object) -> BottleneckType | None:
        if isinstance(value, enum.Enum):  # of a class that a program brought itself
            value = value.value
        return cls._value2member_map_.get(str(value).strip().lower())  # type: ignore[return-value]


# The fixes of each kind, as `gapless optimize --only` names them, for a bottleneck that names none itself.
FIXES: dict[BottleneckType, tuple[str, ...]] = {
    BottleneckType.KERNEL_EFFICIENCY: ("amp", "channels_last", "compile"),
    BottleneckType.MEMORY_BANDWIDTH: ("checkpoint", "batch"),
    BottleneckType.DATA_LOADING: ("workers", "pin"),
    BottleneckType.MULTI_GPU_COMM: ("accumulate", "nosync", "ddp_view"),
    BottleneckType.MEMORY_ALLOCATION: ("checkpoint", "allocator"),
    BottleneckType.LAUNCH_BOUND: ("compile",),
    BottleneckType.HOST_BOUND: ("compile",),
    BottleneckType.SMALL_BATCH: ("batch",),
    BottleneckType.IO: ("workers",),
}


@dataclass
class Bottleneck(Record):
    """A bottleneck, made by hand or an entry of `bottlenecks` in `gapless analyze --json`.

    `severity` is 0–1, where 1 is critical. `evidence` has figures by name, `recommendations` are texts. `evidence_rows` and `advice`
    are the same as the program writes them, with unit, table and source line, and with the name of the fix. `gain` has the speedup
    after the bottlenecks above it are fixed: low, expected, high; None where it is unknown, or part of the gain of `cured_by`.

    >>> found = Bottleneck(BottleneckType.DATA_LOADING, 0.8, "the GPU waits for batches", {"idle_share": 0.4}, ["more workers"])
    >>> found.type.name, found["severity"], found.fixes()
    ('DATA_LOADING', 0.8, ['workers', 'pin'])
    """

    type: BottleneckType
    severity: float
    description: str
    evidence: dict[str, Any] = field(default_factory=dict)
    recommendations: list[str] = field(default_factory=list)
    id: str = ""  # the rule's
    title: str = ""
    share_of_step: float | None = None  # 0–1
    gain: dict[str, Any] | None = None
    part_of: str = ""  # the rule that claims the same time in more general terms
    cured_by: str = ""  # the id of a bottleneck above whose fix cures this one, too
    step_left: float = 1.0  # share of the recorded step that is left when all above are fixed
    also: str = ""  # further effects of its fix
    apart: bool = False  # its fix changes the training: a choice, which no sum counts
    evidence_rows: list[dict[str, Any]] = field(default_factory=list, repr=False)
    advice: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.type = BottleneckType(self.type)
        self.severity = float(self.severity)
        if not 0 <= self.severity <= 1:
            raise ValueError(f"cannot use the severity {self.severity:g}: it must be between 0 and 1")
        if not isinstance(self.evidence, Mapping):
            self.evidence_rows = self.evidence_rows or [dict(row) for row in self.evidence or ()]
            self.evidence = {_name(row): _figure(row) for row in self.evidence_rows}
        texts = [self.recommendations] if isinstance(self.recommendations, str) else list(self.recommendations or ())
        if not self.advice:
            self.advice = [dict(text) if isinstance(text, Mapping) else {"text": str(text)} for text in texts]
        self.recommendations = [str(text["text"]) if isinstance(text, Mapping) else str(text) for text in texts]

    @classmethod
    def of(cls, found: Any) -> Bottleneck:
        """Returns a bottleneck from one, a mapping, or an object with the same attributes; raises ValueError for others."""
        if isinstance(found, Bottleneck):
            return found
        given = found if isinstance(found, Mapping) else getattr(found, "__dict__", {})
        absent = [name for name in ("type", "severity") if given.get(name) is None]
        if absent:
            raise ValueError(f"cannot read a bottleneck: it has no {' and no '.join(absent)}: {found!r}")
        values = {name: given[name] for name in cls.__dataclass_fields__ if given.get(name) is not None}
        values.setdefault("description", values.get("title", ""))
        return cls(**values)

    def fixes(self) -> list[str]:
        """Returns the items of `gapless optimize --only` that cure it: its own, else those of its kind where it was made by hand."""
        named = [str(advice["fix"]) for advice in self.advice if advice.get("fix")]
        return named if named or self.id else list(FIXES.get(self.type, ()))

    def to_program(self) -> dict[str, Any]:
        """Returns the entry as `gapless optimize --bottlenecks` reads it."""
        advice = list(self.advice)
        if not any(text.get("fix") for text in advice):
            advice += [{"text": f"try {fix}", "fix": fix} for fix in self.fixes()]
        rows = self.evidence_rows or [{"text": f"{name}: {value}"} for name, value in self.evidence.items()]
        kept = {
            name: self[name] for name in ("severity", "description", "share_of_step", "gain") if self[name] is not None
        }
        return {
            "id": self.id or self.type.value, "type": self.type.name, "title": self.title or self.description, **kept,
            "evidence": rows, "recommendations": advice,
        }  # fmt: skip


def _name(row: Mapping[str, Any]) -> str:
    """Returns the key of a piece of evidence: its sentence, which is unique where its table is not."""
    return str(row.get("text") or row.get("table") or row.get("source") or "")


def _figure(row: Mapping[str, Any]) -> Any:
    return row["value"] if row.get("value") is not None else row.get("source") or row.get("text")
