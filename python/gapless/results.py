# SPDX-License-Identifier: Apache-2.0
"""What collecting answers with."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any


class ProfilerType(enum.Enum):
    NSIGHT_SYSTEMS = "nsys"
    NSIGHT_COMPUTE = "ncu"
    PYTORCH_PROFILER = "pytorch"
    DCGM = "dcgm"


@dataclass
class ProfileResult:
    profiler_type: ProfilerType
    profile_path: str
    summary: dict[str, Any] = field(default_factory=dict)
    recommendations: list[str] = field(default_factory=list)
