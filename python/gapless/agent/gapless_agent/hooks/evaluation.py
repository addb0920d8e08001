# SPDX-License-Identifier: Apache-2.0
"""Evaluation in the midst of a training: how long a model that trains is in evaluation mode, and which line puts it there.

`Module.eval()` calls `train(False)`, which tells each submodule in turn: what the outermost of them is told, counts. An evaluation begins
where a module in training mode that holds parameters of an optimiser (or of updates by hand) goes to evaluation, and ends where the same
module goes back to training. A module that is still in evaluation mode when a backward pass begins or a step ends does not evaluate: it is
a frozen batch norm, a discriminator that does not learn now, a model that was put there for good, an attack on the inputs. Modules
that follow the first one to evaluation are part of the same. Only the main thread is looked at.
"""

from __future__ import annotations

import sys
import time
import weakref
from types import FrameType
from typing import Any, Callable, NamedTuple

from .. import layout
from ..edits import is_own, line_of
from ..hook import Hook, Parts
from ..optim import parameters_of
from ..patches import hide

MOST_LOOKED_AT = 1000  # parameters of a module, before it is one that does not train


class Begun(NamedTuple):
    module: Callable[[], Any]
    when_ns: int  # on the wall
    at_ns: int
    backwards: int
    step: int
    line: str


class Evaluation(Hook):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.optimizers, self.by_hand = parts.optimizers, parts.by_hand
        self.guard = self.context.guard("evaluations", "How long the model is evaluated is not known from here on.")
        self.reset()

    def reset(self) -> None:
        self.inside = False
        self.begun: Begun | None = None

    def install(self) -> None:
        self.guard.patches.wrap(self.context.torch.nn.Module, "train", self._around)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context, watch = self.context, self

        def train(self: Any, *args: Any, **kwargs: Any) -> Any:
            if watch.inside or not watch.guard.on or context.thread() != context.main_thread:
                return original(self, *args, **kwargs)
            trained = mode_of(self)
            watch.inside = True
            try:
                result = original(self, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            finally:
                watch.inside = False
            mode = mode_of(self)
            if trained is not mode or watch.begun is not None:
                try:
                    watch._told(self, trained and mode is False)
                except Exception as error:
                    watch.guard.failed(error)
            return result

        return train

    def _told(self, module: Any, leaves: bool) -> None:
        """The module has gone to another mode (`leaves`: that of training), or some module was told its mode during an evaluation."""
        context, begun = self.context, self.begun
        entered = context.clock()
        if begun is not None and (begun.backwards, begun.step) != (context.backwards, context.step):
            self.begun = begun = None
        if begun is not None:
            evaluated = begun.module()
            if evaluated is None or mode_of(evaluated):
                self.begun = None
                if evaluated is not None:
                    self._write(begun, entered - begun.at_ns)
        elif leaves and self._trains(module):
            line = line_of(caller_of(module))
            self.begun = Begun(weakref.ref(module), time.time_ns(), entered, context.backwards, context.step, line)
        context.hook_calls += 1
        context.cost_ns += context.clock() - entered

    def _write(self, begun: Begun, dur_ns: int) -> None:
        text = self.context.text(begun.line)
        self.context.blocked_ns += dur_ns
        self.context.emit(layout.KIND_EVALUATION, ts_ns=begun.when_ns, dur_ns=dur_ns, a=text, b=begun.step)

    def _trains(self, module: Any) -> bool:
        """Does one of its parameters belong to an optimiser, or to those that the program updates itself?"""
        trained = set(self.by_hand.leaves)
        for reference in list(self.optimizers.alive.values()):
            optimizer = reference()
            if optimizer is not None:
                trained.update(map(id, parameters_of(optimizer)))
        return any(id(parameter) in trained for parameter, _ in zip(module.parameters(), range(MOST_LOOKED_AT)))


def mode_of(module: Any) -> Any:
    """Is it in training mode? None where it does not say, or is of a kind that answers with an error."""
    try:
        return module.training
    except Exception:
        return None


def caller_of(module: Any) -> FrameType | None:
    """The frame that told the module, behind its own `train` and `eval`, which a class of the user may have. Found by their code: to ask
    a frame for its variables would keep those alive."""
    methods = [vars(kind).get(name) for kind in type(module).__mro__ for name in ("eval", "train")]
    own = [getattr(method, "__code__", None) for method in methods]
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (is_own(frame.f_code.co_filename) or frame.f_code in own):
        frame = frame.f_back
    return frame


HOOK = Evaluation
