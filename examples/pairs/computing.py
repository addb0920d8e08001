# SPDX-License-Identifier: Apache-2.0
"""One thread computes in single precision: `--fix threads=N`, `--fix amp`."""

from __future__ import annotations

import itertools

import pairs
import torch
from torch import nn

# Width, layers and batch.
CASES = {
    "matrix": (1024, 4, 128),  # large matrix products
    "tiny": (32, 160, 16),  # many small operators
}


def main() -> None:
    given = pairs.given(list(CASES), ["threads=N", "amp"])
    if given.has("threads"):
        torch.set_num_threads(given.amount("threads"))
    width, layers, batch = CASES[given.case]
    model = pairs.mlp(width, layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, labels = torch.rand(batch, width), torch.randint(10, (batch,))

    def step(_: object) -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=given.has("amp")):
            loss = nn.functional.cross_entropy(model(inputs), labels)
        pairs.backward(loss, optimizer)

    pairs.train(given.steps, itertools.count(), step)


if __name__ == "__main__":
    main()
