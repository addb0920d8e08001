# SPDX-License-Identifier: Apache-2.0
"""Results that are read as attributes and as mappings."""

from __future__ import annotations

import dataclasses
from typing import Any


class Record(dict[str, Any]):
    """A dataclass whose fields are also the keys of a dictionary.

    >>> @dataclasses.dataclass
    ... class Found(Record):
    ...     speedup: float
    ...     model: object = hidden()
    >>> found = Found(2.0, model="large")
    >>> found.speedup, found["speedup"], found["model"], "speedup" in found, dict(found)
    (2.0, 2.0, 'large', True, {'speedup': 2.0})
    >>> found["speedup"] = 3.0
    >>> found.speedup
    3.0

    Assigning to either changes both. A field made with `hidden()` is no key of `dict(record)` and not part of its JSON.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        field = getattr(type(self), "__dataclass_fields__", {}).get(name)
        if field is not None and field.metadata.get("key", True):
            super().__setitem__(name, value)

    def __setitem__(self, name: str, value: Any) -> None:
        if name in getattr(type(self), "__dataclass_fields__", {}):
            setattr(self, name, value)
        else:
            super().__setitem__(name, value)

    def __missing__(self, name: str) -> Any:
        if name in getattr(type(self), "__dataclass_fields__", {}):
            return getattr(self, name)
        raise KeyError(name)

    def update(self, *others: Any, **named: Any) -> None:
        for name, value in dict(*others, **named).items():
            self[name] = value


def hidden(**options: Any) -> Any:
    """Returns a dataclass field that is an attribute and no key: a model, a loader, a full answer of the program."""
    return dataclasses.field(repr=False, compare=False, metadata={"key": False}, **options)
