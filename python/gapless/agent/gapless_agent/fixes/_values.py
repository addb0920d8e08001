# SPDX-License-Identifier: Apache-2.0
"""Tensors inside of what a model returns: tuples, lists, dictionaries, records, and the outputs of libraries made of those."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, Callable


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy with each leaf changed; of the same classes. What is no container is a leaf."""
    kind = type(value)
    if isinstance(value, tuple):
        parts = [mapped(item, change) for item in value]
        return kind(*parts) if hasattr(value, "_fields") else kind(parts) if kind is not tuple else tuple(parts)
    if isinstance(value, list):
        return kind(mapped(item, change) for item in value)
    if isinstance(value, Mapping):
        made: Any = copy.copy(value)
        for name in list(value):
            made[name] = mapped(value[name], change)
        return made
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = copy.copy(value)
        for field in dataclasses.fields(value):
            object.__setattr__(made, field.name, mapped(getattr(value, field.name), change))
        return made
    return change(value)
