# SPDX-License-Identifier: Apache-2.0
"""`gapless serve` as the tests have it: started on a recording, asked, stopped."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAM = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
SAMPLE = ROOT / "samples/resnet50_v100.pt.trace.json.gz"
PIXELS = 1024  # of a tile


class Served:
    """The program as it serves, until stop()."""

    def __init__(self, *words: str) -> None:
        self.job = subprocess.Popen(
            [PROGRAM, "serve", "--no-cache", "--port", "0", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.job.stdout is not None
        self.line = self.job.stdout.readline()
        found = re.search(r"http://\[?([^/\]]+)\]?:(\d+)/(?:\?token=(\S+))?", self.line)
        if not found:
            self.job.kill()
            raise AssertionError(f"no address: {self.line!r} {self.job.communicate()[1]}")
        self.port = int(found[2])
        self.token = found[3]

    def stop(self) -> int:
        self.job.send_signal(signal.SIGTERM)
        self.job.communicate(timeout=60)
        return self.job.returncode

    def kill(self) -> None:
        self.job.kill()
        self.job.communicate()

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        status, _, body = self.ask(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body[:300]!r}")
        return json.loads(body)

    def query(self, sql: str) -> tuple[int, Any]:
        body = json.dumps({"sql": sql}).encode()
        status, _, answer = self.ask("/api/runs/0/query", "POST", body, Content_Type="application/json")
        return status, json.loads(answer)

    def raw(self, request: bytes, limit_s: float = 20) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=limit_s) as client:
            client.sendall(request)
            answer = b""
            while part := client.recv(65536):
                answer += part
        return answer


def rows(sql: str) -> Any:
    """The rows that the program gives on the command line."""
    command = [PROGRAM, "query", str(SAMPLE), sql, "--no-cache", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=120).stdout)


class Case(unittest.TestCase):
    served: Served

    @classmethod
    def setUpClass(cls) -> None:
        cls.served = Served(str(SAMPLE))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.served.kill()
