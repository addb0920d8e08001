# SPDX-License-Identifier: Apache-2.0
"""The report of a run: text when it is printed, a page in a notebook, a file when it is saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from pathlib import Path

FORMS = {".html": "html", ".md": "markdown", ".json": "json", ".txt": "terminal"}
HEIGHT = 720  # of the page in a notebook, which scrolls inside of it


class Report:
    """The report of `gapless analyze`; each form is made when it is first asked for."""

    def __init__(self, render: Callable[[str], str]) -> None:
        self._render = render
        self._made: dict[str, str] = {}

    def form(self, name: str) -> str:
        """The report as "terminal", "markdown", "html" or "json"."""
        if name not in self._made:
            self._made[name] = self._render(name)
        return self._made[name]

    @property
    def text(self) -> str:
        return self.form("terminal")

    @property
    def markdown(self) -> str:
        return self.form("markdown")

    @property
    def html(self) -> str:
        """One page that needs nothing else."""
        return self.form("html")

    @property
    def json(self) -> str:
        return self.form("json")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the form that the ending of the path says: .html, .md, .json or .txt."""
        to = Path(path)
        if to.suffix not in FORMS:
            raise ValueError(f"cannot tell a form of report from {to.name}: name it {', '.join(FORMS)}")
        partial = to.with_name(f".{to.name}.{os.getpid()}")
        try:
            partial.write_bytes(self.form(FORMS[to.suffix]).encode())
            partial.replace(to)
        finally:
            partial.unlink(missing_ok=True)
        return to

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither its style nor the notebook's reaches the other."""
        return (
            f'<iframe title="gapless report" srcdoc="{escape(self.html)}" sandbox="allow-scripts allow-popups" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:4px"></iframe>'
        )
