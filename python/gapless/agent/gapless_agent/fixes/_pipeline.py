# SPDX-License-Identifier: Apache-2.0
"""Schedules of torch.distributed.pipelining: what speaks against changing one, how its stages are prepared, and its call in the script.

Private names of torch are looked for, and where one is missing the schedule stays as it is.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import linecache
import math
from collections.abc import Iterator
from typing import Any, Callable

from .. import edits
from ..patches import hide
from ._values import mapped

ZERO_BUBBLE, ONE_F_ONE_B = "zero_bubble", "1f1b"
SWAPS = {ZERO_BUBBLE: "ScheduleInterleavedZeroBubble", ONE_F_ONE_B: "Schedule1F1B"}
BASES = ("PipelineScheduleSingle", "PipelineScheduleMulti")
SINGLE = ("ScheduleGPipe", "Schedule1F1B")
MANY = (
    "ScheduleInterleaved1F1B", "ScheduleLoopedBFS", "ScheduleInterleavedZeroBubble", "ScheduleZBVZeroBubble", "ScheduleDualPipeV",
)  # fmt: skip
PARTS = ("arg_mbs", "kwarg_mbs", "target_mbs")
MODULE = "torch.distributed.pipelining"


def schedules(torch: Any) -> Any:
    return importlib.import_module(MODULE + ".schedules")


def missing(torch: Any, swap: str) -> str:
    """Returns the name of what this torch does not have; "" where it has everything. `swap`: the class that is put in; "" for none."""
    if not torch.distributed.is_available():
        return "torch.distributed"
    try:
        module = schedules(torch)
    except ImportError:
        return MODULE
    return next((f"{MODULE}.{name}" for name in (*BASES, *filter(None, [swap])) if not hasattr(module, name)), "")


class Made:
    """A schedule of the program, from its constructor on."""

    def __init__(self, kind: Any, arguments: dict[str, Any]) -> None:
        self.kind, self.arguments = kind, arguments
        self.stages: list[Any] = list(arguments["stages"]) if "stages" in arguments else [arguments["stage"]]
        self.microbatches: int = arguments["n_microbatches"]
        self.base = BASES["stages" in arguments]
        self.given_shapes = any(_has_shapes(stage) for stage in self.stages)
        self.place: edits.Place | None = None  # of its constructor in the script
        self.call = ""  # and the name that it has there
        self.steps = 0  # that trained
        self.puts_off = False
        self.against_loss = "its loss was not seen"  # of the last stage


def _has_shapes(stage: Any) -> bool:
    """Returns true for a stage that was made with examples of a microbatch; to be asked before it runs."""
    user = getattr(stage, "_user_meta", None)
    if user is not None:
        return any(getattr(user, name, None) is not None for name in ("inputs", "outputs"))
    return getattr(stage, "inputs_meta", None) is not None  # as older versions of torch have it


def base_of(schedule: Any) -> str:
    return BASES[hasattr(schedule, "_stages")]


def stages_of(schedule: Any) -> list[Any]:
    return list(schedule._stages) if hasattr(schedule, "_stages") else [schedule._stage]


# The preparation of stages.


def _flags(schedule: Any) -> list[str]:
    return [name for name in vars(schedule) if name.startswith("_stage") and name.endswith("initialized")]


def prepare_anew(schedule: Any, resized: bool) -> None:
    """The next step of the schedule prepares its stages as the first one did. `resized`: with microbatches of another size."""
    for name in _flags(schedule):
        setattr(schedule, name, False)
    for stage in stages_of(schedule):
        if (
            resized and getattr(stage, "inputs_meta", None) is not None
        ):  # older versions of torch keep these shapes otherwise
            stage.inputs_meta = stage._outputs_meta = None


def preparation(stages: list[Any]) -> list[Any]:
    """Returns what the latest preparation left in each stage: objects of its own."""
    return [stage.args_recv_info.get(0) for stage in stages]


def is_prepared(stages: list[Any], before: list[Any] | None) -> bool:
    return before is not None and all(now is then for now, then in zip(preparation(stages), before))


def agreed(torch: Any, stage: Any, able: bool) -> bool:
    """Returns true if every rank of the stage's group is able; all of them call it."""
    distributed = torch.distributed
    if not distributed.is_initialized() or stage.group_size == 1:
        return able
    vote = torch.tensor([int(able)], dtype=torch.int32, device=stage.device)
    distributed.all_reduce(vote, op=distributed.ReduceOp.MIN, group=stage.group)
    return bool(vote.item())


# Reasons against a change; "" where there is none.


