# SPDX-License-Identifier: Apache-2.0
"""Rotary position embeddings by Liger: the function `apply_rotary_pos_emb(q, k, cos, sin, …)` of the module in which a model is written, as
all models of Hugging Face have one.

Only calls that the kernel takes go to it: heads in the second dimension, one type, cosines that belong to no gradient. The first call of each
shape is held against the function itself, forward and backward, in float64. Liger's kernel writes into what it is given, queries, keys and
gradients, which others may still read: it gets copies.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
from types import FunctionType, ModuleType
from typing import Any, Callable

from .. import edits
from ..context import Context
from ..layers import Root
from ..reports import Report
from . import _numerics
from ._kernels import function_from

NAME = "apply_rotary_pos_emb"
IMPORTS = ("import torch", "from liger_kernel.transformers.rope import liger_rotary_pos_emb")
TEXT = """\
def rotary(q, k, cos, sin, *_, **__):
    rotated = liger_rotary_pos_emb(q.clone(), k.clone(), cos, sin)
    for one in rotated:
        if one.requires_grad:
            one.register_hook(torch.clone)
    return rotated
"""


class Rotary:
    def __init__(self, context: Context, report: Report, shown: str) -> None:
        self.context, self.report, self.torch, self.shown = context, report, context.torch, shown
        self.owners: list[ModuleType] = []
        self.roots: dict[int, Root] = {}
        self.verdicts: dict[Any, str] = {}  # by function, shapes and types: how the kernel differs

    def put_in(self, root: Root, module: Any) -> bool:
        """Returns false for a model that has no such function."""
        sources = dict.fromkeys(sys.modules.get(type(child).__module__) for child in module.modules())
        owners = [owner for owner in sources if owner is not None and isinstance(vars(owner).get(NAME), FunctionType)]
        kernel = self._kernel() if owners else None
        if kernel is None:
            return False
        self.roots[id(module)] = root
        for owner in owners:
            if owner not in self.owners:
                self.owners.append(owner)
                self.context.patches.wrap(owner, NAME, functools.partial(self._around, kernel))
        return True

    def take_out(self, module: Any) -> None:
        self.roots.pop(id(module), None)
        while self.owners and not self.roots:
            self.context.patches.unwrap(self.owners.pop(), NAME)

    def _kernel(self) -> Any:
        try:
            return function_from("rotary", TEXT, IMPORTS)
        except ImportError as error:
            self.report.pass_over(f"this {self.shown} has no rotary embedding: {error}")
            return None

    def _around(self, kernel: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
        is_compiling = _numerics.compiling(self.torch)

        def rotary(*args: Any, **kwargs: Any) -> Any:
            if is_compiling() or not self._is_right(original, kernel, args, kwargs):
                return original(*args, **kwargs)
            return kernel(*args, **kwargs)

        return rotary

    def _is_right(self, original: Any, kernel: Any, args: Any, kwargs: Any) -> bool:
        if not self.context.on or not self.report.is_on() or not self._takes(original, args, kwargs):
            return False
        key = original, tuple((value.shape, value.dtype) for value in args[:4])
        if key not in self.verdicts:
            self.verdicts[key] = self._verdict(original, kernel, args[:4])
        return not self.verdicts[key]

    def _takes(self, original: Any, args: Any, kwargs: Any) -> bool:
        if len(args) < 4 or not all(type(value) is self.torch.Tensor for value in args[:4]):
            return False
        if (len(args) > 4 or kwargs) and not _is_usual(original, args, kwargs):
            return False
        q, k, cos, sin = args[:4]
        if not (q.requires_grad and k.requires_grad) or cos.requires_grad or sin.requires_grad:
            return False
        if q.dim() != 4 or k.dim() != 4 or cos.dim() != 3 or cos.shape != sin.shape or not q.is_floating_point():
            return False
        batch, _, length, size = q.shape
        same = {value.dtype for value in args[:4]} == {q.dtype} and {value.device for value in args[:4]} == {q.device}
        keys = (k.shape[0], *k.shape[2:]) == (batch, length, size)
        return same and keys and cos.shape[0] in (1, batch) and cos.shape[1:] == (length, size) and not size % 2

    def _verdict(self, original: Any, kernel: Any, args: Any) -> str:
        torch = self.torch
        rows = max(1, _numerics.MOST_ELEMENTS * args[0].shape[0] // max(1, args[0].numel(), args[1].numel()))
        q, k, *angles = (value[:rows].detach() for value in args)

        def with_angles(function: Any) -> Callable[..., Any]:  # which have no gradient
            return lambda _, q, k: function(q, k, *(value.to(q.dtype) for value in angles))

        problem = _numerics.difference_or_error(
            torch, torch.nn.Module(), with_angles(kernel), _numerics.sample_of(torch, (q, k), {}),
            forward=with_angles(original),
        )  # fmt: skip
        if problem:
            self.report.pass_over(f"{self.shown}'s rotary embedding is wrong here: {problem}")
        else:
            self.report.changed(f"rotary embedding by {self.shown}", self._edit())
        return problem

    def _edit(self) -> dict[str, Any] | None:
        owners = [owner.__name__ for owner in self.owners]
        setups = [root.setup for root in self.roots.values()]
        if len(setups) != 1 or setups[0] is None or not all(map(_is_library, owners)):
            return None
        statements = [f"{owner}.{NAME} = rotary" for owner in owners]
        imports = (*IMPORTS, *(f"import {owner}" for owner in owners))
        return edits.lines("before", setups[0][0], *TEXT.splitlines(), *statements, imports=imports)


def _is_usual(original: Any, args: Any, kwargs: Any) -> bool:
    """Returns true if what follows the four tensors says no more than that heads are the second dimension."""
    try:
        given = inspect.signature(original).bind(*args, **kwargs).arguments
    except TypeError:
        return False
    return given.pop("unsqueeze_dim", 1) == 1 and all(value is None for value in list(given.values())[4:])


def _is_library(name: str) -> bool:
    return name != "__main__" and not edits.is_users(getattr(importlib.util.find_spec(name), "origin", "") or "")
