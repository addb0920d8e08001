#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A verb that reads ends soon after SIGINT or SIGTERM, whatever it is doing: with 128 + N, a word about it, and nothing left behind.
So does monitor, however many clients of its metrics are in the middle of a request.

usage: interrupt_test.py PROGRAM
"""

from __future__ import annotations

import gzip
import importlib.util
import itertools
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
SAMPLE = ROOT / "samples/resnet50_v100.pt.trace.json.gz"
AIM_S = 0.2
LIMIT_S = 0.6  # a busy machine is no fault of the program; without a guard an analysis of this size goes on for longer


def recording(path: Path) -> None:
    """The sample a dozen times over, each later and by other threads, so that reading and analysing take seconds."""
    events = json.loads(gzip.decompress(SAMPLE.read_bytes()))
    rows = events["traceEvents"]
    with path.open("w", encoding="utf-8") as out:
        out.write('{"traceEvents": [')
        for copy in range(12):
            for row in rows:
                if "ts" in row:
                    row = {**row, "ts": row["ts"] + copy * 2_000_000}
                out.write(("," if copy or row is not rows[0] else "") + json.dumps(row))
        out.write("]}")


class Interrupt(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "LC_ALL": "C.UTF-8"}
        self.work = self.folder / "work"
        self.work.mkdir()

    def stop(self, words: list[str], after_s: float, number: int) -> float | None:
        """The seconds from the signal to the end; None: the verb had ended before."""
        process = subprocess.Popen(
            [PROGRAM, *words], cwd=self.work, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            begun = time.monotonic()
            out, err = process.communicate(timeout=60)
            took = time.monotonic() - begun
            if process.returncode == 0:
                return None  # it was about to end
            self.assertEqual(process.returncode, 128 + number, err)
            self.assertIn("interrupted", err)
            if "--json" in words and out:
                self.assertIn("interrupted", json.loads(out)["error"]["message"])
            return took
        process.communicate()
        return None

    def test_every_reading_verb(self) -> None:
        path = str(self.folder / "big.json")
        recording(Path(path))
        verbs = {
            "analyze": ["analyze", path, "--no-cache"],
            "analyze into a page": ["analyze", path, "--no-cache", "-o", "report.html"],
            "analyze as JSON": ["analyze", path, "--no-cache", "--json"],
            "analyze, keeping the columns": ["analyze", path],
            "query": ["query", path, "SELECT count(*) FROM slice a JOIN slice b ON a.dur_ns < b.dur_ns", "--no-cache"],
            "convert": ["convert", path, "-o", "out.json", "--no-cache"],
            "predict": ["predict", path, "--what", "amp", "--no-cache"],
        }
        stopped = 0
        for name, words in verbs.items():
            for number, after_s in ((signal.SIGINT, 0.1), (signal.SIGTERM, 0.5), (signal.SIGTERM, 1.2)):
                with self.subTest(name, after_s=after_s):
                    took = self.stop(words, after_s, number)
                    left = sorted(file.name for file in self.work.iterdir() if ".part-" in file.name)
                    cached = self.folder.glob("cache/gapless/*")
                    left += sorted(file.name for file in cached if file.suffix != ".columns")
                    self.assertEqual(left, [])
                    if took is None:
                        continue
                    stopped += 1
                    if took > AIM_S:
                        print(f"{name}, {after_s} s: {took:.2f} s", file=sys.stderr)
                    self.assertLess(took, LIMIT_S)
                for file in self.work.iterdir():
                    file.unlink()
        self.assertGreater(stopped, len(verbs))

    def test_a_file_that_is_being_written(self) -> None:
        """Ctrl-C, and the end of --timeout, leave the file that was there, or none."""
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        forms = ["-o", "--json", "--arrow"] + (["--parquet"] if importlib.util.find_spec("pyarrow") else [])
        for form, old, late in itertools.product(forms, ("old", None), (False, True)):
            with self.subTest(form, old=old, late=late):
                file = self.work / "rows"
                if old is not None:
                    file.write_text(old)
                form_of = f"{form}={file}" if form == "--json" else form
                words = [PROGRAM, "query", str(SAMPLE), endless, form_of, *([] if form == "--json" else [str(file)])]
                process = subprocess.Popen(
                    [*words, *(["--timeout", "1.5s"] if late else [])], cwd=self.work, text=True,
                    env={**self.environment, "GAPLESS_PYTHON": sys.executable},
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                )  # fmt: skip
                end = time.monotonic() + 20
                while not list(self.work.glob("rows.part-*")) and time.monotonic() < end:
                    time.sleep(0.02)
                self.assertTrue(list(self.work.glob("rows.part-*")), "it is being written")
                if not late:
                    process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=20)
                self.assertEqual(process.returncode, 4 if late else 130, err)
                self.assertIn("--timeout was up" if late else "interrupted", err)
                self.assertEqual([path.name for path in self.work.iterdir()], ["rows"] if old else [])
                if old is not None:
                    self.assertEqual(file.read_text(), old)
                    file.unlink()

    def test_how_much_is_kept_in_memory(self) -> None:
        """Beyond --memory recordings lie in files without a name, as with GAPLESS_MEMORY_BYTES."""
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        for words, is_in_files in (([], False), (["--memory", "1"], True), (["--memory", "1G"], False)):
            process = subprocess.Popen(
                [PROGRAM, "query", str(ROOT / "tests/data/two_ranks"), endless, "--no-cache", "-o", "rows", *words],
                env={**self.environment, "TMPDIR": str(self.folder)}, cwd=self.work,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            end = time.monotonic() + 20
            while not list(self.work.glob("rows.part-*")) and time.monotonic() < end:
                time.sleep(0.02)
            mapped = Path(f"/proc/{process.pid}/maps").read_text()
            process.terminate()
            process.wait()
            self.assertEqual(str(self.folder) in mapped, is_in_files, words)

    def test_a_history_that_another_process_holds(self) -> None:
        """The first signal ends the wait for the lock."""
        rows = self.work / "rows.csv"
        words = [PROGRAM, "history", "import", str(rows), "--db", f"sqlite:{self.work}/history.db"]
        rows.write_text("timestamp,commit_sha,branch,samples_per_second\n2026-01-01T00:00:00Z,x,main,5\n")
        subprocess.run(words, env=self.environment, check=True, capture_output=True)
        rows.write_text("timestamp,commit_sha,branch,samples_per_second\n2026-01-02T00:00:00Z,x,main,6\n")
        holder = sqlite3.connect(self.work / "history.db")
        self.addCleanup(holder.close)
        holder.execute("BEGIN EXCLUSIVE")
        process = subprocess.Popen(
            words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(process.kill)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        _, err = process.communicate(timeout=70)
        self.assertLess(time.monotonic() - begun, 3)
        self.assertEqual((process.returncode, err.splitlines()[0]), (128 + signal.SIGTERM, "gapless: interrupted"))

    def test_a_monitor_with_dripping_clients(self) -> None:
        job = subprocess.Popen(
            [PROGRAM, "monitor", "-o", "run", "--listen", "127.0.0.1:0", "--", "sh", "-c", "echo begun; exec sleep 60"],
            cwd=self.work, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(job.kill)
        assert job.stdout is not None and job.stderr is not None
        port = re.search(r"127\.0\.0\.1:(\d+)", job.stderr.readline())
        assert port is not None
        self.assertEqual(job.stdout.readline(), "begun\n")
        for _ in range(24):
            client = socket.create_connection(("127.0.0.1", int(port[1])), timeout=10)
            self.addCleanup(client.close)
            client.sendall(b"GET /m")
        job.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - begun, 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
