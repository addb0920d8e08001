# SPDX-License-Identifier: Apache-2.0
"""Jobs of many ranks, summarised where their recordings lie: on this machine, on Ray, on any Executor; from folders and object stores.

>>> from gapless import cluster
>>> report = cluster.analyze("s3://runs/42/", summaries="s3://runs/42/summaries/")  # doctest: +SKIP
>>> report.bottlenecks[0], report.ranks, report.lost  # doctest: +SKIP

A task is one recording, and its result one small file; the analysis of all of them takes this process some seconds. No engine is
imported but the one that is asked for, and none is started: `on="ray"` needs `ray.init()` or RAY_ADDRESS.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path as FilePath
from typing import Any

from ..bottlenecks import Bottleneck
from ..program import BAD_INPUT, ProgramError, ask, say
from ..report_view import Report as RenderedReport
from ..run import Run
from ..run import open as open_run
from . import storage
from .engines import On
from .making import Progress, Summarized, Summary, document_of, here, make
from .storage import Path

__all__ = ["Report", "Summarized", "Summary", "analyze", "merge", "summarize"]


class Report(RenderedReport):
    """The report of `gapless analyze`, with what else is known of the job. Each form is made when it is first asked for."""

    def __init__(self, summarized: Summarized, paths: list[str], folder: str) -> None:
        self.summarized = summarized
        self._paths = paths
        self._document = os.path.join(folder, "summarized.json")
        weakref.finalize(self, shutil.rmtree, folder, True)  # summaries that nobody wanted to keep
        FilePath(self._document).write_text(json.dumps(document_of(summarized, paths)), encoding="utf-8")
        super().__init__(lambda form: say("analyze", "--summarized", self._document, "--format", form))

    @property
    def lost(self) -> dict[str, str]:
        """The recordings that are not in it, each with the reason."""
        return self.summarized.lost

    @property
    def bottlenecks(self) -> list[Bottleneck]:
        """The findings, ranked."""
        return [Bottleneck.of(found) for found in self.document["bottlenecks"]]

    @property
    def ranks(self) -> list[int]:
        """The ranks that it is about."""
        ranks: list[int] = self.document["run"]["ranks"]
        return ranks

    @property
    def document(self) -> dict[str, Any]:
        """The document of `gapless analyze --json`."""
        found: dict[str, Any] = json.loads(self.json)
        return found

    def run(self) -> Run:
        """The job as `gapless.open` reads it: tables, SQL, predictions."""
        return open_run(self._paths)


def analyze(
    recordings: Path | Iterable[Path],
    *,
    on: On = None,
    summaries: Path | None = None,
    memory: int | None = None,
    retries: int = 3,
    timeout: float | None = None,
    storage_options: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Summarises recordings as tasks of an engine, and analyses the summaries together, here.

    `recordings` are files, folders, patterns and URLs (s3://, gs://, az://, … whatever fsspec knows), or a list of them; "3=path" is
    rank 3. `on` is "processes", "ray", an Executor, or a function that makes one; None takes Ray where `ray.init()` was called or
    RAY_ADDRESS is set, else processes. `summaries`, a folder that all workers see or a URL, keeps the summaries: a later call makes
    only what is missing or has changed. `memory` is what a task may take, in bytes. A task whose worker died is tried `retries` times
    more; a recording that cannot be read is not, and is a row of `Report.lost`. So is an object of which no bytes come for `timeout`
    seconds (60, or GAPLESS_STALL_TIMEOUT), and one that ends before its size. `storage_options` go to fsspec, and nowhere else.
    `progress` is called with the number of recordings that are done, and of all.

    Ctrl-C ends what runs and leaves no half-written file. Raises ProgramError if nothing could be read, or if an engine, a package or
    the program is missing.
    """
    folder = tempfile.mkdtemp(prefix="gapless-")
    try:
        done, paths = make(
            recordings, on=on, summaries=summaries, into=folder, memory=memory, retries=retries, timeout=timeout,
            storage_options=storage_options or {}, progress=progress,
        )  # fmt: skip
        if not paths:
            first, reason = next(iter(done.lost.items()))
            raise ProgramError(f"no recording could be read; {first}: {reason}", BAD_INPUT)
        return Report(done, paths, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def summarize(
    recordings: Path | Iterable[Path],
    *,
    summaries: Path,
    on: On = None,
    memory: int | None = None,
    retries: int = 3,
    timeout: float | None = None,
    storage_options: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Summarized:
    """Writes summaries of recordings to a folder or URL; `analyze` says what the arguments mean. Recordings without one are in `lost`."""
    done, _ = make(
        recordings, on=on, summaries=summaries, into=None, memory=memory, retries=retries, timeout=timeout,
        storage_options=storage_options or {}, progress=progress,
    )  # fmt: skip
    return done


def merge(*summaries: Path | Summarized, output: Path, storage_options: dict[str, Any] | None = None) -> str:
    """Puts summaries (files, folders, URLs, what `summarize` returned) into one file or URL, and returns its name. Merging in any order
    and grouping gives the same bytes."""
    options, to = storage_options or {}, os.fspath(output)
    places: list[str] = []
    for given in summaries:
        places += [one.path for one in given] if isinstance(given, Summarized) else [os.fspath(given)]
    with tempfile.TemporaryDirectory(prefix="gapless-") as folder:
        files = here(places, folder, options)
        if not storage.is_url(to):
            ask("merge", *files, "-o", to)
            return to
        merged = os.path.join(folder, "merged.tar")
        ask("merge", *files, "-o", merged)
        store, path = storage.file_system(to, options)
        store.pipe_file(path, FilePath(merged).read_bytes())
    return to
