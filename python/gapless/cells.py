# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays of the library as Python values, for the few rows that a person looks at; whole tables go through `frames.py`."""

from __future__ import annotations

import ctypes
from typing import Any

from . import native
from .frames import batches, schema_of

_KINDS: dict[bytes, Any] = {b"l": ctypes.c_int64, b"g": ctypes.c_double, b"i": ctypes.c_int32}


def cells(stream: native.ArrowArrayStream) -> list[tuple[Any, ...]]:
    """All rows of a stream; what is absent is None. The stream is released."""
    schema = schema_of(stream)
    rows: list[tuple[Any, ...]] = []
    for batch in batches(stream):
        columns = [
            _column(batch.held.children[at].contents, schema.held.children[at].contents)
            for at in range(schema.held.n_children)
        ]
        rows += zip(*columns)
    return rows


def texts_of(dictionary: native.ArrowArray, long: bool) -> list[str]:
    """The texts of a dictionary."""
    offsets = _numbers(dictionary.buffers[1], dictionary.length + 1, ctypes.c_int64 if long else ctypes.c_int32)
    data = ctypes.string_at(dictionary.buffers[2] or 0, offsets[-1]) if offsets and offsets[-1] else b""
    return [data[begin:end].decode("utf-8") for begin, end in zip(offsets, offsets[1:])]


def _numbers(address: int | None, count: int, kind: Any) -> list[Any]:
    return list((kind * count).from_address(address)) if address and count else []


def _column(array: native.ArrowArray, field: native.ArrowSchema) -> list[Any]:
    values = _numbers(array.buffers[1], array.length, _KINDS[field.format])
    if field.dictionary:
        texts = texts_of(array.dictionary.contents, field.dictionary.contents.format == b"U")
        values = [texts[value] if value < len(texts) else None for value in values]
    if array.null_count:
        bits = _numbers(array.buffers[0], (array.length + 7) // 8, ctypes.c_uint8)
        values = [value if bits[row // 8] >> row % 8 & 1 else None for row, value in enumerate(values)]
    return values
