# SPDX-License-Identifier: Apache-2.0
"""When FSDP2 (fully_shard) gathers parameters: `prefetch`, of the next modules while one computes; `keep`, once a step, as they stay whole
between the forward and the backward pass, which costs the memory that sharding them in between saves."""

from __future__ import annotations

from typing import Any

from .. import edits
from ..layers import Layer, Root
from ._models import ModelFix

KEEP, PREFETCH = "keep", "prefetch"
AHEAD = 2  # modules that are gathered while one computes


class Fsdp(ModelFix):
    unchanged = "parameters are gathered as the program has it"

    def why_not(self, value: str) -> str:
        if value not in (KEEP, PREFETCH):
            return f"{value!r} is none of {KEEP}, {PREFETCH}"
        return "" if _kind(self.torch) is not None else f"torch {self.torch.__version__} has no fully_shard"

    def on(self, value: str) -> str:
        self.tools.models.add(Gathered(self.torch, self.report))
        return ""


def _kind(torch: Any) -> Any:
    """The class that fully_shard mixes into modules; None where it has none."""
    if not torch.distributed.is_available():
        return None
    from torch.distributed import fsdp

    return getattr(fsdp, "FSDPModule", None)


class Gathered(Layer):
    def found(self, root: Root, module: Any) -> str:
        sharded = self.sharded(module)
        if len(sharded) < 2:
            return "no model of fully_shard with several sharded modules"
        if self.report.value() == KEEP:
            for child in sharded:
                child.set_reshard_after_forward(False, recurse=False)
            return ""
        for at, child in enumerate(sharded):
            child.set_modules_to_forward_prefetch(sharded[at + 1 : at + 1 + AHEAD])
            child.set_modules_to_backward_prefetch(sharded[max(0, at - AHEAD) : at][::-1])
        return ""

    def sharded(self, module: Any) -> list[Any]:
        """The sharded modules within the root, in the order in which it holds them; the root itself stays whole in any case."""
        kind = _kind(self.torch)
        return [child for child in module.modules() if isinstance(child, kind) and child is not module]

    def works(self, root: Root, module: Any) -> None:
        name = root.setup[1] if root.setup is not None else ""
        place = root.setup[0] if root.setup is not None else None
        count = len(self.sharded(module))
        keep = self.report.value() == KEEP
        lines = (
            (f"for layer in {name}.modules():", f"    if isinstance(layer, FSDPModule) and layer is not {name}:",
             "        layer.set_reshard_after_forward(False, recurse=False)")
            if keep
            else (f"sharded = [layer for layer in {name}.modules() if isinstance(layer, FSDPModule) and layer is not {name}]",
                  "for at, layer in enumerate(sharded):",
                  f"    layer.set_modules_to_forward_prefetch(sharded[at + 1 : at + {AHEAD + 1}])",
                  f"    layer.set_modules_to_backward_prefetch(sharded[max(0, at - {AHEAD}) : at][::-1])")
        )  # fmt: skip
        edit = edits.lines("before", place, *lines, imports=("from torch.distributed.fsdp import FSDPModule",))
        what = "stay whole until the backward pass" if keep else f"are gathered {AHEAD} modules ahead"
        self.report.changed(f"parameters of {count} sharded modules {what}", edit)

    def lost(self, root: Root, module: Any) -> None:
        for child in self.sharded(module):
            if self.report.value() == KEEP:
                child.set_reshard_after_forward(True, recurse=False)
            else:
                child.set_modules_to_forward_prefetch([])
                child.set_modules_to_backward_prefetch([])


FIX = Fsdp
