# SPDX-License-Identifier: Apache-2.0
"""Statistics of durations by name, and tables of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .symbols import as_hta_does

STATISTICS = {"sum": "sum (us)", "max": "max (us)", "min": "min (us)", "std": "stddev", "mean": "mean (us)"}
OTHERS = "others"


def by_name_of(
    name: Any, lasting: Any, most: int, duration_ratio: float, texts: list[str], kept: list[str] | None = None
) -> dict[str, Any]:
    """Statistics by name, largest sum first; beyond `most` names or the quantile of running sums: "others".

    HTA makes the statistics anew from the sums of names where there are more than `most`, so that they say nothing.
    """
    numbers, groups = np.unique(name, return_inverse=True)
    found = _largest_first(_statistics(lasting, groups, len(numbers)) | {"number": numbers}, texts)
    if len(numbers) <= most:
        return _named(found, [texts[number] for number in found["number"]])
    running = found["sum"].cumsum()
    rest = (running > np.quantile(running, duration_ratio)) | (np.arange(len(running)) >= most)
    if kept is not None:
        rest &= np.array([texts[number] not in set(kept) for number in found["number"]])
    places = np.cumsum(~rest) - 1  # of those that stay; the others share the last one
    last = int(places[-1]) + 1 if len(places) else 0
    group_of = np.where(rest, last, places)
    if as_hta_does():
        made = _statistics(found["sum"], group_of, last + int(rest.any()))
    else:
        by_number = np.empty(len(numbers), np.int64)
        by_number[np.searchsorted(numbers, found["number"])] = group_of
        made = _statistics(lasting, by_number[groups], last + int(rest.any()))
    return _named(made, [*(texts[number] for number in found["number"][~rest]), *([OTHERS] if rest.any() else [])])


def _named(found: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {column: found[column] for column in STATISTICS} | {"name": names}


def _largest_first(found: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    """Sorted by falling sum; equal ones by their name."""
    numbers = found["number"]
    rank_of = np.empty(len(numbers), np.int64)
    rank_of[sorted(range(len(numbers)), key=lambda at: texts[numbers[at]])] = np.arange(len(numbers))
    order = _as_hta_sorts(found["sum"], rank_of) if as_hta_does() else np.lexsort((rank_of, -found["sum"]))
    return {column: values[order] for column, values in found.items()}


def _as_hta_sorts(sums: Any, rank_of: Any) -> Any:
    """The order in which an unstable sort leaves names that are sorted: which of equal ones goes into "others" depends on it."""
    by_name = np.argsort(rank_of)
    backwards = np.arange(len(sums))[::-1]
    return by_name[backwards[np.argsort(sums[by_name][::-1])][::-1]]


def _statistics(values: Any, groups: Any, count: int) -> dict[str, Any]:
    """Sum, extremes, mean and standard deviation of each group; that of a single value is 0."""
    size = np.bincount(groups, minlength=count)
    total = np.bincount(groups, values, count)
    mean = total / size
    squares = np.bincount(groups, (values - mean[groups]) ** 2, count)
    least, largest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, groups, values)
    np.maximum.at(largest, groups, values)
    deviation = np.sqrt(squares / np.maximum(size - 1, 1))
    return {"sum": total, "max": largest, "min": least, "std": deviation, "mean": mean}


def tables_of(parts: list[dict[str, Any]], order: list[str]) -> Any:
    """One frame of the statistics of several ranks and types, in the order of these columns."""
    names = [name for part in parts for name in part["name"]]
    made: dict[str, Any] = {"name": names}
    for column in STATISTICS:
        made[column] = np.concatenate([np.zeros(0), *(part[column] for part in parts)])
    for column in [column for column in ("kernel_type", "rank") if column in order]:
        made[column] = [part[column] for part in parts for _ in part["name"]]
    keys = sorted(range(len(names)), key=lambda at: tuple(made[column][at] for column in order))
    shown = {STATISTICS.get(column, column): _chosen(values, keys) for column, values in made.items()}
    return pd.DataFrame(shown)


def _chosen(values: Any, places: list[int]) -> Any:
    if isinstance(values, list):
        kind = "int64" if values and isinstance(values[0], int) else "str"
        return pd.Series([values[at] for at in places], dtype=kind)
    return values[places]
