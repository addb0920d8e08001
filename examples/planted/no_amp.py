# SPDX-License-Identifier: Apache-2.0
"""Large matrix products in single precision, with the tensor cores left idle."""

from __future__ import annotations

import planted
import torch


def main() -> None:
    device = planted.device()
    torch.backends.cuda.matmul.allow_tf32 = False  # the problem: torch.autocast("cuda", torch.bfloat16)
    model = planted.mlp(4096 if device.type == "cuda" else 256, 8).to(device)
    width = model[0].in_features
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.steps(40)):
        planted.train(model, optimizer, torch.rand(4096, width, device=device), torch.randint(10, (4096,), device=device))


if __name__ == "__main__":
    main()
