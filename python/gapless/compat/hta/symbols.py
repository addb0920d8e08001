# SPDX-License-Identifier: Apache-2.0
"""Names and categories as numbers, and the kinds of device work that HTA tells apart."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

KINDS = ("COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER")
COMPUTATION, COMMUNICATION, MEMORY, OTHER = range(len(KINDS))

# HTA's expressions; each is matched at the beginning of a name, in this order.
_COMMUNICATION = re.compile(r"nccl|hip|hccl|.*ncclKernel")
_MEMORY = re.compile(r"(hip)?Memcpy|(hip)?Memset|dma")
_NO_COMPUTATION = re.compile(
    r"nccl|.*Memcpy|.*Memset|.*dma|.*Sync|Stream Wait Event|cuda.*LaunchKernel|runFunction|hip|job_exe|packet|pe_exe"
    r"|cpum_exe_subgraph|hccl|collective_subgraph_execution"
)
# Calls that put one operation each into a stream.
_OF_MTIA = "runFunction - job_prep_and_submit_for_execution"
KERNEL_LAUNCH = re.compile(rf"(cuda|cu|hip)\w*LaunchKernel\w*$|(cuda|cu|hip)LaunchCooperativeKernel\w*$|{_OF_MTIA}$")
MEMORY_LAUNCH = re.compile(r"(cuda|cu|hip)Mem(cpy|set)\w*(Async|WithStream)\w*$")
HTA_KERNEL_LAUNCHES = frozenset({"cudaLaunchKernel", "cudaLaunchKernelExC", _OF_MTIA})
HTA_MEMORY_LAUNCHES = frozenset({"cudaMemcpyAsync", "cudaMemsetAsync"})
HTA_QUEUED_LAUNCHES = frozenset(
    {*HTA_KERNEL_LAUNCHES, *HTA_MEMORY_LAUNCHES, "cuLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel"}
    | {"hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync", "hipMemcpyWithStream"}
)
STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")


def as_hta_does() -> bool:
    """Are HTA's known mistakes asked for?"""
    return os.environ.get("GAPLESS_HTA_BUGS", "") not in ("", "0")


def keeps_nanoseconds() -> bool:
    """Are times kept as they were recorded? HTA has them in whole microseconds, unless HTA_DISABLE_NS_ROUNDING is set."""
    return not as_hta_does() or os.environ.get("HTA_DISABLE_NS_ROUNDING", "0") not in ("", "0")


@functools.cache
def kind_by_name(name: str) -> int:
    """HTA's kind of a kernel, which goes by its name."""
    if _COMMUNICATION.match(name):
        return COMMUNICATION
    if _MEMORY.match(name):
        return MEMORY
    return OTHER if _NO_COMPUTATION.match(name) else COMPUTATION


def shorten_name(name: str) -> str:
    """The name without template arguments, arguments and result; names of copies stay."""
    if _MEMORY.match(name) or not ("<" in name or "(" in name):
        return name
    kept: list[str] = []
    for letter in name.replace("->", ""):
        opening = {">": "<", ")": "("}.get(letter)
        if opening is None:
            kept.append(letter)
            continue
        while kept and kept.pop() != opening:
            pass
    return "".join(kept).split(" ")[-1]


class TraceSymbolTable:
    """The texts of the columns name and cat, which hold their numbers."""

    def __init__(self) -> None:
        self.sym_table: list[str] = []
        self.sym_index: dict[str, int] = {}

    def is_empty(self) -> bool:
        return not self.sym_table

    def add_symbols(self, symbols: Iterable[str]) -> None:
        for symbol in symbols:
            if symbol not in self.sym_index:
                self.sym_index[symbol] = len(self.sym_table)
                self.sym_table.append(symbol)

    def ids_of(self, column: Any) -> Any:
        """The numbers of a column's texts (reading.Texts); its texts become symbols."""
        used = column.used()
        texts = [column.texts[code] for code in used]
        self.add_symbols(texts)
        numbers = np.full(len(column.texts) + 1, -1, np.int32)
        numbers[used] = [self.sym_index[text] for text in texts]
        return numbers[column.codes]

    def get_sym_id_map(self) -> dict[str, int]:
        return self.sym_index

    def get_sym_index(self) -> dict[str, int]:
        return self.sym_index

    def get_sym_table(self) -> list[str]:
        return self.sym_table

    def find_matched_symbols(self, patterns: list[str]) -> list[str]:
        """Symbols in which an expression is found. HTA takes the expressions for plain texts."""
        pattern = re.compile("|".join(re.escape(text) if as_hta_does() else f"(?:{text})" for text in patterns))
        return [symbol for symbol in self.sym_table if pattern.search(symbol)]

    def find_matches(self, patterns: list[str]) -> list[int]:
        return [self.sym_index[symbol] for symbol in self.find_matched_symbols(patterns)]

    def find_ids(self, names: Iterable[str]) -> list[int]:
        """The numbers of those of these names that are symbols."""
        return [self.sym_index[name] for name in names if name in self.sym_index]

    def ids_where(self, test: Any) -> Any:
        """The numbers of the symbols that pass the test."""
        return np.array([at for at, symbol in enumerate(self.sym_table) if test(symbol)], np.int64)

    def texts(self, ids: Any, shortened: bool = False) -> Any:
        """The texts of these numbers; no text for a negative number."""
        numbers = np.asarray(ids)
        names = [shorten_name(name) for name in self.sym_table] if shortened else self.sym_table
        table = np.array([*names, ""], object)
        return table[np.where(numbers >= 0, numbers, len(names))]

    def decode_df(self, df: Any, create_new_columns: bool = True) -> None:
        for column in ("name", "cat"):
            if column in df.columns and df[column].dtype.kind == "i":
                df[f"s_{column}" if create_new_columns else column] = pd.Series(
                    self.texts(df[column]), index=df.index, dtype="str"
                )

    def add_symbols_to_trace_df(self, trace_df: Any, col: str) -> None:
        trace_df[col] = pd.Series(self.texts(trace_df[col]), index=trace_df.index, dtype="str")
