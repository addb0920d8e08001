#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading a history needs no right to write and creates nothing; importing is bounded and ends soon after a signal.

usage: history_access_test.py PROGRAM
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
NOBODY = 65534
LIMIT_S = 0.6  # 0.2 s on a quiet machine
LINE = {"gapless_history": 1, "branch": "main", "metrics": [{"name": "samples_per_second", "value": 812.5}]}


class Access(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.environment = {**os.environ, "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        self.environment.pop("XDG_DATA_HOME", None)
        self.db = self.folder / "theirs" / "h.db"

    def gapless(self, *words: object, status: int = 0, **more: object) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [PROGRAM, *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            **more,
        )  # type: ignore[call-overload]
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done  # type: ignore[no-any-return]

    def record(self) -> None:
        self.gapless("history", "record", "--metric", "samples_per_second=812.5", "--branch", "main", "--db", self.db)

    def as_nobody(self, *words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Runs the program as a user who owns neither the file nor its folder."""
        more = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        return self.gapless(*words, status=status, **more)

    def read_everything(self) -> None:
        before = sorted(self.db.parent.iterdir())
        url = f"sqlite:{self.db}"
        self.assertIn("812.5", self.as_nobody("history", "list", "--db", url).stdout)
        self.assertIn("samples_per_second", self.as_nobody("trend", "--db", url).stdout)
        self.assertIn('"uid"', self.as_nobody("history", "export", "--db", url).stdout)
        self.as_nobody("gate", "--metric", "samples_per_second=812", "--db", url)
        self.assertEqual(sorted(self.db.parent.iterdir()), before)

    @unittest.skipIf(os.geteuid() == 0 and not os.access(PROGRAM, os.X_OK), "the program is not reachable")
    def test_a_history_of_another_user_is_read(self) -> None:
        self.record()
        self.db.chmod(0o444)
        self.db.parent.chmod(0o555)
        self.addCleanup(self.db.parent.chmod, 0o755)
        self.read_everything()
        self.as_nobody("history", "record", "--metric", "x=1", "--db", self.db, status=4)

    def test_a_history_of_an_older_version_is_read_as_it_is(self) -> None:
        """Who may not write it cannot bring it up to date; its runs have no ledger."""
        self.record()
        with sqlite3.connect(self.db) as history:
            history.execute("ALTER TABLE run DROP COLUMN ledger")
            history.execute("DELETE FROM gapless_schema WHERE version > 4")
        history.close()
        self.db.chmod(0o444)
        self.db.parent.chmod(0o555)
        self.addCleanup(self.db.parent.chmod, 0o755)
        self.read_everything()
        self.assertIn("keeps no ledger", self.as_nobody("why", "1", "1", "--db", self.db, status=3).stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs a second user")
    def test_reading_leaves_no_file_that_keeps_the_owner_out(self) -> None:
        self.record()
        self.db.chmod(0o444)
        self.db.parent.chmod(0o777)
        self.read_everything()

    def test_a_history_with_an_open_log_is_read(self) -> None:
        self.record()
        writer = sqlite3.connect(self.db)
        self.addCleanup(writer.close)
        writer.execute("UPDATE run SET branch = 'main', host = 'fresh'")
        writer.commit()
        for path in self.db.parent.iterdir():
            path.chmod(0o444)
        self.db.parent.chmod(0o555)
        self.addCleanup(self.db.parent.chmod, 0o755)
        listed = json.loads(self.as_nobody("history", "list", "--json", "--db", self.db).stdout)
        self.assertEqual(listed["runs"][0]["host"], "fresh")

    def test_a_read_only_file_system(self) -> None:
        self.record()
        mount = ["mount", "--bind", "-o", "ro", str(self.db.parent), str(self.db.parent)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("this user may not mount")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.db.parent)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(self.db.parent)], capture_output=True, check=False)
        try:
            (self.db.parent / "probe").touch()
            self.skipTest("the mount is not read-only")
        except OSError:
            self.assertIn("812.5", self.gapless("history", "list", "--db", self.db).stdout)

    def test_reading_creates_nothing(self) -> None:
        for url in (str(self.db), f"sqlite:{self.db}", f"sqlite://{self.db}"):
            for words in (["history", "list"], ["history", "export"], ["trend"], ["history", "accept", "1"]):
                said = self.gapless(*words, "--db", url, status=3).stderr
                self.assertIn(str(self.db), said.splitlines()[0])
            self.gapless("gate", "--metric", "x=1", "--db", url)
            self.gapless("predict", ROOT / "samples/resnet50_v100.pt.trace.json.gz", "--db", url, "--json=/dev/null")
        self.assertFalse(self.db.parent.exists())
        self.gapless("history", "import", "-", "--db", self.db, input=json.dumps({**LINE, "uid": "u"}))
        self.assertIn("812.5", self.gapless("history", "list", "--db", self.db).stdout)

    def test_a_default_history_that_is_absent_is_no_error(self) -> None:
        self.assertIn("there is no history yet", self.gapless("history", "list").stdout)
        self.assertEqual(json.loads(self.gapless("history", "list", "--json").stdout)["runs"], [])
        self.assertEqual(list(self.home.iterdir()), [])

    def test_importing_something_endless_is_refused(self) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        start = time.monotonic()
        said = self.gapless("history", "import", "/dev/zero", "--db", self.db, status=3, preexec_fn=limit)
        self.assertIn("this is no exported history", said.stderr)
        self.assertLess(time.monotonic() - start, 5)

    def import_until(self, stop: int, *, feed: bool) -> float:
        """Seconds that an import from a pipe takes to end after the signal."""
        process = subprocess.Popen(
            [PROGRAM, "history", "import", "-", "--db", str(self.db)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        )
        assert process.stdin is not None
        assert process.stderr is not None
        os.set_blocking(process.stdin.fileno(), False)
        number, signalled, rest = 0, 0.0, b""
        start = time.monotonic()
        while process.poll() is None:
            if not signalled and time.monotonic() - start > 0.5:
                process.send_signal(stop)
                signalled = time.monotonic()
            if not rest and feed:
                rest = b"".join(json.dumps({**LINE, "uid": f"u{number + i}"}).encode() + b"\n" for i in range(1000))
                number += 1000
            try:
                rest = rest[process.stdin.write(rest) or 0 :] if rest else rest
                process.stdin.flush()
            except (BlockingIOError, BrokenPipeError) as error:
                rest = rest[getattr(error, "characters_written", 0) :]
            time.sleep(0.001)
        took = time.monotonic() - signalled
        said = process.stderr.read()
        process.stderr.close()
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        self.assertEqual(process.returncode, 128 + stop, said)
        self.assertIn(b"interrupted", said)
        return took

    def test_an_import_ends_soon_after_a_signal(self) -> None:
        self.assertLess(self.import_until(signal.SIGTERM, feed=True), LIMIT_S)
        self.assertLess(self.import_until(signal.SIGINT, feed=False), LIMIT_S)

    def test_a_limit_on_files_is_an_error_and_no_signal(self) -> None:
        lines = "".join(json.dumps({**LINE, "uid": f"u{i}", "host": "h" * 200}) + "\n" for i in range(2000))
        trace = self.folder / "trace.json.gz"
        shutil.copy(ROOT / "samples/resnet50_v100.pt.trace.json.gz", trace)

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (32768, 32768))

        for words, given in (
            (["analyze", str(trace), "-o", "page.html"], ""),
            (["convert", str(trace), "-o", "trace.json"], ""),
            (["query", str(trace), "SELECT * FROM slice", "--csv", "-o", "rows.csv"], ""),
            (["history", "import", "-", "--db", "h.db"], lines),
            (["history", "record", "--metric", "x=1", "--db", "small.db"], ""),
        ):
            done = self.gapless(*words, status=4, preexec_fn=limit, input=given)
            self.assertRegex(done.stderr, "File too large|ulimit -f", words)
            self.assertEqual([path.name for path in self.folder.iterdir() if ".part-" in path.name], [])
        for name in ("page.html", "trace.json", "rows.csv"):
            self.assertFalse((self.folder / name).exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
