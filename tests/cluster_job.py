# SPDX-License-Identifier: Apache-2.0
"""A job of simulated ranks, and programs that stand for `gapless` on a worker and die or hang with one of them: what the tests of
gapless.cluster run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from corpus import ROOT
from simulator.job import Planted, recordings

sys.path.insert(0, str(ROOT / "tests/rules"))
from recording import Run

ENVIRONMENT = ROOT / "build/cluster/bin/python"  # tools/cluster_env.sh makes it
BAD = "{]"  # no recording
RANKS = 6


def has(*packages: str) -> bool:
    return all(importlib.util.find_spec(package) for package in packages)


def in_its_environment() -> None:
    """Starts the script again by the Python that has the engines, where there is one."""
    if ENVIRONMENT.exists() and Path(sys.executable) != ENVIRONMENT:
        os.execv(ENVIRONMENT, [str(ENVIRONMENT), *sys.argv])


def use(program: str) -> None:
    """From now on this process and those that it starts use the program and the package of this tree."""
    os.environ["GAPLESS_PROGRAM"] = os.path.abspath(program)
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    os.environ["GAPLESS_PYTHON"] = sys.executable
    sys.path.insert(0, str(ROOT / "python"))


def write_job(folder: Path, ranks: int, bad: int | None = None) -> Path:
    """The recordings of a job, one of which may be bad."""
    folder.mkdir()
    run = Run()
    run.ranks, _, _ = recordings(Planted("kernels", ranks, ranks - 2, 1.6))
    run.write(folder)
    if bad is not None:
        (folder / f"rank{bad}.json").write_text(BAD, encoding="utf-8")
    return folder


def report_of(program: str, *words: str | Path) -> bytes:
    done = subprocess.run([program, "analyze", *map(str, words)], capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def as_of_recordings(text: str) -> str:
    """A report of summaries without the line that only these have: the recordings that `--drill` would open."""
    return "".join(line for line in text.splitlines(keepends=True) if "--drill opens" not in line)


def stand_in(program: str, folder: Path, rank: int, what: str, times: int = 1, pause: float = 0) -> str:
    """A program that does `what` (of sh) in the first `times` tasks of a rank, and is else the program; each task takes a
    `pause`, too. `folder`/tried counts them all."""
    path = folder / "gapless-stand-in"
    path.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *summarize*--ends-with-parent*) echo "$*" >> \'{folder}/tried\'; sleep {pause} ;; esac\n'
        f'case "$*" in *rank{rank}.json*--ends-with-parent*)\n'
        f"  echo x >> '{folder}/times'\n"
        f"  if [ $(wc -l < '{folder}/times') -le {times} ]; then {what}; fi ;;\n"
        "esac\n"
        f"exec '{program}' \"$@\"\n"
    )
    path.chmod(0o755)
    return str(path)


def tries(folder: Path, rank: int | None = None) -> int:
    """Returns the number of tasks that began, for one rank or all."""
    tried = folder / "tried"
    lines = tried.read_text().splitlines() if tried.exists() else []
    return len([line for line in lines if rank is None or f"rank{rank}.json" in line])


def forget_tries(folder: Path) -> None:
    for name in ("tried", "times"):
        (folder / name).unlink(missing_ok=True)


def copy_job(job: Path, to: Path) -> Path:
    return Path(shutil.copytree(job, to))


class Case(unittest.TestCase):
    """A job for all tests of a class, and a folder for each."""

    job: Path
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.job = write_job(Path(cls.folder.name) / "job", RANKS)

    def setUp(self) -> None:
        here = tempfile.TemporaryDirectory()
        self.addCleanup(here.cleanup)
        self.here = Path(here.name)

    def with_program(self, program: str) -> None:
        changed = mock.patch.dict(os.environ, {"GAPLESS_PROGRAM": program})
        changed.start()
        self.addCleanup(changed.stop)
