#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that other analysers get wrong, and what gapless must say of them.

usage: traps.py PROGRAM

Each trap is a function whose text says who errs and how. Recordings are made with tests/rules/recording.py; times are µs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "rules"))
from recording import H100, Run

Answer = Callable[[str], list[dict[str, Any]]]
Trap = Callable[[Run], Callable[[dict[str, Any], Answer], list[str]]]
TRAPS: list[Trap] = []


def trap(make: Trap) -> Trap:
    TRAPS.append(make)
    return make


def expect(what: str, got: object, want: object) -> list[str]:
    return [] if got == want else [f"{what}: {got}, not {want}"]


@trap
def loader_range_of_a_modern_recorder(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """torch-tb-profiler 0.4.3 counts the device's copy of ProfilerStep#6 as a second step and does not know the loader's
    range as a user annotation: it says "GPU utilisation is low, use a larger batch" of a run that waits for data half the
    time."""
    rank = run.rank(device=H100)
    rank.step(6, 0, 1000)
    rank.gpu_annotation("ProfilerStep#6", 515, 480)
    rank.loader(0, 510)
    rank.kernel("gemm", launch=512, start=520, dur=475)

    def check(report: dict[str, Any], _: Answer) -> list[str]:
        first = report["bottlenecks"][0]
        return (
            expect("steps", report["run"]["steps"], 1)
            + expect("class", report["run"]["class"], "input bound")
            + expect("first", first["id"], "data_loading")
            + expect("share", round(first["share_of_step"], 2), 0.51)
        )

    return check


@trap
def driver_launches(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """HTA's launch statistics know cudaLaunchKernel only: Triton, which launches through the driver, has none. The
    TensorBoard plugin does not read driver calls at all, so such kernels belong to no operator."""
    rank = run.rank()
    for step in rank.steps(2, 200):
        for number in range(10):
            rank.operator("CompiledFunction", step + number * 20, 19)
            rank.kernel(
                "triton_poi_fused_add_0",
                step + number * 20 + 2,
                step + number * 20 + 10,
                9,
                launcher="cuLaunchKernelEx",
            )

    def check(_: dict[str, Any], ask: Answer) -> list[str]:
        launches = ask("SELECT sum(calls) AS calls FROM launches")
        owned = ask("SELECT count(*) AS kernels FROM gpu_op WHERE op_id IS NOT NULL")
        return expect("launches", launches[0]["calls"], 20) + expect(
            "kernels with an operator", owned[0]["kernels"], 20
        )

    return check


@trap
def renamed_nccl_kernels(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """HTA looks for stragglers in kernels called ncclKernel…; since NCCL 2.19 they are called ncclDevKernel…, and it fails.
    A kernel of MSCCL or of symmetric memory is computation to it."""
    names = (
        "ncclKernel_AllReduce_RING_LL_Sum_float",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
        "multimem_all_reduce_kernel",
    )
    rank = run.rank(0)
    for step in rank.steps(2, 1000):
        rank.kernel("gemm", launch=step, start=step + 10, dur=690)
        for number, name in enumerate(names):
            rank.nccl(launch=step + 10, start=step + 700 + number * 100, dur=100, name=name)

    def check(report: dict[str, Any], _: Answer) -> list[str]:
        all_of = report["breakdown"][0]
        return expect("exposed communication", all_of["exposed_comm_ns"], 600_000)

    return check


@trap
def overlapping_on_one_stream(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """Kernels that begin before the one before has ended (programmatic dependent launch). Perfetto dropped the later ones
    for years; summing durations counts the time twice."""
    rank = run.rank()
    for step in rank.steps(2, 100):
        rank.kernel("first", launch=step, start=step + 10, dur=50)
        rank.kernel("second", launch=step + 5, start=step + 40, dur=50)

    def check(report: dict[str, Any], ask: Answer) -> list[str]:
        kernels = ask("SELECT name, calls, total_ns FROM kernels ORDER BY name")
        return expect("kernels", [(k["name"], k["calls"], k["total_ns"]) for k in kernels],
                      [("first", 2, 100_000), ("second", 2, 100_000)]) + expect(
            "compute", report["breakdown"][0]["compute_ns"], 160_000)  # fmt: skip

    return check


@trap
def annotations_that_cross(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """Ranges of one thread that overlap without nesting ("ranges on the same thread should not intersect"): other tools
    break the operator tree or show nothing. Steps and operators must survive."""
    rank = run.rank()
    for step in rank.steps(2, 1000):
        rank.annotation("forward", step + 10, 600)
        rank.annotation("logging", step + 500, 300)
        rank.operator("aten::mm", step + 20, 900)
        rank.kernel("gemm", launch=step + 30, start=step + 40, dur=900)

    def check(report: dict[str, Any], ask: Answer) -> list[str]:
        steps = report["run"]["steps"]
        calls = ask("SELECT calls, device_total_ns FROM operators WHERE name = 'aten::mm'")
        return expect("steps", steps, 2) + expect("operator", calls, [{"calls": 2, "device_total_ns": 1_800_000}])

    return check


@trap
def graph_replay(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """One launch, many kernels. Gaps between kernels of one graph are not the host's doing; tools that take a kernel's
    launch for the reason call the run launch bound, others count a launch per kernel."""
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.operator("graph", step, 30)
        rank.graph(launch=step + 5, starts=[step + 20 + number * 49 for number in range(20)], dur=20)

    def check(report: dict[str, Any], ask: Answer) -> list[str]:
        launches = ask("SELECT calls, graph_calls FROM launches")
        found = [finding["id"] for finding in report["bottlenecks"]]
        return (
            expect("launches", launches, [{"calls": 3, "graph_calls": 3}])
            + expect("kernels", ask("SELECT count(*) AS n FROM gpu_op")[0]["n"], 60)
            + ([] if "launch_bound" not in found else ["launch_bound is blamed for gaps inside a graph"])
        )

    return check


@trap
def names_that_sound_like_copies(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """HTA does not count kernels as computation whose names hold "Sync", "dma" or "Memcpy", and calls all that begins with
    "hip" communication."""
    names = ("void SyncBatchNorm_kernel", "hip_flash_fwd", "void admayer_update")
    rank = run.rank()
    for step in rank.steps(2, 100):
        for number, name in enumerate(names):
            rank.kernel(name, launch=step, start=step + 10 + number * 30, dur=30)

    def check(report: dict[str, Any], _: Answer) -> list[str]:
        return expect("compute", report["breakdown"][0]["compute_ns"], 180_000)

    return check


@trap
def last_step_counts(run: Run) -> Callable[[dict[str, Any], Answer], list[str]]:
    """HTA drops the last step of a recording even when it is complete."""
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.kernel("gemm", launch=step, start=step + 10, dur=980)

    def check(report: dict[str, Any], _: Answer) -> list[str]:
        return expect("steps", report["run"]["steps"], 3)

    return check


def spring(program: Path, make: Trap) -> list[str]:
    """Sets one trap; gives what went wrong."""
    run = Run()
    check = make(run)
    with tempfile.TemporaryDirectory() as folder:
        run.write(Path(folder))

        def call(*words: str) -> Any:
            command = [str(program), *words, "--no-cache", "--json"]
            return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

        report = call("analyze", folder)
        return [f"{make.__name__}: {line}" for line in check(report, lambda sql: call("query", folder, sql))]


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    wrong = [line for make in TRAPS for line in spring(program, make)]
    print("\n".join(wrong) if wrong else f"{len(TRAPS)} traps, none sprung")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
