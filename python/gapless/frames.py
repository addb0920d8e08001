# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays of the library as NumPy arrays and as a pandas DataFrame, without pyarrow and without copies of numbers."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

from . import native
from .program import ProgramError


class Memory:
    """An Arrow structure, released when nothing uses it."""

    def __init__(self, held: Any) -> None:
        self.held = held
        weakref.finalize(self, _release, held)


def _release(held: Any) -> None:
    if held.release:
        held.release(ctypes.byref(held))


def _checked(status: int, stream: native.ArrowArrayStream) -> None:
    if status:
        said = stream.get_last_error(ctypes.byref(stream))
        raise ProgramError(said.decode("utf-8", "replace") if said else f"the table cannot be read: error {status}")


def schema_of(stream: native.ArrowArrayStream) -> Memory:
    schema = Memory(native.ArrowSchema())
    _checked(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema.held)), stream)
    return schema


def batches(stream: native.ArrowArrayStream) -> list[Memory]:
    """All arrays of a stream, which is released."""
    found: list[Memory] = []
    try:
        while True:
            array = native.ArrowArray()
            _checked(stream.get_next(ctypes.byref(stream), ctypes.byref(array)), stream)
            if not array.release:
                return found
            found.append(Memory(array))
    finally:
        stream.release(ctypes.byref(stream))


def values_in(memory: Memory, address: int | None, count: int, kind: Any) -> Any:
    """`count` values at an address, as a read-only NumPy array that keeps the memory."""
    import numpy as np

    if not count or not address:
        return np.zeros(0, kind)
    raw = (ctypes.c_char * (count * np.dtype(kind).itemsize)).from_address(address)
    raw._gapless_memory = memory
    values = np.frombuffer(raw, kind)
    values.flags.writeable = False
    return values


def absent_in(memory: Memory, array: native.ArrowArray) -> Any:
    """A mask of the rows without a value; None where all have one."""
    import numpy as np

    if not array.null_count:
        return None
    bits = values_in(memory, array.buffers[0], (array.length + 7) // 8, np.uint8)
    return np.unpackbits(bits, count=array.length, bitorder="little") == 0


def _joined(parts: list[Any], kind: Any) -> Any:
    import numpy as np

    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, kind), *parts])


def _column(found: list[Memory], at: int, kind: str, long: bool) -> Any:
    """One column of a DataFrame."""
    import numpy as np
    import pandas as pd

    from .cells import texts_of

    wanted = {"integer": np.int64, "real": np.float64, "text": np.int32}[kind]
    arrays = [(memory, memory.held.children[at].contents) for memory in found]
    values = _joined([values_in(memory, array.buffers[1], array.length, wanted) for memory, array in arrays], wanted)
    masks = [absent_in(memory, array) for memory, array in arrays]
    absent = None
    if any(mask is not None for mask in masks):
        parts = [np.zeros(array.length, bool) if mask is None else mask for mask, (_, array) in zip(masks, arrays)]
        absent = _joined(parts, bool)
    if kind == "text":
        texts = texts_of(arrays[0][1].dictionary.contents, long) if arrays else []
        codes = values if absent is None else np.where(absent, np.int32(-1), values)
        return pd.Categorical.from_codes(codes, texts)
    if kind == "integer" and absent is not None:
        return pd.arrays.IntegerArray(values, absent)
    return values


def data_frame(stream: native.ArrowArrayStream, columns: list[tuple[str, str]]) -> Any:
    """A DataFrame of a stream whose columns have these names and types."""
    import pandas as pd

    schema = schema_of(stream)
    found = batches(stream)
    made = {}
    for at, (name, kind) in enumerate(columns):
        field = schema.held.children[at].contents
        long = bool(field.dictionary) and field.dictionary.contents.format == b"U"
        made[name] = _column(found, at, kind, long)
    return pd.DataFrame(made, copy=False)
