# SPDX-License-Identifier: Apache-2.0
"""Finds the place of a change in the user's own script, and how it would be written there.

A place is recorded only where the user's code made the call itself: a loader that a library builds inside has no line that one could
edit. A place that cannot be found is left out; the change is then described in words only.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any, NamedTuple

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARIES = tuple(
    {
        path + os.sep
        for name, path in sysconfig.get_paths().items()
        if name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
)


class Place(NamedTuple):
    file: str
    line: int


def is_own(file: str) -> bool:
    """Returns true for a file of the agent itself."""
    return file.startswith(_HERE)


def is_users(file: str) -> bool:
    if file.startswith(("<", *_LIBRARIES)) or not file:
        return False
    if "site-packages" in file or "dist-packages" in file or os.path.abspath(file).startswith(_HERE):
        return False
    return f"{os.sep}gapless{os.sep}" not in file or not _is_of_gapless(file)


@functools.lru_cache(maxsize=256)
def _is_of_gapless(file: str) -> bool:
    """Returns true for a file of the Python package that is called gapless, which is no part of the user's program."""
    above = os.path.abspath(file).rpartition(f"{os.sep}gapless{os.sep}")[0]
    return os.path.exists(os.path.join(above, "gapless", "agent_path.py"))


def caller(made: Any = None, through: tuple[str, ...] = ()) -> FrameType | None:
    """The frame of the user's code that called what the agent wraps; none when a library did. `made`: the object whose constructor
    it is; those of its subclasses are passed over. `through`: folders whose functions only hand the call on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith((_HERE, *through)):
            own = code.co_name == "__init__" and code.co_argcount > 0
            if made is None or not own or frame.f_locals.get(code.co_varnames[0]) is not made:
                break
        frame = frame.f_back
    return frame if frame is not None and is_users(frame.f_code.co_filename) else None


def place_of(frame: FrameType | None) -> Place | None:
    return None if frame is None else Place(os.path.abspath(frame.f_code.co_filename), frame.f_lineno)


def calling_line() -> str:
    """Returns "file:line" of the innermost frame of the user's code, with the file as PyTorch's profiler writes it; "" if there is none."""
    return line_of(sys._getframe(1))


def consuming_line() -> str:
    """The same, outside of generators, which hand on what others ask them for: the line that asks."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_flags & inspect.CO_GENERATOR or not is_users(frame.f_code.co_filename)
    ):
        frame = frame.f_back
    return line_at(frame) if frame is not None else calling_line()


def line_of(frame: FrameType | None) -> str:
    """The same, from that frame outwards."""
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else line_at(frame)


def line_at(frame: FrameType) -> str:
    return f"{shown(os.path.abspath(frame.f_code.co_filename))}:{frame.f_lineno}"


def shown(file: str) -> str:
    """Returns the path below the folder of sys.path that the file is in."""
    folders = sorted({os.path.abspath(path) + os.sep for path in sys.path}, reverse=True)
    return next((file[len(folder) :] for folder in folders if file.startswith(folder)), file)


def statement(place: Place) -> ast.stmt | None:
    """The innermost statement of the file that the line belongs to."""
    try:
        tree = ast.parse("".join(linecache.getlines(place.file)))
    except (SyntaxError, ValueError):
        return None
    found: ast.stmt | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not node.lineno <= place.line <= (node.end_lineno or node.lineno):
            continue
        if found is None or node.lineno >= found.lineno:
            found = node
    return found


def loop_around(frame: FrameType | None) -> Place | None:
    """Returns the place where the running loop of the user begins: the outermost loop of the innermost function that has one."""
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            line = _outermost_loop(Place(os.path.abspath(file), frame.f_lineno))
            if line:
                return Place(os.path.abspath(file), line)
        frame = frame.f_back
    return None


def _outermost_loop(place: Place) -> int:
    """Its first line; 0: the line lies in no loop of its own function."""
    try:
        tree = ast.parse("".join(linecache.getlines(place.file)))
    except (SyntaxError, ValueError):
        return 0
    loop, body = 0, [*ast.iter_child_nodes(tree)]
    while body:
        node = body.pop()
        if not getattr(node, "lineno", 0) <= place.line <= (getattr(node, "end_lineno", 0) or 0):
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            loop = 0
        elif isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            loop = loop or node.lineno
        body = [*ast.iter_child_nodes(node)]
    return loop


def same_loop(*places: Place | None) -> Place | None:
    """Returns where the outermost loop begins that all the places lie in, within one function; None without one."""
    loops = {Place(place.file, _outermost_loop(place)) if place is not None else None for place in places}
    loop = loops.pop()
    return loop if loop is not None and loop.line and not loops else None


def free_name(place: Place, *names: str) -> str:
    """Returns the first of the names that the file does not use; "" where it uses all."""
    text = "".join(linecache.getlines(place.file))
    return next((name for name in names if not re.search(rf"\b{name}\b", text)), "")


def assigned(place: Place) -> str:
    """`x` where the statement is `x = …`; "" otherwise."""
    here = statement(place)
    if (
        isinstance(here, ast.Assign)
        and len(here.targets) == 1
        and isinstance(here.targets[0], (ast.Name, ast.Attribute))
    ):
        return ast.unparse(here.targets[0])
    return ""


