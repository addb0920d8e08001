# SPDX-License-Identifier: Apache-2.0
"""Hooks that no other part needs. Each is one module of this package, a class of hook.py that the module's last line names `HOOK`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..hook import Hook


def kinds() -> Iterator[type[Hook]]:
    """Yields the class of each, in the order of the files' names."""
    for file in sorted(os.listdir(os.path.dirname(__file__))):
        if file.endswith(".py") and not file.startswith("_"):
            yield import_module(f"{__name__}.{file[:-3]}").HOOK
