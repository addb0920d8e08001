# SPDX-License-Identifier: Apache-2.0
"""Functions of the program: which there are, and the code of one with its source changed.

A function that is given other code (`__code__`) is changed wherever the program keeps it, and may be given its own again.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable

from .. import edits

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def of_the_program() -> Iterator[FunctionType]:
    """Yields the functions of the program's own modules and classes, without functions made while others run."""
    for module in [value for value in sys.modules.values() if isinstance(value, ModuleType)]:
        file = module.__dict__.get("__file__")
        if not isinstance(file, str) or not edits.is_users(os.path.abspath(file)):
            continue
        owners: list[Any] = [module, *(value for value in vars(module).values() if isinstance(value, type))]
        for owner in owners:
            for value in list(vars(owner).values()):
                function = _innermost(value)
                if function is not None and function.__globals__ is module.__dict__:
                    yield function


def _innermost(value: Any) -> FunctionType | None:
    """Below what decorators put around it. Nothing of the program is asked: an object may answer to any name."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    seen: set[int] = set()
    while isinstance(value, FunctionType) and "__wrapped__" in value.__dict__ and id(value) not in seen:
        seen.add(id(value))
        value = value.__dict__["__wrapped__"]
    return value if isinstance(value, FunctionType) else None


def value_of(expression: ast.expr, function: FunctionType) -> Any:
    """Returns the value of `name` or `name.attribute` in the function's module, or None for any other expression."""
    name = expression.value if isinstance(expression, ast.Attribute) else expression
    if not isinstance(name, ast.Name) or name.id in function.__code__.co_varnames:
        return None
    found = function.__globals__.get(name.id)
    if not isinstance(expression, ast.Attribute):
        return found
    return found.__dict__.get(expression.attr) if isinstance(found, ModuleType) else None


def recompiled(function: FunctionType, change: Callable[[ast.FunctionDef], bool]) -> CodeType | None:
    """With all of its file, as it was: what stands around a function is part of what its names mean. None where `change` did nothing,
    or the source is not what runs."""
    code = function.__code__
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        node = next((child for child in ast.walk(tree) if _begins_at(child, code)), None)
        if not isinstance(node, ast.FunctionDef) or not _is_same(_compiled(tree, code), code) or not change(node):
            return None
        result = _compiled(ast.fix_missing_locations(tree), code)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return result if result is not None and result.co_freevars == code.co_freevars else None


def _begins_at(node: ast.AST, code: CodeType) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) == code.co_firstlineno


def _is_same(found: CodeType | None, code: CodeType) -> bool:
    return found is not None and (found.co_code, found.co_names) == (code.co_code, code.co_names)


def _compiled(tree: ast.Module, like: CodeType) -> CodeType | None:
    """The code of the same function in the module."""
    within: list[CodeType] = [compile(tree, like.co_filename, "exec", like.co_flags & _FUTURE, dont_inherit=True)]
    for code in within:
        if (code.co_name, code.co_firstlineno) == (like.co_name, like.co_firstlineno):
            return code
        within.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return None
