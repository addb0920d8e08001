# SPDX-License-Identifier: Apache-2.0
"""Digests what goes into a step: the samples of its batches, and the states of the random number generators."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

from .prints import bytes_of, crc, dense

MAX_DEPTH = 4
MAX_ROWS = 1 << 16
MAX_MEASURED = 1 << 26  # elements of a batch
SEED = 20
WORD = 0xFFFFFFFF


def tensors_in(torch: Any, value: Any, depth: int = MAX_DEPTH) -> Iterator[Any]:
    """Yields the tensors of a batch in their order: in sequences, in mappings, in attributes of objects (graphs)."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(torch, item, depth - 1)
    elif depth and hasattr(value, "values") and hasattr(value, "keys"):
        for item in value.values():
            yield from tensors_in(torch, item, depth - 1)
    elif depth and hasattr(value, "__dict__"):
        for item in vars(value).values():
            yield from tensors_in(torch, item, depth - 1)


class Rows:
    """The samples since `clear()`: `rows` does not depend on the order of samples and batches, `order` does."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.has_inputs = False
        self.clear()

    def clear(self) -> None:
        self.rows = self.order = self.samples = self.batches = 0
        self.sums = [0.0] * 3

    def statistics(self) -> list[float]:
        """Returns mean, standard deviation and roughness of the inputs: the first tensor of the batches. Empty if it has none."""
        values = [value / self.batches for value in self.sums]
        return values if self.has_inputs and all(map(math.isfinite, values)) else []

    def _measure(self, inputs: Any) -> None:
        """Roughness is the mean size of the difference of neighbours, which blur, noise and cropping change and a mean does not show."""
        values = inputs.detach().double()
        self.has_inputs = inputs.dtype is not self.torch.bool
        mean, deviation = values.mean(), values.std(unbiased=False)
        rough = values.diff(dim=-1).abs().mean() if values.shape[-1] > 1 else deviation
        for index, value in enumerate((mean, deviation, rough)):
            self.sums[index] += float(value)

    def add(self, batch: Any) -> None:
        torch = self.torch
        found = [dense(torch, tensor) for tensor in tensors_in(torch, batch) if tensor.dim() and tensor.numel()]
        if not found:
            return
        if not found[0].is_complex() and found[0].numel() <= MAX_MEASURED:
            self._measure(found[0])
        count = int(found[0].shape[0])
        self.batches += 1
        self.samples += count
        row_codes = [0] * min(count, MAX_ROWS)
        for tensor in found:
            data = bytes_of(torch, tensor)
            self.order = crc(data, self.order)
            width = len(data) // int(tensor.shape[0])
            if int(tensor.shape[0]) != count or count > MAX_ROWS or not width:
                self.rows = (self.rows + crc(data)) & WORD
                continue
            view = memoryview(data)
            for row in range(count):
                row_codes[row] = crc(view[row * width : (row + 1) * width], row_codes[row])
        self.rows = (self.rows + sum(row_codes)) & WORD


class RandomNumbers:
    """The states of the generators that a training draws from, in this process.

    Those of `random` and numpy count where they moved since the event before: a program that never uses them has not seeded them either.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.others: list[int] | None = None
        self.since: tuple[int, list[int]] | None = None  # where the model may begin to draw
        self.drawn = False

    def batch_asked_for(self) -> None:
        """Leaves out the draws of the loader, for its order say: the model did not make them."""
        self.drawn = self.drawn or (self.since is not None and self._states() != self.since)
        self.since = None

    def batch_came(self) -> None:
        self.since = self._states()

    def look(self) -> tuple[int, bool]:
        """Returns the CRC-32 of the states, and true if any moved since the last look; with a loader, if it moved between a batch and its step."""
        states = self._states()
        drawn = self.drawn or self.since is None or states != self.since
        self.drawn, self.since = False, states
        code, others = states
        for state, before in zip(others, self.others or others):
            if state != before:
                code = crc(state.to_bytes(4, "little"), code)
        self.others = others
        return code, drawn

    def _states(self) -> tuple[int, list[int]]:
        """Returns the code of torch's generators, and of those of `random` and numpy."""
        torch = self.torch
        code = crc(bytes_of(torch, torch.get_rng_state()))
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            for state in torch.cuda.get_rng_state_all():
                code = crc(bytes_of(torch, state), code)
        return code, [_python_state(), _numpy_state()]


def _python_state() -> int:
    python = sys.modules.get("random")
    return 0 if python is None else crc(repr(python.getstate()).encode())


def _numpy_state() -> int:
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "random"):
        return 0
    state = numpy.random.get_state()
    return crc(bytes(state[1]) + repr(state[2:]).encode())


def seed(torch: Any) -> None:
    """Gives every generator the seed of all recordings, so that a program that sets no seed of its own can be compared."""
    _seed(torch, SEED)


def _seed(torch: Any, value: int) -> None:
    torch.manual_seed(value)
    python = sys.modules.get("random")
    if python is not None:
        python.seed(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed(value)


def reseed(torch: Any, by: int) -> None:
    """Lets every generator go on with other random numbers, the same ones for the same `by`."""
    torch.manual_seed((torch.initial_seed() + by) % (1 << 63))
    python = sys.modules.get("random")
    if python is not None:
        python.seed(by)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed(by)
