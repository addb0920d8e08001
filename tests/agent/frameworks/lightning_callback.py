# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer with the callback of gapless; gradients are accumulated over two batches."""

from __future__ import annotations

from lightning_fit import train
from watched import OPTIONS, report  # which puts gapless on the path

# isort: split
from gapless.integrations.lightning import GaplessCallback

if __name__ == "__main__":
    callback = GaplessCallback(**OPTIONS)
    report(callback.watch, train(16, accumulate_grad_batches=2, callbacks=[callback]))
