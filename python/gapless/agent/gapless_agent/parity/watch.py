# SPDX-License-Identifier: Apache-2.0
"""Records the first optimiser steps of the program (docs/parity.md), then takes every hook away again.

Four places are enough: in front of an optimiser's step and behind it, each batch of a DataLoader, and the tensor that a backward pass starts
from. An optimiser that is given a closure has its gradients when that returns for the first time. A step inside another one (an optimiser
around an optimiser) belongs to the outer one.

Updates that the program writes by hand are seen only when the next backward pass begins (by_hand.py): then their gradients are gone, and the
next forward pass has used the new parameters. Such an event has the losses and the parameters, and nothing is handed over.

All other runs but the baseline get its parameters and buffers after each step. They are written through `.data`, as an optimiser's own writes are
not: buffers of a batch norm may be saved for a backward pass that is still to come, and must not look changed to autograd.
"""

from __future__ import annotations

import math
import os
import threading
import time
from typing import Any, Callable

from .. import layout
from ..backward import Backward
from ..by_hand import ByHand
from ..context import Context
from ..guard import describe
from ..optim import Optimizers, parameters_of
from ..options import Parity
from ..patches import hide
from ..place import find_place
from ..scaler import Scalers
from .batches import RandomNumbers, Rows, reseed, seed
from .files import Baseline, Writer
from .modules import Found
from .noise import Noise
from .precision import PRECISIONS, coarsest
from .prints import WIDTH, Sketcher, bytes_of, crc
from .program import Program
from .shadow import Shadow, settings_of
from .stepping import is_stepping

MIN_EVENTS = 5  # that the baseline records, however long its steps take
NO_PRINT = [0.0] * (1 + WIDTH)


class Watched:
    """An optimiser of the program: its number, its parameters, its models, its shadow."""

    def __init__(self, torch: Any, optimizer: Any, number: int, parameters: list[Any]) -> None:
        self.optimizer, self.number = optimizer, number
        self.models = Found(torch, parameters)
        self.shadow: Shadow | None = None
        self.no_shadow = ""
        self.seen = False

    def shadowed(self, act: Callable[[], Any]) -> Any:
        """Calls `act`, which works with the shadow; where it fails, this optimiser has none from then on."""
        try:
            return act() if not self.no_shadow else None
        except Exception as error:  # a class that cannot be rebuilt, or whose step needs more than gradients
            self.shadow, self.no_shadow = None, describe(error)
            return None


class UpdateByHand:
    """Stands for the optimiser of a group of parameters that the program updates by hand."""


