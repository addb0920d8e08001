# SPDX-License-Identifier: Apache-2.0
"""Do two trainings give the same losses?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .metrics import fields_of

WITHIN_SPREAD = 1.5  # of the differences between two trainings of the baseline, as `gapless compare` has it
ROUNDING = 2.0**-7  # of the loss: what rounding to bfloat16 (8 bits) may change


@dataclass
class LossParity:
    """Losses of the optimised model against the baseline's, step by step, over the same batches.

    `spread` is how much two trainings of the baseline differ that draw other random numbers. `parity`: the difference is within one and a
    half times that, or within what rounding to bfloat16 may change.
    """

    parity: bool
    max_difference: float  # infinite where one is a number and the other is none
    spread: float
    steps: int

    def to_dict(self) -> dict[str, Any]:
        return fields_of(self)

    @classmethod
    def of(cls, baseline: list[float], again: list[float], optimized: list[float]) -> LossParity:
        most, spread = _differ(baseline, optimized), _differ(baseline, again)
        size = max((abs(one) for one in baseline if math.isfinite(one)), default=0.0)
        return cls(most <= max(WITHIN_SPREAD * spread, ROUNDING * size), most, spread, len(baseline))


def _differ(a: list[float], b: list[float]) -> float:
    most = 0.0
    for one, other in zip(a, b):
        if math.isfinite(one) and math.isfinite(other):
            most = max(most, abs(one - other))
        elif repr(one) != repr(other):
            return math.inf
    return most
