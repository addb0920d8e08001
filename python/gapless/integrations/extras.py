# SPDX-License-Identifier: Apache-2.0
"""Packages that only some users have."""

from __future__ import annotations

import importlib
from typing import Any

from ..program import NOT_THERE, ProgramError


class MissingPackage(ProgramError, ImportError):
    """A package is not installed; the text is the line that installs it. An ImportError, and a ProgramError of status 4."""


def need(module: str, extra: str) -> Any:
    """Imports a module. Raises MissingPackage with the exact line of pip where its package is not installed."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise  # it is there, and lacks something itself
        raise MissingPackage(f'this needs {package}: pip install "gapless[{extra}]"', NOT_THERE) from None
