# SPDX-License-Identifier: Apache-2.0
"""Loops over rows in the source of a function, and the same function with one call in their place.

Two forms are known, both of which only collect what each row gives and stack it:

    rows = []                                     torch.stack([f(row) for row in batch])
    for row in batch:
        rows.append(f(row))
    … torch.stack(rows) …

`zip(a, b)` may stand for `batch`; statements before the `append` may only name values. Whatever else such a loop does cannot be said
of all rows at once, and it is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Callable, NamedTuple

from . import _row_code
from ._row_code import Loop

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
# An expression with one of these does more than to compute a value, or belongs to the function that it stands in.
UNFIT = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred)
SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Stacks = Callable[[ast.expr], bool]  # whether an expression is torch.stack


class RowLoop(NamedTuple):
    over: str  # what it runs over, as it is written
    first: int  # lines of the file
    last: int
    lines: tuple[str, ...]  # and what they become; none where they hold more than the loop


def rewrite(function: ast.FunctionDef, stacks: Stacks, helper: str) -> list[RowLoop]:
    """The function gets `<helper><n>(what a row gives, over…)` in place of its loop n."""
    loops: list[RowLoop] = []
    for block in list(_blocks(function)):
        for at in range(len(block)):
            _rewrite_comprehension(block, at, stacks, helper, loops)
        for at in range(len(block)):
            _rewrite_collecting(block, at, function, stacks, helper, loops)
    return loops


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yields lists of statements, without those of inner functions and classes."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
            for inner in block:
                if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    yield from _blocks(inner)
    for handler in getattr(node, "handlers", []):
        yield from _blocks(handler)


def _rewrite_comprehension(block: list[ast.stmt], at: int, stacks: Stacks, helper: str, loops: list[RowLoop]) -> None:
    """The first one of the statement."""
    for call, listed in _stacked(block[at], stacks):
        if not isinstance(listed, ast.ListComp) or len(listed.generators) != 1:
            continue
        generator = listed.generators[0]
        if generator.ifs or generator.is_async:
            continue
        loop = _loop(generator.target, generator.iter, [], listed.elt)
        if loop is not None:
            _, by = _row_code.mapped(loop)
            lines = _row_code.text([_row_code.replaced(block[at], call, by)])
            loops.append(_row_loop(loop, block[at], block[at], lines))
            _, by = _row_code.asked(loop, f"{helper}{len(loops) - 1}")
            block[at] = _row_code.replaced(block[at], call, by)
            return


def _rewrite_collecting(
    block: list[ast.stmt], at: int, function: ast.FunctionDef, stacks: Stacks, helper: str, loops: list[RowLoop]
) -> None:
    statement = block[at]
    if not isinstance(statement, ast.For) or statement.orelse:
        return
    name, value = _appended(statement.body[-1])
    loop = None if value is None else _loop(statement.target, statement.iter, statement.body[:-1], value)
    # Made, appended to, stacked, and nothing else.
    if loop is None or len(_named(function, {name})) != 3 or not _is_alone(function, statement, loop):
        return
    begins = [i for i in range(at) if _makes_list(block[i], name)]
    ends = [(i, call) for i in range(at + 1, len(block)) for call, listed in _stacked(block[i], stacks)
            if isinstance(listed, ast.Name) and listed.id == name]  # fmt: skip
    if not begins or not ends:
        return
    begin, (end, stack) = begins[0], ends[0]
    lines: tuple[str, ...] = ()
    if begin + 1 == at and at + 1 == end:
        before, by = _row_code.mapped(loop)
        lines = _row_code.text([*before, _row_code.replaced(block[end], stack, by)])
    loops.append(_row_loop(loop, block[begin], block[end], lines))
    before, by = _row_code.asked(loop, f"{helper}{len(loops) - 1}")
    given = [*before, ast.Assign([ast.Name(name, ast.Store())], by)]
    # One statement stays one, so that the places of the others do.
    block[at] = ast.copy_location(ast.If(ast.Constant(True), given, []), statement)
    block[end] = _row_code.replaced(block[end], stack, ast.Name(name, ast.Load()))


def _row_loop(loop: Loop, first: ast.stmt, last: ast.stmt, lines: tuple[str, ...]) -> RowLoop:
    return RowLoop(", ".join(map(ast.unparse, loop.over)), first.lineno, last.end_lineno or last.lineno, lines)


def _loop(target: ast.expr, over: ast.expr, body: list[ast.stmt], value: ast.expr) -> Loop | None:
    names, iterables = [target], [over]
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "zip" and not over.keywords:
        names, iterables = target.elts if isinstance(target, ast.Tuple) else [], over.args
    targets = [name.id for name in names if isinstance(name, ast.Name)]
    if not targets or not len(set(targets)) == len(names) == len(iterables):
        return None
    if any(isinstance(node, UNFIT) for part in (*body, value, *iterables) for node in ast.walk(part)):
        return None
    return Loop(targets, iterables, body, value) if all(map(_stored, body)) else None


def _stored(statement: ast.stmt) -> list[str]:
    """The names that it gives values to; none where it does something else."""
    names: list[ast.expr] = []
    for target in statement.targets if isinstance(statement, ast.Assign) else []:
        names += target.elts if isinstance(target, ast.Tuple) else [target]
    plain = [name.id for name in names if isinstance(name, ast.Name)]
    return plain if len(plain) == len(names) else []


def _is_alone(function: ast.FunctionDef, statement: ast.For, loop: Loop) -> bool:
    """Returns true if nothing outside the loop uses a name that the loop binds."""
    names = {*loop.targets, *(name for statement in loop.body for name in _stored(statement))}
    return len(_named(function, names)) == len(_named(statement, names))


def _named(node: ast.AST, names: set[str]) -> list[ast.Name]:
    return [child for child in ast.walk(node) if isinstance(child, ast.Name) and child.id in names]


def _appended(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    """`rows` and `value` of `rows.append(value)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return "", None
    method = call.func
    if isinstance(method, ast.Attribute) and method.attr == "append" and isinstance(method.value, ast.Name):
        return method.value.id, call.args[0]
    return "", None


def _makes_list(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    empty = isinstance(statement.value, ast.List) and not statement.value.elts
    return empty and len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name


def _stacked(statement: ast.stmt, stacks: Stacks) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Each `torch.stack(list)` along the first dimension, with its list; not within a function of the statement's own."""
    if not isinstance(statement, SIMPLE):
        return
    inner = {id(node) for scope in ast.walk(statement) if isinstance(scope, SCOPES) for node in ast.walk(scope)}
    for call in ast.walk(statement):
        if not isinstance(call, ast.Call) or id(call) in inner or not call.args or not stacks(call.func):
            continue
        first = all(map(_is_zero, call.args[1:])) and all(
            keyword.arg == "dim" and _is_zero(keyword.value) for keyword in call.keywords
        )
        if first:
            yield call, call.args[0]


def _is_zero(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == 0
