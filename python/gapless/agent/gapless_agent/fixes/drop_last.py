# SPDX-License-Identifier: Apache-2.0
"""The last batch of an epoch is left out where it is smaller: all steps have the same shapes. Only loaders that shuffle."""

from __future__ import annotations

from ..constructors import Given, Plan
from ._loader import LoaderFix


class DropLast(LoaderFix):
    def on(self, value: str) -> str:
        self.change(self._drop)
        return ""

    def _drop(self, given: Given) -> Plan | None:
        reason = _why_not(given)
        if reason:
            self.report.pass_over(reason)
            return None
        given.set(drop_last=True)
        return Plan("drop_last", {"drop_last": "True"})


def _why_not(given: Given) -> str:
    from torch.utils.data import SequentialSampler

    size, sampler = given.get("batch_size"), given.get("sampler")
    if given.get("drop_last"):
        return "a DataLoader has drop_last=True already"
    if size is None or given.get("batch_sampler") is not None:
        return "a DataLoader takes its batches from a sampler of the program"
    if not given.get("shuffle") and (sampler is None or isinstance(sampler, SequentialSampler)):
        return "a DataLoader does not shuffle: it may be there to evaluate, which needs every sample"
    try:
        count = len(given.get("dataset"))
    except Exception:
        return ""
    return f"a DataLoader has only {count} samples" if count < size else ""


FIX = DropLast
