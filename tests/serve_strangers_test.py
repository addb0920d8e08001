#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless serve` among visitors that mean no good, or are many: nobody who should not be served is, and nobody keeps others from it.

usage: serve_strangers_test.py PROGRAM [--seconds N] [CASE...]    N: how long fifty readers ask (5)
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from urllib.parse import urlencode

from corpus import ROOT
from served import PIXELS, PROGRAM, SAMPLE, Case, Served

SECONDS = 5.0


def failed(*words: str) -> tuple[int, str]:
    """The status and the words of a start that does not succeed."""
    done = subprocess.run([PROGRAM, "serve", *words], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


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
        for host in (
            f"evil.example:{port}",
            f"localhost.evil.example:{port}",
            f"192.168.1.5:{port}",
            "",
            f"127.0.0.1.evil.example:{port}",
        ):
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
        self.assertEqual(self.served.query("SELECT length(hex(zeroblob(200000)))")[0], 400, "a text of 400,000 bytes")
        texts = "SELECT hex(zeroblob(50000)) || a.id AS t FROM slice a ORDER BY t"
        status, answer = self.served.query(f"SELECT count(*) FROM ({texts} LIMIT 10 OFFSET 20000)")
        self.assertEqual(status, 400, answer)
        self.assertIn("memory", answer["error"]["message"])
        self.assertEqual(self.served.query("SELECT 1")[0], 200, "the next query has its memory again")

    def test_a_query_has_a_limit_of_time(self) -> None:
        hasty = Served("--query-seconds", "1", str(SAMPLE))
        self.addCleanup(hasty.kill)
        # A search of one text in another has no place at which it could be ended.
        search = "instr(hex(zeroblob(60000 + id % 7)), hex(zeroblob(30000)) || '1')"
        for sql in ("SELECT count(*) FROM slice a, slice b, slice c", f"SELECT sum({search}) FROM slice"):
            begun = time.monotonic()
            status, answer = hasty.query(sql)
            self.assertEqual(status, 400, sql[:60])
            self.assertIn("ended after 1 s", answer["error"]["message"])
            self.assertLess(time.monotonic() - begun, 6, sql[:60])

    def test_requests_that_are_none(self) -> None:
        for request in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x00\xa5\x01" * 9 + b"\r\n\r\n",
                        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"):  # fmt: skip
            answer = self.served.raw(request)
            self.assertNotIn(b" 200 ", answer.split(b"\r\n", 1)[0])
        self.assertEqual(self.served.ask("/api/runs")[0], 200)

    def test_dripping_clients_do_not_keep_a_reader_waiting(self) -> None:
        clients = [socket.create_connection(("127.0.0.1", self.served.port), timeout=10) for _ in range(120)]
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
        wrong: tuple[dict[str, str], ...] = (
            {}, {"Authorization": "Bearer " + "0" * len(token)}, {"Cookie": "gapless_token=1"},
            {"Authorization": token}, {"Cookie": f"other={token}"},
        )  # fmt: skip
        for given in wrong:
            status, answer, body = served.ask("/api/runs", "GET", None, **given)
            self.assertEqual(status, 401, given)
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
                status, said = failed(str(SAMPLE), "--token-file", file.name)
                self.assertEqual(status, 2)
                self.assertIn("holds no token", said)


class Life(unittest.TestCase):
    def test_a_port_that_is_taken(self) -> None:
        first = Served(str(SAMPLE))
        self.addCleanup(first.kill)
        status, said = failed(str(SAMPLE), "--port", str(first.port))
        self.assertEqual(status, 4)
        self.assertIn("--port 0", said)

    def test_the_usual_port_may_be_taken(self) -> None:
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", 8077))
                taken.listen()
            except OSError:
                pass  # it is taken by somebody else
            job = subprocess.Popen([PROGRAM, "serve", str(SAMPLE), "--no-cache"], stdout=subprocess.PIPE, text=True)
            self.addCleanup(job.communicate)
            self.addCleanup(job.kill)
            assert job.stdout is not None
            line = job.stdout.readline()
            self.assertRegex(line, r"http://127\.0\.0\.1:\d+/ ")
            self.assertNotIn(":8077/", line)

    def test_a_recording_that_cannot_be_read(self) -> None:
        self.assertEqual(failed("/nowhere.json")[0], 3)

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
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT sum(i) FROM n"
        begun = time.monotonic()
        served.query(sql.format(400_000))
        half_a_second = int(400_000 * 0.5 / (time.monotonic() - begun))  # two seconds are given to it
        reader = threading.Thread(target=lambda: answers.append(served.query(sql.format(half_a_second))[0]))
        reader.start()
        time.sleep(0.15)
        self.assertEqual(served.stop(), 0)
        reader.join()
        self.assertEqual(answers, [200])

    def stopped_during(self, sql: str) -> int:
        """The status that a query gets whose server is told to stop meanwhile; 0: none."""
        served = Served(str(SAMPLE))
        self.addCleanup(served.kill)
        self.assertEqual(served.ask("/")[0], 200, "nothing but the query is at work")
        status: list[int] = []

        def ask() -> None:
            try:
                status.append(served.query(sql)[0])
            except (OSError, http.client.HTTPException):
                status.append(0)

        reader = threading.Thread(target=ask)
        reader.start()
        time.sleep(0.3)
        begun = time.monotonic()
        self.assertEqual(served.stop(), 0)
        self.assertLess(time.monotonic() - begun, 5)
        reader.join()
        return status[0]

    def test_a_query_that_takes_too_long_is_ended_with_the_server(self) -> None:
        self.assertEqual(self.stopped_during("SELECT count(*) FROM slice a, slice b, slice c"), 500)

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
                    status, _, body = served.ask(
                        f"/api/runs/0/tile?trace=0&level={level}&at={at}", Accept_Encoding="gzip"
                    )
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
    if sys.argv[1:2] == ["--seconds"]:
        SECONDS = float(sys.argv.pop(2))
        sys.argv.pop(1)
    unittest.main()
