# SPDX-License-Identifier: Apache-2.0
"""A loop of one's own with Keras' layers and optimiser on torch."""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import torch

if __name__ == "__main__":
    net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.01)
    taken = 0
    for _ in range(20):
        net.zero_grad()
        net(torch.randn(4, 8)).square().mean().backward()
        with torch.no_grad():
            optimizer.apply([weight.value.grad for weight in net.trainable_weights], net.trainable_weights)
        taken += 1
    print("steps", taken)
