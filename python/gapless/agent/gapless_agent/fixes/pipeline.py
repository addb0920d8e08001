# SPDX-License-Identifier: Apache-2.0
"""The schedule of a pipeline (torch.distributed.pipelining) leaves its stages less time without work: `pipeline=N`, N times as many
microbatches of the same batch; `pipeline=zero_bubble` and `pipeline=1f1b`, another schedule of the same microbatches.

The ranks of a pipeline decide together, before its second training step: one all_reduce, in which a rank that cannot says so, and then all
keep the program's schedule. The first step is the program's, because it shows how the loss depends on the size of a microbatch.

A schedule that is changed gets a second one beside it, made of the same stages and arguments, which runs its training steps. `eval` stays
with the program's: what is evaluated may come in other batches. The one that runs prepares the stages anew if the other one ran before; torch
does the same wherever training and evaluation alternate. A batch of another size is not looked for later on: the stages in the middle never
see it, and torch refuses it anyway, as receivers know the size of what they receive.

`losses=` of a step has N times as many entries, of microbatches that are so much smaller: their mean stays what it was, or their sum where
gradients are not scaled.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, Callable

from .. import edits
from ..constructors import Given, Plan
from ..fix import ProgramFix, Tools
from ..patches import hide, unseen
from . import _pipeline
from ._devices import number
from ._pipeline import MANY, ONE_F_ONE_B, SINGLE, SWAPS, ZERO_BUBBLE, Made

MOST = 64
ANOTHER = "another rank of the pipeline cannot"
KEPT_ALIKE = ("_loss_fn", "scale_grads", "_args_chunk_spec", "_kwargs_chunk_spec", "_output_merge_spec")


class Pipeline(ProgramFix):
    def __init__(self, tools: Tools, name: str) -> None:
        super().__init__(tools, name)
        self.made: weakref.WeakKeyDictionary[Any, Made] = weakref.WeakKeyDictionary()
        # The stages of schedules that are changed; true where their microbatches have another size.
        self.touched: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self.steps: dict[str, Callable[..., Any]] = {}  # torch's own, by the class that has them
        self.making = False

    def why_not(self, value: str) -> str:
        if value not in SWAPS and not (number(value, 2) and int(value) <= MOST):
            return f"{value!r} is none of {ZERO_BUBBLE}, {ONE_F_ONE_B} and the whole numbers from 2 to {MOST}"
        missing = _pipeline.missing(self.torch, SWAPS.get(value, ""))
        return f"torch {self.torch.__version__} has no {missing}" if missing else ""

    def on(self, value: str) -> str:
        schedules = _pipeline.schedules(self.torch)
        for name in (*SINGLE, *MANY):
            kind = getattr(schedules, name, None)
            if kind is not None:
                self.change_arguments(kind, functools.partial(self._remember, kind))
        for name in _pipeline.BASES:
            base = getattr(schedules, name)
            self.steps[name] = base.step
            self.context.patches.wrap(base, "step", self._around)
        return ""

    def nothing(self) -> str:
        return "no schedule of torch.distributed.pipelining trained for two steps"

    def _remember(self, kind: Any, given: Given) -> Plan | None:
        """A schedule is being made: its arguments and its place are kept, and nothing is changed yet."""
        if not self.making:
            own = next(iter(given.signature.parameters))
            arguments = {name: each for name, each in given.bound.arguments.items() if name != own}
            made = self.made[given.object] = Made(kind, arguments)
            found = edits.constructing(given.object)
            if found is not None and not found[1]:
                made.place, made.call = edits.place_of(found[0]), edits.call_name(found[0], given.object)
        return None

    # A step of a schedule that is not changed yet.

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def step(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                switched = vars(self_).get("step")
                if isinstance(switched, Switched):  # the program has kept the method since before
                    return switched(*args, **kwargs)
                if self.context.on and self.report.is_on():
                    return self._step(original, self_, args, kwargs)
                return original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return step

    @unseen
    def _step(self, original: Callable[..., Any], schedule: Any, args: Any, kwargs: Any) -> Any:
        made = self._trains(schedule)
        if made is None:
            return original(schedule, *args, **kwargs)
        made.steps += 1
        if made.steps == 1:
            return self._first(original, schedule, made, args, kwargs)
        if made.steps == 2 and self._decide(schedule, made, args, kwargs):
            return schedule.step(*args, **kwargs)
        return original(schedule, *args, **kwargs)

    @unseen
    def _first(self, original: Callable[..., Any], schedule: Any, made: Made, args: Any, kwargs: Any) -> Any:
        """The program's own step, in which the loss is looked at where microbatches are to become smaller."""
        made.puts_off = kwargs.get("finalize_gradients", True) is False
        value = self.report.value()
        if value in SWAPS or not any(stage.is_last for stage in made.stages):
            return original(schedule, *args, **kwargs)
        seen = _pipeline.LossSeen(self.torch, schedule, made.microbatches, int(value), _pipeline.scales(schedule))
        try:
            return original(schedule, *args, **kwargs)
        finally:
            seen.stop()
            made.against_loss = seen.why_not()

    def _trains(self, schedule: Any) -> Made | None:
        """Returns what is known of a schedule, if this is a step that trains."""
        try:
            made = self.made.get(schedule)
            stages = _pipeline.stages_of(schedule)
            if any(stage in self.touched for stage in stages):  # a schedule of ours has prepared them for itself
                _pipeline.prepare_anew(schedule, any(self.touched.get(stage) for stage in stages))
            if not getattr(schedule, "_has_backward", False):
                return None
            if made is None:
                self.report.pass_over(f"{type(schedule).__name__} is no schedule that this fix knows")
            return made
        except Exception as error:
            self.report.pass_over(f"{type(error).__name__}: {error}")
            return None

    # The decision, in which every rank takes part.

    def _decide(self, schedule: Any, made: Made, args: Any, kwargs: Any) -> bool:
        other: Any = None
        try:
            value = self.report.value()
            reason = self._why_this_cannot(schedule, made, value, args, kwargs)
            if not reason:
                other = self._make(made, value)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        try:
            agreed = _pipeline.agreed(self.torch, made.stages[0], not reason)
        except Exception as error:
            agreed, reason = False, reason or f"{type(error).__name__}: {error}"
        if not agreed or other is None:
            self.report.pass_over(f"{type(schedule).__name__}: {reason or ANOTHER}")
            return False
        schedule.step = Switched(self, schedule, other, made, 1 if value in SWAPS else int(value))
        self._say(made, value)
        return True

    def _why_this_cannot(self, schedule: Any, made: Made, value: str, args: Any, kwargs: Any) -> str:
        """Returns why this rank cannot; "" when it can."""
        for one, of_it in list(self.made.items()):
            if one is not schedule and any(stage in made.stages for stage in of_it.stages):
                return "another schedule of the program has the same stages"
        reason = _pipeline.why_no_change(self.torch, schedule, made, kwargs)
        if reason:
            return reason
        if value in SWAPS:
            return _pipeline.why_no_swap(self.torch, schedule, made, value)
        inputs = _pipeline.Inputs(schedule, self.steps[made.base], args, kwargs)
        return _pipeline.why_no_more(self.torch, schedule, made, int(value), inputs)

    def _make(self, made: Made, value: str) -> Any:
        """The schedule that runs instead; raises what its constructor says against it."""
        kind, arguments = made.kind, dict(made.arguments)
        if value in SWAPS:
            kind = getattr(_pipeline.schedules(self.torch), SWAPS[value])
            if value == ZERO_BUBBLE:
                arguments["stages"] = [arguments.pop("stage")]
        else:
            arguments["n_microbatches"] = made.microbatches * int(value)
        self.making = True
        try:
            return kind(**arguments)
        finally:
            self.making = False

    def _say(self, made: Made, value: str) -> None:
        try:
            stages, edit = made.stages[0].num_stages, None
            if value in SWAPS:
                what = f"{SWAPS[value]} instead of {made.kind.__name__}; {stages} stages"
                edit = _pipeline.swapped(self.torch, made, SWAPS[value])
            else:
                count = made.microbatches
                what = f"{made.kind.__name__}: {count * int(value)} microbatches instead of {count}; {stages} stages"
                edit = _pipeline.multiplied(made, int(value))
            self.report.changed(what, edit)
        except Exception as error:
            self.report.pass_over(f"{type(error).__name__}: {error}")


