#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/fetch_corpus on a git directory and a server that are made here, and what tests/truth_test.py says of what is there.

usage: fetch_corpus_test.py
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import truth_test
from corpus_parts import recording, sources

OLD, NEW = b'{"traceEvents": []}', b'{"traceEvents": [{}]}'
ODD = ":(a folder/+näme [1] *?#%3A:.json"
MISSING_COMMIT = "0" * 39 + "1"
MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Folders(unittest.TestCase):
    """A git directory of a repository me/traces, a folder of truths, and an empty one for recordings."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.truths, self.to, self.mirror = self.root / "truths", self.root / "to", self.root / "mirror"
        self.work = self.mirror / "me+traces"
        for made in (self.truths, self.to, self.work):
            made.mkdir(parents=True)
        self.git("init", "--quiet")
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as files:
            member = tarfile.TarInfo("inside/trace.json")
            member.size = len(OLD)
            files.addfile(member, io.BytesIO(OLD))
        self.old = self.commit({"trace.json": OLD, ODD: NEW, "all.tar.gz": archive.getvalue(), "LICENSE": MIT.encode()})
        (self.work / "link.json").symlink_to("/etc/passwd")
        self.new = self.commit({"trace.json": NEW})

    def git(self, *words: str) -> str:
        name = ["-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", "-C", str(self.work), *name, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, files: dict[str, bytes]) -> str:
        for name, data in files.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_bytes(data)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "more")
        return self.git("rev-parse", "HEAD")

    def truth(self, slug: str, **keys: str | int) -> None:
        keys = {"origin": "me/traces", "commit": self.old, "path": "trace.json", **keys}
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
        text = '\ntruth = """\nNothing.\n"""\n[facts]\nworkload = "nothing"\nstate = "empty"\n'
        (self.truths / f"{slug}.toml").write_text("\n".join(lines) + text, encoding="utf-8")

    def command(self, *words: str) -> list[str]:
        own = ["--truths", str(self.truths), "--to", str(self.to)]
        return [sys.executable, str(ROOT / "tools/fetch_corpus"), *own, *words]

    def fetch(self, *words: str, status: int = 0) -> str:
        """The tool's output; from the git directory unless told otherwise."""
        origin = () if "--url" in words else ("--from", str(self.mirror))
        done = subprocess.run(self.command(*origin, *words), capture_output=True, text=True, check=False, timeout=60)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, said)
        return said

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.to.iterdir()}


