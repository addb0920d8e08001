# SPDX-License-Identifier: Apache-2.0
"""Charts of a history: with matplotlib where it is installed, else the picture that `gapless trend` draws."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .program import ask, say

CHARTS = (
    ("samples_per_second", "samples per second"),
    ("gpu_utilization", "GPU utilization (%)"),
    ("memory_usage_gb", "memory (GB)"),
)
COLORS = {"improvement": "tab:green", "regression": "tab:red"}


def draw(words: Sequence[str], path: Path, trend: dict[str, Any]) -> Path | None:
    """Draws the runs that `words` (options of `gapless trend`) choose; returns the file, None where there are no runs.

    The file has the name of `path` with .png (matplotlib) or .svg.
    """
    if not trend["metrics"]:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        picture = path.with_suffix(".svg")
        say("trend", *words, "--svg", str(picture))
        return picture
    runs = ask("history", "list", *words)["runs"]
    figure = Figure(figsize=(9, 9), layout="constrained")
    FigureCanvasAgg(figure)
    changes = {metric["metric"]: metric["changes"] for metric in trend["metrics"]}
    for axes, (name, label) in zip(figure.subplots(len(CHARTS), 1), CHARTS):
        known = [run for run in runs if name in run["metrics"] and run.get("benchmark") == trend.get("benchmark")]
        axes.plot([moment(run["timestamp"]) for run in known], [run["metrics"][name] for run in known], marker="o")
        for change in changes.get(name, ()):
            axes.axvline(moment(change["timestamp"]), color=COLORS.get(change["kind"], "grey"), linestyle="--")
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    picture = path.with_suffix(".png")
    figure.savefig(picture)
    return picture


def moment(timestamp: str) -> datetime.datetime:
    """Returns a time of the program's (RFC 3339, nanoseconds) as Python has it.

    >>> moment("2026-11-25T08:41:26.555941952Z").microsecond
    555941
    """
    whole, _, fraction = timestamp.rstrip("Z").partition(".")
    digits = re.sub(r"\D.*", "", fraction)[:6].ljust(6, "0")
    found = datetime.datetime.fromisoformat(whole)
    return found.replace(microsecond=int(digits), tzinfo=datetime.timezone.utc)
