# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer with accumulated gradients and clipping."""

from __future__ import annotations

from lightning_fit import train

if __name__ == "__main__":
    print("steps", train(12, accumulate_grad_batches=3, gradient_clip_val=1.0))
