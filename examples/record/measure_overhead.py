#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of recording on this machine: the step time of record_steps.py with each option of the profiler against none.

    python measure_overhead.py --rounds 15
    python measure_overhead.py --rounds 15 --batch 1     # hardly any work in an operator: the worst case
    OMP_NUM_THREADS=1 python measure_overhead.py --cpu-time    # where others use the machine, too, and there is no GPU

The ways take turns, so a change in the machine's speed hits all of them. Of each round the median step is taken; printed are
the median of its ratios to the same round without a recorder with the middle half of them, the size of the file a step, and
how long writing it took a step. On a GPU the host runs ahead of the device: what is measured is the time from step to step.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import record_steps
import torch
from torch import nn

WAYS: dict[str, list[str]] = {
    "no recorder": [],
    "operators and calls only": [],
    "record_shapes": ["shapes"],
    "profile_memory": ["memory"],
    "with_stack": ["stacks"],
    "record_shapes, with_stack": ["shapes", "stacks"],
    "all three": ["shapes", "stacks", "memory"],
}


def steps(model: Any, optimizer: Any, batches: Iterator[Any], device: Any) -> Iterator[None]:
    """Trains one step each time it is asked."""
    loss_of = nn.CrossEntropyLoss()
    for pictures, labels in batches:
        loss = loss_of(model(pictures.to(device, non_blocking=True)), labels.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


def measure(way: str, options: argparse.Namespace, training: Iterator[None]) -> tuple[float, float, float]:
    """Seconds of the median step, seconds that writing took, bytes of the file."""
    for name in ("shapes", "stacks", "memory"):
        setattr(options, name, name in WAYS[way])
    times = []
    clock = time.process_time if options.cpu_time else time.perf_counter
    recorder = record_steps.recorder(options) if way != "no recorder" else nullcontext()
    with recorder as profiler:
        for _ in range(options.wait + options.warmup + options.steps):
            start = clock()
            next(training)
            between = clock()
            if profiler:
                profiler.step()
            writing = clock() - between
            times.append(between - start)
    files = list(options.folder.glob("*"))
    size = sum(path.stat().st_size for path in files)
    for path in files:
        path.unlink()
    return statistics.median(times[-options.steps :]), writing, size


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what recording costs.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--cpu-time", action="store_true", help="time the process works, instead of time that passes")
    options = parser.parse_args()
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    rounds: list[dict[str, tuple[float, float, float]]] = []
    with tempfile.TemporaryDirectory() as folder:
        vars(options).update(folder=Path(folder), wait=2, warmup=3, sync_events=False, workers=0)
        model, optimizer, loader = record_steps.training(options, device)
        training = steps(model, optimizer, iter(loader), device)
        for _ in range(30):  # what runs for the first time is slow
            next(training)
        for _ in range(options.rounds):
            rounds.append({way: measure(way, options, training) for way in WAYS})
    print(f"PyTorch {torch.__version__}, {device.type}, {options.rounds} rounds of {options.steps} steps in turn\n")
    print("| recorded | step | against none | file a step | writing a step |\n|---|---|---|---|---|")
    for way in WAYS:
        step, writing, size = (statistics.median(times[way][part] for times in rounds) for part in range(3))
        low, middle, high = statistics.quantiles((times[way][0] / times["no recorder"][0] for times in rounds), n=4)
        print(
            f"| {way} | {step * 1e3:.1f} ms | {middle:.2f} ({low:.2f}–{high:.2f}) "
            f"| {size / options.steps / 1e3:.0f} kB | {writing / options.steps * 1e3:.0f} ms |"
        )


if __name__ == "__main__":
    main()
