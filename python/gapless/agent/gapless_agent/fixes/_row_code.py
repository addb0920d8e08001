# SPDX-License-Identifier: Apache-2.0
"""Code of a loop over rows, once the loop is known: for the program that runs, and for its author to read."""

from __future__ import annotations

import ast
import copy
from typing import NamedTuple

OF_ROW = "_gapless_of_row"


class Loop(NamedTuple):
    targets: list[str]
    over: list[ast.expr]  # as many
    body: list[ast.stmt]  # before the value of a row
    value: ast.expr


def mapped(loop: Loop) -> tuple[list[ast.stmt], ast.expr]:
    """Statements, and `torch.vmap(lambda row: …)(batch)`, for the patch."""
    name = "of_" + "_and_".join(loop.targets)
    before, function = _function(loop, name)
    vmap = ast.Attribute(ast.Name("torch", ast.Load()), "vmap", ast.Load())
    return before, ast.Call(ast.Call(vmap, [function], []), copy.deepcopy(loop.over), [])


def asked(loop: Loop, helper: str) -> tuple[list[ast.stmt], ast.expr]:
    """Statements, and `helper(lambda row: …, batch)`, for the program."""
    before, function = _function(loop, OF_ROW)
    return before, ast.Call(ast.Name(helper, ast.Load()), [function, *copy.deepcopy(loop.over)], [])


def replaced(statement: ast.stmt, call: ast.Call, by: ast.expr) -> ast.stmt:
    """A copy with another expression in place of the call."""
    changed = _Replacer(call, by).visit(copy.deepcopy(statement))
    assert isinstance(changed, ast.stmt)
    return changed


def text(statements: list[ast.stmt]) -> tuple[str, ...]:
    return tuple(
        line for statement in statements for line in ast.unparse(ast.fix_missing_locations(statement)).splitlines()
    )


def _function(loop: Loop, name: str) -> tuple[list[ast.stmt], ast.expr]:
    """Writes the function of a row: an expression alone is a lambda."""
    arguments = [ast.arg(target) for target in loop.targets]
    given = ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[])
    if not loop.body:
        return [], ast.Lambda(given, copy.deepcopy(loop.value))
    definition = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.args = given
    definition.body = [*copy.deepcopy(loop.body), ast.Return(copy.deepcopy(loop.value))]
    return [definition], ast.Name(name, ast.Load())


class _Replacer(ast.NodeTransformer):
    def __init__(self, call: ast.Call, by: ast.expr) -> None:
        self.place, self.by = _place(call), ast.copy_location(by, call)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self.by if _place(node) == self.place else self.generic_visit(node)


def _place(node: ast.Call) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
