# SPDX-License-Identifier: Apache-2.0
"""Recordings with one planted cause each: servers, cold starts, graphs, several cycles of one profiler, edges, losses, training.

A scene draws its sizes from a generator and writes what a recorder would have written; `Expected` says what a report must say of
it. Times are µs. The same number gives the same recording.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "rules"))
from recording import H100, Rank, Run

Recording = Run  # of one job, as tests/rules/recording.py writes it

GEMM, SHORT = (
    "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
    "void at::native::vectorized_elementwise_kernel<4>",
)


@dataclass
class Expected:
    """`first`: ids of rules of which one must be first; empty: any, or none. Absent figures are not looked at."""

    first: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    workload: str = ""
    devices: int = 1
    steps: int | None = None
    busy: tuple[float, float] | None = None
    cut_at: float = 1  # of each file's bytes, what is kept
    never: tuple[str, ...] = field(default=())


Scene = Callable[[random.Random, Run], Expected]
SCENES: dict[str, Scene] = {}


def scene(make: Scene) -> Scene:
    SCENES[make.__name__] = make
    return make


def kernels(rank: Rank, rng: random.Random, at: float, count: int, mean: float, host: float, names: int = 12) -> float:
    """Operators with a kernel each from `at`; the device follows the host. Gives when both are done."""
    host_at, device_at = at, at
    for number in range(count):
        dur = mean * rng.lognormvariate(0, 0.3)
        call = host * rng.lognormvariate(0, 0.2)
        rank.operator(f"aten::op{number % names}", host_at, call)
        device_at = max(device_at, host_at + call * 0.9)
        rank.kernel(
            GEMM if number % 3 == 0 else SHORT, launch=host_at + call * 0.4, start=device_at, dur=dur, call=call * 0.3
        )
        device_at += dur + 1
        host_at += call + 1
    return max(host_at, device_at)


def graph(rank: Rank, rng: random.Random, at: float, count: int, mean: float) -> float:
    """One launch of a captured graph; its kernels run one behind the other."""
    start = at + 20
    starts = []
    for _ in range(count):
        starts.append(start)
        start += mean + 0.5
    rank.graph(at, starts, mean, call=12 * rng.lognormvariate(0, 0.2))
    return start


@scene
def serving_decode_waits_for_the_host(rng: random.Random, run: Run) -> Expected:
    """Graphs of decode iterations with as much scheduling of the host between them."""
    rank, at, iterations, batch = run.rank(device=H100), 0.0, rng.randint(12, 30), rng.choice((8, 16, 32, 64))
    for _ in range(iterations):
        done = graph(rank, rng, at + 30, rng.randint(60, 120), rng.uniform(15, 40))
        rank.annotation(f"execute_context_0(0)_generation_{batch}({batch})", at, 60)
        rank.operator("aten::to", done - 40, 30)
        host = (done - at) * rng.uniform(0.6, 1.5)
        rank.python("vllm/v1/core/sched/scheduler.py(210): schedule", done, host)
        at = done + host + 5
    return Expected(
        ("engine_scheduling",),
        ("host bound",),
        "serving",
        steps=iterations,
        never=("data_loading", "small_batch"),
    )


@scene
def serving_decode_is_bound_by_the_device(rng: random.Random, run: Run) -> Expected:
    """Iterations follow each other; a lone kernel lies half a second before them."""
    rank = run.rank(device=H100)
    rank.kernel(SHORT, launch=0, start=20, dur=5)
    at, iterations, batch = 500_000.0, rng.randint(12, 30), rng.choice((8, 16, 32))
    for _ in range(iterations):
        done = graph(rank, rng, at, rng.randint(80, 160), rng.uniform(30, 60))
        rank.annotation(f"execute_context_0(0)_generation_{batch}({batch})", at - 5, done - at)
        at = done
    return Expected(
        (),
        ("memory bound", "compute bound"),
        "serving",
        steps=iterations,
        busy=(0.9, 1),
        never=("host_bound", "warm_up"),
    )


@scene
def serving_continuous_batching(rng: random.Random, run: Run) -> Expected:
    """Prefill and decode in turn, eager, with kernels shorter than their launches."""
    rank, at, iterations = run.rank(device=H100), 0.0, rng.randint(8, 16)
    for number in range(iterations):
        prefill = number % 4 == 0
        name = f"execute_context_{int(prefill)}({512 if prefill else 0})_generation_16(16)"
        done = kernels(rank, rng, at, rng.randint(80, 150), rng.uniform(2, 5), rng.uniform(12, 25))
        rank.annotation(name, at, done - at)
        at = done + 2
    return Expected(("launch_bound",), ("launch bound",), "serving", steps=iterations, never=("data_loading",))


def iteration(rank: Rank, rng: random.Random, at: float, prompt: int, batch: int, kernels_us: float) -> float:
    """One iteration of an engine that replays a graph; its annotation says what it computes. Gives when it is done."""
    count = rng.randint(60, 100)
    done = graph(rank, rng, at + 5, count, kernels_us / count)
    new = f"1({prompt})" if prompt else "0(0)"
    rank.annotation(f"execute_context_{new}_generation_{batch}({batch})", at, done - at)
    return done


@scene
def serving_prefill_blocks_decode(rng: random.Random, run: Run) -> Expected:
    """Whole prompts are computed in iterations that also decode, and take many times as long."""
    rank, at, every, batch = run.rank(device=H100), 0.0, rng.randint(3, 6), rng.randint(24, 64)
    iterations = every * rng.randint(4, 6)
    for number in range(iterations):
        prompt = rng.randint(2_000, 8_000) if number % every == 1 else 0
        at = iteration(rank, rng, at, prompt, batch, rng.uniform(1_800, 2_200) * (rng.uniform(6, 14) if prompt else 1))
    return Expected(
        ("prefill_blocks_decode",), workload="serving", steps=iterations, busy=(0.9, 1), never=("small_decode_batch",)
    )


@scene
def serving_small_decode_batches(rng: random.Random, run: Run) -> Expected:
    rank, at, iterations, batch = run.rank(device=H100), 0.0, rng.randint(10, 30), rng.randint(1, 7)
    for _ in range(iterations):
        at = iteration(rank, rng, at, 0, batch, rng.uniform(2_500, 6_000))
    return Expected(
        ("small_decode_batch",), workload="serving", steps=iterations, busy=(0.9, 1), never=("prefill_blocks_decode",)
    )


@scene
def serving_misses_graphs(rng: random.Random, run: Run) -> Expected:
    """Batches above the largest that was captured launch kernel by kernel."""
    rank, at, every, captured = run.rank(device=H100), 0.0, rng.randint(2, 3), rng.choice((16, 32, 48))
    iterations = every * rng.randint(5, 8)
    for number in range(iterations):
        if number % every:
            at = iteration(rank, rng, at, 0, captured - rng.randint(0, 4), rng.uniform(1_800, 2_400))
            continue
        done = kernels(rank, rng, at, rng.randint(150, 220), rng.uniform(8, 12), rng.uniform(35, 60))
        batch = captured + rng.randint(1, 9)
        rank.annotation(f"execute_context_0(0)_generation_{batch}({batch})", at, done - at)
        at = done
    return Expected(
        ("graph_misses",), workload="serving", steps=iterations, never=("small_decode_batch", "data_loading")
    )


@scene
def serving_waits_for_the_scheduler(rng: random.Random, run: Run) -> Expected:
    rank, at, iterations, batch = run.rank(device=H100), 0.0, rng.randint(10, 25), rng.randint(32, 128)
    name = rng.choice(
        (
            "vllm/v1/core/sched/scheduler.py(210): schedule",
            "sglang/srt/managers/scheduler.py(1500): get_next_batch_to_run",
            "tensorrt_llm/_torch/pyexecutor/py_executor.py(900): _schedule",
        )
    )
    for _ in range(iterations):
        done = iteration(rank, rng, at, 0, batch, rng.uniform(1_500, 3_000))
        host = (done - at) * rng.uniform(0.4, 1.2)
        rank.python(name, done, host)
        at = done + host + 5
    return Expected(("engine_scheduling",), ("host bound",), "serving", steps=iterations, never=("detokenisation",))


@scene
def serving_waits_for_text(rng: random.Random, run: Run) -> Expected:
    rank, at, iterations, batch = run.rank(device=H100), 0.0, rng.randint(10, 25), rng.randint(32, 128)
    for _ in range(iterations):
        done = iteration(rank, rng, at, 0, batch, rng.uniform(1_500, 3_000))
        host = (done - at) * rng.uniform(0.4, 1.2)
        rank.python("vllm/v1/engine/detokenizer.py(90): update", done, host)
        at = done + host + 5
    return Expected(("detokenisation",), ("host bound",), "serving", steps=iterations, never=("engine_scheduling",))


@scene
def serving_cache_is_full(rng: random.Random, run: Run) -> Expected:
    """Requests lose their blocks, and their prompts are computed again beside the decoding."""
    rank, at, every, batch = run.rank(device=H100), 0.0, rng.randint(3, 5), rng.randint(40, 90)
    iterations = every * rng.randint(4, 6)
    for number in range(iterations):
        again = number % every == 1
        if number % every == 0:
            rank.python("vllm/v1/core/sched/scheduler.py(640): _preempt_request", at, 8)
        prompt = rng.randint(500, 900) if again else 0
        at = iteration(
            rank, rng, at + 10, prompt, batch, rng.uniform(1_900, 2_100) * (rng.uniform(2, 2.6) if again else 1)
        )
    return Expected(("kv_pressure",), workload="serving", steps=iterations, never=("prefill_blocks_decode",))


@scene
def serving_exchanges_activations(rng: random.Random, run: Run) -> Expected:
    """Two GPUs of one model: an all-reduce after every other kernel, and nothing computes meanwhile."""
    exchange, iterations, batch, layers = (
        rng.uniform(25, 50),
        rng.randint(8, 14),
        rng.randint(32, 96),
        rng.randint(16, 32),
    )
    for number in range(2):
        rank, at = run.rank(number, device=H100), 0.0
        for _ in range(iterations):
            start = at
            for _ in range(2 * layers):
                rank.kernel(GEMM, launch=at, start=at + 8, dur=90)
                rank.nccl(launch=at + 4, start=at + 98, dur=exchange, elements=1 << 17)
                at += 90 + exchange
            at += 8
            rank.annotation(f"step[DECODE bs={batch}]", start, at - start)
    return Expected(("tensor_parallel_exchange",), workload="serving", devices=2)


@scene
def cold_first_launch(rng: random.Random, run: Run) -> Expected:
    rank, first = run.rank(), rng.uniform(300_000, 2_000_000)
    rank.operator("aten::mm", 0, first + 30)
    rank.kernel(GEMM, launch=10, start=first + 20, dur=50, call=first)
    kernels(rank, rng, first + 200, rng.randint(30, 200), rng.uniform(20, 60), rng.uniform(10, 30))
    return Expected(("warm_up",), ("warm-up",), never=("small_batch", "launch_bound", "host_bound"))


@scene
def cold_compilation(rng: random.Random, run: Run) -> Expected:
    rank, took = run.rank(), rng.uniform(500_000, 5_000_000)
    rank.step(0, 0, took + 40_000)
    kernels(rank, rng, 10, 20, 10, 12)
    rank.annotation("_compile.compile_inner (dynamo_timed)", 2_000, took)
    kernels(rank, rng, took + 3_000, rng.randint(40, 200), rng.uniform(10, 40), 12)
    return Expected(("warm_up",), ("warm-up",), never=("launch_bound", "host_bound"))


@scene
def cold_capture(rng: random.Random, run: Run) -> Expected:
    rank, took = run.rank(), rng.uniform(20_000, 200_000)
    kernels(rank, rng, 0, 5, 8, 12)
    rank.call("cudaStreamBeginCapture", 500, 10)
    for number in range(rng.randint(100, 300)):
        rank.operator(f"aten::op{number % 9}", 520 + number * took / 310, took / 330)
    rank.call("cudaStreamEndCapture", 500 + took, 50)
    kernels(rank, rng, took + 700, 5, 8, 12)
    return Expected(("warm_up",), ("warm-up",), never=("launch_bound",))


@scene
def warm_up_step_before_steady_ones(rng: random.Random, run: Run) -> Expected:
    """The first step compiles; the others wait for their batch, and that is the verdict."""
    rank, took, steps = run.rank(), rng.uniform(400_000, 2_000_000), rng.randint(3, 6)
    done = kernels(rank, rng, took + 100, 60, 30, 12)
    rank.annotation("_compile.compile_inner (dynamo_timed)", 20, took)
    rank.step(0, 0, done)
    for number in range(1, steps + 1):
        start, load = done, rng.uniform(3_000, 6_000)
        rank.loader(start, load)
        done = kernels(rank, rng, start + load, 60, 30, 12)
        rank.step(number, start, done - start)
    return Expected(("data_loading",), ("input bound",), steps=steps, never=("warm_up",))


@scene
def graphs_wait_for_their_batch(rng: random.Random, run: Run) -> Expected:
    """Steps of one captured graph each: no operator, no launch but one."""
    rank, done, steps, nodes = run.rank(), 0.0, rng.randint(4, 10), rng.randint(80, 200)
    for number in range(steps):
        start, load = done, rng.uniform(4_000, 9_000)
        rank.loader(start, load)
        done = graph(rank, rng, start + load, nodes, rng.uniform(20, 60))
        rank.step(number, start, done - start)
    return Expected(
        ("data_loading",), ("input bound", "compute bound", "memory bound"), steps=steps, never=("launch_bound",)
    )


@scene
def two_cycles_of_one_process(rng: random.Random, run: Run) -> Expected:
    """A profiler whose schedule repeats writes a file each time: one GPU, and all steps."""
    at, steps = 0.0, rng.randint(3, 5)
    for cycle in range(2):
        rank = run.rank()
        rank.file = f"trainer_4711.{1_700_000_000_000 + cycle * 3_000}.pt.trace.json"
        for number in range(steps):
            start, load = at, rng.uniform(3_000, 6_000)
            rank.loader(start, load)
            at = kernels(rank, rng, start + load, 60, 40, 12)
            rank.step(number, start, at - start)
        at += 3_000_000
    return Expected(("data_loading",), ("input bound",), steps=2 * steps, devices=1, never=("straggler",))


@scene
def spurious_mark(rng: random.Random, run: Run) -> Expected:
    """A mark of some µs; communication that nothing hides takes a third of the rest."""
    rank, at = run.rank(0), 0.0
    for _ in range(rng.randint(20, 60)):
        compute, send = rng.uniform(400, 900), rng.uniform(400, 700)
        rank.kernel(GEMM, launch=at, start=at + 10, dur=compute)
        rank.nccl(launch=at + 8, start=at + 12 + compute, dur=send, elements=1 << 22)
        at += compute + send + 14
    rank.step(0, at * rng.uniform(0.2, 0.8), rng.uniform(10, 60))
    return Expected(("exposed_communication",), ("communication bound",), steps=0, busy=(0.9, 1))


@scene
def file_cut_in_the_middle(rng: random.Random, run: Run) -> Expected:
    rank = run.rank()
    for number in range(4):
        done = kernels(rank, rng, number * 20_000, 80, 60, 20)
        rank.step(number, number * 20_000, done - number * 20_000)
    return Expected(("cut_recording",), cut_at=rng.uniform(0.3, 0.9))


@scene
def work_of_the_device_lost(rng: random.Random, run: Run) -> Expected:
    rank = run.rank()
    for number in range(rng.randint(30, 400)):
        rank.operator(f"aten::op{number % 11}", number * 30, 25)
        rank.call("cudaLaunchKernel", number * 30 + 10, 5)
    return Expected(("cut_recording",), devices=0, never=("host_operators",))


def training(rng: random.Random, run: Run, one: Callable[[Rank, float], float], steps: int = 0) -> int:
    rank, at, steps = run.rank(), 0.0, steps or rng.randint(4, 8)
    for number in range(steps):
        done = one(rank, at)
        rank.operator("autograd::engine::evaluate_function: MmBackward0", at + 1, 2)
        rank.step(number, at, done - at)
        at = done
    return steps


@scene
def training_waits_for_batches(rng: random.Random, run: Run) -> Expected:
    def one(rank: Rank, at: float) -> float:
        load = rng.uniform(2_000, 6_000)
        rank.loader(at, load)
        return kernels(rank, rng, at + load, 70, 45, 14)

    return Expected(("data_loading",), ("input bound",), "training", steps=training(rng, run, one))


@scene
def training_launches_slowly(rng: random.Random, run: Run) -> Expected:
    short, host = rng.uniform(2, 6), rng.uniform(15, 30)
    steps = training(rng, run, lambda rank, at: kernels(rank, rng, at, 150, short, host))
    return Expected(("launch_bound",), ("launch bound",), "training", steps=steps)


@scene
def training_copies_pinned(rng: random.Random, run: Run) -> Expected:
    """Nine tenths of a step are copies from pinned memory, and nothing runs beside them."""

    def one(rank: Rank, at: float) -> float:
        took = rng.uniform(8_000, 15_000)
        rank.copy("HtoD (Pinned -> Device)", launch=at, start=at + 10, dur=took, bytes_=int(took * 20_000))
        return kernels(rank, rng, at + took, 8, 60, 20)

    return Expected(("other_waste", "pageable_copies"), ("copy bound",), "training", steps=training(rng, run, one))


@scene
def training_copies_pageable(rng: random.Random, run: Run) -> Expected:
    def one(rank: Rank, at: float) -> float:
        took = rng.uniform(5_000, 9_000)
        rank.copy("HtoD (Pageable -> Device)", launch=at, start=at + 10, dur=took, bytes_=int(took * 4_000), call=took)
        return kernels(rank, rng, at + took, 20, 60, 20)

    return Expected(("pageable_copies",), ("copy bound", "sync bound"), "training", steps=training(rng, run, one))


@scene
def training_sleeps(rng: random.Random, run: Run) -> Expected:
    def one(rank: Rank, at: float) -> float:
        done = kernels(rank, rng, at, 60, 50, 14)
        pause = (done - at) * rng.uniform(0.5, 1.5)
        rank.python("train.py(31): train_step", done, pause)
        return done + pause

    return Expected(("host_bound",), ("host bound",), "training", steps=training(rng, run, one))


@scene
def training_allocates_in_every_step(rng: random.Random, run: Run) -> Expected:
    def one(rank: Rank, at: float) -> float:
        took = rng.uniform(1_500, 3_000)
        rank.call("cudaMalloc", at, took)
        rank.call("cudaFree", at + took, took)
        return kernels(rank, rng, at + 2 * took, 60, 50, 14)

    return Expected(("allocation",), ("sync bound",), "training", steps=training(rng, run, one))
