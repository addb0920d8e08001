# SPDX-License-Identifier: Apache-2.0
"""CUPTI's counters of kernels with the operators that launched them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pandas as pd

from .recorded import COUNTERS
from .trace import Trace, ranks_of

logger = logging.getLogger("hta")
CUDA_SASS_INSTRUCTION_COUNTER_FLOPS = {
    f"smsp__sass_thread_inst_executed_op_{width}{operation}_pred_on.sum": 2 if operation == "fma" else 1
    for operation in ("fma", "mul", "add")
    for width in "fhd"
}


def counters_with_operators(trace: Trace, ranks: Sequence[int] | None) -> list[Any]:
    """A frame for each rank whose ranges and launches can be told apart: they belong to each other by their order."""
    found = [_of_rank(trace, rank) for rank in ranks_of(ranks)]
    return [frame for frame in found if frame is not None]


def _of_rank(trace: Trace, rank: int) -> Any:
    rows, symbols = trace.get_trace(rank), trace.symbol_table
    index = symbols.sym_index
    ranges = rows[rows["cat"] == index.get(COUNTERS, -1)].sort_values("ts", kind="stable").reset_index(drop=True)
    if not len(ranges):
        logger.warning("rank %d has no counters of CUPTI: record with its profiler", rank)
        return None
    launches = symbols.ids_where(lambda name: name.startswith("cudaLaunchKernel"))
    runtime = symbols.ids_where(lambda name: name.startswith("cuda_runtime"))
    calls = rows[rows["name"].isin(launches) & rows["cat"].isin(runtime)].sort_values("ts", kind="stable")
    if len(calls) != len(ranges):
        logger.error(
            "rank %d has %d ranges of counters and %d launches: which are whose is not known",
            rank,
            len(ranges),
            len(calls),
        )
        return None
    operators = rows[rows["cat"] == index.get("cpu_op", -1)]
    stacks = [[symbols.sym_table[name] for name in names] for names in _stacks(calls, operators)]
    ranges["index_runtime"] = calls["index"].to_numpy()
    ranges["op_stack"] = pd.Series(stacks, dtype=object)
    ranges["top_level_op"] = pd.Series([stack[0] if stack else "" for stack in stacks], dtype="str")
    ranges["bottom_level_op"] = pd.Series([stack[-1] if stack else "" for stack in stacks], dtype="str")
    for column in ("name", "cat"):
        ranges[column] = pd.Series(symbols.texts(ranges[column]), dtype="str")
    return ranges.drop(columns=["s_name", "s_cat"], errors="ignore")


def _stacks(calls: Any, operators: Any) -> list[list[int]]:
    """The names of the operators around each call on its thread, outermost first."""
    by_thread = {
        key: part.assign(end=part["ts"] + part["dur"]).sort_values(
            ["ts", "dur"], ascending=[True, False], kind="stable"
        )
        for key, part in operators.groupby(["pid", "tid"], sort=False)
    }
    found = []
    for call in calls.itertuples():
        part = by_thread.get((call.pid, call.tid))
        around = [] if part is None else part["name"][(part["ts"] <= call.ts) & (part["end"] >= call.ts + call.dur)]
        found.append(list(around))
    return found
