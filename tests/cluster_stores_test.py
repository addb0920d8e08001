#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gapless.cluster with recordings and summaries in object stores: in memory, and in S3 as moto plays it on the loopback address, with objects
that stall and that are cut off.

usage: cluster_stores_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import cluster_job
from cluster_job import as_of_recordings, has, report_of
from corpus import ROOT

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
RANKS = cluster_job.RANKS


@unittest.skipUnless(has("fsspec"), "not installed: fsspec")
class Memory(cluster_job.Case):
    def setUp(self) -> None:
        super().setUp()
        import fsspec

        self.store = fsspec.filesystem("memory")
        self.addCleanup(lambda: self.store.rm("/runs", recursive=True) if self.store.exists("/runs") else None)
        for file in self.job.iterdir():
            self.store.pipe_file(f"/runs/42/{file.name}", file.read_bytes())

    def test_the_report_is_that_of_the_recordings(self) -> None:
        report = cluster.analyze("memory://runs/42")
        direct = report_of(PROGRAM, self.job, "--no-cache").decode()
        self.assertEqual(
            as_of_recordings(report.text).replace("memory://runs/42", "URL").splitlines()[1:],
            direct.replace(str(self.job), "URL").splitlines()[1:],
        )
        self.assertEqual(report.summarized.summaries[0].recording, "memory://runs/42/rank0.json")
        self.assertEqual(report.summarized.summaries[0].bytes_read, (self.job / "rank0.json").stat().st_size)

    def test_summaries_stay_in_the_store(self) -> None:
        first = cluster.analyze("memory://runs/42/", summaries="memory://runs/42/s")
        second = cluster.analyze("memory://runs/42/", summaries="memory://runs/42/s")
        self.assertEqual((first.summarized.made, second.summarized.made, second.text), (RANKS, 0, first.text))
        self.store.pipe_file("/runs/42/rank1.json", cluster_job.BAD.encode())
        third = cluster.analyze("memory://runs/42/", summaries="memory://runs/42/s")
        self.assertEqual(list(third.lost), ["memory://runs/42/rank1.json"])
        self.assertEqual(cluster.analyze("memory://runs/42/s").ranks[:1], [0])

    def test_patterns_folders_below_and_what_is_not_there(self) -> None:
        self.assertEqual(cluster.analyze("memory://runs/42/rank[0-2].json").ranks, [0, 1, 2])
        self.assertEqual(cluster.analyze("memory://runs").ranks, list(range(RANKS)))
        done = cluster.analyze(["memory://runs/42/rank0.json", "memory://runs/42/none.json"])
        self.assertEqual(done.lost, {"memory://runs/42/none.json": "there is no such object"})
        with self.assertRaisesRegex(ProgramError, "cannot read nothing://x"):
            cluster.analyze("nothing://x")

    def test_a_run_folder_is_fetched_as_a_whole(self) -> None:
        for name, content in (
            ("control", b"x"),
            ("manifest.json", b"{}"),
            ("rank0/a.pt.trace.json", (self.job / "rank0.json").read_bytes()),
        ):
            self.store.pipe_file(f"/runs/43/{name}", content)
        report = cluster.analyze("memory://runs/43")
        self.assertEqual([one.recording for one in report.summarized], ["memory://runs/43"])
        self.assertEqual(report.ranks, [0])

    def test_merging_into_a_store(self) -> None:
        done = cluster.summarize("memory://runs/42", summaries="memory://runs/s")
        cluster.merge(done, output="memory://runs/42.tar")
        self.assertEqual(cluster.analyze("memory://runs/42.tar").ranks, list(range(RANKS)))


class Faults(BaseHTTPRequestHandler):
    """Between the store's package and the store: passes everything on, but for objects that stall or end too early."""

    protocol_version = "HTTP/1.1"
    store = 0  # its port
    faults: ClassVar[dict[str, str]] = {}

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        onward = HTTPConnection("127.0.0.1", Faults.store)
        onward.request(self.command, self.path, body, dict(self.headers))
        answer = onward.getresponse()
        content = answer.read()
        fault = Faults.faults.get(self.path.partition("?")[0].rpartition("/")[2], "") if self.command == "GET" else ""
        stated = len(content)
        if fault == "short":
            content = content[: len(content) // 2]
            stated = len(content)
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "x-amz-checksum-crc32"):
                self.send_header(name, value)
        stated = int(answer.getheader("Content-Length") or 0) if self.command == "HEAD" else stated
        self.send_header("Content-Length", str(stated))
        self.end_headers()
        if fault in ("stall", "cut"):
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            if fault == "stall":
                Faults.freed.wait(30)
            self.close_connection = True
        elif self.command != "HEAD":
            self.wfile.write(content)

    freed = threading.Event()
    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

    def log_message(self, *_: Any) -> None:
        pass


