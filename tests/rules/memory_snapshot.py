# SPDX-License-Identifier: Apache-2.0
"""A snapshot of an allocator that ran out of memory while activations filled it; a recording of a profiler has no snapshot."""

from recording import Run

MIB = 1 << 20


def fires(run: Run) -> None:
    snapshot = run.memory_snapshot()
    weights, state, kept, hole, other = snapshot.segment(
        (40 * MIB, "active_allocated"),
        (80 * MIB, "active_allocated"),
        (300 * MIB, "active_allocated"),
        (200 * MIB, "inactive"),
        (20 * MIB, "active_allocated"),
    )
    snapshot.alloc(weights, 40 * MIB, "module")
    snapshot.alloc(hole, 100 * MIB, "forward")
    snapshot.alloc(other, 20 * MIB, "backward")
    snapshot.free(hole, 100 * MIB)
    snapshot.alloc(state, 80 * MIB, "optimizer")
    snapshot.alloc(hole, 10 * MIB, "forward")
    snapshot.alloc(kept, 300 * MIB, "forward")
    snapshot.free(hole, 10 * MIB)
    snapshot.out_of_memory(500 * MIB)


def silent(run: Run) -> None:
    rank = run.rank(0, world_size=1)
    for step in rank.steps(2, 1000):
        rank.memory(step + 3, 1 << 30, 1 << 30, 2 << 30)
        rank.kernel("gemm", launch=step + 8, start=step + 20, dur=970)
