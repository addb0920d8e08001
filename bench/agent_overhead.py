#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the agent costs a training step, as a Markdown table.

usage: agent_overhead.py [--blocks N] [--pairs N]          with a Python that has torch

1. Its own counter: the time spent in its hooks per step, in both modes, for a small model and others 10 and 100 times as large. Bounds of
   the median: 20 us in light mode, 60 us in step mode. The hooks do the same for each model, but a larger one takes more of the caches;
   how much of it that is show three empty hooks in the same places, which only read the clock when they are entered and left.
2. Blocks of steps with the agent switched on and off in one process, alternating, at steps of about 10 ms: the median of the ratios
   of neighbouring blocks, with a 95 % interval by bootstrap. Bound: the upper end is at most 1.005.
3. Whole processes of 300 such steps with and without it, both at once on one processor, drawn by lot, so that they take turns every few
   milliseconds and meet the same machine: time of the processor (`time.process_time` at the end), with the same interval. One after the
   other, or on a processor each, they differ at least five times as much by themselves. Bound: within 1 %.

Run with OMP_NUM_THREADS=1, which is set here; blocks are measured in processor time of the thread too, so that a busy machine shows up
as little as possible.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
AGENT = ROOT / "python" / "gapless" / "agent"
HEADER, RECORD = 4096, 64
STEP_MS = 10.0
FIRST_STEPS = 136  # the agent writes the first ones differently, see its step_writer.py


def make(width: int, layers: int) -> tuple[Any, Any, Any]:
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    net = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(layers)])
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
    data = TensorDataset(torch.randn(1 << 14, width))
    return net, optimizer, DataLoader(data, batch_size=16)


def one_step(net: Any, optimizer: Any, batch: Any, repeat: int) -> None:
    optimizer.zero_grad()
    loss = sum(net(batch).square().mean() for _ in range(repeat))
    loss.backward()
    optimizer.step()


def hook_nothing() -> list[float]:
    """Puts empty hooks where light mode has its three; answers their cost of each step, ns, as it grows."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    costs, clock = [0.0], time.perf_counter_ns

    def around(original: Any) -> Any:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            entered = clock()
            costs[-1] += clock() - entered
            return original(*args, **kwargs)

        return wrapper

    def after(_optimizer: Any, _args: Any, _kwargs: Any) -> None:
        entered = clock()
        costs.append(0.0)
        costs[-2] += clock() - entered

    _BaseDataLoaderIter.__next__ = around(_BaseDataLoaderIter.__next__)
    torch.autograd.backward = around(torch.autograd.backward)
    register_optimizer_step_post_hook(after)
    return costs


def train(layers: int, steps: int, width: int, repeat: int, floor: bool) -> None:
    """In a child: plain steps."""
    net, optimizer, loader = make(width, layers)
    costs = hook_nothing() if floor else []
    taken = 0
    while taken < steps:
        for (batch,) in loader:
            one_step(net, optimizer, batch, repeat)
            taken += 1
            if taken == steps:
                break
    print(json.dumps({"cpu_s": time.process_time(), "costs": costs[:-1]}))


def repeats(net: Any, optimizer: Any) -> int:
    """So many passes make a step of STEP_MS."""
    import torch

    took_ms = []
    for _ in range(60):
        begin = time.thread_time()
        one_step(net, optimizer, torch.randn(16, 256), 10)
        took_ms.append((time.thread_time() - begin) * 1e3)
    return max(1, round(10 * STEP_MS / statistics.median(took_ms)))


def blocks(count: int, steps_per_block: int) -> None:
    """In a child under the agent: blocks of steps with the agent on and off, alternating, in random order within each pair."""
    import torch

    install = sys.modules["gapless_agent.install"]
    agent = install.running.agent
    net, optimizer, loader = make(256, 8)
    batches = iter(loader)
    for _ in range(FIRST_STEPS):
        one_step(net, optimizer, torch.randn(16, 256), 1)
    repeat = repeats(net, optimizer)
    times: dict[bool, list[float]] = {True: [], False: []}
    for pair in range(count + 1):
        order = [True, False]
        random.shuffle(order)
        for on in order:
            agent.on = on
            begin, off_since = time.thread_time(), time.perf_counter_ns()
            for _ in range(steps_per_block):
                try:
                    (batch,) = next(batches)
                except StopIteration:
                    batches = iter(loader)
                    (batch,) = next(batches)
                one_step(net, optimizer, batch, repeat)
            if pair:  # the first pair warms up
                times[on].append((time.thread_time() - begin) / steps_per_block)
            if not on:
                agent.due_ns += time.perf_counter_ns() - off_since  # or a group of steps would end twice as often
    agent.on = True
    print(json.dumps({"on": times[True], "off": times[False]}))


def child(words: list[str], options: dict[str, Any] | None, processor: int | None = None) -> tuple[Any, list[float]]:
    """Runs this script again; answers what it printed and the agent's own cost of each step, ns."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS", "PYTHON"))}
    environment["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as run:
        if options is not None:
            environment.update(GAPLESS_RUN=run, GAPLESS_OPTIONS=json.dumps(options), PYTHONPATH=str(AGENT))
        pin = [] if processor is None else ["taskset", "--cpu-list", str(processor)]
        command = [*pin, sys.executable, __file__, *words]
        done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
        costs = [cost for path in Path(run).glob("*/agent-*.ring") for cost in own_costs(path)]
    return json.loads(done.stdout.splitlines()[-1]), costs


def own_costs(path: Path) -> list[float]:
    data = path.read_bytes()
    (capacity,) = struct.unpack_from("<I", data, 20)
    (written,) = struct.unpack_from("<Q", data, 64)
    costs = []
    for number in range(max(1, written - capacity + 1), written + 1):
        offset = HEADER + ((number - 1) % capacity) * RECORD
        (kind,) = struct.unpack_from("<H", data, offset + 8)
        if kind == 1:
            costs.append(struct.unpack_from("<d", data, offset + 56)[0])
    return costs


def counter_rows(mode: str, bound: int) -> None:
    """Of the first steps, each of which is written at once, and of those behind, which are written in groups."""
    for layers in (4, 40, 400):
        words = ["--train", str(layers), *(["--floor"] if mode == "nothing" else [])]
        printed, costs = child(words, None if mode == "nothing" else {"mode": mode, "record": {"on": False}})
        costs = costs or printed["costs"]
        first, rest = costs[20:128], sorted(costs[FIRST_STEPS:])
        middle, high = statistics.median(rest) / 1e3, rest[int(len(rest) * 0.95)] / 1e3
        about = f"mean {statistics.fmean(rest) / 1e3:.1f}, p95 {high:.1f} us; first steps {statistics.median(first) / 1e3:.1f} us"
        print(f"| own counter, {layers} layers | {mode} | {middle:.1f} us a step | {about} | {bound} us |", flush=True)


def interval(on: list[float], off: list[float]) -> tuple[float, float, float]:
    """The median of the ratios of the pairs, and its 95 % interval by bootstrap."""
    ratios = [a / b for a, b in zip(on, off)]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(4000))
    return statistics.median(ratios), medians[100], medians[3899]