class FromGit(Folders):
    def test_the_file_is_that_of_the_commit(self) -> None:
        self.truth("old", sha256=sha256(OLD))
        self.assertIn("0 were here, 1 brought, 0 not", self.fetch())
        self.assertEqual(self.files(), {"me__traces__trace.json": OLD})
        self.assertIn("1 were here, 0 brought, 0 not", self.fetch())

    def test_another_checksum_is_refused_and_named(self) -> None:
        self.truth("wrong", sha256=sha256(NEW))
        said = self.fetch(status=1)
        self.assertIn(f"wrong: refused: its checksum is {sha256(OLD)}, not {sha256(NEW)}", said)
        self.assertEqual(self.files(), {})

    def test_a_missing_commit_is_replaced_by_the_version_with_the_checksum(self) -> None:
        self.truth("moved", commit=MISSING_COMMIT, sha256=sha256(OLD))
        self.fetch()
        self.assertEqual(self.files(), {"me__traces__trace.json": OLD})

    def test_a_missing_commit_without_a_checksum_brings_nothing(self) -> None:
        self.truth("lost", commit=MISSING_COMMIT)
        self.assertIn(f"does not have commit {MISSING_COMMIT[:12]}, and no checksum", self.fetch(status=1))
        self.assertEqual(self.files(), {})

    def test_odd_names(self) -> None:
        self.truth("odd", path=ODD, sha256=sha256(NEW))
        self.fetch()
        self.assertEqual(self.files(), {f"me__traces__{ODD.replace('/', '__')}": NEW})
        self.truth("odd", path=ODD, commit=MISSING_COMMIT, sha256=sha256(NEW))
        (self.to / f"me__traces__{ODD.replace('/', '__')}").unlink()
        self.fetch()

    def test_a_member_of_an_archive(self) -> None:
        inside: dict[str, str | int] = {"stored": "all.tar.gz", "sha256": sha256(OLD), "bytes": len(OLD)}
        self.truth("member", path="name.json", member="inside/trace.json", **inside)
        self.truth("none", path="none.json", member="inside/none.json", **inside)
        self.assertIn("none: the archive has no inside/none.json", self.fetch(status=1))
        self.assertEqual(self.files(), {"me__traces__name.json": OLD})

    def test_what_is_no_file_is_not_brought(self) -> None:
        self.truth("link", path="link.json", commit=self.new)
        self.truth("folder", path=":(a folder")
        self.truth("absent", path="absent.json")
        said = self.fetch(status=1)
        self.assertIn("link.json in commit", said)
        self.assertIn(":(a folder in commit", said)
        self.assertIn("has no absent.json", said)
        self.assertEqual(self.files(), {})

    def test_one_of_more_bytes_than_are_accepted(self) -> None:
        self.truth("large")
        self.assertIn(f"the file has {len(OLD)} bytes, more than 10", self.fetch("--most-mb", "0.00001", status=1))
        self.assertEqual(self.files(), {})

    def test_a_pointer_of_lfs_is_not_the_file(self) -> None:
        pointer = sources.LFS + b"\noid sha256:1\n"
        self.truth("pointer", commit=self.commit({"trace.json": pointer}))
        self.assertIn("pointer of Git LFS", self.fetch(status=1))
        self.assertEqual(self.files(), {})

    def test_a_partial_copy_says_what_it_lacks_and_runs_nothing(self) -> None:
        self.truth("partial", sha256=sha256(OLD))
        found = self.git("rev-parse", f"{self.old}:trace.json")
        (self.work / ".git/objects" / found[:2] / found[2:]).unlink()
        ran = self.root / "ran"
        for key, value in {
            "core.repositoryformatversion": "1",
            "extensions.partialClone": "other",
            "remote.other.promisor": "true",
            "remote.other.url": f"ext::sh -c touch% {ran}",
            "protocol.ext.allow": "always",
        }.items():
            self.git("config", key, value)
        self.assertIn("lists the file and does not have it", self.fetch(status=1))
        self.assertFalse(ran.exists())
        self.assertEqual(self.files(), {})

    def test_a_file_with_the_name_and_another_checksum_stays_until_told(self) -> None:
        self.truth("other", sha256=sha256(OLD))
        (self.to / "me__traces__trace.json").write_bytes(NEW)
        self.assertIn("is not the recording", self.fetch(status=1))
        self.assertEqual(self.files(), {"me__traces__trace.json": NEW})
        self.fetch("--replace")
        self.assertEqual(self.files(), {"me__traces__trace.json": OLD})

    def test_the_list_brings_nothing(self) -> None:
        self.truth("there", sha256=sha256(OLD), licence="MIT", bytes=2 << 20)
        self.truth("new", path="new.json")
        said = self.fetch("--list")
        self.assertRegex(said, r"missing +2\.00 MB  MIT +there  me/traces@")
        self.assertRegex(said, r"missing +size \? +licence \? +no checksum yet  new")
        self.assertEqual(self.files(), {})

    def test_what_was_found_out_is_noted(self) -> None:
        self.truth("short", commit=self.old[:10], corpus="none/trace.json")
        self.assertIn("0 not", self.fetch("short", "--note"))
        keys = recording.head((self.truths / "short.toml").read_text())
        found = {"commit": self.old, "sha256": sha256(OLD), "bytes": len(OLD), "licence": "MIT"}
        self.assertEqual(keys, {"origin": "me/traces", "path": "trace.json", "corpus": "none/trace.json", **found})

    def test_a_wrong_name_is_told_the_right_one(self) -> None:
        self.truth("matmul")
        self.assertIn("no truth matmull; did you mean matmul?", self.fetch("matmull", status=2))

    def test_paths_that_leave_the_folder_are_no_truths(self) -> None:
        for key in ("path", "stored", "corpus"):
            self.truth("out", **{key: "../trace.json"})
            self.assertIn(f"out: {key} is not as it should be", self.fetch(status=2))


class Server(BaseHTTPRequestHandler):
    """GitHub's answers: /me/traces/<commit>/<path>, where the commit says how it answers."""

    asked = threading.Event()

    def do_GET(self) -> None:
        commit, path = urllib.parse.unquote(self.path).split("/", 4)[3:]
        self.send_response(404 if commit == MISSING_COMMIT else 200)
        size = {"e" * 40: len(OLD) + 1, "d" * 40: 1 << 20}.get(commit, len(OLD))
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if commit == "d" * 40:
            self.drip(size)
        elif path == ODD or commit != MISSING_COMMIT:
            self.wfile.write(OLD)

    def drip(self, size: int) -> None:
        self.asked.set()
        with contextlib.suppress(OSError):
            for _ in range(size):
                self.wfile.write(b"x")
                time.sleep(0.02)

    def log_message(self, *_: object) -> None:
        pass