def result_of(place: Place, callee: str) -> str:
    """`x` where the statement is `x = callee(…)` and nothing else; "" otherwise."""
    here = statement(place)
    if isinstance(here, ast.Assign) and isinstance(here.value, ast.Call) and ast.unparse(here.value.func) == callee:
        return assigned(place)
    return ""


def mentions(place: Place, attribute: str) -> bool:
    """Returns true if the statement has `.attribute` in it."""
    here = statement(place)
    return here is not None and any(
        isinstance(node, ast.Attribute) and node.attr == attribute for node in ast.walk(here)
    )


def calls_super(place: Place) -> bool:
    """Returns true if the statement calls a method of `super()`."""
    here = statement(place)
    return here is not None and any(isinstance(node, ast.Name) and node.id == "super" for node in ast.walk(here))


def names_in(frame: FrameType, kind: type) -> dict[int, str]:
    """Returns the names of a kind's objects at that place: variables, and attributes of `self`."""
    found: dict[int, str] = {}
    own = frame.f_locals.get("self")
    for name, value in (
        {**getattr(own, "__dict__", {}), **getattr(own, "_modules", {})}.items() if own is not None else ()
    ):
        if isinstance(value, kind) and name.isidentifier():
            found[id(value)] = "self." + name
    for names in (frame.f_globals, frame.f_locals):
        for name, value in list(names.items()):
            if isinstance(value, kind) and not name.startswith("__"):
                found[id(value)] = name
    return found


def call_name(frame: FrameType, made: Any) -> str:
    """Returns the name of the class of `made` in the file: it may be imported under another name."""
    kind = type(made)
    here = statement(Place(frame.f_code.co_filename, frame.f_lineno))
    text = ast.unparse(here) if here is not None else ""
    if kind.__name__ + "(" in text:
        return kind.__name__
    for names in (frame.f_locals, frame.f_globals):
        for name, value in list(names.items()):
            if value is kind and name + "(" in text:
                return name
    return kind.__name__


def _is_constructor_of(frame: FrameType, made: Any) -> bool:
    code = frame.f_code
    return code.co_name == "__init__" and code.co_argcount > 0 and frame.f_locals.get(code.co_varnames[0]) is made


def _takes(code: CodeType, names: Iterable[str]) -> bool:
    """Returns true if a function has these arguments, or passes on what it does not know."""
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return bool(code.co_flags & inspect.CO_VARKEYWORDS) or all(name in own for name in names)


def constructing(made: Any, names: Iterable[str] = ()) -> tuple[FrameType, bool] | None:
    """The user's code that constructs `made`, and whether that is a constructor of the user's own, which hands its arguments on; none
    when a library constructs it, or has a class in between that does not take arguments of these names. Called from inside the
    constructor."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        inside = _is_constructor_of(frame, made)
        if is_users(file):
            return frame, inside
        if not is_own(file) and not (inside and _takes(frame.f_code, names)):
            return None
        frame = frame.f_back
    return None


def keywords(made: Any, owner: str, values: dict[str, str]) -> dict[str, Any] | None:
    """The same arguments at the place where `made` is constructed; called from inside the constructor of the class `owner`."""
    found = constructing(made, values)
    if found is None:
        return None
    frame, inside = found
    place = Place(os.path.abspath(frame.f_code.co_filename), frame.f_lineno)
    if inside and not calls_super(place):
        return None  # `Base.__init__(self, …)`: the arguments stand elsewhere
    call = "__init__" if inside else call_name(frame, made)
    return {"kind": "keywords", **place._asdict(), "call": call, "of": owner, "set": values}


def lines(kind: str, place: Place | None, *text: str, imports: tuple[str, ...] = ()) -> dict[str, Any] | None:
    """Statements `before` or `after` the one there, or one that it moves into (`with`)."""
    if place is None:
        return None
    return {"kind": kind, **place._asdict(), "lines": list(text), "imports": list(imports)}


def instead(place: Place | None, call: str, *text: str, imports: tuple[str, ...] = ()) -> dict[str, Any] | None:
    """Statements in the place of the one there, which must be a call of a method `call` and nothing else. Among them `STATEMENT` stands for
    it."""
    here = statement(place) if place is not None else None
    is_call = isinstance(here, ast.Expr) and isinstance(here.value, ast.Call)
    if place is None or here is None or not is_call or not ast.unparse(here).partition("(")[0].endswith("." + call):
        return None
    own = ast.unparse(here)
    edit = {"kind": "replace", "file": place.file, "line": here.lineno, "last": here.end_lineno or here.lineno}
    return {**edit, "lines": [line.replace("STATEMENT", own) for line in text], "imports": list(imports)}


def together(*edits: dict[str, Any] | None) -> dict[str, Any] | None:
    """Edits of one file of which all are made or none is; none where one of them could not be written."""
    first, *others = edits
    return None if first is None or None in others else {**first, "more": others}


def after_imports(*text: str, imports: tuple[str, ...] = ("import torch",)) -> dict[str, Any] | None:
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if not isinstance(file, str) or not is_users(os.path.abspath(file)):
        return None
    return {"kind": "after_imports", "file": os.path.abspath(file), "lines": list(text), "imports": list(imports)}


def environment(**values: str) -> dict[str, Any]:
    return {"kind": "environment", "set": values}