def pairs(count: int, options: dict[str, Any]) -> tuple[list[float], list[float]]:
    words = ["--train", "8", "--steps", "300", "--width", "256", "--repeat", "12"]
    on: list[float] = []
    off: list[float] = []
    with ThreadPoolExecutor(2) as both:
        for _ in range(count):
            processor = random.choice(sorted(os.sched_getaffinity(0)))
            given = random.sample([options, None], 2)
            started = [both.submit(child, words, each, processor) for each in given]
            for each, done in zip(given, started):
                (off if each is None else on).append(done.result()[0]["cpu_s"])
    return on, off


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--train", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, default=1000, help=argparse.SUPPRESS)
    parser.add_argument("--width", type=int, default=64, help=argparse.SUPPRESS)
    parser.add_argument("--repeat", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.train:
        train(given.train, given.steps, given.width, given.repeat, given.floor)
        return 0
    if given.in_process:
        blocks(given.blocks, 2)
        return 0
    plain = {"record": {"on": False}}
    print("| measured | mode | value | 95 % interval | bound |\n|---|---|---|---|---|")
    for mode, bound in (("nothing", 0), ("light", 20), ("step", 60)):
        counter_rows(mode, bound)
    for mode in ("light", "step"):
        both, costs = child(["--in-process", "--blocks", str(given.blocks)], {"mode": mode, **plain})
        step_ms = statistics.median(both["off"]) * 1e3
        ratio, low, high = interval(both["on"], both["off"])
        own_us = statistics.fmean(costs[FIRST_STEPS:]) / 1e3
        what = f"{len(both['on'])} pairs of blocks, steps of {step_ms:.1f} ms, own counter {own_us:.0f} us in the mean"
        print(f"| {what} | {mode} | {ratio:.4f} | {low:.4f} to {high:.4f} | 1.005 |", flush=True)
    if given.pairs:
        on, off = pairs(given.pairs, {"mode": "step", **plain})
        ratio, low, high = interval(on, off)
        print(
            f"| {given.pairs} pairs of processes, processor time | step | {ratio:.4f} | {low:.4f} to {high:.4f} | 1.01 |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
