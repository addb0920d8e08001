# SPDX-License-Identifier: Apache-2.0
"""The base of the fixes that change the weights of a model that infers, in place. The first call shows if it works; until then the
weights that the program had are kept, to be put back."""

from __future__ import annotations

from typing import Any

from ..layers import Layer, Root
from ..reports import Report

Slot = tuple[Any, str, Any]  # a module, the name of its parameter or buffer, and what it was


class InPlace(Layer):
    training_only = False

    def __init__(self, torch: Any, report: Report) -> None:
        super().__init__(torch, report)
        self.before_it: dict[int, list[Slot]] = {}

    def found(self, root: Root, module: Any) -> str:
        if root.trains:
            return "it is for a program that infers, and this one trains"
        if module.training:
            return f"{type(module).__name__} is not in eval mode"
        why = self.why_not(module)
        if not why:
            self.before_it[id(module)] = _slots(module)
            try:
                with self.torch.no_grad():
                    self.change(module)
            except Exception:
                self.lost(root, module)
                raise
        return why

    def why_not(self, module: Any) -> str:
        return ""

    def change(self, module: Any) -> None:
        raise NotImplementedError

    def works(self, root: Root, module: Any) -> None:
        self.before_it.pop(id(module), None)

    def lost(self, root: Root, module: Any) -> None:
        for owner, name, tensor in self.before_it.pop(id(module), []):
            group = owner._parameters if name in owner._parameters else owner._buffers
            group[name] = tensor


def _slots(module: Any) -> list[Slot]:
    return [
        (child, name, tensor)
        for child in module.modules()
        for group in (child._parameters, child._buffers)
        for name, tensor in group.items()
        if tensor is not None
    ]
