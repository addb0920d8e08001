#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that come through a pipe are read like files by every verb, and leave nothing behind.

usage: pipe_test.py PROGRAM
"""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
SAMPLE = ROOT / "samples/resnet50_v100.pt.trace.json.gz"
DATA = ROOT / "tests/data"
LIMIT_S = 0.6  # from a signal to the end


class Pipe(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.kept = self.folder / "kept"
        self.kept.mkdir()
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "TMPDIR": str(self.kept)}

    def run_piped(self, words: list[str], given: bytes, **environment: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [PROGRAM, *words], input=given, capture_output=True, env={**self.environment, **environment}, timeout=120, check=False
        )  # fmt: skip
        self.assertEqual(list(self.kept.iterdir()), [])
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def from_file(self, words: list[str]) -> str:
        done = subprocess.run([PROGRAM, *words], capture_output=True, env=self.environment, timeout=120, check=True)
        return done.stdout.decode()

    def test_every_reading_verb_says_the_same_as_of_the_file(self) -> None:
        count = "SELECT class, count(*), sum(dur_ns) FROM gpu_op GROUP BY class"
        for words in (
            ["analyze", "{}"], ["analyze", "{}", "--json"], ["analyze", "{}", "--format", "markdown"], ["brief", "{}"], ["query", "{}", count],
            ["query", "{}", count, "--csv"], ["predict", "{}", "--what", "amp"], ["convert", "{}"],
        ):  # fmt: skip
            with self.subTest(words=words):
                expected = self.from_file([str(SAMPLE) if word == "{}" else word for word in words])
                status, out, err = self.run_piped(
                    ["-" if word == "{}" else word for word in words], SAMPLE.read_bytes()
                )
                self.assertEqual((status, err), (0, ""))
                self.assertEqual(self.without_names(out), self.without_names(expected))

    @staticmethod
    def without_names(text: str) -> list[str]:
        """Its lines without the recording's name, which is "standard input" here, and the commands that would name it."""
        named = ("standard input", SAMPLE.name, "PATH", "gapless predict", "written by")
        return [line.strip() for line in text.splitlines() if not any(name in line for name in named)]

    def test_every_form_of_a_recording(self) -> None:
        plain = gzip.decompress(SAMPLE.read_bytes())
        archive = self.folder / "ranks.tar.gz"
        (self.folder / "plain.json").write_bytes(plain)
        with tarfile.open(archive, "w:gz") as out:
            for rank in range(2):
                out.add(self.folder / "plain.json", f"rank{rank}.json")
        sql = "SELECT count(*) FROM all_gpu_op"
        for name, given in (("plain", plain), ("gzip", SAMPLE.read_bytes()), ("tar", archive.read_bytes())):
            with self.subTest(form=name):
                status, out_text, err = self.run_piped(["query", "-", sql, "--csv"], given)
                self.assertEqual((status, err), (0, ""))
                self.assertEqual(int(out_text.split()[1]), 9096 * (2 if name == "tar" else 1))
        for path in sorted(DATA.glob("*.sqlite")) + [DATA / "nvidia-smi.csv"]:
            with self.subTest(form=path.name):
                expected = json.loads(self.from_file(["analyze", str(path), "--json"]))
                status, out_text, _ = self.run_piped(["analyze", "-", "--json"], path.read_bytes())
                self.assertEqual(status, 0)
                got = json.loads(out_text)
                self.assertEqual(got["bottlenecks"], expected["bottlenecks"])

    def test_other_names_of_pipes(self) -> None:
        for name in ("/dev/stdin", "/dev/fd/0", "0=-"):
            with self.subTest(name=name):
                status, out, err = self.run_piped(["analyze", name], SAMPLE.read_bytes())
                self.assertEqual((status, err), (0, ""))
                self.assertTrue(out.startswith("standard input\n"))
        line = f'"{PROGRAM}" query 0=<(cat "{SAMPLE}") 1=<(cat "{SAMPLE}") "SELECT count(*) FROM all_gpu_op" --csv'
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=self.environment, check=False)
        self.assertEqual((done.returncode, done.stdout.split()[1:]), (0, [str(2 * 9096)]), done.stderr)

    def test_the_report_never_names_a_path_that_cannot_be_read_again(self) -> None:
        for words in (["brief", "-"], ["analyze", "-"], ["analyze", "-", "--explain", "data_loading"]):
            text = self.run_piped(words, SAMPLE.read_bytes())[1]
            self.assertNotIn("'standard input'", text)
            self.assertRegex(text, "gapless (analyze|query) PATH", words)

    def test_what_is_wrong_is_said(self) -> None:
        for words, given, status, says in (
            (["analyze", "-"], b"", 3, "the file is empty"),
            (["analyze", "-"], b"no recording", 3, "no reader knows this format"),
            (["analyze", "-"], SAMPLE.read_bytes()[:100_000], 0, ""),
            (["analyze", "-", "/dev/stdin"], b"", 2, "standard input can be read only once"),
            (["query", "-", "-"], b"SELECT 1", 2, "cannot be both the recording and the statement"),
        ):  # fmt: skip
            with self.subTest(words=words, given=given[:20]):
                got, _, err = self.run_piped(words, given)
                self.assertEqual(got, status, err)
                self.assertIn(says, err)
        status, _, err = self.run_piped(["analyze", "-"], SAMPLE.read_bytes(), TMPDIR=str(self.folder / "none"))
        self.assertEqual(status, 4)
        self.assertIn("set TMPDIR to a folder with room for it", err)

    def test_a_terminal_is_no_recording(self) -> None:
        try:
            parent, child = pty.openpty()
        except OSError:
            self.skipTest("no terminals here")
        done = subprocess.run(
            [PROGRAM, "analyze", "-"], stdin=child, capture_output=True, text=True, timeout=20, check=False
        )
        os.close(parent)
        os.close(child)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a terminal is no recording", done.stderr)

    def test_a_signal_ends_a_reading_from_a_silent_pipe(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [PROGRAM, "analyze", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, text=True
            )  # fmt: skip
            assert process.stdin
            process.stdin.write('{"traceEvents": [' * 10_000)
            process.stdin.flush()
            time.sleep(0.3)
            self.assertEqual(list(self.kept.iterdir()), [], "the file has no name")
            process.send_signal(number)
            begun = time.monotonic()
            _, err = process.communicate(timeout=20)
            self.assertLess(time.monotonic() - begun, LIMIT_S)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn("interrupted", err)
            self.assertEqual(list(self.kept.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
