# SPDX-License-Identifier: Apache-2.0
"""Writes the actions of one step, as PyTorch would carry them out: operators within operators, the interpreter between them."""

from __future__ import annotations

import random
from typing import NamedTuple

from simulator.program import (
    Action,
    Await,
    Backward,
    Close,
    Copy,
    Launch,
    Open,
    Record,
    Synchronize,
    Work,
)

STAGED_BYTES = 64 << 10  # of pageable memory up to this, the call keeps a copy of its own and returns
MAIN_STREAM = 7


class Layer(NamedTuple):
    """An operator with its kernel, in every step alike."""

    operator: str
    inner: str  # the operator within it; "" when it launches itself
    kernel: str
    device_ns: float
    host_ns: float  # in the operator
    python_ns: float  # before it
    stream: int = MAIN_STREAM


class Pace(NamedTuple):
    """The distance of durations from their means (standard deviation of the logarithm), and what a call takes."""

    host_spread: float
    device_spread: float
    call_ns: float


class Script:
    def __init__(self, rng: random.Random, pace: Pace) -> None:
        self.rng, self.pace = rng, pace
        self.actions: list[Action] = []

    def host_ns(self, mean_ns: float) -> int:
        return max(1, round(mean_ns * self.rng.lognormvariate(0, self.pace.host_spread)))

    def device_ns(self, mean_ns: float) -> int:
        return max(300, round(mean_ns * self.rng.lognormvariate(0, self.pace.device_spread)))

    def around(self, share: float = 1) -> tuple[int, int]:
        """Returns what a call takes before it has asked the device, and after."""
        return self.host_ns(0.7 * share * self.pace.call_ns), self.host_ns(0.3 * share * self.pace.call_ns)

    def work(self, mean_ns: float) -> None:
        self.actions.append(Work(self.host_ns(mean_ns)))

    def open(self, name: str, category: str = "cpu_op", sequence: int = -1) -> None:
        self.actions.append(Open(name, category, sequence))

    def close(self) -> None:
        self.actions.append(Close())

    def kernel(self, name: str, mean_ns: float, stream: int = MAIN_STREAM) -> None:
        latency_ns, gap_ns = self.device_ns(2_000), self.device_ns(900)
        self.actions.append(Launch(name, stream, self.device_ns(mean_ns), *self.around(), latency_ns, gap_ns))

    def layer(self, layer: Layer, sequence: int = -1) -> None:
        self.work(layer.python_ns)
        self.open(layer.operator, sequence=sequence)
        self.work(0.6 * layer.host_ns)
        if layer.inner:
            self.open(layer.inner)
        self.kernel(layer.kernel, layer.device_ns, layer.stream)
        if layer.inner:
            self.close()
        self.work(0.4 * layer.host_ns)
        self.close()

    def loader(self, mean_ns: float) -> None:
        self.open("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation")
        self.work(mean_ns)
        self.close()

    def copy(self, *, to_device: bool, pinned: bool, nbytes: int, stream: int, gigabytes_per_s: float) -> None:
        device_ns = self.device_ns(1_500 + nbytes / gigabytes_per_s)
        waits = not pinned and (not to_device or nbytes > STAGED_BYTES)
        staged_ns = device_ns - min(device_ns // 10, 80_000) if waits and to_device else 0
        before_ns, after_ns = self.around(1.5)
        self.actions.append(
            Copy(to_device, pinned, nbytes, stream, device_ns, before_ns, after_ns, self.device_ns(2_500),
                 self.device_ns(4_000), waits, staged_ns)
        )  # fmt: skip

    def batch(self, nbytes: int, *, pinned: bool, stream: int = MAIN_STREAM) -> None:
        """`batch.to("cuda")`; from pinned memory with non_blocking=True."""
        for operator in ("aten::to", "aten::_to_copy", "aten::copy_"):
            self.open(operator)
            self.work(3_000)
        self.copy(to_device=True, pinned=pinned, nbytes=nbytes, stream=stream, gigabytes_per_s=20 if pinned else 8)
        if not pinned:
            self.synchronize("stream", stream)
        for _ in range(3):
            self.work(1_000)
            self.close()

    def item(self, more_ns: float, *, pinned: bool) -> None:
        """`.item()`, and the host work that its value asks for. Newer versions of PyTorch copy into pinned memory and then wait."""
        self.open("aten::item")
        self.work(1_500)
        self.open("aten::_local_scalar_dense")
        self.work(2_500)
        self.copy(to_device=False, pinned=pinned, nbytes=4, stream=MAIN_STREAM, gigabytes_per_s=8)
        self.synchronize("stream", MAIN_STREAM)
        self.close()
        self.close()
        if more_ns:
            self.work(more_ns)

    def synchronize(self, scope: str, which: int = 0) -> None:
        self.actions.append(Synchronize(scope, which, *self.around(0.6)))

    def record(self, event: int, stream: int) -> None:
        self.actions.append(Record(event, stream, *self.around(0.3)))

    def wait(self, event: int, stream: int) -> None:
        self.actions.append(Await(event, stream, *self.around(0.3)))

    def backward(self, inner: Script) -> None:
        self.actions.append(Backward(tuple(inner.actions), self.host_ns(40_000), self.host_ns(30_000)))