class Watch:
    def __init__(
        self, context: Context, optimizers: Optimizers, backward: Backward, by_hand: ByHand, scalers: Scalers
    ) -> None:
        self.context, self.optimizers, self.backward = context, optimizers, backward
        self.by_hand, self.scalers = by_hand, scalers
        self.torch = context.torch
        self.guard = context.guard("whether the training stays the same", "It cannot be compared with another run.")
        self.guard.let_go.append(self._let_go)
        self.active = False
        self.handles: list[Any] = []

    # Connecting and disconnecting.

    def install(self) -> None:
        if self.context.options.parity.role:
            self.guard.at_end(self._at_end)
            seed(self.torch)
            self.begin(self.context.options.parity)

    def begin(self, options: Parity) -> None:
        """Records this process from now on."""
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        self.options = options
        self._clear()
        self.handles = [register_optimizer_step_pre_hook(self._guarded(self._before))]
        self.handles.append(register_optimizer_step_post_hook(self._guarded(self._after)))
        self.guard.patches.wrap(_BaseDataLoaderIter, "__next__", self._around_next)
        self.guard.patches.wrap(self.torch.amp.autocast_mode.autocast, "__enter__", self._around_autocast)
        for owner in (self.torch.nn.utils, self.torch.nn.utils.clip_grad):
            for name, how in (("clip_grad_norm_", "norm"), ("clip_grad_value_", "value")):
                self.guard.patches.wrap(owner, name, self._around_clipping(how))
        self.backward.followers.append(self._loss)
        self.by_hand.when_written.append(self._written_by_hand)
        self.scalers.when_skipped.append(self._skipped)
        self.active = True

    def _clear(self) -> None:
        self.sketcher, self.rows = Sketcher(self.torch), Rows(self.torch)
        self.watched: dict[int, Watched] = {}
        self.hands: dict[int, UpdateByHand] = {}
        self.open: tuple[Watched, list[Any], dict[str, Any], list[float]] | None = None
        self.losses: list[float] = []
        self.start_numbers: list[float] = []
        self.autocast: set[str] = set()
        self.events = self.began_ns = 0
        self.random = RandomNumbers(self.torch)
        self.program = Program(self.torch)
        self.in_loader = False
        self.writer: Writer | None = None
        self.baseline: Baseline | None = None
        self.noise = Noise(self.torch, self.options.noise) if self.options.noise > 0 else None

    def reset(self) -> None:
        """In the child after a fork: it records itself if its parent had nothing to record yet."""
        if self.active and self.events:
            self._disconnect()

    def _disconnect(self) -> None:
        self.active = False
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
        self.guard.patches.undo()
        self.backward.followers.remove(self._loss)
        self.scalers.when_skipped.remove(self._skipped)
        self.by_hand.when_written.remove(self._written_by_hand)

    def _let_go(self) -> None:
        if self.active:
            self._disconnect()
            if self.noise is not None:
                self.noise.end()
            self._tell()

    def _tell(self) -> None:
        """The launcher starts to measure, or ends the program, when it reads this."""
        self.context.emit(layout.KIND_PARITY, value=self.events, b=self.context.step)

    def _at_end(self) -> None:
        if self.active:
            self._end()

    def _end(self) -> None:
        self._let_go()
        if self.writer is not None:
            try:
                self.writer.describe(self.program.finish())
            except Exception as error:
                self.guard.failed(error)
            self.writer.close()
        self.watched.clear()
        self.open = self.baseline = None
        self.sketcher = Sketcher(self.torch)

    def _guarded(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def hook(*args: Any, **kwargs: Any) -> Any:
            if not self.active or threading.get_ident() != self.context.main_thread:
                return None
            try:
                return act(*args, **kwargs)
            except Exception as error:
                self.guard.failed(error)
                return None

        return hook

    # Hooks in the program.

    def _around_next(self, original: Callable[..., Any]) -> Callable[..., Any]:
        asked = self._guarded(self._batch_asked_for)

        def __next__(self_: Any) -> Any:
            outer = not self.in_loader and threading.get_ident() == self.context.main_thread
            self.in_loader = self.in_loader or outer
            if outer:
                asked(self_)
            try:
                batch = original(self_)
            except BaseException as error:
                hide(error)
                raise
            finally:
                if outer:
                    self.in_loader = False
            if outer and self.active:
                try:
                    self.rows.add(batch)
                    self.random.batch_came()
                except Exception as error:
                    self.guard.failed(error)
            return batch

        return __next__

    def _batch_asked_for(self, iterator: Any) -> None:
        self.program.reads(iterator)
        self.random.batch_asked_for()

    def _around_clipping(self, how: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        limit, norm = {"norm": ("max_norm", "norm_type")}.get(how, ("clip_value", ""))

        def note(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            most = args[1] if len(args) > 1 else kwargs[limit]
            self.program.clips(how, most, (args[2] if len(args) > 2 else kwargs.get(norm, 2.0)) if norm else 2.0)

        noted = self._guarded(note)

        def around(original: Callable[..., Any]) -> Callable[..., Any]:
            def clip(*args: Any, **kwargs: Any) -> Any:
                noted(args, kwargs)
                try:
                    return original(*args, **kwargs)
                except BaseException as error:
                    hide(error)
                    raise

            return clip

        return around

    def _around_autocast(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __enter__(self_: Any) -> Any:
            if getattr(self_, "_enabled", False):
                self.autocast.add(PRECISIONS.get(str(getattr(self_, "fast_dtype", "")), "fp32"))
            return original(self_)

        return __enter__

    def _loss(self, loss: Any) -> None:
        self.program.begins_backward(loss)
        self.losses.append(float(loss.detach()))

    def _before(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.open is not None and is_stepping(self.open[0].optimizer):
            return None
        self.open = None
        parameters = list(dict.fromkeys(parameters_of(optimizer)))
        if not parameters:
            return None
        at = 1 if args and args[0] is optimizer else 0
        closure = args[at] if len(args) > at else kwargs.get("closure")
        if not callable(closure):
            self._gradients(optimizer, parameters)
            return None
        wrapped = self._around_closure(optimizer, parameters, closure)
        if len(args) > at:
            return (*args[:at], wrapped, *args[at + 1 :]), kwargs
        return args, {**kwargs, "closure": wrapped}

    def _around_closure(self, optimizer: Any, parameters: list[Any], closure: Callable[[], Any]) -> Callable[[], Any]:
        first = True

        def wrapped() -> Any:
            nonlocal first
            result = closure()
            if first and self.active:
                first = False
                try:
                    self._gradients(optimizer, parameters)
                except Exception as error:
                    self.guard.failed(error)
            return result

        return wrapped

    def _watched_of(self, optimizer: Any, parameters: list[Any]) -> Watched:
        if self.writer is None:
            place = find_place().folder
            if self.options.role != "baseline":
                self.baseline = Baseline(self.torch, os.path.join(self.options.baseline, place))
            self.writer = Writer(os.path.join(self.options.folder, place))
            self.began_ns = time.perf_counter_ns()
        watched = self.watched.get(id(optimizer))
        if watched is None:
            watched = self.watched[id(optimizer)] = Watched(self.torch, optimizer, len(self.watched), parameters)
            self.program.trains(watched.models.roots)
            if self.noise is not None and self.options.wide:
                self.noise.widen(watched.models.recurrent(self.torch))
        return watched

    def _buffers(self) -> list[tuple[str, Any]]:
        found: dict[int, tuple[str, Any]] = {}
        for watched in self.watched.values():
            for name, buffer in watched.models.buffers(self.torch):
                found.setdefault(id(buffer), (name, buffer))
        return list(found.values())

    def _code_of(self, tensors: list[Any]) -> int:
        code = 0
        for tensor in tensors:
            code = crc(bytes_of(self.torch, tensor), code)
        return code

    def _gradients(self, optimizer: Any, parameters: list[Any]) -> None:
        """The gradients of a step are there, and its update has not begun."""
        torch = self.torch
        if self.noise is not None:
            self.noise.take_off(parameters)
        watched = self._watched_of(optimizer, parameters)
        if bool(getattr(optimizer, "found_inf", None)):
            self._write_skipped(watched, parameters)
            return
        scale = float(getattr(optimizer, "grad_scale", None) or 1)
        event = self._common(watched)
        event["settings"] = settings_of(optimizer)
        event["missing"] = [index for index, parameter in enumerate(parameters) if parameter.grad is None]
        if not watched.seen:
            self._introduce(watched, parameters, event)
        if watched.shadow is None:
            watched.shadow = watched.shadowed(lambda: Shadow(torch, optimizer))
        shadow = watched.shadow
        if shadow is not None:
            watched.shadowed(lambda: shadow.prepare(parameters, scale))
        numbers: list[float] = []
        for parameter in parameters:
            found = NO_PRINT if parameter.grad is None else self.sketcher.print_of(parameter.grad)
            numbers.extend(found if scale == 1 else [value / scale for value in found])
        event["tensors"] = len(parameters)
        event["finite"] = all(map(math.isfinite, numbers))
        self.open = (watched, parameters, event, numbers)

    def _introduce(self, watched: Watched, parameters: list[Any], event: dict[str, Any]) -> None:
        """Adds the fields that only the first event of an optimiser has."""
        watched.seen = True
        names = watched.models.names
        event["names"] = [names.get(id(parameter), f"parameter {index}") for index, parameter in enumerate(parameters)]
        event["buffer_names"] = [name for name, _ in self._buffers()]
        event["start"] = self._code_of(parameters)
        event["starts"] = 0 if event.get("by_hand") else len(parameters)
        self.start_numbers = [
            value for tensor in parameters[: event["starts"]] for value in self.sketcher.print_of(tensor)
        ]
        event["recurrent"] = bool(watched.models.recurrent(self.torch))
        event["precision"] = coarsest(self.torch, parameters, self.autocast)

    def _common(self, watched: Watched) -> dict[str, Any]:
        event: dict[str, Any] = {"optimizer": watched.number, "class": type(watched.optimizer).__name__}
        if self.rows.batches:
            event.update(samples=self.rows.samples, rows=self.rows.rows, order=self.rows.order)
            event["inputs"] = self.rows.statistics()
        event["random"], event["draws"] = self.random.look()
        event["losses"] = [loss if math.isfinite(loss) else None for loss in self.losses]
        self.rows.clear()
        self.losses.clear()
        return event

    def _after(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if self.open is None or self.open[0].optimizer is not optimizer or is_stepping(optimizer, 2):
            return
        (watched, parameters, event, numbers), self.open = self.open, None
        shadow = watched.shadow
        settings = self._baseline_settings() or event["settings"]
        residuals = watched.shadowed(lambda: shadow and shadow.residuals(parameters, settings))
        if residuals is not None:
            event["shadow"] = [value if math.isfinite(value) else 1e9 for value in residuals]
        elif watched.no_shadow:
            event["no_shadow"] = watched.no_shadow
        buffers = [buffer for _, buffer in self._buffers()]
        event["state"] = self._code_of([*parameters, *buffers])
        event["buffers"] = len(buffers)
        for buffer in buffers:
            numbers.extend(self.sketcher.print_of(buffer))
        if "starts" in event:
            numbers.extend(self.start_numbers)
        self._finish(watched, parameters, event, numbers)

    def _baseline_settings(self) -> list[dict[str, Any]] | None:
        events = self.baseline.events if self.baseline is not None else []
        return events[self.events].get("settings") if self.events < len(events) else None

    def _written_by_hand(self, group: int, parameters: list[Any]) -> None:
        act = self._guarded(lambda: self._write_by_hand(self.hands.setdefault(group, UpdateByHand()), parameters))
        act()

    def _write_by_hand(self, update: UpdateByHand, parameters: list[Any]) -> None:
        watched = self._watched_of(update, parameters)
        event: dict[str, Any] = {**self._common(watched), "by_hand": True, "tensors": 0, "buffers": 0}
        if not watched.seen:
            self._introduce(watched, parameters, event)
        event["state"] = self._code_of(parameters)
        assert self.writer is not None
        self.writer.write(event, [])
        self.events += 1
        if self._is_enough():
            self._end()

    def _skipped(self, source: int) -> None:
        """GradScaler did not call the optimiser of this id, because a gradient was not finite."""
        watched = self.watched.get(source)
        optimizer = self.optimizers.alive.get(source, lambda: None)() if watched is None else watched.optimizer
        if self.active and optimizer is not None:
            parameters = list(dict.fromkeys(parameters_of(optimizer)))
            if self.noise is not None:
                self.noise.take_off(parameters)
            self._write_skipped(self._watched_of(optimizer, parameters), parameters)

    def _write_skipped(self, watched: Watched, parameters: list[Any]) -> None:
        self._finish(watched, parameters, {**self._common(watched), "skipped": True}, [])

    def _finish(self, watched: Watched, parameters: list[Any], event: dict[str, Any], numbers: list[float]) -> None:
        """Hands the parameters over, writes the event, and prepares the next step."""
        assert self.writer is not None
        tensors = [*parameters, *(buffer for _, buffer in self._buffers())]
        if self.baseline is None:
            event["handed"] = self.writer.hand_over(self.torch, self.events, tensors)
        else:
            event["handed"] = self.baseline.take_over(self.events, tensors)
        self.writer.write(event, numbers)
        self.events += 1
        if self._is_enough():
            self._end()
            return
        if self.noise is not None:
            self.noise.put_on(parameters)
        if self.options.reseed and self.events == 1:
            reseed(self.torch, self.options.reseed)

    def _is_enough(self) -> bool:
        if self.baseline is not None:
            return self.events >= len(self.baseline.events)
        passed_s = (time.perf_counter_ns() - self.began_ns) / 1e9
        late = self.options.seconds > 0 and passed_s > self.options.seconds and self.events >= MIN_EVENTS
        return late or self.events >= self.options.steps
