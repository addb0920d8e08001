# SPDX-License-Identifier: Apache-2.0
"""Memory for time: activations are computed again in the backward pass, and batches are K times as large."""

from __future__ import annotations

from .batch import Batch
from .checkpoint import Blocks, Checkpoint


class CheckpointBatch(Batch):
    def why_not(self, value: str) -> str:
        return super().why_not(value) or Checkpoint(self.tools, self.report.name).why_not("block")

    def on(self, value: str) -> str:
        self.tools.models.add(Blocks(self.tools.models, self.torch, self.report, 1.0))
        return super().on(value)

    def nothing(self) -> str:
        return self.tools.models.nothing()


FIX = CheckpointBatch
