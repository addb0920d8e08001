# SPDX-License-Identifier: Apache-2.0
"""Settings of CUDA's caching allocator, `expandable_segments:True` unless others are named; what the user has set stays as it is."""

from __future__ import annotations

import os
from typing import Any

from .. import edits
from ..fix import ProgramFix
from . import _devices

USUAL = "expandable_segments:True"
NEW, OLD = "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"


class Allocator(ProgramFix):
    live = True

    def why_not(self, value: str) -> str:
        if not _devices.has_cuda(self.torch):
            return _devices.NO_CUDA
        asked = settings(value or USUAL)
        if not asked:
            return f"{value!r} is no setting: {USUAL}"
        if not set(asked) - set(_user()):
            return f"{_variable(self.torch)} is set by the user: {_text(_user())}"
        return (
            ""
            if _setter(self.torch) or not self.torch.cuda.is_initialized()
            else "this torch reads it at the start only"
        )

    def on(self, value: str) -> str:
        user = _user()
        added = {name: text for name, text in settings(value or USUAL).items() if name not in user}
        merged = _text({**user, **added})
        variable = _variable(self.torch)
        if self.torch.cuda.is_initialized() or variable == NEW:
            _setter(self.torch)(merged)
        os.environ[variable] = merged  # for what is read later, and for processes that the program starts
        self.report.changed(f"{variable}={merged}", edits.environment(**{variable: merged}))
        return ""

    def off(self) -> str:
        """Allocates new memory the old way; memory that was allocated stays where it is."""
        value = self.report.value() or USUAL
        variable, user = _variable(self.torch), _user()
        for name in settings(value):
            user.pop(name, None)
        if "expandable_segments" in settings(value):
            user["expandable_segments"] = "False"
        _setter(self.torch)(_text(user))
        os.environ[variable] = _text(user)
        return f"{variable}={_text(user)}"


def settings(text: str) -> dict[str, str]:
    """`a:1,b:[2:3,4:5]` → {"a": "1", "b": "[2:3,4:5]"}."""
    found: dict[str, str] = {}
    depth, part = 0, ""
    for letter in text + ",":
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth <= 0:
            name, colon, value = part.partition(":")
            if colon:
                found[name.strip()] = value.strip()
            part = ""
        else:
            part += letter
    return found


def _user() -> dict[str, str]:
    return settings(os.environ.get(NEW) or os.environ.get(OLD) or "")


def _text(values: dict[str, str]) -> str:
    return ",".join(f"{name}:{value}" for name, value in values.items())


def _variable(torch: Any) -> str:
    return NEW if hasattr(torch._C, "_accelerator_setAllocatorSettings") else OLD


def _setter(torch: Any) -> Any:
    return getattr(torch._C, "_accelerator_setAllocatorSettings", None) or getattr(
        torch.cuda.memory, "_set_allocator_settings", None
    )


FIX = Allocator
