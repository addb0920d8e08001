# SPDX-License-Identifier: Apache-2.0
"""A job of several ranks, one of which is late for a cause that was planted: its recordings, and what a step takes without the cause.

Each rank's host loads a batch, runs code of its own, launches forward and backward kernels, exchanges buckets of gradients on a stream
of their own while the backward pass goes on, updates, and waits for its device. A collective begins on a rank when its bucket is there and
ends on all ranks when the last one has begun it and the transfer is over. Ranks differ a little in everything. Times are µs.

Nothing here knows how gapless replays a recording: the truth is the same simulation without the delay.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "rules"))
from recording import A100, Rank

CAUSES = ("loader", "host", "kernels", "backward")
GEMM = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"
LATENCY, CALL, OPERATOR = 6.0, 4.0, 12.0


@dataclass(frozen=True)
class Planted:
    """A problem of one rank of a job, and its size: µs a step, or how many times as long its kernels take."""

    cause: str
    ranks: int
    late: int  # the rank
    delay: float
    steps: int = 5
    forward: int = 20  # kernels
    backward: int = 40
    kernel: float = 150.0
    buckets: int = 4
    transfer: float = 300.0


@dataclass
class Lane:
    """One rank as it goes."""

    number: int
    rank: Rank | None  # None: nothing is written down
    rng: random.Random
    host: float = 0.0
    device: float = 0.0
    exchange: float = 0.0
    ready: list[tuple[float, float]] = field(default_factory=list)  # of each bucket: launch, and when it is there
    step: float = 0.0

    def about(self, mean: float) -> float:
        return mean * self.rng.uniform(0.99, 1.01)

    def kernel(self, dur: float, tid: int = 1, operator: str = "aten::mm") -> None:
        start = max(self.device, self.host + 2 + LATENCY)
        if self.rank:
            self.rank.operator(operator, self.host, OPERATOR - 2, tid=tid)
            self.rank.kernel(GEMM, launch=self.host + 2, start=start, dur=dur, call=CALL, tid=tid)
        self.device = start + dur + 1
        self.host += OPERATOR

    def bucket(self) -> None:
        self.ready.append((self.host, max(self.device, self.host + LATENCY)))
        self.host += 6


def begin(lane: Lane, planted: Planted, delay: float) -> None:
    """Up to the last bucket of a step: no rank waits for another one until then."""
    late = lane.number == planted.late
    lane.step = lane.host
    load = lane.about(100) + (delay if late and planted.cause == "loader" else 0)
    if lane.rank:
        lane.rank.loader(lane.host, load)
    lane.host += load + 5 + (delay if late and planted.cause == "host" else 0)
    slow = delay if late and delay else 1.0
    for _ in range(planted.forward):
        lane.kernel(lane.about(planted.kernel) * (slow if planted.cause == "kernels" else 1))
    for number in range(planted.backward):
        times = slow if planted.cause in ("kernels", "backward") else 1
        lane.kernel(
            lane.about(planted.kernel) * times, tid=2, operator="autograd::engine::evaluate_function: AddmmBackward0"
        )
        if (number + 1) % (planted.backward // planted.buckets) == 0:
            lane.bucket()


def exchange(lanes: list[Lane], planted: Planted) -> None:
    for bucket in range(planted.buckets):
        starts = [max(lane.ready[bucket][1], lane.exchange) for lane in lanes]
        end = max(starts) + planted.transfer
        for lane, start in zip(lanes, starts):
            if lane.rank:
                lane.rank.nccl(launch=lane.ready[bucket][0], start=start, dur=end - start, elements=1 << 20,
                               world_size=planted.ranks)  # fmt: skip
            lane.exchange = end + 1


def end(lane: Lane, number: int) -> None:
    """The update waits for the exchange, and the host for the update."""
    lane.device = max(lane.device, lane.exchange)
    lane.host += 20
    for _ in range(4):
        lane.kernel(lane.about(30), operator="aten::_fused_adamw_")
    if lane.rank:
        lane.rank.call("cudaDeviceSynchronize", lane.host, max(lane.device - lane.host, 0) + 8)
    lane.host = max(lane.host, lane.device) + 10
    if lane.rank:
        lane.rank.step(number, lane.step, lane.host - lane.step)
    lane.host += 1
    lane.ready = []


def simulate(planted: Planted, delay: float, *, written: bool) -> tuple[list[Rank], float]:
    """The recordings, and the mean step."""
    lanes = [
        Lane(number, Rank(number, planted.ranks, A100, "nccl") if written else None, random.Random(f"rank {number}"))
        for number in range(planted.ranks)
    ]
    for number in range(planted.steps):
        for lane in lanes:
            begin(lane, planted, delay)
        exchange(lanes, planted)
        for lane in lanes:
            end(lane, number)
    mean = sum(lane.host for lane in lanes) / len(lanes) / planted.steps
    return [lane.rank for lane in lanes if lane.rank], mean


def recordings(planted: Planted) -> tuple[list[Rank], float, float]:
    """Returns what was recorded, a step of it, and a step without the cause."""
    ranks, before = simulate(planted, planted.delay, written=True)
    _, after = simulate(planted, 0.0, written=False)
    return ranks, before, after