class Between(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A connection that nobody needs any more is no news."""


@unittest.skipUnless(has("moto", "s3fs"), "not installed: moto, s3fs (tools/cluster_env.sh)")
class S3(cluster_job.Case):
    options: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        import s3fs
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        cls.addClassCleanup(server.stop)
        Faults.store = server.get_host_and_port()[1]
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        between = Between(("127.0.0.1", 0), Faults)
        threading.Thread(target=between.serve_forever, daemon=True).start()
        cls.addClassCleanup(between.shutdown)
        address = f"http://127.0.0.1:{between.server_address[1]}"
        cls.options = {"endpoint_url": address, "key": "a-key-of-tests", "secret": "a-secret-of-tests"}
        cls.store = s3fs.S3FileSystem(**cls.options)
        cls.store.mkdir("runs")
        for file in cls.job.iterdir():
            cls.store.pipe_file(f"runs/42/{file.name}", file.read_bytes())

    store: Any

    @contextlib.contextmanager
    def fault(self, **faults: str) -> Iterator[None]:
        Faults.faults = {f"{name}.json": fault for name, fault in faults.items()}
        Faults.freed.clear()
        self.store.invalidate_cache()
        try:
            yield
        finally:
            Faults.freed.set()
            Faults.faults = {}

    def test_the_report_is_that_of_the_recordings(self) -> None:
        first = cluster.analyze("s3://runs/42/", summaries="s3://runs/s", storage_options=self.options)
        direct = report_of(PROGRAM, self.job, "--no-cache").decode()
        self.assertEqual(
            as_of_recordings(first.text).replace("s3://runs/42", "URL").splitlines()[1:],
            direct.replace(str(self.job), "URL").splitlines()[1:],
        )
        second = cluster.analyze("s3://runs/42/", summaries="s3://runs/s", storage_options=self.options)
        self.assertEqual((first.summarized.made, second.summarized.made, second.text), (RANKS, 0, first.text))
        self.store.pipe_file("runs/42/rank1.json", (self.job / "rank1.json").read_bytes() + b"\n")
        third = cluster.summarize("s3://runs/42/", summaries="s3://runs/s", storage_options=self.options)
        self.assertEqual([one.rank for one in third if one.made], [1])
        self.assertEqual(len(self.store.ls("runs/s", refresh=True)), RANKS)

    def test_what_stalls_and_what_is_cut_off_is_named(self) -> None:
        with self.fault(rank1="stall", rank2="short", rank3="cut"):
            began = time.monotonic()
            report = cluster.analyze("s3://runs/42/", storage_options=self.options, timeout=1)
            took = time.monotonic() - began
        self.assertEqual(report.ranks, [0, 4, 5])
        size = self.store.info("runs/42/rank2.json")["size"]
        self.assertEqual(report.lost["s3://runs/42/rank1.json"], "stalled: no bytes came for 1 s, after 0")
        self.assertRegex(report.lost["s3://runs/42/rank2.json"], rf"^cut off: [\d,]+ of {size:,} bytes came")
        self.assertRegex(report.lost["s3://runs/42/rank3.json"], "^(stalled|cannot be read): ")
        self.assertLess(took, 20)

    def test_credentials_are_never_written(self) -> None:
        said: list[str] = []
        with self.assertRaises(ProgramError) as caught:
            cluster.analyze("s3://none/42/rank0.json", storage_options=self.options)
        said.append(str(caught.exception))
        done = cluster.summarize("s3://runs/42/", summaries=self.here / "s", storage_options=self.options)
        said.append(repr(done))
        said += [path.read_bytes().decode("latin-1") for path in (self.here / "s").iterdir()]
        for text in said:
            self.assertNotIn("a-secret-of-tests", text)
            self.assertNotIn("a-key-of-tests", text)

    def test_the_program_reads_urls_with_the_credentials_of_its_environment(self) -> None:
        environment = {
            **os.environ, "AWS_ENDPOINT_URL": self.options["endpoint_url"], "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"
        }  # fmt: skip
        done = subprocess.run([PROGRAM, "analyze", "s3://runs/42/", "--summaries", "s3://runs/t"], env=environment, capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        direct = report_of(PROGRAM, self.job, "--no-cache").decode()
        self.assertEqual(
            as_of_recordings(done.stdout).replace("s3://runs/42", "URL").splitlines()[1:],
            direct.replace(str(self.job), "URL").splitlines()[1:],
        )
        self.assertEqual(len(self.store.ls("runs/t", refresh=True)), RANKS)
        again = subprocess.run(
            [PROGRAM, "analyze", "s3://runs/t"], env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(again.stdout.splitlines()[1:], done.stdout.splitlines()[1:])


class Stamps(unittest.TestCase):
    def test_they_tell_recordings_and_what_they_were_before_apart(self) -> None:
        found = storage.Found("a", "/a", "file", 5, "1")
        same = storage.Found("other name", "/a", "file", 5, "1")
        self.assertEqual(found.stamp("v1"), same.stamp("v1"))
        for other in (storage.Found("a", "/a", "file", 6, "1"), storage.Found("a", "/a", "file", 5, "2")):
            self.assertEqual(other.stamp("v1")[: storage.LOCATION], found.stamp("v1")[: storage.LOCATION])
            self.assertNotEqual(other.stamp("v1"), found.stamp("v1"))
        self.assertNotEqual(found.stamp("v2"), found.stamp("v1"))
        self.assertNotEqual(storage.Found("b", "/b", "file", 5, "1").stamp("v1")[:10], found.stamp("v1")[:10])

    def test_what_gives_access_is_not_shown(self) -> None:
        for url, shown in (
            ("https://me:secret@host/a.json", "https://host/a.json"), ("s3://b/a@b.json", "s3://b/a@b.json"),
            ("https://h/a?X-Amz-Signature=1", "https://h/a"), ("https://h/a?id=1", "https://h/a?id=1"), ("memory://a", "memory://a"),
        ):  # fmt: skip
            self.assertEqual(storage.shown(url), shown)
        self.assertEqual(storage.without_secrets("a KEY1 b", {"x": {"key": "KEY1"}}), "a … b")


if __name__ == "__main__":
    cluster_job.in_its_environment()
    cluster_job.use(PROGRAM)

from gapless import cluster
from gapless.cluster import storage
from gapless.program import ProgramError

if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
