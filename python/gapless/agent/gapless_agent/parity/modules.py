# SPDX-License-Identifier: Apache-2.0
"""Finds the models whose parameters an optimiser steps, without a hook in any call: among the objects that Python's collector knows.

That takes some tens of ms, once for each optimiser, in a step that is not timed. Hooks on calls would be traced by torch.compile, which
would then compile again when they are gone.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any


class Found:
    """The outermost modules that hold any of the given parameters, in the order of these parameters."""

    def __init__(self, torch: Any, parameters: list[Any]) -> None:
        wanted = {id(parameter): index for index, parameter in enumerate(parameters)}
        self.roots: list[Any] = []
        self.names: dict[int, str] = {}  # by id of a parameter
        firsts: list[tuple[int, int, int, Any]] = []
        for module in outermost(torch):
            indices = [wanted[id(parameter)] for parameter in module.parameters() if id(parameter) in wanted]
            if indices:
                firsts.append((min(indices), -len(indices), len(firsts), module))
        for _, _, _, module in sorted(firsts, key=lambda entry: entry[:3]):
            self.roots.append(module)
            for name, parameter in module.named_parameters():
                self.names.setdefault(id(parameter), name)

    def buffers(self, torch: Any) -> Iterator[tuple[str, Any]]:
        """Yields each floating-point buffer once, with its name."""
        seen = set()
        for root in self.roots:
            for name, buffer in root.named_buffers():
                if id(buffer) not in seen and buffer.is_floating_point() and buffer.layout is torch.strided:
                    seen.add(id(buffer))
                    yield name, buffer

    def recurrent(self, torch: Any) -> list[Any]:
        return [module for root in self.roots for module in root.modules() if isinstance(module, torch.nn.RNNBase)]


def outermost(torch: Any) -> list[Any]:
    """Returns the modules that no other module holds. The type is asked, not the object, which may be a proxy of something."""
    modules = [
        item for item in gc.get_objects() if issubclass(type(item), torch.nn.Module) and "_modules" in vars(item)
    ]
    held = {id(child) for module in modules for child in module._modules.values() if child is not None}
    return [module for module in modules if id(module) not in held]
