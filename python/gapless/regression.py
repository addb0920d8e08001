# SPDX-License-Identifier: Apache-2.0
"""Results against their history, which the program keeps."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from .charts import draw
from .metrics import PerformanceMetrics, fields_of
from .program import as_file, ask, say
from .record import Record, hidden

Metrics = Union[PerformanceMetrics, Mapping[str, Any]]
Date = Union[str, datetime.date, None]

SOURCES = ("gpu_utilization_source", "memory_usage_source")
LABELS = ("label", "benchmark")


@dataclass
class Regression(Record):
    """The answer of `gapless gate` about a result; its fields are also keys. A figure that it cannot know is None.

    `performance_delta` is in percent, below 0 is worse. `threshold` is the share that was asked for (0.05), `threshold_percent` the same as a
    change in percent (−5.0). `verdict` is `fine`, `regression`, `improvement` or `cannot_tell`: too few runs on
    the baseline branch are no proof that nothing changed. `alarm_pending` is true where the result looks slower and too
    few runs agree: one slow run may be a slow machine, several recorded ones are a regression. `mde_share` is the change
    that this run could have shown.
    """

    regression_detected: bool
    current_samples_per_sec: float | None
    baseline_samples_per_sec: float | None
    performance_delta: float | None
    threshold: float
    likely_culprit_commit: str | None
    recommendation: str
    verdict: str
    mde_share: float | None
    false_alarm_rate: float | None
    threshold_percent: float  # the threshold as a change in percent: −5.0 for 0.05
    alarm_pending: bool
    answer: dict[str, Any] = hidden()  # all that `gapless gate --json` prints

    def to_dict(self) -> dict[str, Any]:
        return fields_of(self)

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Regression:
        values: dict[str, Any] = {name: answer.get(name) for name in cls.__dataclass_fields__ if name != "answer"}
        values["alarm_pending"] = bool(answer.get("alarm_pending"))
        values["threshold_percent"] = -100 * float(answer["threshold"])
        return cls(**values, answer=answer)


class RegressionDetector:
    """A history of benchmarks and the gate that judges against it.

    >>> detector = RegressionDetector("metrics.db")  # doctest: +SKIP
    >>> detector.record_benchmark("4f2a91c", "main", PerformanceMetrics(samples_per_second=4800.0), {"gpu_type": "A100"})  # doctest: +SKIP
    >>> detector.detect_regression(PerformanceMetrics(samples_per_second=4200.0))["performance_delta"]  # doctest: +SKIP
    -12.5
    """

    def __init__(self, metrics_db_path: str | os.PathLike[str]) -> None:
        """A file of SQLite (made when it is not there), `sqlite:FILE`, or `postgresql://USER@HOST/DATABASE`."""
        self.metrics_db_path = metrics_db_path
        place = os.fspath(metrics_db_path)
        self.database = place if place.startswith(("sqlite:", "postgresql:", "postgres:")) else f"sqlite:{place}"

    def record_benchmark(
        self, commit_sha: str, branch: str, metrics: Metrics, metadata: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Keeps a result; on the disk when this returns. The answer has `id` and `uid` of the run.

        Of the metadata `gpu_type`, `num_gpus`, `batch_size`, `framework`, `driver`, `host` and `label` (what was measured) have columns of
        their own; all of it is kept. Metrics that are None are left out; one that is not a finite number is an error.
        """
        with as_file(result_document(metrics, metadata)) as path:
            answer: dict[str, Any] = ask("history", "record", path, f"--db={self.database}", *whose(commit_sha, branch))
        return answer

    def detect_regression(
        self,
        current_metrics: Metrics,
        baseline_branch: str = "main",
        regression_threshold: float = 0.05,
        *,
        metadata: Mapping[str, Any] | None = None,
        commit_sha: str | None = None,
    ) -> Regression:
        """Judges a result against the runs of the baseline branch since their last change of level.

        A regression takes several runs that agree, those recorded of the same commit included; one slow run is `alarm_pending`.

        Throughput is judged, without it the median step. With metadata only runs of the same GPUs and the same label are a baseline. The
        result is of `commit_sha`, otherwise of what git has checked out in the working folder. Nothing is recorded.
        """
        return self._judge(current_metrics, baseline_branch, regression_threshold, metadata, *whose(commit_sha, None))

    def judge_and_record(
        self,
        commit_sha: str,
        branch: str | None,
        metrics: Metrics,
        metadata: Mapping[str, Any] | None = None,
        *,
        baseline_branch: str = "main",
        regression_threshold: float = 0.05,
    ) -> Regression:
        """Both, in one: the verdict is kept with the run, so that a run under suspicion does not move the baseline."""
        words = ["--record", *whose(commit_sha, branch)]
        return self._judge(metrics, baseline_branch, regression_threshold, metadata, *words)

    def generate_performance_report(
        self,
        start_date: Date = None,
        end_date: Date = None,
        *,
        branch: str = "main",
        as_dict: bool = False,
        charts: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Returns what `gapless trend` finds in a range of dates, both included: improvements, regressions, drift; and draws charts.

        The text ends with the path of the charts, of throughput, utilisation and memory: a PNG where matplotlib is installed, else an SVG.
        It is `charts`, otherwise performance_report beside an SQLite history, or in the current folder. With `as_dict` the JSON of the
        program is returned and nothing is drawn. Dates are texts (`2026-11-21`, `2026-11-21T18:30:00Z`) or Python's; a time without a
        zone is UTC. Raises ProgramError for a text that is no date.
        """
        words = [f"--db={self.database}", f"--branch={branch}"]
        if start_date is not None:
            words.append(f"--since={_as_text(start_date)}")
        if end_date is not None:
            words.append(f"--until={_as_text(end_date)}")
        self._begin()
        trend = ask("trend", *words)
        if as_dict:
            return trend
        picture = draw(words, Path(charts) if charts is not None else self._beside("performance_report"), trend)
        return say("trend", *words) + (f"\ncharts: {picture}\n" if picture else "")

    def _begin(self) -> None:
        """Makes the history if it is a file that does not exist: the program's readers make none."""
        kind, _, place = self.database.partition(":")
        if kind == "sqlite" and not Path(place).exists():
            say("history", "import", os.devnull, f"--db={self.database}")

    def _beside(self, name: str) -> Path:
        kind, _, place = self.database.partition(":")
        return (Path(place).parent if kind == "sqlite" else Path()) / name

    def _judge(
        self, metrics: Metrics, branch: str, threshold: float, metadata: Mapping[str, Any] | None, *words: str
    ) -> Regression:
        given = [f"--db={self.database}", f"--baseline={branch}", f"--threshold={threshold}", *words]
        with as_file(result_document(metrics, metadata)) as path:
            return Regression.of(ask("gate", path, *given, accept=(0, 1)))


def whose(commit_sha: str | None, branch: str | None) -> list[str]:
    """The options for a commit and a branch; without them the program asks git."""
    return [f"--{name}={value}" for name, value in (("commit", commit_sha), ("branch", branch)) if value]


def result_document(metrics: Metrics, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A result in the form of `gapless bench --json`, which the program reads."""
    values = metrics.to_dict() if isinstance(metrics, PerformanceMetrics) else dict(metrics)
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            continue
        if name in SOURCES:
            kept[name] = str(value)
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"the metric {name} is not a finite number: {value!r}")
        kept[name] = float(value)
    if not kept:
        raise ValueError("the result has no metric")
    facts = {name: value for name, value in (metadata or {}).items() if value is not None}
    label = next((facts[name] for name in LABELS if name in facts), None)
    document: dict[str, Any] = {"gapless": {}, "metrics": kept, "environment": facts}
    if label is not None:
        document["label"] = str(label)
    if isinstance(metrics, PerformanceMetrics) and metrics.step_times_ms:
        document["steps"] = [round(time_ms * 1e6) for time_ms in metrics.step_times_ms]
    return document


def _as_text(date: str | datetime.date) -> str:
    if isinstance(date, str):
        return date
    if not isinstance(date, datetime.datetime):
        return date.isoformat()
    if date.tzinfo is not None:
        date = date.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return date.isoformat(timespec="microseconds") + "Z"
