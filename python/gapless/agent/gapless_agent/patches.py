# SPDX-License-Identifier: Apache-2.0
"""Putting a function of ours around one of torch's, and taking it away again.

A wrapper must not show in the tracebacks of the program: where the wrapped function raises, it calls `hide(error)` and raises on.
Python 3.11 and later then have no line of ours; before, the interpreter adds the frame again, and one line per wrapper stays.
"""

from __future__ import annotations

import contextlib
import functools
import os
from types import CodeType
from typing import Any, Callable, TypeVar

_MISSING = object()
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def hide(error: BaseException) -> None:
    """Takes the frame of the caller, the outermost one so far, off the traceback, and those of ours that it called."""
    trace = error.__traceback__
    if trace is not None:
        trace = trace.tb_next
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    error.__traceback__ = trace


def after_init(original: Callable[..., Any], then: Callable[[Any], object]) -> Callable[..., Any]:
    """Returns a constructor that calls `then` with the object once `original` has made it. `then` raises nothing."""

    def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self_, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise
        then(self_)

    return __init__


# The file name by which Python's `warnings` recognises frames of its import system, which it skips when it counts `stacklevel`.
_UNSEEN = _HERE + "importlib._bootstrap" + os.sep
_F = TypeVar("_F", bound=Callable[..., Any])


def unseen(function: _F) -> _F:
    """The function, no longer counted by the `stacklevel` of a warning: that names the line of the program that it would without us."""
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType) and code.co_filename.startswith(_HERE):
        name = _UNSEEN + os.path.basename(code.co_filename)
        function.__code__ = code.replace(co_filename=name)
    return function


class Patches:
    def __init__(self) -> None:
        self._made: list[tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
        """`owner.name` becomes `make(owner.name)`, which is returned, and keeps the name, the documentation and the signature that it had."""
        original = getattr(owner, name)
        wrapper = functools.wraps(original)(unseen(make(original)))
        self.put(owner, name, wrapper)
        return wrapper

    def put(self, owner: Any, name: str, wrapper: Any) -> None:
        """`owner.name` becomes a wrapper that was made elsewhere."""
        before = vars(owner).get(name, _MISSING)
        setattr(owner, name, wrapper)
        self._made.append((owner, name, before, wrapper))

    def unwrap(self, owner: Any, name: str) -> None:
        for entry in [made for made in reversed(self._made) if made[0] is owner and made[1] == name]:
            self._made.remove(entry)
            self._restore(*entry)

    def undo(self) -> None:
        while self._made:
            with contextlib.suppress(Exception):  # the next one still has to
                self._restore(*self._made.pop())

    def _restore(self, owner: Any, name: str, before: Any, wrapper: Any) -> None:
        if vars(owner).get(name) is not wrapper:
            return  # someone wrapped it again: theirs stays, and ours below it does nothing once the agent is off
        if before is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