def why_no_change(torch: Any, schedule: Any, made: Made, kwargs: Any) -> str:
    if type(schedule) is not made.kind:
        return "it is a class of the program's own"
    if not _flags(schedule) or not all(hasattr(stage, "args_recv_info") for stage in made.stages):
        return f"how torch {torch.__version__} prepares stages is not known"
    if any(hasattr(stage, "pipe_info") for stage in made.stages):
        return "its stages come of a traced model, with the shapes of the example and connections that may skip stages"
    if getattr(schedule, "_comp_type_to_function_map", None):
        return "functions of the program's own carry out some of its actions"
    if made.puts_off or kwargs.get("finalize_gradients", True) is False:
        return "the program adds up gradients of several steps (finalize_gradients=False)"
    sharded = getattr(importlib.import_module("torch.distributed.fsdp"), "FSDPModule", ())
    if any(isinstance(module, sharded) for module in _modules(made)) and _holds_gradients(made):
        return "gradients of an earlier step are left, and torch drops those of FSDP where it prepares stages anew"
    return ""


def why_no_swap(torch: Any, schedule: Any, made: Made, value: str) -> str:
    name, target = made.kind.__name__, SWAPS[value]
    if name == target:
        return "it is that already"
    if name not in SINGLE:
        return "it has several stages on a rank"
    known = inspect.signature(getattr(schedules(torch), target).__init__).parameters
    unknown = [each for each in made.arguments if each not in known and each != "stage"]
    if unknown:
        return f"{target} takes no {', '.join(unknown)}"
    return _why_no_zero_bubble(torch, made) if value == ZERO_BUBBLE else ""


def _why_no_zero_bubble(torch: Any, made: Made) -> str:
    """Such a schedule computes gradients of weights on its own, beside what acts on whole backward passes."""
    for module in _modules(made):
        if hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None:
            return "torch.compile has its backward pass in one piece"
        if isinstance(module, torch.nn.parallel.DistributedDataParallel):
            return "DistributedDataParallel would not exchange the gradients"
        if (
            getattr(module, "_checkpoint_wrapped_module", None) is not None
            or getattr(module, "gradient_checkpointing", False) is True
        ):
            return "activations that are computed again serve one backward pass only"
    for parameter in (each for stage in made.stages for each in stage.submod.parameters()):
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            return "hooks of parameters would not be called"
    return ""


def why_no_more(torch: Any, schedule: Any, made: Made, more: int, inputs: Inputs) -> str:
    if inputs.parts:
        return f"the program gives it microbatches ({inputs.parts[0]}=), not a batch"
    if made.given_shapes:
        return "its stages were made for microbatches of one size (input_args or output_args)"
    specs = [getattr(schedule, name, None) for name in ("_args_chunk_spec", "_kwargs_chunk_spec", "_output_merge_spec")]
    if not all(getattr(spec, "split_dim", 0) == 0 for each in specs for spec in _leaves(torch, each)):
        return "a batch is split along another dimension than the first one"
    if any(hasattr(spec, "reduce_fn") for spec in _leaves(torch, specs[2])):
        return "the program reduces what its microbatches return"
    for module in _modules(made):
        if module.training and _uses_batch(torch, module):
            return f"{type(module).__name__} has other statistics in smaller microbatches"
    if scales(schedule) and _holds_gradients(made):
        return "gradients of an earlier step are left, which the number of microbatches scales once more"
    reason = inputs.why_not(torch, specs, made.microbatches, more)
    return reason or (made.against_loss if any(stage.is_last for stage in made.stages) else "")


def scales(schedule: Any) -> bool:
    """Returns true if the gradients are divided by the number of microbatches."""
    return bool(getattr(schedule, "scale_grads", hasattr(stages_of(schedule)[0], "scale_grads")))


def _modules(made: Made) -> Iterator[Any]:
    for stage in made.stages:
        yield from stage.submod.modules()


def _uses_batch(torch: Any, module: Any) -> bool:
    norms = torch.nn.modules
    return isinstance(module, norms.batchnorm._BatchNorm) or (
        isinstance(module, norms.instancenorm._InstanceNorm) and module.track_running_stats
    )


def _holds_gradients(made: Made) -> bool:
    for stage in made.stages:
        for parameter in stage.submod.parameters():
            gradient = parameter.grad
            if gradient is not None:
                local = gradient.to_local() if hasattr(gradient, "to_local") else gradient
                if local.any():
                    return True
    return False


def _leaves(torch: Any, tree: Any) -> list[Any]:
    from torch.utils._pytree import tree_flatten

    if tree is None:
        return []
    leaves: list[Any] = tree_flatten(tree)[0]
    return leaves


