# SPDX-License-Identifier: Apache-2.0
"""Figures, where plotly is installed. Without it the frames are all there is, and one warning says so."""

from __future__ import annotations

import functools
import importlib.util
import logging
from typing import Any

from ...program import ProgramError

logger = logging.getLogger("hta")


class PlotlyMissing(ProgramError, ImportError):
    """A figure was asked for, and plotly is not installed."""


def _installed() -> bool:
    if importlib.util.find_spec("plotly"):
        return True
    _say_once()
    return False


@functools.cache
def _say_once() -> None:
    logger.warning("no figure is drawn: pip install plotly; visualize=False asks for none")


def bars(frame: Any, x: str, y: str | list[str], title: str, renderer: str | None = None, **more: Any) -> None:
    if _installed():
        import plotly.express as px

        px.bar(frame, x=x, y=y, title=title, **more).show(renderer=renderer or None)


def pie(frame: Any, values: str, names: str, title: str, renderer: str | None = None) -> None:
    if _installed():
        import plotly.express as px

        px.pie(frame, values=values, names=names, title=title).show(renderer=renderer or None)


def histogram(frame: Any, x: str, title: str) -> None:
    if _installed():
        import plotly.express as px

        px.histogram(frame, x=x, title=title).show()


def pairs(frame: Any, labels: list[str], column: str, title: str, show: bool, path: str | None) -> None:
    """The columns of two recordings and their difference, side by side; raises PlotlyMissing, for the figure is all that is asked for."""
    if not importlib.util.find_spec("plotly"):
        raise PlotlyMissing("the figure needs plotly: pip install plotly; the numbers are in the frame itself")
    import plotly.graph_objects as go

    difference = "diff_counts" if column == "counts" else "diff_duration"
    names = [*((label, f"{label}_{column}") for label in labels), ("Difference", difference)]
    figure = go.Figure([go.Bar(name=name, x=frame.index, y=frame[of]) for name, of in names])
    figure.update_layout(barmode="group", title_text=title)
    if show:
        figure.show()
    if path:
        figure.write_image(path)