class FromTheNetwork(Folders):
    def setUp(self) -> None:
        super().setUp()
        server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        Server.asked.clear()

    def test_a_file_with_an_odd_name(self) -> None:
        self.truth("odd", path=ODD, sha256=sha256(OLD), bytes=len(OLD))
        self.fetch("--url", self.url)
        self.assertEqual(self.files(), {f"me__traces__{ODD.replace('/', '__')}": OLD})

    def test_what_is_gone_and_what_is_too_long(self) -> None:
        self.truth("gone", commit=MISSING_COMMIT)
        self.truth("long", path="long.json", sha256=sha256(OLD), bytes=5)
        said = self.fetch("--url", self.url, status=1)
        self.assertIn("gone: HTTP 404 for", said)
        self.assertIn("long: the file has more than 5 bytes", said)
        self.assertEqual(self.files(), {})

    def test_an_answer_that_is_cut_is_no_file(self) -> None:
        bounds = sources.Bounds(1 << 20, threading.Event())
        with self.assertRaisesRegex(ConnectionError, "19 bytes of 20 came"), io.BytesIO() as file:
            sources.GitHub(self.url).fetch_once(f"{self.url}/me/traces/{'e' * 40}/trace.json", file, bounds)

    def test_told_to_stop_it_leaves_no_part_of_a_file(self) -> None:
        self.truth("slow", commit="d" * 40)
        for told in (signal.SIGINT, signal.SIGTERM):
            Server.asked.clear()
            child = subprocess.Popen(self.command("--url", self.url), stderr=subprocess.PIPE, text=True)
            self.assertTrue(Server.asked.wait(30))
            while not self.files():
                time.sleep(0.01)
            child.send_signal(told)
            _, said = child.communicate(timeout=30)
            self.assertEqual(child.returncode, 130)
            self.assertIn("stopped: 0 brought, and no part of a file is left", said)
            self.assertEqual(self.files(), {})


class Truths(Folders):
    def test_each_has_a_name_and_a_checksum_or_is_known_to_lack_it(self) -> None:
        recordings = recording.read().values()
        names = [one.name for one in recordings]
        self.assertEqual(len(names), len(set(names)))
        without = {one.slug for one in recordings if one.origin and not one.sha256}
        self.assertLessEqual(without, {"param_dlrm_8_ranks_v100", "synthetic_two_kernels_without_pid"})

    def test_the_keys_are_read_as_toml_reads_them(self) -> None:
        if sys.version_info < (3, 11):
            self.skipTest("Python reads TOML from 3.11 on")
        loads = importlib.import_module("tomllib").loads
        for path in recording.TRUTHS.glob("*.toml"):
            text = path.read_text(encoding="utf-8")
            others = {"truth", "read_by", "facts", "must", "must_not"}
            self.assertEqual(recording.head(text), {k: v for k, v in loads(text).items() if k not in others}, path.name)

    def judged(self) -> tuple[int, str]:
        """The status and words of tests/truth_test.py about the truths here, with a program that can read nothing."""
        program = self.root / "program"
        program.write_text("#!/bin/sh\necho '{}'\n")
        program.chmod(0o755)
        with (
            mock.patch.object(truth_test, "TRUTHS", self.truths),
            mock.patch.object(sys, "argv", ["truth_test.py", str(program)]),
            mock.patch.object(recording.Recording.place, "__defaults__", (self.to, self.root / "corpus")),
            contextlib.redirect_stdout(io.StringIO()) as said,
        ):
            status = truth_test.main()
        return status, said.getvalue()

    def test_the_test_says_how_many_ran_and_what_brings_the_rest(self) -> None:
        if sys.version_info < (3, 11):
            self.skipTest("Python reads TOML from 3.11 on")
        self.truth("one", sha256=sha256(OLD))
        self.truth("two", path="two.json", sha256=sha256(OLD))
        self.truth("three", path="three.json", sha256=sha256(OLD))
        brings = "tools/fetch_corpus brings"
        self.assertEqual(self.judged(), (77, f"skipped: recordings not here: 3; {brings} 3 of them\n"))
        (self.to / "me__traces__trace.json").write_bytes(OLD)
        (self.to / "me__traces__two.json").write_bytes(NEW)
        status, said = self.judged()
        self.assertEqual(status, 0)
        self.assertIn("3 truths, 1 ran: 1 agreed, 0 partly, 0 wrong\nrecordings not here: 1", said)
        self.assertIn(f"{brings} 1 of them", said)
        self.assertRegex(said, r"two: .*two\.json is not the recording \(another checksum\), so it was not judged")


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C.UTF-8"
    unittest.main()