class Inputs:
    """The inputs of a step, as far as this rank has them."""

    def __init__(self, schedule: Any, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        own = inspect.signature(step).parameters
        self.args, self.target = args, kwargs.get("target")
        self.kwargs = {name: value for name, value in kwargs.items() if name not in own}
        self.parts = [name for name in PARTS if name in own and kwargs.get(name) is not None]

    def why_not(self, torch: Any, specs: list[Any], microbatches: int, more: int) -> str:
        whole, count = [], microbatches * more
        sizes = set()
        for values, spec in ((self.args, specs[0]), (self.kwargs, specs[1])):
            for value, how in self._with_specs(torch, values, spec):
                if not isinstance(value, torch.Tensor):
                    if hasattr(value, "kv_num_blocks"):
                        return f"the program gives it a {type(value).__name__}"
                elif how is None:
                    whole.append(value)
                else:
                    sizes.add(value.size(0) if value.dim() else 0)
        if len(sizes) > 1:
            return f"its inputs have batches of {' and '.join(map(str, sorted(sizes)))}"
        for size in (*sizes, *([self.target.size(0)] if isinstance(self.target, torch.Tensor) else [])):
            if size % count or not size:
                return f"a batch of {size} is no multiple of {count} microbatches"
        if any(value.dim() and value.size(0) in {size // microbatches for size in sizes} - {1} for value in whole):
            return "a tensor that all microbatches get whole has the size of one"
        return ""

    def _with_specs(self, torch: Any, values: Any, spec: Any) -> Iterator[tuple[Any, Any]]:
        """Each value with how it is split; None: it is not, every microbatch gets it whole."""
        leaves = _leaves(torch, values)
        if spec is None:
            yield from ((value, 0) for value in leaves)
            return
        hows = _leaves(torch, spec)
        if len(hows) != len(leaves):
            raise ValueError("its inputs and how they are split have different structures")
        yield from ((value, getattr(how, "split_dim", None)) for value, how in zip(leaves, hows))


class LossSeen:
    """Stands for the loss function of a schedule during one step, and looks at the loss of each microbatch.

    Parts of a microbatch have the same loss as the whole if it is a mean or a sum over samples and nothing else: not where labels are
    left out of a mean, and not where samples are compared with each other. `more`: parts of a microbatch. `scaled`: gradients are divided
    by the number of microbatches. torch may call it before, with tensors that hold nothing, to learn shapes: the last calls count.
    """

    def __init__(self, torch: Any, schedule: Any, microbatches: int, more: int, scaled: bool) -> None:
        self.torch, self.schedule, self.own = torch, schedule, schedule._loss_fn
        self.more, self.scaled = more, scaled
        self.microbatches = microbatches
        # For each call the reason why its microbatch must stay whole; "" if parts are as good.
        self.reasons: list[str] = []
        schedule._loss_fn = self

    def stop(self) -> None:
        if self.schedule._loss_fn is self:
            self.schedule._loss_fn = self.own

    def __call__(self, output: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            loss = self.own(output, target, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise
        try:
            reason = self._why_not(self._detached(output), target, args, kwargs, loss.detach())
        except Exception as error:
            reason = f"its loss of a part of a microbatch: {type(error).__name__}: {error}"
        self.reasons.append(reason)
        return loss

    def why_not(self) -> str:
        seen = self.reasons[-self.microbatches :]
        return "its loss was not seen" if len(seen) < self.microbatches else next(filter(None, seen), "")

    def _detached(self, value: Any) -> Any:
        return mapped(value, lambda leaf: leaf.detach() if isinstance(leaf, self.torch.Tensor) else leaf)

    def _why_not(self, output: Any, target: Any, args: Any, kwargs: Any, loss: Any) -> str:
        more = self.more
        tensors: list[Any] = []
        labels: list[Any] = []
        mapped((output, target), lambda leaf: tensors.append(leaf) if self._is_split(leaf) else None)
        mapped(target, lambda leaf: labels.append(leaf) if self._is_split(leaf) else None)
        if not tensors or any(tensor.size(0) % more for tensor in tensors):
            return f"what its loss is computed of cannot be split into {more} parts"
        if any(not each.is_floating_point() and not each.is_complex() and bool((each < 0).any()) for each in labels):
            return "labels below 0 are left out of its loss, and parts of a microbatch may have more or fewer of them"
        if loss.numel() != 1:
            return "its loss is no single number"
        devices = {tensor.device.index for tensor in tensors if tensor.device.type == "cuda"}
        with self.torch.no_grad(), self.torch.random.fork_rng(devices=sorted(devices)):
            parts = [
                float(self.own(self._part(output, at), self._part(target, at), *args, **kwargs)) for at in range(more)
            ]
        close = 1e-2 if any(each.is_floating_point() and each.element_size() < 4 for each in (loss, *tensors)) else 1e-4
        return _why_not_this_loss(float(loss), sum(parts), more, close, self.scaled)

    def _is_split(self, leaf: Any) -> bool:
        return isinstance(leaf, self.torch.Tensor) and leaf.dim() > 0

    def _part(self, value: Any, at: int) -> Any:
        return mapped(value, lambda leaf: leaf.chunk(self.more)[at] if self._is_split(leaf) else leaf)


def _why_not_this_loss(loss: float, total: float, more: int, close: float, scaled: bool) -> str:
    """`total`: of the losses of its parts. `scaled`: gradients are divided by the number of microbatches."""
    if not math.isfinite(loss) or loss == 0:
        return f"its loss is {loss:g}, which does not tell how it depends on the size of a microbatch"
    is_mean, is_sum = (abs(loss - each) <= close * abs(loss) for each in (total / more, total))
    if not is_mean and not is_sum:
        return "its loss of a microbatch is neither the mean nor the sum of the losses of its parts"
    if is_mean and not scaled:
        return "its loss is a mean and scale_grads=False: more microbatches would make its gradients larger"
    if is_sum and scaled:
        return "its loss is a sum and scale_grads=True: more microbatches would make its gradients smaller"
    return ""


# The call in the script.


def multiplied(made: Made, more: int) -> dict[str, Any] | None:
    """The call with so many times its microbatches."""

    def change(call: ast.Call, text: Callable[[ast.AST], str]) -> dict[ast.AST, str] | None:
        count = _argument(call, "n_microbatches", 1)
        if count is None:
            return None
        if isinstance(count, ast.Constant) and isinstance(count.value, int):
            return {count: str(count.value * more)}
        own = text(count)
        return {count: f"{own if isinstance(count, (ast.Name, ast.Attribute, ast.Call)) else f'({own})'} * {more}"}

    return _rewritten(made, change)


def swapped(torch: Any, made: Made, target: str) -> dict[str, Any] | None:
    """The call of the other class."""

    def change(call: ast.Call, text: Callable[[ast.AST], str]) -> dict[ast.AST, str] | None:
        changes: dict[ast.AST, str] = {call.func: target}
        if target == SWAPS[ZERO_BUBBLE]:
            stage = _argument(call, "stage", 0)
            if stage is None:
                return None
            keyword = next((each for each in call.keywords if each.value is stage), None)
            changes[keyword or stage] = f"stages=[{text(stage)}]" if keyword else f"[{text(stage)}]"
        return changes

    module = MODULE if hasattr(importlib.import_module(MODULE), target) else MODULE + ".schedules"
    return _rewritten(made, change, f"from {module} import {target}")


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    before = call.args[: position + 1]
    return (
        before[position]
        if len(before) > position and not any(isinstance(each, ast.Starred) for each in before)
        else None
    )


Change = Callable[[ast.Call, Callable[[ast.AST], str]], "dict[ast.AST, str] | None"]


def _rewritten(made: Made, change: Change, *imports: str) -> dict[str, Any] | None:
    """The statement that makes the schedule, with parts of it in other words; None where that call cannot be told."""
    here = edits.statement(made.place) if made.place is not None else None
    if made.place is None or not isinstance(here, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)):
        return None
    calls = [
        node for node in ast.walk(here)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == made.call
    ]  # fmt: skip
    if len(calls) != 1 or any(_spans_lines(node) for node in ast.walk(here)):
        return None
    last = here.end_lineno or here.lineno
    lines = [line.rstrip("\r\n").encode() for line in linecache.getlines(made.place.file)[here.lineno - 1 : last]]
    source = b"\n".join(lines)

    def begin_end(node: Any) -> tuple[int, int]:
        starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
        return starts[node.lineno - here.lineno] + node.col_offset, starts[
            node.end_lineno - here.lineno
        ] + node.end_col_offset

    changes = change(calls[0], lambda node: source[slice(*begin_end(node))].decode())
    if changes is None:
        return None
    for node in sorted(changes, key=begin_end, reverse=True):
        begin, end = begin_end(node)
        source = source[:begin] + changes[node].encode() + source[end:]
    text = source.decode().splitlines()
    indent = text[0][: len(text[0]) - len(text[0].lstrip())]
    made_lines = [line[len(indent) :] if line.startswith(indent) else line.lstrip() for line in text]
    edit = {"kind": "replace", "file": made.place.file, "line": here.lineno, "last": last}
    return {**edit, "lines": made_lines, "imports": list(imports)}


def _spans_lines(node: ast.AST) -> bool:
    """Returns true for a text of several lines: how they are indented is part of it."""
    text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
    return text and getattr(node, "lineno", 0) != getattr(node, "end_lineno", 0)
