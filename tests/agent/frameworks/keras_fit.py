# SPDX-License-Identifier: Apache-2.0
"""Keras 3 on torch: the optimiser is Keras' own, and writes parameters itself; with validation after each epoch."""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy

if __name__ == "__main__":
    net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
    net.compile(optimizer="adam", loss="mse")
    x, y = numpy.random.rand(160, 8), numpy.random.rand(160, 1)
    net.fit(x, y, batch_size=8, epochs=2, validation_data=(x, y), verbose=0)
    print("steps", int(net.optimizer.iterations.value))
