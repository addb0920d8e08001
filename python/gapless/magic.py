# SPDX-License-Identifier: Apache-2.0
"""`%load_ext gapless` in a notebook, then `%%gapless` above a cell: the cell runs, PyTorch's profiler records it, and its report is shown."""

from __future__ import annotations

import argparse
import shlex
import shutil
import tempfile
from typing import Any

from . import region
from .integrations.extras import need

ENDED = "gapless.step() in the cell marks the end of a step."


def cell_magic(shell: Any, line: str, cell: str) -> Any:
    """Runs a cell and shows the report of it. `gapless.step()` in the cell marks the end of a step.

    `%%gapless --folder runs/cell` keeps the recording there; otherwise it is removed once it was read.
    """
    options = _parser().parse_args(shlex.split(line))
    folder = options.folder or tempfile.mkdtemp(prefix="gapless-cell-")
    try:
        return _recorded(shell, cell, folder)
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


def _recorded(shell: Any, cell: str, folder: str) -> Any:
    from .run import open

    display = need("IPython.display", "notebook").display

    state = display({"text/plain": "gapless records the cell …"}, raw=True, display_id=True)
    with region.profile(folder) as recorded:
        region._active.append(recorded)
        try:
            done = shell.run_cell(cell)
        finally:
            region._active.pop()
    if not done.success or recorded.path is None:
        state.update({"text/plain": "gapless: the cell failed, so there is no report"}, raw=True)
        return None
    state.update({"text/plain": f"gapless reads {recorded.path} …"}, raw=True)
    run = open(recorded.path)
    state.update(run.report())
    return run


def load(shell: Any) -> None:
    def gapless(line: str, cell: str) -> Any:
        cell_magic(shell, line, cell)

    gapless.__doc__ = cell_magic.__doc__
    shell.register_magic_function(gapless, "cell", "gapless")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="%%gapless", description=__doc__, epilog=ENDED, exit_on_error=False)
    parser.add_argument("--folder", help="keep the recording below this folder")
    return parser
