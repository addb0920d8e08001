#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless serve` on a real recording: each route gives the numbers that SQL gives.

usage: serve_test.py PROGRAM [CASE...]
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import unittest
from typing import Any
from urllib.parse import quote

from corpus import ROOT
from served import PIXELS, PROGRAM, SAMPLE, Case, Served, rows

LEVEL = 16


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
        self.assertEqual(inlined["served"], {"run": "0", "several": False})
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
        self.assertEqual(
            calls, {row["tid"]: row["n"] for row in rows("SELECT tid, count(*) AS n FROM slice GROUP BY 1")}
        )

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
        self.assertEqual(
            [(link["what"], link["id"]) for link in event["links"]][:1], [("launched by", row["launch_id"])]
        )
        call = self.served.json(f"/api/runs/0/event?kind=slice&id={row['launch_id']}")
        self.assertIn(("launched", row["id"]), [(link["what"], link["id"]) for link in call["links"]])

    def test_a_search_finds_what_sql_finds(self) -> None:
        row = rows(
            "SELECT count(*) AS n FROM (SELECT name FROM slice UNION ALL SELECT name FROM gpu_op UNION ALL "
            "SELECT name FROM gpu_annotation UNION ALL SELECT name FROM step) WHERE name LIKE '%conv%'"
        )[0]
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
        self.assertGreaterEqual(
            sum(root["total_ns"] for root in whole["flame"]), sum(root["total_ns"] for root in sums["flame"])
        )

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

    def test_json_says_where_it_is(self) -> None:
        job = subprocess.Popen(
            [PROGRAM, "serve", str(SAMPLE), "--no-cache", "--port", "0", "--json"], stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        assert job.stdout is not None
        lines = [""]
        while lines[-1] not in ("}\n", "") or len(lines) == 1:
            lines.append(job.stdout.readline())
        document = json.loads("".join(lines))
        self.assertEqual(document["gapless"]["command"], "serve")
        self.assertEqual([run["id"] for run in document["runs"]], ["0"])
        self.assertRegex(document["address"], r"^http://127\.0\.0\.1:\d+/$")

    def test_two_runs_are_two(self) -> None:
        both = Served(str(SAMPLE), str(ROOT / "tests/data/two_ranks"))
        self.addCleanup(both.kill)
        runs = both.json("/api/runs")["runs"]
        self.assertEqual([run["id"] for run in runs], ["0", "1"])
        self.assertEqual(runs[1]["ranks"], [0, 1])
        traces = both.json("/api/runs/1/timeline")["traces"]
        self.assertEqual([trace["rank"] for trace in traces], [0, 1])
        self.assertEqual(both.json("/api/runs/1/report")["served"], {"run": "1", "several": True})
        self.assertIn(b'"run": "1"', both.ask("/?run=1")[2])
        self.assertEqual(both.ask("/?run=2")[0], 404)

    def test_two_runs_differ_by_what_why_says(self) -> None:
        other = ROOT / "tests/data/two_ranks"
        both = Served(str(SAMPLE), str(other))
        self.addCleanup(both.kill)
        said = both.json("/api/runs/1/compare?with=0")
        done = subprocess.run(
            [PROGRAM, "why", str(SAMPLE), str(other), "--no-cache", "--json"], capture_output=True, check=True
        )
        self.assertEqual(said["causes"], json.loads(done.stdout)["causes"])
        self.assertEqual(sum(cause["ns"] for cause in said["causes"]), said["difference_ns"])
        self.assertEqual(both.ask("/api/runs/1/compare?with=7")[0], 400)


if __name__ == "__main__":
    unittest.main()
