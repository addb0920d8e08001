# SPDX-License-Identifier: Apache-2.0
"""Batches are K times as large: another training, with fewer and larger steps."""

from __future__ import annotations

import math

from ..constructors import Given, Plan
from ..reports import Report
from ._loader import LoaderFix


class Batch(LoaderFix):
    def why_not(self, value: str) -> str:
        return "" if factor_of(value) is not None else f"{value!r} is no factor: batch=2 doubles the batches"

    def on(self, value: str) -> str:
        factor = factor_of(value) or 1
        self.change(lambda given: larger(given, factor, self.report))
        return ""


def factor_of(value: str) -> float | None:
    try:
        factor = float(value)
    except ValueError:
        return None
    return factor if math.isfinite(factor) and 0 < factor <= 1 << 16 else None


def larger(given: Given, factor: float, report: Report) -> Plan | None:
    """Plans a batch `factor` times as large; none where the loader has to stay as it is."""
    before = given.get("batch_size")
    if not isinstance(before, int) or before < 1 or given.get("batch_sampler") is not None:
        report.pass_over("a DataLoader takes its batches from a sampler of the program")
        return None
    after = max(1, int(before * factor))
    if after == before:
        report.pass_over(f"a DataLoader has batch_size={before} already")
        return None
    given.set(batch_size=after)
    return Plan(f"batch_size {before} → {after}", {"batch_size": str(after)})


FIX = Batch
