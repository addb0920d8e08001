# SPDX-License-Identifier: Apache-2.0
"""Two recordings side by side: which operators and kernels ran more often, and longer."""

from __future__ import annotations

import enum
import os
import random
from collections.abc import Sequence
from typing import Any, Union

import pandas as pd

from ...program import ProgramError
from . import plots
from .symbols import STEP, shorten_name
from .trace import Trace

Numbers = Union[int, Sequence[int], None]


class DeviceType(enum.Enum):
    CPU = 1
    GPU = 2
    ALL = 3


def _chosen(given: Numbers, available: list[int], what: str, label: str) -> list[int]:
    """The numbers that were asked for, by default the first there is."""
    if given is None:
        if not available:
            raise ValueError(f"{label} has no {what}")
        return available[:1]
    wanted = [given] if isinstance(given, int) else list(given)
    for number in wanted:
        if number not in available:
            raise ValueError(f"{label} has no {what} {number}; there are: {', '.join(map(str, available))}")
    return wanted


class LabeledTrace:
    """The recordings of a job with a name, all their steps."""

    def __init__(self, label: str | None = None, t: Trace | None = None, trace_dir: str | None = None) -> None:
        self.label = label or f"t{random.randint(0, 10)}"
        if t is None:
            if trace_dir is None or not os.path.isdir(trace_dir):
                raise ValueError(f"LabeledTrace takes a Trace as t, or a folder as trace_dir; {trace_dir!r} is none")
            t = Trace(trace_dir=trace_dir)
        self.t = t.with_all_steps()
        self.s_map = pd.Series(t.symbol_table.get_sym_id_map())
        self.s_tab = pd.Series(t.symbol_table.get_sym_table())
        found = [
            (name, at, int(match[1])) for name, at in t.symbol_table.sym_index.items() if (match := STEP.match(name))
        ]
        self.iteration_df = pd.DataFrame(found, columns=["symbol", "id", "iteration"])

    def ranks(self) -> list[int]:
        return self.t.get_ranks()

    def iterations(self) -> list[int]:
        return sorted(int(number) for number in self.iteration_df["iteration"])

    def extract_ops(
        self, rank: Numbers = None, iteration: Numbers = None, device_type: DeviceType = DeviceType.ALL
    ) -> Any:
        """The rows of ranks and iterations, by default the first of each; of the host, of the devices, or of both."""
        ranks = _chosen(rank, self.ranks(), "rank", self.label)
        iterations = _chosen(iteration, self.iterations(), "iteration", self.label)
        rows = self.t.rows(ranks[0])
        if len(ranks) > 1:
            rows = pd.concat({one: self.t.rows(one) for one in ranks}, names=["rank", "idx"]).reset_index()
        rows = rows[rows["iteration"].isin(iterations)]
        if device_type is DeviceType.ALL:
            return rows
        return rows[(rows["stream"] == -1) == (device_type is DeviceType.CPU)]

    def get_ops_summary(self, ops: Any) -> Any:
        """Counts and times of each name of each category."""
        found = ops.groupby(["cat", "name"])["dur"].agg(["count", "sum"]).reset_index()
        found = found.rename(columns={"cat": "cat_id", "name": "name_id", "count": "counts", "sum": "total_duration"})
        for column in ("cat", "name"):
            texts = self.t.symbol_table.texts(found[f"{column}_id"])
            found[column] = pd.Series(texts, index=found.index, dtype="str")
        short = [shorten_name(name) for name in found["name"]]
        found["short_name"] = pd.Series(short, index=found.index, dtype="str")
        return found[["cat", "name", "short_name", "counts", "total_duration", "cat_id", "name_id"]]


Job = Union[LabeledTrace, Trace, str]


def _labeled(job: Job, label: str) -> LabeledTrace:
    if isinstance(job, LabeledTrace):
        return job
    if isinstance(job, Trace):
        return LabeledTrace(label, t=job)
    if isinstance(job, (str, os.PathLike)):
        return LabeledTrace(label, trace_dir=os.fspath(job))
    raise ValueError(f"a LabeledTrace, a Trace or a folder is compared, not {job!r}")


class TraceDiff:
    """Comparisons of two jobs, each a LabeledTrace, a Trace or a folder."""

    @classmethod
    def compare_traces(
        cls,
        control: Job,
        test: Job,
        control_rank: Numbers = None,
        test_rank: Numbers = None,
        control_iteration: Numbers = None,
        test_iteration: Numbers = None,
        device_type: DeviceType = DeviceType.ALL,
        use_short_name: bool = False,
    ) -> Any:
        """Calls and total durations of each name in both, their differences, and "+", "-" or "=" for the calls."""
        first, second = _labeled(control, "Control"), _labeled(test, "Test")
        if first.label == second.label:
            second.label = f"{second.label}_control_test"
        column = "short_name" if use_short_name else "name"
        sides = {}
        for job, rank, iteration in ((first, control_rank, control_iteration), (second, test_rank, test_iteration)):
            summary = job.get_ops_summary(job.extract_ops(rank, iteration, device_type))
            sides[job.label] = summary.groupby(column)[["counts", "total_duration"]].sum()
        both = pd.concat(list(sides.values()), axis=1, join="outer", keys=list(sides)).fillna(0)
        both.columns = [f"{label}_{name}" for label, name in both.columns]
        for name, of in (("diff_counts", "counts"), ("diff_duration", "total_duration")):
            both[name] = both[f"{second.label}_{of}"] - both[f"{first.label}_{of}"]
        signs = ["+" if change > 0 else "-" if change < 0 else "=" for change in both["diff_counts"]]
        both["counts_change_categories"] = pd.Series(signs, index=both.index, dtype="str")
        return both

    @classmethod
    def ops_diff(
        cls,
        control: Job,
        test: Job,
        control_rank: Numbers = None,
        test_rank: Numbers = None,
        control_iteration: Numbers = None,
        test_iteration: Numbers = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> dict[str, list[str]]:
        """The names that were added, deleted, run more often, less often, and as often."""
        first, second = _labeled(control, "Control"), _labeled(test, "Test")
        both = cls.compare_traces(
            first, second, control_rank, test_rank, control_iteration, test_iteration, device_type
        )
        old, new = both[f"{first.label}_counts"], both[f"{second.label}_counts"]
        masks = {
            "added": (old == 0) & (new > 0), "deleted": (old > 0) & (new == 0), "increased": (old > 0) & (new > old),
            "decreased": (new > 0) & (new < old), "unchanged": (new > 0) & (new == old),
        }  # fmt: skip
        return {name: both.index[mask].tolist() for name, mask in masks.items()}

    @classmethod
    def visualize_counts_diff(cls, df: Any, show_image: bool = True, export_image_path: str | None = None) -> None:
        plots.pairs(df, _labels(df), "counts", "Calls", show_image, export_image_path)

    @classmethod
    def visualize_duration_diff(cls, df: Any, show_image: bool = True, export_image_path: str | None = None) -> None:
        plots.pairs(df, _labels(df), "total_duration", "Total duration (us)", show_image, export_image_path)


def _labels(frame: Any) -> list[str]:
    end = "_total_duration"
    found = [name[: -len(end)] for name in frame.columns if name.endswith(end)]
    if len(found) < 2:
        raise ProgramError("this is no result of TraceDiff.compare_traces: it has no columns …_total_duration", 2)
    return found
