# SPDX-License-Identifier: Apache-2.0
"""skorch: the optimiser is given a closure; a fifth of the data is kept for validation."""

from __future__ import annotations

import numpy
import torch
from skorch import NeuralNetRegressor

if __name__ == "__main__":
    x, y = numpy.random.rand(200, 8).astype("float32"), numpy.random.rand(200, 1).astype("float32")
    net = NeuralNetRegressor(
        torch.nn.Linear, module__in_features=8, module__out_features=1, max_epochs=2, batch_size=8, verbose=0
    )
    net.fit(x, y)
    print("steps", sum(len([batch for batch in epoch["batches"] if "train_loss" in batch]) for epoch in net.history))
