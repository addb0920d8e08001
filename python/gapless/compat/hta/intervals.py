# SPDX-License-Identifier: Apache-2.0
"""Sets of times: unions of intervals, and how long which of several run together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .work import Work


def union(start: Any, end: Any) -> tuple[Any, Any]:
    """Sorted intervals that neither touch nor overlap, and cover the same time."""
    start, end = np.asarray(start), np.asarray(end)
    if not len(start):
        return start, end
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.concatenate([[True], start[1:] > end[:-1]]))
    return start[first], end[np.concatenate([first[1:], [len(end)]]) - 1]


def union_of(work: Work) -> tuple[Any, Any]:
    return union(work.start, work.end)


def length(spans: tuple[Any, Any]) -> Any:
    return (spans[1] - spans[0]).sum()


def together(sets: Sequence[tuple[Any, Any]]) -> dict[int, Any]:
    """For each combination of sets that run at once, as the sum of 1 << place: how long."""
    at = np.concatenate([side for spans in sets for side in spans])
    change = np.concatenate(
        [np.full(len(spans[0]), sign << place) for place, spans in enumerate(sets) for sign in (1, -1)]
    )
    order = np.argsort(at, kind="stable")
    at, running = at[order], np.cumsum(change[order])
    lasting = np.diff(at)
    return {
        int(which): lasting[running[:-1] == which].sum() for which in np.unique(running[:-1][lasting > 0]) if which > 0
    }