class Switched:
    """`step` of a schedule that is changed. It is the object's own, and stays even where the agent switches itself off: the other ranks
    go on with theirs."""

    def __init__(self, fix: Pipeline, own: Any, other: Any, made: Made, more: int) -> None:
        self.own, self.other, self.stages, self.more = own, other, made.stages, more
        self.own_step = fix.steps[made.base]
        self.other_step = fix.steps[_pipeline.base_of(other)]
        self.backward = fix.tools.backward
        self.prepared: dict[int, list[Any]] = {}  # by schedule: what its latest step left in the stages
        for stage in made.stages:
            fix.touched[stage] = more > 1

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.own._has_backward:
                return self._train(args, kwargs)
            return self._run(self.own, self.own_step, args, kwargs)
        except BaseException as error:
            hide(error)
            raise

    @unseen
    def _train(self, args: Any, kwargs: Any) -> Any:
        for name in KEPT_ALIKE:  # the program may have set them since
            if hasattr(self.own, name):
                setattr(self.other, name, getattr(self.own, name))
        if kwargs.get("losses") is None:
            kwargs["losses"] = []
        self.backward.told = True
        try:
            result = self._run(self.other, self.other_step, args, kwargs)
        finally:
            self.backward.told = False
        self._tell(kwargs["losses"])
        return result

    def _tell(self, losses: list[Any]) -> None:
        """Records the losses that the program's microbatches would have had, whatever the backward passes were."""
        if not self.backward.context.on or not self.backward.context.looks:
            return
        try:
            for at in range(0, len(losses), self.more):
                parts = [loss.detach() for loss in losses[at : at + self.more]]
                self.backward.tell(sum(parts) / (self.more if _pipeline.scales(self.own) else 1))
        except Exception as error:
            self.backward.losses.failed(error)

    @unseen
    def _run(self, schedule: Any, step: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if not _pipeline.is_prepared(self.stages, self.prepared.get(id(schedule))):
            _pipeline.prepare_anew(schedule, self.more > 1)
        result = step(schedule, *args, **kwargs)
        self.prepared[id(schedule)] = _pipeline.preparation(self.stages)
        return result


FIX = Pipeline
