# SPDX-License-Identifier: Apache-2.0
"""Pairs of recordings of a training with one planted change, and the causes that may be named first.

Both sides of a pair draw their durations from different generators, as two runs of one program do. A plan is a training as a few
figures; a change is other figures, so that one thing differs.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent / "rules"))
from recording import Run
from simulator.kineto import Recorder, written
from simulator.machine import simulate
from simulator.program import Machine, Program
from simulator.recording import recorded
from simulator.script import Layer, Pace, Script

STEPS = 5
GEMM, BF16 = "ampere_sgemm_128x64_tn", "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
RELU = "void at::native::vectorized_elementwise_kernel<4, at::native::launch_clamp_scalar>"
DROPOUT = "void at::native::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, bool>"
PINNED_BYTES, LARGE_BYTES = 8_000_000, 30_000_000


@dataclass(frozen=True)
class Plan:
    """Times in ns."""

    layers: int = 24
    gemm: str = GEMM
    gemm_ns: float = 90_000
    relu_ns: float = 25_000
    host_ns: float = 9_000  # in an operator
    python_ns: float = 3_000  # before it
    dropout: bool = False
    loader_ns: float = 0
    batch_bytes: int = 2_000_000
    pinned: bool = True
    item_every: int = 0  # layers; 0: at the end of a step only
    synchronize_every: int = 0
    log_ns: float = 50_000  # Python behind the end of a step, after the loss was read


def step(plan: Plan, rng: random.Random) -> Script:
    script = Script(rng, Pace(0.05, 0.03, 4_000))
    if plan.loader_ns:
        script.loader(plan.loader_ns)
    script.batch(plan.batch_bytes, pinned=plan.pinned)
    for number in range(plan.layers):
        host, python = plan.host_ns, plan.python_ns
        script.layer(Layer("aten::linear", "aten::addmm", plan.gemm, plan.gemm_ns, host, python))
        script.layer(Layer("aten::relu", "aten::clamp_min", RELU, plan.relu_ns, host, python))
        if plan.dropout:
            script.layer(Layer("aten::native_dropout", "", DROPOUT, 40_000, host, python))
        if plan.item_every and number % plan.item_every == plan.item_every - 1:
            script.item(0, pinned=True)
        if plan.synchronize_every and number % plan.synchronize_every == plan.synchronize_every - 1:
            script.synchronize("device")
    script.item(plan.log_ns, pinned=True)
    return script


def simulated(plan: Plan, seed: str) -> str:
    """The file of a recording of the plan."""
    rng = random.Random(seed)
    program = Program(Machine(), tuple(tuple(step(plan, rng).actions) for _ in range(STEPS)))
    return written(simulate(recorded(program)), Recorder(), program.first_step)


@dataclass(frozen=True)
class Exchange:
    """A step of a data-parallel training: an all-reduce that computing hides in part. Times in µs."""

    compute: float = 900
    reduce: float = 500
    begins: float = 0.6  # share of computing after which it starts


def exchanged(plan: Exchange, seed: str, folder: Path) -> None:
    rng, run = random.Random(seed), Run()
    rank, at = run.rank(0), 0.0
    for number in range(STEPS + 3):
        compute, reduce = (length * rng.lognormvariate(0, 0.02) for length in (plan.compute, plan.reduce))
        start = at
        rank.operator("aten::mm", at, 20)
        rank.kernel("ampere_sgemm", launch=at + 5, start=at + 20, dur=compute)
        rank.operator("nccl:all_reduce", at + 25, 12)
        rank.nccl(launch=at + 28, start=at + 20 + compute * plan.begins, dur=reduce)
        at += 20 + max(compute, compute * plan.begins + reduce)
        rank.step(number, start, at - start)
    run.write(folder)


@dataclass(frozen=True)
class Pair:
    name: str
    first: tuple[str, ...]  # causes of which one must be first
    grows: bool
    write: Callable[[Path, str, bool], None]  # folder, seed, is it B


def of_plans(name: str, first: str, a: Plan, b: Plan, *, grows: bool = True) -> list[Pair]:
    """A change and its opposite."""

    def write(plans: tuple[Plan, Plan]) -> Callable[[Path, str, bool], None]:
        def write(folder: Path, seed: str, is_b: bool) -> None:
            folder.mkdir(parents=True)
            text = simulated(plans[is_b], f"{seed} {is_b}")
            (folder / "run.pt.trace.json").write_text(text, encoding="utf-8")

        return write

    causes = tuple(first.split())
    return [Pair(name, causes, grows, write((a, b))), Pair(f"{name}, undone", causes, not grows, write((b, a)))]


def of_exchanges(name: str, a: Exchange, b: Exchange) -> list[Pair]:
    def write(plans: tuple[Exchange, Exchange]) -> Callable[[Path, str, bool], None]:
        return lambda folder, seed, is_b: exchanged(plans[is_b], f"{seed} {is_b}", folder)

    return [
        Pair(name, ("communication",), True, write((a, b))),
        Pair(f"{name}, undone", ("communication",), False, write((b, a))),
    ]


def pairs() -> list[Pair]:
    gpu = Plan()
    host = replace(gpu, gemm_ns=5_000, relu_ns=3_000, layers=60)
    loader = replace(gpu, loader_ns=1_000_000)
    return [
        *of_plans("a kernel takes half as long again", "kernel_time", gpu, replace(gpu, gemm_ns=135_000)),
        *of_plans("short kernels take three times as long", "kernel_time", gpu, replace(gpu, relu_ns=75_000)),
        *of_plans("four more layers", "kernel_count", gpu, replace(gpu, layers=28)),
        *of_plans("another kernel for the products", "other_kernels", gpu, replace(gpu, gemm=BF16, gemm_ns=35_000), grows=False),
        *of_plans("dropout", "operators", gpu, replace(gpu, dropout=True)),
        *of_plans("dropout, host bound", "operators", host, replace(host, dropout=True)),
        *of_plans("loading takes twice as long", "loader", loader, replace(loader, loader_ns=2_000_000)),
        *of_plans("operators take longer on the host", "launch", host, replace(host, host_ns=15_000)),
        *of_plans("logging", "host", gpu, replace(gpu, log_ns=1_200_000)),
        *of_plans("batches are not pinned", "copies sync", replace(gpu, batch_bytes=PINNED_BYTES),
                  replace(gpu, batch_bytes=PINNED_BYTES, pinned=False)),
        *of_plans("larger batches", "copies", gpu, replace(gpu, batch_bytes=LARGE_BYTES)),
        *of_plans("a value is read after every layer", "sync", gpu, replace(gpu, item_every=1)),
        *of_plans("the device is waited for after every layer", "sync", gpu, replace(gpu, synchronize_every=1)),
        *of_exchanges("a slower exchange", Exchange(), Exchange(reduce=900)),
        *of_exchanges("an exchange that starts at the end", Exchange(), Exchange(begins=1)),
    ]  # fmt: skip
