#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers batches of images with a network of convolutions and batch normalisations, and says how long each batch took.

On a CPU: --size 32 --batch 4 --requests 20. `gapless bench --inference -- python inference.py` measures it from outside.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
from torch import nn


def network() -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 64), (64, 128), (128, 128)):
        layers += [
            nn.Conv2d(before, after, 3, padding=1, stride=2 if after > before else 1),
            nn.BatchNorm2d(after),
            nn.ReLU(),
        ]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("size", 224), ("batch", 32), ("requests", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = network().eval().to(device)
    took_ms: list[float] = []
    answers = torch.zeros(10, dtype=torch.int64)
    with torch.no_grad():
        for _ in range(given.requests):
            images = torch.rand(given.batch, 3, given.size, given.size)
            started = time.perf_counter()
            found = model(images.to(device)).argmax(1).cpu()
            took_ms.append((time.perf_counter() - started) * 1e3)
            answers += torch.bincount(found, minlength=10)
    print(f"requests {len(took_ms)} answers {int(answers.sum())}")
    print(f"latency_p50_ms {statistics.median(took_ms):.3f}")
    if len(took_ms) >= 20:
        print(f"latency_p95_ms {statistics.quantiles(took_ms, n=20)[-1]:.3f}")
    print(f"samples_per_second {given.batch * len(took_ms) / sum(took_ms) * 1e3:.1f}")


if __name__ == "__main__":
    main()
