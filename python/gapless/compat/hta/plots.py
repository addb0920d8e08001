# SPDX-License-Identifier: Apache-2.0
"""Figures, where plotly is installed; without it the frames are all there is."""

from __future__ import annotations

import importlib.util
from typing import Any


def bars(frame: Any, x: str, y: str | list[str], title: str, **more: Any) -> None:
    if importlib.util.find_spec("plotly"):
        import plotly.express as px

        px.bar(frame, x=x, y=y, title=title, **more).show()


def pie(frame: Any, values: str, names: str, title: str, renderer: str | None = None) -> None:
    if importlib.util.find_spec("plotly"):
        import plotly.express as px

        px.pie(frame, values=values, names=names, title=title).show(renderer=renderer or None)


def histogram(frame: Any, x: str, title: str) -> None:
    if importlib.util.find_spec("plotly"):
        import plotly.express as px

        px.histogram(frame, x=x, title=title).show()


def pairs(frame: Any, labels: list[str], column: str, title: str, show: bool, path: str | None) -> None:
    """The columns of two recordings and their difference, side by side."""
    if not importlib.util.find_spec("plotly"):
        return
    import plotly.graph_objects as go

    difference = "diff_counts" if column == "counts" else "diff_duration"
    names = [*((label, f"{label}_{column}") for label in labels), ("Difference", difference)]
    figure = go.Figure([go.Bar(name=name, x=frame.index, y=frame[of]) for name, of in names])
    figure.update_layout(barmode="group", title_text=title)
    if show:
        figure.show()
    if path:
        figure.write_image(path)
