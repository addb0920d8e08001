#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless query --arrow` and `--parquet` write what `--json` prints, cell by cell, as pyarrow, Polars and DuckDB read it where they are
installed; and what cannot be written is refused with what to do.

usage: query_files_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

SAMPLE = str(next((ROOT / "samples").glob("resnet50*.json.gz")))
RANKS = str(ROOT / "tests/data/two_ranks")
# Every type, alone and mixed, with nothing, and numbers that a real cannot hold.
CELLS = """
SELECT 9007199254740993 AS big, NULL AS nought, 0.5 AS half, 'naïve' AS word, 1 AS mixed, 9007199254740993 AS mixed_big, '' AS blank
UNION ALL SELECT -9223372036854775807, NULL, NULL, NULL, 2.5, 0.5, 'x'
UNION ALL SELECT NULL, NULL, 3.0, 'b', NULL, NULL, NULL
"""
STATEMENTS = {
    "cells": (SAMPLE, CELLS),
    "table": (SAMPLE, "gpu_op"),
    "analysis": (RANKS, "ledger"),
    "no rows": (SAMPLE, "SELECT name, dur_ns FROM gpu_op WHERE dur_ns < 0"),
    "batches": (SAMPLE, "SELECT a.id * 7 AS n, a.name FROM gpu_op a JOIN gpu_op b ON b.id < 15 AND b.id >= 0"),
}
PROGRAM = ""


def has(*names: str) -> bool:
    return all(importlib.util.find_spec(name) for name in names)


