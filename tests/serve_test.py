#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless serve` on a real recording: each route gives the numbers that SQL gives, and nobody who should not be served is.

usage: serve_test.py PROGRAM [--seconds N] [CASE...]    N: how long fifty readers ask (5)
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Optional
from urllib.parse import quote, urlencode

from corpus import ROOT

PROGRAM = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
SECONDS = 5.0
if len(sys.argv) > 2 and sys.argv[1] == "--seconds":
    SECONDS = float(sys.argv.pop(2))
    sys.argv.pop(1)
SAMPLE = ROOT / "samples/resnet50_v100.pt.trace.json.gz"
PIXELS = 1024  # of a tile
LEVEL = 16


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
        self, path: str, method: str = "GET", body: Optional[bytes] = None, **headers: str
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


class Routes(Case):
    def lanes(self, kind: str) -> list[dict[str, Any]]:
        return [lane for lane in self.overview()["traces"][0]["lanes"] if lane["kind"] == kind]

    def overview(self) -> Any:
        return self.served.json("/api/runs/0/timeline")

    def tiles(self, level: int) -> list[Any]:
        end = int(self.overview()["to_ns"])
        return [
            self.served.json(f"/api/runs/0/tile?trace=0&level={level}&at={at}")
            for at in range(end // (PIXELS << level) + 1)
        ]

    def test_the_page_holds_the_report_and_may_ask_its_server_alone(self) -> None:
        status, headers, body = self.served.ask("/")
        self.assertEqual(status, 200)
        self.assertTrue(headers["content-type"].startswith("text/html"))
        for policy in (headers["content-security-policy"], body.decode().split("Content-Security-Policy", 1)[1][:300]):
            self.assertIn("connect-src 'self'", policy)
            self.assertIn("default-src 'none'", policy)
        data = re.search(rb'<script type="application/json" id="data">(.*?)</script>', body, re.DOTALL)
        assert data is not None
        inlined = json.loads(data[1])
        self.assertEqual(inlined["served"], {"run": "0"})
        self.assertEqual(inlined, self.served.json("/api/runs/0/report"))

    def test_the_list_of_runs(self) -> None:
        runs = self.served.json("/api/runs")["runs"]
        self.assertEqual([run["id"] for run in runs], ["0"])
        self.assertEqual(runs[0]["events"], rows("SELECT sum(event_count) AS n FROM trace")[0]["n"])

    def test_lanes_count_what_sql_counts(self) -> None:
        kernels = {(row["device"], row["stream"]): row["n"] for row in rows(
            "SELECT device, stream, count(*) AS n FROM gpu_op GROUP BY 1, 2")}  # fmt: skip
        self.assertEqual({(lane["device"], lane["stream"]): lane["events"] for lane in self.lanes("stream")}, kernels)
        calls: dict[int, int] = {}
        for lane in self.lanes("thread"):
            calls[lane["tid"]] = calls.get(lane["tid"], 0) + lane["events"]
        self.assertEqual(calls, {row["tid"]: row["n"] for row in rows("SELECT tid, count(*) AS n FROM slice GROUP BY 1")})

    def test_tiles_add_up_to_what_sql_sums(self) -> None:
        expected = {row["stream"]: (row["n"], row["total"]) for row in rows(
            "SELECT stream, count(*) AS n, sum(dur_ns) AS total FROM gpu_op GROUP BY 1")}  # fmt: skip
        streams = {lane["lane"]: lane["stream"] for lane in self.lanes("stream")}
        for level in (LEVEL, LEVEL + 5):
            sums = {stream: (0, 0) for stream in expected}
            for tile in self.tiles(level):
                for lane in tile["lanes"]:
                    if lane["lane"] not in streams:
                        continue
                    stream = streams[lane["lane"]]
                    for start, count, busy in zip(lane["start"], lane["count"], lane["busy"]):
                        if start >= tile["from_ns"]:
                            sums[stream] = (sums[stream][0] + count, sums[stream][1] + busy)
            self.assertEqual(sums, expected)

    def test_a_kernel_at_level_0_is_the_row_of_its_id(self) -> None:
        row = rows("SELECT id, name, ts_ns, dur_ns, stream, launch_id FROM gpu_op ORDER BY dur_ns DESC LIMIT 1")[0]
        tile = self.served.json(f"/api/runs/0/tile?trace=0&level=0&at={row['ts_ns'] // PIXELS}")
        found = [
            (tile["names"][lane["name"][i]], lane["start"][i], lane["dur"][i])
            for lane in tile["lanes"] if lane["lane"] in {one["lane"] for one in self.lanes("stream")}
            for i, event in enumerate(lane["id"]) if event == row["id"]
        ]  # fmt: skip
        self.assertEqual(found, [(row["name"], row["ts_ns"], row["dur_ns"])])

    def test_an_event_has_its_columns_and_its_launch(self) -> None:
        row = rows("SELECT * FROM gpu_op WHERE launch_id IS NOT NULL LIMIT 1")[0]
        event = self.served.json(f"/api/runs/0/event?kind=gpu_op&id={row['id']}")
        details = {detail["name"]: detail["value"] for detail in event["details"]}
        self.assertEqual(details, {name: value for name, value in row.items() if value is not None})
        self.assertEqual([(link["what"], link["id"]) for link in event["links"]][:1], [("launched by", row["launch_id"])])
        call = self.served.json(f"/api/runs/0/event?kind=slice&id={row['launch_id']}")
        self.assertIn(("launched", row["id"]), [(link["what"], link["id"]) for link in call["links"]])

    def test_a_search_finds_what_sql_finds(self) -> None:
        row = rows("SELECT count(*) AS n FROM slice WHERE name LIKE '%conv%'")[0]
        found = self.served.json("/api/runs/0/search?q=CONV&most=3")
        self.assertEqual((found["total"], len(found["hits"])), (row["n"], 3))
        pattern = self.served.json(f"/api/runs/0/search?q={quote('re:^aten::conv2d$')}")
        self.assertLess(pattern["total"], found["total"])
        self.assertEqual({hit["name"] for hit in pattern["hits"]}, {"aten::conv2d"})

    def test_a_selection_adds_up_to_what_sql_sums(self) -> None:
        overview = self.overview()
        start, end = overview["to_ns"] // 3, overview["to_ns"] // 2
        sums = self.served.json(f"/api/runs/0/selection?trace=0&from={start}&to={end}")
        tables = {table["name"]: table for table in sums["tables"]}
        total = rows(
            f"SELECT sum(min(ts_ns + dur_ns, {end}) - max(ts_ns, {start})) AS n FROM gpu_op "
            f"WHERE ts_ns < {end} AND ts_ns + dur_ns > {start}"
        )[0]["n"]
        operations = tables["device_operations"]
        names = [column["name"] for column in operations["columns"]]
        self.assertEqual(sum(operations["cells"][names.index("total_ns")]), total)
        whole = self.served.json(f"/api/runs/0/selection?trace=0&from=0&to={overview['to_ns']}")
        self.assertGreaterEqual(sum(root["total_ns"] for root in whole["flame"]), sum(root["total_ns"] for root in sums["flame"]))

    def test_a_query_gives_the_rows_of_the_command_line(self) -> None:
        sql = "SELECT name, count(*) AS n, avg(dur_ns) AS mean FROM gpu_op GROUP BY name ORDER BY n DESC, name LIMIT 5"
        status, answer = self.served.query(sql)
        self.assertEqual(status, 200)
        names = [column["name"] for column in answer["columns"]]
        self.assertEqual([dict(zip(names, row)) for row in zip(*answer["cells"])], rows(sql))
        self.assertEqual([column["type"] for column in answer["columns"]], ["text", "int", "real"])
        self.assertEqual((answer["rows"], answer["complete"]), (5, True))

    def test_an_answer_is_sent_once(self) -> None:
        for path in ("/", "/api/runs/0/timeline"):
            _, headers, body = self.served.ask(path)
            self.assertEqual(headers["cache-control"], "no-cache")
            status, again, nothing = self.served.ask(path, If_None_Match=headers["etag"])
            self.assertEqual((status, nothing, again["etag"]), (304, b"", headers["etag"]))
            self.assertEqual(self.served.ask(path, If_None_Match='"other"')[2], body)

    def test_an_answer_is_compressed_for_who_takes_that(self) -> None:
        _, plain_headers, plain = self.served.ask("/api/runs/0/timeline")
        _, headers, packed = self.served.ask("/api/runs/0/timeline", Accept_Encoding="br, gzip;q=0.8")
        self.assertEqual(headers["content-encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed), plain)
        self.assertNotEqual(headers["etag"], plain_headers["etag"])
        self.assertNotIn("content-encoding", self.served.ask("/api/runs/0/timeline", Accept_Encoding="gzip;q=0")[1])

    def test_wrong_parameters_are_explained(self) -> None:
        for path in ("tile?trace=0&level=0", "tile?trace=9&level=1&at=0", "tile?rank=77&level=1&at=0",
                     "tile?trace=0&level=99&at=0", "tile?trace=0&level=0&at=99999999999999999999", "tile?level=1&at=1",
                     "event?kind=nothing&id=0", "event?kind=slice&id=-5", "event?kind=gpu_op&id=x", "search?q=re:(",
                     "selection?trace=0&from=5&to=5", "selection?trace=0&from=0&to=9&lanes=a"):  # fmt: skip
            status, _, body = self.served.ask(f"/api/runs/0/{path}")
            self.assertEqual(status, 400, path)
            self.assertTrue(json.loads(body)["error"]["message"], path)

    def test_two_runs_are_two(self) -> None:
        both = Served(str(SAMPLE), str(ROOT / "tests/data/two_ranks"))
        self.addCleanup(both.kill)
        runs = both.json("/api/runs")["runs"]
        self.assertEqual([run["id"] for run in runs], ["0", "1"])
        self.assertEqual(runs[1]["ranks"], [0, 1])
        traces = both.json("/api/runs/1/timeline")["traces"]
        self.assertEqual([trace["rank"] for trace in traces], [0, 1])
        self.assertEqual(both.json("/api/runs/1/report")["served"], {"run": "1"})


class Strangers(Case):
    def test_only_the_routes_are_there(self) -> None:
        for path in ("/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd",
                     "/api", "/api/", "/api/runs/", "/api/runs/1/report", "/api/runs/0", "/api/runs/0/", "/api/runs/0/../0/report",
                     "/api/runs/0/report/", "/api/runs/%00/report", "/index.html", "/favicon.ico"):  # fmt: skip
            status, _, body = self.served.ask(path)
            self.assertEqual(status, 404, path)
            self.assertEqual(json.loads(body)["error"]["code"], "not_found")

    def test_other_methods_are_refused(self) -> None:
        for method, path in (("POST", "/"), ("PUT", "/api/runs"), ("DELETE", "/api/runs/0/report"), ("POST", "/api/runs"),
                             ("OPTIONS", "/api/runs/0/query"), ("GET", "/api/runs/0/query")):  # fmt: skip
            status, headers, _ = self.served.ask(path, method, b"" if method != "GET" else None)
            self.assertEqual(status, 405, f"{method} {path}")
            self.assertIn(headers["allow"], ("GET", "POST"))

    def test_a_body_has_its_limit(self) -> None:
        body = json.dumps({"sql": "SELECT 1 -- " + "x" * 70_000}).encode()
        head = f"POST /api/runs/0/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        answer = self.served.raw(head.encode() + body)
        self.assertIn(b" 413 ", answer.split(b"\r\n", 1)[0])
        self.assertIn(b"64 KiB", answer)
        self.assertEqual(self.served.query("SELECT 1 -- " + "x" * 60_000)[0], 200)

    def test_only_names_of_this_server_are_answered(self) -> None:
        port = self.served.port
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
            self.assertEqual(self.served.ask("/api/runs", Host=host)[0], 200, host)
        for host in (f"evil.example:{port}", f"localhost.evil.example:{port}", f"192.168.1.5:{port}", "", f"127.0.0.1.evil.example:{port}"):
            self.assertEqual(self.served.ask("/api/runs", Host=host)[0], 421, host)
        self.assertIn(b" 421 ", self.served.raw(b"GET /api/runs HTTP/1.0\r\n\r\n").split(b"\r\n", 1)[0])

    def test_only_its_own_page_may_ask(self) -> None:
        host = f"localhost:{self.served.port}"
        self.assertEqual(self.served.ask("/api/runs", Host=host, Origin=f"http://{host}")[0], 200)
        for origin in ("http://evil.example", "null", f"https://{host}", "http://localhost:1"):
            self.assertEqual(self.served.ask("/api/runs", Host=host, Origin=origin)[0], 403, origin)
        self.assertEqual(self.served.ask("/api/runs", Host=host, Sec_Fetch_Site="cross-site")[0], 403)
        form = b"sql=SELECT+1"
        for kind in ("application/x-www-form-urlencoded", "text/plain"):
            self.assertEqual(self.served.ask("/api/runs/0/query", "POST", form, Content_Type=kind)[0], 403)

    def test_nothing_can_be_written_or_attached(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for sql in (f"ATTACH '{folder}/a.db' AS a", f"VACUUM INTO '{folder}/b.db'", "CREATE TABLE t(a)", "DELETE FROM gpu_op",
                        "UPDATE gpu_op SET name = ''", "INSERT INTO step VALUES (1)", "PRAGMA journal_mode = WAL", "DROP TABLE step",
                        "SELECT load_extension('x')", "SELECT 1; DELETE FROM step", "PRAGMA hard_heap_limit = 0"):  # fmt: skip
                status, answer = self.served.query(sql)
                self.assertEqual(status, 400, sql)
                self.assertTrue(answer["error"]["message"], sql)
            self.assertEqual(os.listdir(folder), [])
        for body in (b"", b"SELECT 1", b'{"sql": 5}', b'["SELECT 1"]', b'{"sql": "SELECT'):
            status, _, _ = self.served.ask("/api/runs/0/query", "POST", body, Content_Type="application/json")
            self.assertEqual(status, 400, body)

    def test_a_query_has_limits_of_rows_and_memory(self) -> None:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        status, answer = self.served.query(endless)
        self.assertEqual((status, answer["rows"], answer["complete"]), (200, 10_000, False))
        status, answer = self.served.query("SELECT length(hex(zeroblob(200000000)))")
        self.assertEqual(status, 400, answer)
        self.assertIn("memory", answer["error"]["message"])
        self.assertEqual(self.served.query("SELECT 1")[0], 200, "the next query has its memory again")

    def test_a_query_has_a_limit_of_time(self) -> None:
        hasty = Served("--query-seconds", "1", str(SAMPLE))
        self.addCleanup(hasty.kill)
        begun = time.monotonic()
        status, answer = hasty.query("SELECT count(*) FROM slice a, slice b, slice c")
        self.assertEqual(status, 400)
        self.assertIn("ended after 1 s", answer["error"]["message"])
        self.assertLess(time.monotonic() - begun, 5)

    def test_requests_that_are_none(self) -> None:
        for request in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x00\xa5\x01" * 9 + b"\r\n\r\n",
                        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"):  # fmt: skip
            answer = self.served.raw(request)
            self.assertNotIn(b" 200 ", answer.split(b"\r\n", 1)[0])
        self.assertEqual(self.served.ask("/api/runs")[0], 200)

    def test_dripping_clients_do_not_keep_a_reader_waiting(self) -> None:
        clients = [socket.create_connection(("127.0.0.1", self.served.port), timeout=10) for _ in range(60)]
        stop = threading.Event()

        def drip() -> None:
            while not stop.wait(0.2):
                for client in clients:
                    try:
                        client.sendall(b"G")
                    except OSError:
                        pass

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            for _ in range(5):
                begun = time.monotonic()
                self.assertEqual(self.served.ask("/api/runs")[0], 200)
                self.assertLess(time.monotonic() - begun, 3)
        finally:
            stop.set()
            thread.join()
            for client in clients:
                client.close()


class Tokens(unittest.TestCase):
    def serve(self, *words: str) -> Served:
        served = Served(*words, str(ROOT / "tests/data/cpu_only.json"))
        self.addCleanup(served.kill)
        return served

    def check(self, served: Served, token: str) -> None:
        for headers in ({}, {"Authorization": "Bearer " + "0" * len(token)}, {"Cookie": "gapless_token=1"},
                        {"Authorization": token}, {"Cookie": f"other={token}"}):  # fmt: skip
            status, answer, body = served.ask("/api/runs", **headers)
            self.assertEqual(status, 401, headers)
            self.assertIn("www-authenticate", answer)
            self.assertNotIn(token.encode(), body)
        self.assertEqual(served.ask("/")[0], 401)
        self.assertEqual(served.ask("/?token=" + token[:-1])[0], 401)
        self.assertEqual(served.ask("/api/runs", Authorization=f"Bearer {token}")[0], 200)
        status, headers, body = served.ask("/?" + urlencode({"token": token}))
        self.assertEqual((status, headers["location"], body), (303, "/", b""))
        cookie = headers["set-cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        self.assertEqual(served.ask("/", Cookie="a=b; " + cookie.split(";")[0])[0], 200)

    def test_other_addresses_ask_for_a_token(self) -> None:
        served = self.serve("--host", "0.0.0.0")
        assert served.token is not None
        self.assertGreaterEqual(len(served.token), 64)
        self.check(served, served.token)
        self.assertNotEqual(self.serve("--host", "0.0.0.0").token, served.token)

    def test_a_token_of_ones_own_is_asked_for_everywhere(self) -> None:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("my-own_token-0123456789\n")
            file.flush()
            self.check(self.serve("--token-file", file.name), "my-own_token-0123456789")

    def test_a_bad_token_file_is_an_error(self) -> None:
        with tempfile.NamedTemporaryFile("w") as file:
            for text in ("short", "sixteen characters; no", "x" * 600):
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                done = subprocess.run([PROGRAM, "serve", str(SAMPLE), "--token-file", file.name], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertIn("holds no token", done.stderr)


class Life(unittest.TestCase):
    def test_a_port_that_is_taken(self) -> None:
        first = Served(str(SAMPLE))
        self.addCleanup(first.kill)
        done = subprocess.run([PROGRAM, "serve", str(SAMPLE), "--port", str(first.port)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4)
        self.assertIn("--port 0", done.stderr)

    def test_a_recording_that_cannot_be_read(self) -> None:
        done = subprocess.run([PROGRAM, "serve", "/nowhere.json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)

    def test_it_ends_by_a_signal_without_failure(self) -> None:
        served = Served(str(SAMPLE))
        self.addCleanup(served.kill)
        self.assertEqual(served.ask("/")[0], 200)
        begun = time.monotonic()
        self.assertEqual(served.stop(), 0)
        self.assertLess(time.monotonic() - begun, 1.5)

    def test_what_is_under_way_is_finished(self) -> None:
        served = Served(str(SAMPLE))
        self.addCleanup(served.kill)
        self.assertEqual(served.ask("/api/runs/0/timeline")[0], 200)
        answers: list[int] = []
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000000) SELECT sum(i) FROM n"
        reader = threading.Thread(target=lambda: answers.append(served.query(sql)[0]))
        reader.start()
        time.sleep(0.15)
        self.assertEqual(served.stop(), 0)
        reader.join()
        self.assertEqual(answers, [200])

    def test_what_takes_too_long_does_not_keep_it(self) -> None:
        served = Served(str(SAMPLE))
        self.addCleanup(served.kill)
        status: list[int] = []

        def endless() -> None:
            try:
                status.append(served.query("SELECT count(*) FROM slice a, slice b, slice c")[0])
            except (OSError, http.client.HTTPException):
                status.append(0)

        reader = threading.Thread(target=endless)
        reader.start()
        time.sleep(0.3)
        begun = time.monotonic()
        self.assertEqual(served.stop(), 0)
        self.assertLess(time.monotonic() - begun, 5)
        reader.join()
        self.assertNotIn(200, status)

    def test_fifty_readers_at_once(self) -> None:
        served = Served(str(SAMPLE))
        self.addCleanup(served.kill)
        to_ns = served.json("/api/runs/0/timeline")["to_ns"]
        end = time.monotonic() + SECONDS
        failures: list[str] = []
        done = [0] * 50

        def read(reader: int) -> None:
            while time.monotonic() < end:
                level = 12 + (reader + done[reader]) % 12
                at = (reader * 7919 + done[reader]) % (to_ns // (PIXELS << level) + 1)
                try:
                    status, _, body = served.ask(f"/api/runs/0/tile?trace=0&level={level}&at={at}", Accept_Encoding="gzip")
                except (OSError, http.client.HTTPException) as error:
                    failures.append(repr(error))
                    continue
                if status != 200 or not body:
                    failures.append(f"{status} {body[:100]!r}")
                done[reader] += 1

        readers = [threading.Thread(target=read, args=(reader,)) for reader in range(50)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        self.assertEqual(failures[:3], [])
        self.assertGreater(min(done), 0)
        print(f"fifty readers: {sum(done)} tiles in {SECONDS:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
