# SPDX-License-Identifier: Apache-2.0
"""Results of the profilers."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from .record import Record


class ProfilerType(str, enum.Enum):
    """A profiler. Its value is also a text, so that results with these keys can be written as JSON."""

    NSIGHT_SYSTEMS = "nsys"
    NSIGHT_COMPUTE = "ncu"
    PYTORCH_PROFILER = "pytorch"
    DCGM = "dcgm"


@dataclass
class ProfileResult(Record):
    """The result of one profiler.

    `profile_path` is the file or folder that it left, which `gapless analyze` opens. `summary` has its figures by name; a figure that
    was not recorded has no key. `recommendations` are sentences.

    >>> result = ProfileResult(ProfilerType.NSIGHT_SYSTEMS, "run/nsys/report.sqlite", {"gpu_idle_time_ms": 150.0})
    >>> result.summary["gpu_idle_time_ms"], result["profile_path"]
    (150.0, 'run/nsys/report.sqlite')
    """

    profiler_type: ProfilerType
    profile_path: str
    summary: dict[str, Any] = field(default_factory=dict)
    recommendations: list[str] = field(default_factory=list)
