# SPDX-License-Identifier: Apache-2.0
"""Records what the first calls of a model return in a program that infers, so that another run's can be held against it (docs/parity.md).

Inputs are recorded as well: a call that gets something else than in the other run cannot be compared, or shows what an earlier one
returned. Of each tensor the files have a checksum of all bytes and up to SAMPLES elements. A probe computes with weights that have noise
of the size of one rounding (noise.py): what that does to the outputs is what the same computation, rounded differently, may do.
"""

from __future__ import annotations

import dataclasses
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Callable

from .. import layout
from ..context import Context
from ..options import Parity
from ..place import find_place
from ..roots import Roots
from .batches import seed
from .files import Writer
from .noise import Noise
from .prints import bytes_of, crc, dense

SAMPLES = 4096  # elements of a tensor that are kept
MOST_BYTES = 1 << 26  # of a tensor whose checksum is of all bytes; of a larger one it is of the kept elements
TENSORS = 8  # of the inputs of a call, and of its outputs
CHOICES = 64  # rows of which the largest output is kept: the token, or the class
MIN_CALLS = 5  # that are recorded, however long they take


class Outputs:
    def __init__(self, context: Context, roots: Roots) -> None:
        self.context, self.torch = context, context.torch
        self.options: Parity = context.options.parity
        self.guard = context.guard("what the model returns", "It cannot be compared with another run.")
        self.guard.let_go.append(self._let_go)
        self.roots = roots
        self.active = False
        self.calls = self.tokens = self.began_ns = 0
        self.writer: Writer | None = None
        self.noise = Noise(self.torch, self.options.noise) if self.options.noise > 0 else None

    def install(self) -> None:
        seed(self.torch)
        self.active = True
        self.roots.recorded = self.around
        self.guard.at_end(self._end)

    def reset(self) -> None:
        """In the child after a fork: what its parent has begun is the parent's."""
        self.active = self.active and not self.calls

    def around(self, original: Callable[..., Any], asked: Callable[[Any], bool]) -> Callable[..., Any]:
        """`original`, with a record of each call of a module that is asked for."""
        outputs = self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not outputs._records() or not asked(self):
                return original(self, *args, **kwargs)
            outputs._guarded(outputs._before, self, args, kwargs)
            result = original(self, *args, **kwargs)
            outputs._guarded(outputs._after, result)
            return result

        return __call__

    def _records(self) -> bool:
        return self.active and self.guard.on and threading.get_ident() == self.context.main_thread

    def _guarded(self, act: Callable[..., None], *arguments: Any) -> None:
        entered = time.perf_counter_ns()
        try:
            act(*arguments)
        except Exception as error:
            self.guard.failed(error)
        self.context.cost_ns += time.perf_counter_ns() - entered

    def _before(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.writer is None:
            self.writer = Writer(os.path.join(self.options.folder, find_place().folder))
            self.began_ns = time.perf_counter_ns()
            if self.noise is not None:
                self.noise.put_on(list(module.parameters()))
        self.numbers: list[float] = []
        inputs = {f"{index + 1}": value for index, value in enumerate(args)} | kwargs
        self.inputs = [self._print(name, tensor) for name, tensor in self._tensors("", inputs)]

    def _after(self, result: Any) -> None:
        if self.writer is None or self.context.torch.jit.is_tracing():
            return
        outputs = list(self._tensors("", result))
        event = {
            "call": self.calls,
            "goes_on": self._goes_on(),
            "inputs": self.inputs,
            "outputs": [self._print(name, tensor) for name, tensor in outputs],
            "choices": self._choices([tensor for _, tensor in outputs]),
        }
        self.writer.write(event, self.numbers)
        self.calls += 1
        passed_s = (time.perf_counter_ns() - self.began_ns) / 1e9
        is_late = 0 < self.options.seconds < passed_s and self.calls >= MIN_CALLS
        if self.calls >= self.options.steps or is_late:
            self._let_go()

    def _goes_on(self) -> bool:
        """Returns true if the call continues the text of the one before: one token, or one more than that had (trial/requests.h)."""
        ids = next((found["shape"] for found in self.inputs if found["whole"] and len(found["shape"]) == 2), None)
        before, self.tokens = self.tokens, ids[1] if ids is not None else 0
        return before > 0 and self.tokens > 0 and (self.tokens == 1 or self.tokens == before + 1)

    def _tensors(self, name: str, value: Any, most: int = TENSORS) -> Iterator[tuple[str, Any]]:
        """The first tensors in what goes in or comes out, with their names. What is no container is looked at no further."""
        for count, found in enumerate(self._all_tensors(name, value)):
            if count == most:
                return
            yield found

    def _all_tensors(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        inner: Iterator[tuple[Any, Any]] = iter(())
        if isinstance(value, self.torch.Tensor):
            if value.numel():
                yield name, value
            return
        if isinstance(value, Mapping):
            inner = iter(value.items())
        elif isinstance(value, (tuple, list)):
            inner = ((index + 1, item) for index, item in enumerate(value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            inner = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        for key, item in inner:
            yield from self._all_tensors(f"{name}.{key}" if name else str(key), item)

    def _print(self, name: str, tensor: Any) -> dict[str, Any]:
        torch = self.torch
        plain = dense(torch, tensor)
        flat = plain.reshape(-1)
        kept = flat[:: max(1, flat.numel() // SAMPLES)][:SAMPLES].cpu()
        whole = not (plain.is_floating_point() or tensor.is_complex())
        is_large = flat.numel() * flat.element_size() > MOST_BYTES
        numbers = [] if whole else kept.double().tolist()
        finite = all(map(math.isfinite, numbers))
        self.numbers.extend(numbers)
        return {
            "name": name,
            "shape": list(tensor.shape),
            "type": str(tensor.dtype).rpartition(".")[2],
            "whole": whole,  # whole numbers: compared by the checksum alone
            "code": crc(bytes_of(torch, kept if is_large else plain)),
            "samples": len(numbers),
            "finite": finite,
        }

    def _choices(self, tensors: list[Any]) -> list[int]:
        """The largest of each row of the first output that has rows: the next token behind the last one, or the class."""
        for tensor in tensors:
            if tensor.is_floating_point() and tensor.dim() >= 2 and tensor.shape[-1] > 1:
                last = tensor[..., -1, :] if tensor.dim() == 3 else tensor
                rows = last.detach().reshape(-1, last.shape[-1])[:CHOICES]
                choices: list[int] = rows.float().argmax(-1).tolist()
                return choices
        return []

    def _let_go(self) -> None:
        if not self.active:
            return
        self.active = False
        if self.noise is not None:
            self.noise.end()
        # The launcher starts to measure, or ends the program, when it reads this.
        self.context.emit(layout.KIND_PARITY, value=self.calls, b=self.context.step)

    def _end(self) -> None:
        self._let_go()
        if self.writer is not None:
            self.writer.close()
            self.writer = None
