# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel exchanges gradients in buckets of N MB instead of 25."""

from __future__ import annotations

from ._ddp import DdpFix
from ._devices import number


class DdpBucket(DdpFix):
    def why_not(self, value: str) -> str:
        return super().why_not(value) if number(value) else f"{value!r} is no number of megabytes"

    def on(self, value: str) -> str:
        size = int(value)
        self.change(lambda given: self.flag(given, "bucket_cap_mb", size))
        return ""


FIX = DdpBucket
