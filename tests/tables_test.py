#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings in Python: the tables, findings and predictions of `gapless.open` are those of the program, to the last digit; Ctrl-C,
threads and lifetimes; and, where they are installed, Polars, pandas, pyarrow and DuckDB take the tables.

usage: tables_test.py PROGRAM BUILD_FOLDER [unittest options]
"""

from __future__ import annotations

import doctest
import gc
import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Callable, TypeVar
from unittest import mock

from corpus import ROOT

sys.path.insert(0, str(ROOT / "python"))

import gapless
from gapless import native
from gapless.program import ProgramError

SAMPLE = str(next((ROOT / "samples").glob("resnet50*.json.gz")))
RANKS = str(ROOT / "tests/data/two_ranks")
LONG_QUERY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n WHERE i < 0"
FRAMES = [name for name in ("numpy", "pandas", "polars", "pyarrow", "duckdb") if importlib.util.find_spec(name)]
PROGRAM = ""
Test = TypeVar("Test", bound=Callable[..., None])


def program(*words: str) -> Any:
    done = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def needs(*packages: str) -> Callable[[Test], Test]:
    missing = [package for package in packages if package not in FRAMES]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Tables(unittest.TestCase):
    run_of: gapless.Run

    @classmethod
    def setUpClass(cls) -> None:
        cls.run_of = gapless.open(SAMPLE, cache=False)

    def test_rows_are_those_of_the_program(self) -> None:
        for sql in (
            "SELECT * FROM gpu_op LIMIT 200",
            "SELECT * FROM slice ORDER BY id DESC LIMIT 50",
            "SELECT * FROM step",
            "SELECT name, sum(dur_ns) AS total, avg(dur_ns) AS mean FROM gpu_op GROUP BY name ORDER BY total DESC",
            "SELECT * FROM kernels",
            "SELECT NULL AS none, 1.5 AS real, 'ü' AS text, 9007199254740993 AS large",
        ):
            with self.subTest(sql):
                rows = list(self.run_of.query(sql).rows())
                self.assertEqual(rows, program("query", SAMPLE, sql, "--no-cache"))
                self.assertTrue(rows)

    def test_a_table_is_its_query(self) -> None:
        for name in ("gpu_op", "step", "thread", "kernels", "operators"):
            with self.subTest(name):
                table = self.run_of.table(name)
                self.assertEqual(list(table.rows()), list(self.run_of.query(f"SELECT * FROM {name}").rows()))
                self.assertEqual(len(table), self.run_of.query(f"SELECT count(*) AS n FROM {name}").to_rows()[0]["n"])

    def test_ranks_follow_each_other(self) -> None:
        run = gapless.open([RANKS], cache=False)
        ranks = [row["rank"] for row in run.table("gpu_op", ["rank"]).rows()]
        self.assertEqual(set(ranks), {0, 1})
        self.assertEqual(ranks, sorted(ranks))
        self.assertEqual(
            {row["rank"] for row in gapless.open(RANKS, ranks=[1], cache=False).table("trace").rows()}, {1}
        )

    def test_the_description_is_that_of_the_program(self) -> None:
        said = {table["name"]: table for table in program("query", "--tables")["tables"]}
        self.assertEqual([table.name for table in gapless.tables()], list(said))
        for table in gapless.tables():
            names = [(column.name, column.type, column.unit) for column in table.columns]
            self.assertEqual(names, [(c["name"], c["type"], c.get("unit", "")) for c in said[table.name]["columns"]])
        self.assertEqual(self.run_of.table("gpu_op").columns[11], gapless.Column("dur_ns", "integer", "ns", "duration"))

    def test_columns_are_chosen(self) -> None:
        table = self.run_of.table("gpu_op")[["dur_ns", "name"]]
        self.assertEqual(table.column_names, ["dur_ns", "name"])
        self.assertEqual(list(next(table.rows())), ["dur_ns", "name"])
        self.assertEqual(table["name"].head(1).to_rows(), [{"name": self.run_of.table("gpu_op").to_rows(1)[0]["name"]}])
        with self.assertRaisesRegex(KeyError, "there is no column 'nosuch'; there are: dur_ns, name"):
            table["nosuch"]

    def test_it_shows_what_fits(self) -> None:
        os.environ["COLUMNS"] = "60"
        lines = repr(self.run_of.table("gpu_op")).splitlines()
        self.assertRegex(lines[0], r"^gpu_op: [\d,]+ rows, \d+ columns$")
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertRegex("\n".join(lines), r"more rows\n… \d+ more columns: ")
        self.assertIn("<th", self.run_of.table("step")._repr_html_())

    def test_errors_say_what_to_do(self) -> None:
        for act, status, text in (
            (lambda: self.run_of.table("gpu_opp"), 2, "did you mean gpu_op?"),
            (lambda: self.run_of.query("SELECT x"), 2, "no such column: x"),
            (lambda: self.run_of.query("DROP TABLE gpu_op"), 2, ""),
            (lambda: self.run_of.predict("nosuch"), 2, "nosuch"),
            (lambda: gapless.open("/nowhere.json"), 3, "/nowhere.json"),
            (lambda: gapless.open([]), 2, ""),
        ):
            with self.assertRaises(ProgramError) as caught:
                act()
            self.assertEqual(caught.exception.status, status, caught.exception)
            self.assertIn(text, str(caught.exception))

    def test_findings_reports_and_predictions_are_those_of_the_program(self) -> None:
        document = program("analyze", SAMPLE, "--no-cache")
        self.assertEqual(
            [found.id for found in self.run_of.bottlenecks], [one["id"] for one in document["bottlenecks"]]
        )
        report = self.run_of.report()
        self.assertEqual(json.loads(report.json)["bottlenecks"], document["bottlenecks"])
        with tempfile.TemporaryDirectory() as folder:
            saved = report.save(Path(folder, "report.html"))
            self.assertEqual(saved.read_bytes().decode(), report.html)
            self.assertEqual(os.listdir(folder), ["report.html"])
            with self.assertRaisesRegex(ValueError, "report.docx"):
                report.save(Path(folder, "report.docx"))
        self.assertIn("<iframe", self.run_of._repr_html_())
        said = program("predict", SAMPLE, "--what", "amp", "--what", "workers=8,amp", "--no-cache")["predictions"]
        self.assertEqual([one.document for one in self.run_of.predict("amp", "workers=8,amp")], said)
        self.assertEqual(self.run_of.predict("amp")[0].speedup, said[0]["speedup"]["expected"])
        every = program("predict", SAMPLE, "--no-cache")["predictions"]
        self.assertEqual([one.document for one in self.run_of.predict()], every)

    def test_what_was_taken_outlives_the_run(self) -> None:
        run = gapless.open(SAMPLE, cache=False)
        table = run.table("gpu_op")
        first = table.to_rows(1)
        capsule = table.__arrow_c_stream__()
        del run
        gc.collect()
        self.assertEqual(table.to_rows(1), first)
        del table, capsule
        gc.collect()
        self.assertEqual(native._streams, {}, "a stream that nobody read is released, too")

    def test_several_threads(self) -> None:
        """The interpreter's lock is free while the library works, and answers do not mix."""
        answers: list[Any] = []

        def ask(at: int) -> None:
            answers.append((at, self.run_of.query(f"SELECT {at} AS n, count(*) AS c FROM slice").to_rows()[0]))

        threads = [threading.Thread(target=ask, args=(at,)) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers), [(at, {"n": at, "c": answers[0][1]["c"]}) for at in range(8)])
        ticks = 0
        slow = threading.Thread(
            target=lambda: self.run_of.query(LONG_QUERY.replace("FROM n)", "FROM n LIMIT 3000000)"))
        )
        slow.start()
        while slow.is_alive():
            time.sleep(0.001)
            ticks += 1
        self.assertGreater(ticks, 20)

    def test_ctrl_c_ends_a_query_and_not_the_run(self) -> None:
        script = textwrap.dedent(f"""
            import sys; sys.path.insert(0, {str(ROOT / "python")!r})
            import gapless, signal
            signal.signal(signal.SIGINT, signal.default_int_handler)
            run = gapless.open({SAMPLE!r}, cache=False)
            print("ready", flush=True)
            try:
                run.query({LONG_QUERY!r})
            except KeyboardInterrupt:
                print("interrupted", len(run.query({LONG_QUERY.replace("FROM n)", "FROM n LIMIT 300000)")!r})))
        """)
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=30)[0], "interrupted 1\n")
        self.assertEqual(child.returncode, 0)

    def test_ctrl_c_waits_for_the_call_that_it_ends(self) -> None:
        """A call that goes on a while after it was cancelled is over before the program goes on."""
        ended: list[float] = []

        def slow(_name: str) -> None:
            time.sleep(0.6)
            ended.append(time.monotonic())

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with mock.patch.object(native, "ask", slow), self.assertRaises(KeyboardInterrupt):
            native.work(lambda: None, "slow")
        self.assertTrue(ended, "the call was still at work")

    def test_the_page_is_true(self) -> None:
        page = (ROOT / "docs" / "tables_in_python.md").read_text(encoding="utf-8")
        session = "".join(re.findall(r"```pycon\n(.*?)```", page, re.DOTALL))
        runner, said = doctest.DocTestRunner(), io.StringIO()
        runner.run(doctest.DocTestParser().get_doctest(session, {}, "tables_in_python.md", None, None), out=said.write)
        self.assertEqual(said.getvalue(), "")
        self.assertGreater(runner.tries, 5)

    def test_progress(self) -> None:
        shares: list[float] = []
        gapless.open(SAMPLE, cache=False, progress=shares.append)
        self.assertTrue(shares and all(0 <= share <= 1 for share in shares), shares)

    def test_sources_are_mapped_or_redacted(self) -> None:
        """As the options of the program: the script below a folder is newer than the recording, or nothing of its path is left."""
        lines = "SELECT DISTINCT source_line FROM all_slice WHERE source_line LIKE '%.py:46'"
        script = "resnet50_profiler_api.py"
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, script).write_text("\n" * 99)
            mapped = gapless.open(SAMPLE, cache=False, source_root=folder)
            notes = [
                row["text"] for row in mapped.query("SELECT text FROM read_stats WHERE kind = 'stale_sources'").rows()
            ]
            self.assertRegex(notes[0], f"{script} was modified after the recording")
        redacted = gapless.open(SAMPLE, cache=False, redact=True)
        self.assertRegex(next(redacted.query(lines).rows())["source_line"], r"^file-\d+\.py:46$")
        self.assertNotIn("resnet50", repr(redacted))
        with self.assertRaisesRegex(ProgramError, "no such folder"):
            gapless.open(SAMPLE, cache=False, source_root="/nowhere/at/all")

    def test_a_library_that_is_not_there(self) -> None:
        script = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import gapless; gapless.open('x')"
        environment = {**os.environ, "GAPLESS_PROGRAM": "/nowhere/gapless", "GAPLESS_LIBRARY": ""}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
        )
        self.assertIn("cannot find the library libgapless: install the package gapless", done.stderr)

    def test_a_package_that_is_not_there(self) -> None:
        missing = [name for name in ("pandas", "polars") if name not in FRAMES]
        for name in missing:
            with self.assertRaisesRegex(ProgramError, rf'pip install "gapless\[{name}\]"') as caught:
                getattr(self.run_of.table("step"), f"to_{name}")()
            self.assertEqual(caught.exception.status, 4)

    @needs("pandas", "numpy")
    def test_pandas(self) -> None:
        table = self.run_of.table("gpu_op")
        frame = table.to_pandas()
        self.assertEqual(list(frame.columns), table.column_names)
        rows = table.to_rows()
        for name in table.column_names:
            values = [None if str(value) in ("nan", "<NA>") else value for value in frame[name].astype(object)]
            self.assertEqual(values, [row[name] for row in rows], name)
        self.assertEqual((str(frame.dtypes["dur_ns"]), str(frame.dtypes["name"])), ("int64", "category"))
        self.assertEqual(frame.attrs["units"]["dur_ns"], "ns")
        own = self.run_of.table("gpu_op", ["dur_ns"]).to_pandas()["dur_ns"].to_numpy()
        self.assertFalse(own.flags.owndata, "numbers are not copied")
        self.assertFalse(own.flags.writeable, "the recording is not changed")

    @needs("polars")
    def test_polars(self) -> None:
        table = self.run_of.table("gpu_op")
        self.assertEqual(table.to_polars().to_dicts(), table.to_rows())
        self.assertEqual(gapless.open(RANKS, cache=False).table("slice").to_polars()["rank"].n_unique(), 2)

    @needs("pyarrow")
    def test_pyarrow(self) -> None:
        import pyarrow

        for info in gapless.tables():
            table = self.run_of.table(info.name)
            taken = pyarrow.table(table)
            taken.validate(full=True)
            self.assertEqual(taken.to_pylist(), table.to_rows(), info.name)
        field = pyarrow.table(self.run_of.table("gpu_op")).schema.field("dur_ns")
        self.assertEqual(field.metadata, {b"unit": b"ns", b"help": b"duration"})

    @needs("duckdb", "pyarrow")
    def test_duckdb(self) -> None:
        import duckdb

        kernels = self.run_of.table("gpu_op")
        total = duckdb.sql("SELECT sum(dur_ns) FROM kernels").fetchall()[0][0]
        self.assertEqual(total, self.run_of.query("SELECT sum(dur_ns) AS total FROM gpu_op").to_rows()[0]["total"])
        self.assertGreater(len(kernels), 0)


if __name__ == "__main__":
    PROGRAM, BUILD = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    os.chdir(ROOT)
    os.environ["GAPLESS_PROGRAM"], os.environ["GAPLESS_LIBRARY"] = PROGRAM, f"{BUILD}/libgapless.so"
    unittest.main()
