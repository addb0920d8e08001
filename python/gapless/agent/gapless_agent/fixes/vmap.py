# SPDX-License-Identifier: Apache-2.0
"""A Python loop over the rows of a tensor that only stacks what each row gives runs as one torch.vmap: one call of each operator, not one
per row.

The functions of the program that have such a loop (`_row_loops.py`) get another code object, in which the loop asks a `_Rows`. The first
time that computes both ways: what does not agree, draws random numbers or cannot be mapped stays a loop.
"""

from __future__ import annotations

import ast
import os
import random
import sys
from types import CodeType, FunctionType
from typing import Any

from ..fix import ProgramFix, Tools
from ..patches import hide
from ..reports import Report
from . import _functions, _row_loops

FROM_STEP = 2  # what the program calls in a step is defined then
HELPER = "_gapless_rows_"
ROUNDINGS, HALF_ROUNDINGS = 1000, 8  # that the two ways may differ by, of the largest value


class Vmap(ProgramFix):
    live = True

    def __init__(self, tools: Tools, name: str) -> None:
        super().__init__(tools, name)
        self.swapped: dict[FunctionType, tuple[CodeType, CodeType]] = {}  # as it was, and with what it runs
        self.rows: list[_Rows] = []

    def why_not(self, value: str) -> str:
        return "" if hasattr(self.torch, "func") else f"torch {self.torch.__version__} has no torch.func"

    def on(self, value: str) -> str:
        if self.context.step >= FROM_STEP:
            self._swap()
        else:
            self.context.at_step(FROM_STEP, self._swap)
        return ""

    def off(self) -> str:
        for function, (before, _) in self.swapped.items():
            function.__code__ = before
        return "loops over rows are loops again"

    def nothing(self) -> str:
        return "no function that the program calls in its steps only stacks what each row gives"

    def _swap(self) -> None:
        if not self.report.is_on():
            return
        if not self.swapped:
            for function in list(_functions.of_the_program()):
                code = self._rewritten(function) if "stack" in function.__code__.co_names else None
                if code is not None:
                    self.swapped[function] = (function.__code__, code)
        for function, (_, code) in self.swapped.items():
            function.__code__ = code
        for rows in self.rows:
            if rows.agrees:
                rows.tell()

    def _rewritten(self, function: FunctionType) -> CodeType | None:
        code, torch = function.__code__, self.torch
        file, helper = os.path.abspath(code.co_filename), f"{HELPER}{code.co_firstlineno}_"
        loops: list[_row_loops.RowLoop] = []

        def change(node: ast.FunctionDef) -> bool:
            loops.extend(_row_loops.rewrite(node, lambda of: _functions.value_of(of, function) is torch.stack, helper))
            return bool(loops)

        result = _functions.recompiled(function, change)
        for number, loop in enumerate(loops if result is not None else []):
            rows = _Rows(self.torch, self.report, function.__qualname__, file, loop)
            function.__globals__[f"{helper}{number}"] = rows
            self.rows.append(rows)
        return result


class _Rows:
    """Stands for one loop: called with the function of a row and the values that the loop runs over."""

    def __init__(self, torch: Any, report: Report, name: str, file: str, loop: _row_loops.RowLoop) -> None:
        self.torch, self.report = torch, report
        self.name, self.file, self.loop = name, file, loop
        self.agrees = self.refused = False

    def __call__(self, of_row: Any, *over: Any) -> Any:
        try:
            return self._stack(of_row, over)
        except BaseException as error:
            hide(error)
            if error.__traceback__ is not None and error.__traceback__.tb_frame.f_code.co_filename == __file__:
                error.__traceback__ = None  # torch.stack itself, called from here
            raise

    def _stack(self, of_row: Any, over: Any) -> Any:
        torch = self.torch
        if self.refused or not all(isinstance(value, torch.Tensor) and value.dim() > 0 for value in over):
            return self._one_by_one(of_row, over)
        if not self.agrees:
            before = _versions(over)
            result = self._one_by_one(of_row, over)
            if _versions(over) != before:
                self._refuse("it changes the rows")
            else:
                self._compare(result, of_row, over)
            return result
        try:
            return torch.vmap(of_row)(*over)
        except Exception as error:
            self._refuse(f"{type(error).__name__}: {error}")
            return self._one_by_one(of_row, over)

    def _one_by_one(self, of_row: Any, over: Any) -> Any:
        return self.torch.stack([of_row(*row) for row in zip(*over)])

    def _compare(self, expected: Any, of_row: Any, over: Any) -> None:
        numbers = _RandomNumbers()
        try:
            found = self.torch.vmap(of_row)(*over)  # torch's own random numbers are an error there
        except Exception as error:
            text = str(error).strip().partition("\n")[0]
            return self._refuse(f"it cannot be mapped: {type(error).__name__}: {text}")
        finally:
            drawn = numbers.put_back()
        if drawn:
            return self._refuse("it draws random numbers")
        if not _agree(self.torch, expected, found):
            return self._refuse("torch.vmap gives other numbers")
        self.agrees = True
        self.tell()

    def tell(self) -> None:
        edit = None
        if self.loop.lines:
            edit = {"kind": "replace", "file": self.file, "line": self.loop.first, "last": self.loop.last}
            edit.update(lines=list(self.loop.lines), imports=["import torch"])
        self.report.changed(f"{self.name}: the loop over {self.loop.over} is one torch.vmap", edit)

    def _refuse(self, why: str) -> None:
        self.refused = True
        self.report.pass_over(f"{self.name}, loop over {self.loop.over}: {why}"[:500])


def _versions(over: Any) -> list[int | None]:
    """Another one after each change in place."""
    return [None if value.is_inference() else value._version for value in over]


class _RandomNumbers:
    """The states of the random generators outside torch."""

    def __init__(self) -> None:
        self.numpy = getattr(sys.modules.get("numpy"), "random", None)
        self.python = random.getstate()
        self.legacy = self.numpy.get_state() if self.numpy is not None else None

    def put_back(self) -> bool:
        """Restores the states; returns true if random numbers were drawn since they were saved."""
        drawn = random.getstate() != self.python
        random.setstate(self.python)
        if self.numpy is not None:
            now: Any = self.numpy.get_state()
            drawn = drawn or any((a != b) if not hasattr(a, "tobytes") else a.tobytes() != b.tobytes()
                                 for a, b in zip(now, self.legacy or ()))  # fmt: skip
            self.numpy.set_state(self.legacy)
        return drawn


def _agree(torch: Any, expected: Any, found: Any) -> bool:
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return False
    with torch.no_grad():
        if not expected.is_floating_point() or not expected.numel():
            return bool(torch.equal(expected, found))
        rounding = torch.finfo(expected.dtype).eps
        allowed = rounding * (ROUNDINGS if rounding < 1e-5 else HALF_ROUNDINGS)
        scale = float(expected.nan_to_num(0, 0, 0).abs().max())
        return bool(torch.allclose(found, expected, rtol=allowed, atol=allowed * scale, equal_nan=True))


FIX = Vmap
