# SPDX-License-Identifier: Apache-2.0
"""Are two models one and the same computation? Then there is nothing to measure."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any


def are_alike(one: Any, other: Any) -> bool:
    """Returns True if the models have the same modules, the same numbers in them and the same of everything else.

    Whatever cannot be compared differs: then both are measured.
    """
    if one is other:
        return True
    try:
        modules = [dict(model.named_modules()) for model in (one, other)]
        if list(modules[0]) != list(modules[1]):
            return False
        return all(_alike(module, modules[1][name]) for name, module in modules[0].items())
    except Exception:  # noqa: BLE001 -- a model's own attributes may do anything when they are read
        return False


def _alike(module: Any, other: Any) -> bool:
    mine, its = vars(module), vars(other)
    if type(module) is not type(other) or list(mine) != list(its):
        return False
    return all(_equal(mine[name], its[name], (module, other)) for name in mine if name != "_modules")


def _equal(a: Any, b: Any, owners: tuple[Any, Any]) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if hasattr(a, "stride") and hasattr(a, "dtype"):
        return _same_tensor(a, b)
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(_equal(a[key], b[key], owners) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_equal(x, y, owners) for x, y in zip(a, b))
    if isinstance(a, types.MethodType):
        return a.__func__ is b.__func__ and a.__self__ is owners[0] and b.__self__ is owners[1]
    return bool(a == b)


def _same_tensor(a: Any, b: Any) -> bool:
    import torch

    facts = ("dtype", "device", "shape", "layout", "requires_grad")
    if any(getattr(a, fact) != getattr(b, fact) for fact in facts) or a.stride() != b.stride():
        return False
    return bool(torch.equal(a, b)) and (a.grad is None) == (b.grad is None)
