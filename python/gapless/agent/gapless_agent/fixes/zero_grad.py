# SPDX-License-Identifier: Apache-2.0
"""Gradients are dropped instead of filled with zeros where the program passes `set_to_none=False`: one pass over the memory less."""

from __future__ import annotations

from typing import Any, Callable

from .. import edits
from ..fix import ProgramFix
from ..patches import hide


class ZeroGrad(ProgramFix):
    live = True
    wrapped = False

    def on(self, value: str) -> str:
        if not self.wrapped:
            self.wrapped = True
            for owner in (self.torch.optim.Optimizer, self.torch.nn.Module):
                self.context.patches.wrap(owner, "zero_grad", self._around)
        return ""

    def off(self) -> str:
        return "set_to_none is what the program passes"

    def nothing(self) -> str:
        return "the program never passes set_to_none=False"

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        context, report = self.context, self.report

        def zero_grad(self_: Any, set_to_none: bool = True) -> Any:
            try:
                if set_to_none or not context.on or not report.is_on():
                    return original(self_, set_to_none)
                if not report.took_effect() or not self.tools.reports.reported:
                    self._tell(self_)
                return original(self_, True)
            except BaseException as error:
                hide(error)
                raise

        return zero_grad

    def _tell(self, owner: Any) -> None:
        place = edits.place_of(edits.caller(owner))
        edit = None
        if place is not None:
            edit = {"kind": "keywords", **place._asdict(), "call": "zero_grad", "set": {"set_to_none": "True"}}
        self.report.changed("zero_grad: set_to_none False → True", edit)


FIX = ZeroGrad
