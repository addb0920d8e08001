# SPDX-License-Identifier: Apache-2.0
"""The C library of gapless in this process, by ctypes: what `gapless/c.h` declares, with errors as exceptions.

The interpreter's lock is free while the library works. Calls that may take long run in a thread of their own when they come from the
main thread, which waits for them and so hears Ctrl-C: it cancels the call, and KeyboardInterrupt comes when that has ended.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
import weakref
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable

from .program import ProgramError, find_program

NAMES = ("libgapless.so.0.1", "libgapless.so", "libgapless.dylib")
NO_LIBRARY = "cannot find the library libgapless: install the package gapless, or set GAPLESS_LIBRARY to its path"


class Error(ctypes.Structure):
    _fields_ = [("message", c_char_p), ("place", c_char_p), ("hint", c_char_p), ("private_data", c_void_p)]


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowSchema))), ("private_data", c_void_p),
]  # fmt: skip
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowArray))), ("private_data", c_void_p),
]  # fmt: skip
ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ("get_last_error", ctypes.CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowArrayStream))), ("private_data", c_void_p),
]  # fmt: skip

Progress = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64)


class OpenOptions(ctypes.Structure):
    _fields_ = [
        ("ranks", POINTER(c_int64)), ("rank_count", c_size_t), ("threads", c_size_t), ("no_cache", c_int32),
        ("all_steps", c_int32), ("history", c_char_p), ("progress", Progress), ("progress_data", c_void_p),
        ("source_root", c_char_p), ("redact", c_int32),
    ]  # fmt: skip


class ReportOptions(ctypes.Structure):
    _fields_ = [
        ("width", c_int32), ("colour", c_int32), ("ascii", c_int32), ("verbose", c_int32),
        ("only", POINTER(c_char_p)), ("only_count", c_size_t), ("without", POINTER(c_char_p)), ("without_count", c_size_t),
    ]  # fmt: skip


# Name, result and arguments before the error, which all functions with a status take last.
_WITH_STATUS: dict[str, tuple[Any, ...]] = {
    "gapless_open": (c_void_p, POINTER(c_char_p), c_size_t, POINTER(OpenOptions)),
    "gapless_failures": (c_void_p, POINTER(c_void_p)),
    "gapless_tables": (POINTER(c_void_p),),
    "gapless_find": (c_void_p, c_char_p, POINTER(c_void_p)),
    "gapless_query": (c_void_p, c_char_p, POINTER(c_void_p)),
    "gapless_table_columns": (c_void_p, POINTER(c_void_p)),
    "gapless_table_export": (c_void_p, POINTER(c_char_p), c_size_t, POINTER(ArrowArrayStream)),
    "gapless_table_slice": (c_void_p, c_size_t, c_size_t, POINTER(c_void_p)),
    "gapless_render": (c_void_p, c_char_p, POINTER(ReportOptions), POINTER(c_void_p)),
    "gapless_predict": (c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p)),
}
_OTHERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "gapless_version": (c_char_p, ()),
    "gapless_error_release": (None, (POINTER(Error),)),
    "gapless_text_free": (None, (c_void_p,)),
    "gapless_run_new": (c_void_p, ()),
    "gapless_run_free": (None, (c_void_p,)),
    "gapless_cancel": (None, (c_void_p,)),
    "gapless_table_free": (None, (c_void_p,)),
    "gapless_table_rows": (c_size_t, (c_void_p,)),
}


@functools.cache
def library() -> ctypes.CDLL:
    """The library, loaded once. Raises ProgramError with what to do if it is not there or cannot be loaded."""
    path = find_library()
    if path is None:
        raise ProgramError(NO_LIBRARY)
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ProgramError(f"the library libgapless cannot be loaded: {error}") from error
    for name, arguments in _WITH_STATUS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = c_int, [*arguments, POINTER(Error)]
    for name, (result, arguments) in _OTHERS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, list(arguments)
    return loaded


class Handle:
    """Something that the library made, freed by the function of this name when nobody has it any more; an argument of its functions."""

    def __init__(self, address: int | None, free: str) -> None:
        self._as_parameter_ = ctypes.c_void_p(address)
        weakref.finalize(self, getattr(library(), free), self._as_parameter_)


def find_library() -> str | None:
    """Beside this package, beside the program or in its `lib`; GAPLESS_LIBRARY names another."""
    named = os.environ.get("GAPLESS_LIBRARY")
    if named:
        return named
    folders = [Path(__file__).resolve().parent]
    program = find_program()
    if program is not None:
        beside = Path(os.path.realpath(program)).parent
        folders += [beside, beside.parent / "lib", beside.parent / "lib64", beside / "release"]
    for folder in folders:
        for name in NAMES:
            if (folder / name).is_file():
                return str(folder / name)
    return None


def ask(name: str, *arguments: Any) -> None:
    """Calls a function that takes no time. Raises ProgramError with its message, place and hint where it fails."""
    loaded = library()
    error = Error()
    status = getattr(loaded, name)(*arguments, ctypes.byref(error))
    if status:
        parts = [text.decode("utf-8", "replace") for text in (error.message, error.place, error.hint)]
        loaded.gapless_error_release(ctypes.byref(error))
        message, place, hint = parts
        text = f"{place}: {message}" if place else message
        raise ProgramError(f"{text} ({hint})" if hint else text, status)


def work(cancel: Callable[[], None], name: str, *arguments: Any) -> None:
    """The same for a function that may take long, which Ctrl-C ends."""
    if threading.current_thread() is not threading.main_thread():
        ask(name, *arguments)
        return
    failed: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            ask(name, *arguments)
        except (ProgramError, ctypes.ArgumentError) as error:
            failed.append(error)
        finally:
            ended.set()

    threading.Thread(target=run, name="gapless").start()
    # A join that Ctrl-C ends takes the thread for ended (Python 3.11), and the next call would be cancelled with this one.
    try:
        ended.wait()
    except BaseException:
        cancel()
        ended.wait()
        raise
    if failed:
        raise failed[0]


def text(pointer: c_void_p) -> str:
    """Takes over a text that the library made."""
    try:
        return ctypes.string_at(pointer.value or 0).decode("utf-8", "replace")
    finally:
        library().gapless_text_free(pointer)


def texts(given: Sequence[str]) -> Any:
    """An array of texts as C takes them."""
    return (c_char_p * max(len(given), 1))(*[os.fsencode(one) for one in given])


# A capsule with a stream, as __arrow_c_stream__ returns it.

_CAPSULE_NAME = b"arrow_array_stream"
_streams: dict[int, ArrowArrayStream] = {}  # by address, until their capsules go
_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_GetPointer.restype = c_void_p
_python.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]


def _release_stream(capsule: int) -> None:
    if sys.is_finalizing():
        return
    stream = _streams.pop(_python.PyCapsule_GetPointer(capsule, _CAPSULE_NAME), None)
    if stream is not None and stream.release:
        stream.release(ctypes.byref(stream))


_capsule_gone = ctypes.PYFUNCTYPE(None, c_void_p)(_release_stream)
_python.PyCapsule_New.argtypes = [c_void_p, c_char_p, type(_capsule_gone)]


def capsule_of(stream: ArrowArrayStream) -> object:
    address = ctypes.addressof(stream)
    _streams[address] = stream
    capsule: object = _python.PyCapsule_New(address, _CAPSULE_NAME, _capsule_gone)
    return capsule
