# SPDX-License-Identifier: Apache-2.0
"""Gradients lie in the buckets that DistributedDataParallel exchanges: `gradient_as_bucket_view`, one copy less."""

from __future__ import annotations

from ._ddp import DdpFix


class DdpView(DdpFix):
    def on(self, value: str) -> str:
        self.change(lambda given: self.flag(given, "gradient_as_bucket_view", True))
        return ""


FIX = DdpView