def gapless(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GAPLESS_PYTHON": sys.executable, **options.pop("env", {})}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=environment, check=False, **options)


def expected(path: str, sql: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(gapless("query", path, sql, "--json").stdout)
    if sql == CELLS:  # a column has one type: numbers that no other can hold are texts
        rows[0]["mixed_big"], rows[1]["mixed_big"] = "9007199254740993", "0.5"
    return rows


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def written(self, form: str, path: str, sql: str) -> str:
        file = str(self.folder / f"rows.{form}")
        done = gapless("query", path, sql, f"--{form}", file)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return file

    @unittest.skipUnless(has("pyarrow"), "not installed: pyarrow")
    def test_arrow_in_pyarrow(self) -> None:
        import pyarrow

        for name, (path, sql) in STATEMENTS.items():
            with self.subTest(name):
                table = pyarrow.ipc.open_stream(self.written("arrow", path, sql)).read_all()
                table.validate(full=True)
                rows = expected(path, sql)
                self.assertEqual(table.to_pylist(), rows)
                self.assertGreater(len(rows), 70_000 if name == "batches" else -1)

    @unittest.skipUnless(has("pyarrow"), "not installed: pyarrow")
    def test_units_and_types(self) -> None:
        import pyarrow

        def schema(sql: str) -> Any:
            return pyarrow.ipc.open_stream(self.written("arrow", SAMPLE, sql)).schema

        asked = schema("SELECT g.dur_ns AS t, g.dur_ns + 1 AS computed, g.name, 1.5 AS r FROM all_gpu_op g WHERE 0")
        self.assertEqual(asked.field("t").metadata, {b"unit": b"ns", b"help": b"duration"})
        self.assertFalse(asked.field("computed").metadata)
        self.assertEqual(str(asked.field("t").type), "int64")
        self.assertEqual(
            str(asked.field("name").type), "dictionary<values=string, indices=int32, ordered=0>", "typed, if empty"
        )
        self.assertEqual(str(schema("SELECT loss FROM step").field("loss").type), "double", "that of its table")
        self.assertEqual(
            schema("SELECT idle_ns FROM ledger").field("idle_ns").metadata[b"unit"], b"ns", "of analyses, too"
        )

    @unittest.skipUnless(has("polars"), "not installed: polars")
    def test_arrow_in_polars(self) -> None:
        import polars

        for name, (path, sql) in STATEMENTS.items():
            with self.subTest(name):
                frame = polars.read_ipc_stream(self.written("arrow", path, sql))
                self.assertEqual(frame.to_dicts(), expected(path, sql))

    @unittest.skipUnless(has("pyarrow", "duckdb"), "not installed: pyarrow, duckdb")
    def test_parquet(self) -> None:
        import duckdb
        import pyarrow.parquet

        for name, (path, sql) in STATEMENTS.items():
            with self.subTest(name):
                file = self.written("parquet", path, sql)
                rows = expected(path, sql)
                self.assertEqual(pyarrow.parquet.read_table(file).to_pylist(), rows)
                found = duckdb.sql(f"SELECT * FROM '{file}'")
                self.assertEqual([dict(zip(found.columns, row)) for row in found.fetchall()], rows)

    @unittest.skipUnless(has("pyarrow", "polars"), "not installed: pyarrow, polars")
    def test_parquet_by_polars_alone(self) -> None:
        import polars

        hidden = self.folder / "pyarrow.py"
        hidden.write_text("raise ModuleNotFoundError(\"No module named 'pyarrow'\", name='pyarrow')\n")
        file = str(self.folder / "rows.parquet")
        done = gapless("query", SAMPLE, "gpu_op", "--parquet", file, env={"PYTHONPATH": str(self.folder)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(polars.read_parquet(file).to_dicts(), expected(SAMPLE, "gpu_op"))

    @unittest.skipUnless(has("pyarrow"), "not installed: pyarrow")
    def test_a_pipe_and_several_forms_at_once(self) -> None:
        import pyarrow

        done = subprocess.run(
            [PROGRAM, "query", SAMPLE, "step", "--arrow", "-", f"--json={self.folder / 'rows.json'}"],
            capture_output=True, check=True,
        )  # fmt: skip
        rows = pyarrow.ipc.open_stream(done.stdout).read_all().to_pylist()
        self.assertEqual(rows, json.loads((self.folder / "rows.json").read_text()))
        both = gapless("query", SAMPLE, "step", "--csv", "--arrow", str(self.folder / "rows.arrow"))
        self.assertIn("trace,rank,step", both.stdout)
        self.assertEqual(pyarrow.ipc.open_stream(str(self.folder / "rows.arrow")).read_all().to_pylist(), rows)

    def test_what_cannot_be_written(self) -> None:
        for words, status, message in (
            (("--parquet", "-"), 2, "Parquet is written to a file"),
            (("--arrow", "-", "--json"), 2, "standard output can have one form"),
            (("--arrow", "-", "--csv"), 2, "standard output can have one form"),
            (("--arrow", SAMPLE), 2, "it would replace an input"),
            (("--arrow", "/nowhere/rows.arrow"), 4, "cannot write"),
        ):
            done = gapless("query", SAMPLE, "step", *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_terminal_is_refused(self) -> None:
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        done = subprocess.run(
            [PROGRAM, "query", SAMPLE, "step", "--arrow", "-"],
            stdout=follower, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        os.close(follower)
        self.assertEqual(done.returncode, 2)
        self.assertIn("refusing to write an Arrow stream to a terminal", done.stderr)

    def test_no_package(self) -> None:
        file = self.folder / "rows.parquet"
        file.write_text("old")
        bare = self.folder / "python3"
        bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')  # without any package
        bare.chmod(0o755)
        for python, message in ((str(bare), 'pip install "gapless[parquet]"'), ("/nowhere/python", "cannot start")):
            words = ("query", SAMPLE, "step", "--parquet", str(file))
            done = gapless(*words, env={"GAPLESS_PYTHON": python})
            self.assertEqual((done.returncode, file.read_text()), (4, "old"))
            self.assertIn(message, done.stderr)

    @unittest.skipUnless(has("pyarrow"), "not installed: pyarrow")
    def test_a_statement_that_fails_leaves_what_was_there(self) -> None:
        for form in ("arrow", "parquet"):
            file = self.folder / f"rows.{form}"
            file.write_text("old")
            done = gapless("query", SAMPLE, "SELECT nosuch FROM step", f"--{form}", str(file))
            self.assertEqual((done.returncode, file.read_text()), (2, "old"))
            self.assertEqual([path.name for path in self.folder.glob(f"*{form}*")], [file.name])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
