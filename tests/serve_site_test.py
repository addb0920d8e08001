#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless serve` on what is no recording: a history, a search for fixes and a job under way give the numbers of their own
commands, a site needs no recording, and nothing is given out but what was named.

usage: serve_site_test.py PROGRAM [CASE...]
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus import pages
from served import PROGRAM, SAMPLE, Served
from site_parts import (
    DIFF,
    FALLS_AT,
    SLOW_STEP,
    Job,
    end_search,
    make_history,
    make_job,
    make_run,
    make_search,
    write_progress,
)

LIMIT_S = 20


def until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.1)
    return False


def schema_of_routes() -> dict[str, Any]:
    """Its references to the schemas of commands become definitions of its own, which every validator can follow."""
    folder = pages(Path(PROGRAM)) / "schema"
    text = (folder / "serve_routes.schema.json").read_text()
    definitions: dict[str, Any] = {}
    for command in ("analyze", "why", "trend", "optimize"):
        other = json.loads((folder / f"{command}.schema.json").read_text().replace('"#/$defs/', f'"#/$defs/{command}.'))
        text = text.replace(f'"{other["$id"]}"', f'"#/$defs/{command}."')
        definitions |= {f"{command}.{name}": schema for name, schema in other["$defs"].items()}
        definitions[f"{command}."] = {"anyOf": other["anyOf"]}
    schema: dict[str, Any] = json.loads(text)
    schema["$defs"] |= definitions
    return schema


class Site(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        home = self.folder / "home"
        home.mkdir()
        before = {name: os.environ.get(name) for name in ("HOME", "XDG_DATA_HOME")}
        self.addCleanup(lambda: os.environ.update({name: text for name, text in before.items() if text is not None}))
        os.environ["HOME"] = str(home)
        os.environ.pop("XDG_DATA_HOME", None)

    def serve(self, *words: str) -> Served:
        served = Served(*words)
        self.addCleanup(served.kill)
        return served

    def job(self) -> Job:
        job = make_job(self.folder)
        self.addCleanup(job.close)
        return job

    def refused(self, *words: str) -> str:
        done = subprocess.run(
            [PROGRAM, "serve", "--port", "0", *words], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_a_history_alone_is_a_site(self) -> None:
        served = self.serve(make_history(PROGRAM, self.folder))
        status, headers, body = served.ask("/")
        self.assertEqual(status, 200)
        self.assertIn("connect-src 'self'", headers["content-security-policy"])
        self.assertIn(b'"view": "history"', body)
        site = served.json("/api/site")
        self.assertEqual(([one["id"] for one in site["history"]], site["runs"]), (["0"], []))
        series = served.json("/api/history/0")["series"]
        self.assertEqual(
            [(one["branch"], one["benchmark"], one["runs"]) for one in series],
            [("main", "resnet50", 80), ("try/<this>", "small", 3), ("main", "older", 2)],
        )

    def test_a_trend_is_that_of_gapless_trend(self) -> None:
        db = make_history(PROGRAM, self.folder)
        served = self.serve(db)
        for branch, label in (("main", "resnet50"), ("main", "older"), ("try/<this>", "small")):
            words = [PROGRAM, "trend", "--db", db, "--branch", branch, "--label", label, "--json"]
            expected = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
            answer = served.json(f"/api/history/0/trend?branch={branch.replace('<', '%3C')}&label={label}")
            self.assertEqual(answer["trend"], expected)
        changes = served.json("/api/history/0/trend?branch=main&label=resnet50")["trend"]["metrics"][0]["changes"]
        self.assertEqual([change["index"] for change in changes], [FALLS_AT])

    def test_runs_recorded_meanwhile_are_there(self) -> None:
        db = make_history(PROGRAM, self.folder)
        served = self.serve(db)
        self.assertNotIn("new", [one["benchmark"] for one in served.json("/api/history/0")["series"]])
        line = {
            "gapless_history": 1,
            "uid": "one more",
            "branch": "main",
            "benchmark": "new",
            "metrics": [{"name": "x", "value": 1}],
        }
        (self.folder / "more.jsonl").write_text(json.dumps(line) + "\n")
        subprocess.run([PROGRAM, "history", "import", str(self.folder / "more.jsonl"), "--db", db], check=True,
                       capture_output=True)  # fmt: skip
        self.assertIn("new", [one["benchmark"] for one in served.json("/api/history/0")["series"]])

    def test_ones_own_history_is_shown_unless_it_is_refused(self) -> None:
        own = Path(os.environ["HOME"]) / ".local/share/gapless"
        own.mkdir(parents=True)
        make_history(PROGRAM, self.folder)
        (self.folder / "history.db").rename(own / "history.db")
        self.assertEqual(len(self.serve(str(SAMPLE)).json("/api/site")["history"]), 1)
        self.assertEqual(len(self.serve().json("/api/site")["history"]), 1)
        self.assertIn("--redact", self.refused("--redact", f"sqlite:{own}/history.db"))
        for words in (["--no-history"], ["--redact"]):
            self.assertEqual(self.serve(str(SAMPLE), *words).json("/api/site")["history"], [])

    def test_nothing_to_serve_says_what_may_be(self) -> None:
        self.assertIn("a history (sqlite:FILE", self.refused())
        unknown = self.folder / "notes.txt"
        unknown.write_text("hello\n")
        self.assertIn("gapless serve takes recordings", self.refused(str(unknown)))
        self.assertIn("there is no history", self.refused(f"sqlite:{self.folder}/none.db"))

    def test_a_search_is_followed_to_its_result(self) -> None:
        search = make_search(self.folder)
        served = self.serve(str(search))
        under_way = served.json("/api/optimize/0")
        self.assertEqual((under_way["state"], under_way["has_result"]), ("trying", False))
        self.assertEqual(under_way["progress"]["trial"]["fix"], "channels_last")
        self.assertEqual(
            [one["outcome"] for one in under_way["progress"]["decisions"]], ["no_time", "accepted", "other_training"]
        )
        self.assertEqual(served.ask("/api/optimize/0/result")[0], 400)
        result = end_search(search)
        over = served.json("/api/optimize/0")
        self.assertEqual((over["state"], over["has_result"], over["diff"]), ("done", True, DIFF))
        self.assertEqual(served.json("/api/optimize/0/result"), result)

    def test_the_result_of_an_earlier_search_is_not_shown(self) -> None:
        search = make_search(self.folder)
        end_search(search)
        os.utime(search / "result.json", (1, 1))
        write_progress(search, "trying", 1)
        self.assertFalse(self.serve(str(search)).json("/api/optimize/0")["has_result"])

    def test_a_search_whose_process_is_gone_has_stopped(self) -> None:
        search = make_search(self.folder)
        gone = subprocess.Popen(["true"])
        gone.wait()
        write_progress(search, "trying", 1, pid=gone.pid)
        self.assertEqual(self.serve(str(search)).json("/api/optimize/0")["state"], "stopped")

    def test_a_document_of_optimize_alone(self) -> None:
        search = make_search(self.folder)
        result = end_search(search)
        served = self.serve(str(search / "result.json"))
        self.assertEqual(served.json("/api/optimize/0/result"), result)
        self.assertEqual(served.json("/api/optimize/0")["diff"], DIFF)

    def test_an_unchanged_answer_is_not_sent_twice(self) -> None:
        search = make_search(self.folder)
        served = self.serve(str(search))
        _, headers, _ = served.ask("/api/optimize/0")
        self.assertEqual(served.ask("/api/optimize/0", If_None_Match=headers["etag"])[0], 304)
        end_search(search)
        self.assertEqual(served.ask("/api/optimize/0", If_None_Match=headers["etag"])[0], 200)

    def test_a_job_is_followed_and_its_slow_step_is_a_run(self) -> None:
        job = self.job()
        before = {path: path.read_bytes() for path in job.folder.rglob("*") if path.is_file()}
        served = self.serve(str(job.folder))
        self.assertTrue(until(lambda: bool(served.json("/api/monitor/0")["gauges"])))
        first = served.json("/api/monitor/0")
        self.assertEqual([(one["rank"], one["steps"], one["alive"]) for one in first["processes"]],
                         [(0, SLOW_STEP + 80, True), (1, SLOW_STEP + 80, True)])  # fmt: skip
        slow = first["processes"][0]["step"].index(SLOW_STEP)
        self.assertEqual(first["processes"][0]["step_ns"][slow], 300_000_000)
        gauges = {one["what"]: (one["value"][-1], one["unit"]) for one in first["gauges"]}
        self.assertEqual(
            gauges, {"utilization": (0.75, "share"), "memory": (6.0 * 2**30, "bytes"), "power": (312.5, "W")}
        )
        [event] = first["events"]
        self.assertIn(f"step {SLOW_STEP} took 300.0 ms", event["text"])
        [recording] = first["recordings"]
        self.assertEqual((event["run"], recording["run"]), ("m0-0", "m0-0"))
        self.assertEqual(served.ask("/?run=m0-0")[0], 200)
        self.assertEqual([run["id"] for run in served.json("/api/runs")["runs"]], ["m0-0"])
        self.assertGreater(served.json("/api/runs/m0-0/timeline")["to_ns"], 0)
        self.assertEqual({path: path.read_bytes() for path in before}, before, "something was written")
        job.step()
        self.assertTrue(until(lambda: served.json("/api/monitor/0")["processes"][0]["steps"] == SLOW_STEP + 81))

    def test_a_job_that_ends_is_over(self) -> None:
        job = self.job()
        served = self.serve(str(job.folder))
        self.assertEqual(served.json("/api/monitor/0")["state"], "running")
        job.end()
        self.assertTrue(until(lambda: served.json("/api/monitor/0")["state"] == "over"))
        over = served.json("/api/monitor/0")
        self.assertEqual([(one["alive"], one["steps"]) for one in over["processes"]], [(False, SLOW_STEP + 80)] * 2)
        self.assertEqual(self.serve(str(job.folder)).json("/api/site")["monitor"], [], "it is a recording now")

    def test_a_job_without_telemetry_has_no_gauges(self) -> None:
        job = self.job()
        job.telemetry.unlink()
        served = self.serve(str(job.folder))
        self.assertTrue(until(lambda: bool(served.json("/api/monitor/0")["processes"])))
        time.sleep(1.5)
        self.assertEqual(served.json("/api/monitor/0")["gauges"], [])

    def test_a_link_in_the_run_folder_leads_nowhere(self) -> None:
        job = self.job()
        (job.folder / "rank0" / "link.pt.trace.json.gz").symlink_to(SAMPLE)
        (job.folder / "rank9").symlink_to(self.folder)
        served = self.serve(str(job.folder))
        self.assertEqual(
            [one["name"] for one in served.json("/api/monitor/0")["recordings"]], ["rank0/slow.1.pt.trace.json.gz"]
        )

    def test_strange_requests_get_nothing(self) -> None:
        served = self.serve(make_history(PROGRAM, self.folder), str(make_search(self.folder)), str(self.job().folder))
        for path in ("/api", "/api/", "/api/history", "/api/history/", "/api/history/1", "/api/history/0/", "/api/history/0/x",
                     "/api/history/0/trend/x", "/api/optimize/../../etc", "/api/optimize/0/..%2f..%2fetc%2fpasswd",
                     "/api/monitor/00", "/api/monitor/-1", "/api/site/x", "/?history=1", "/?optimize=x", "/?monitor=%00",
                     "/?run=m0-1", "/?run=m0-", "/?run=m0--1", "/?run=m0-99999999999999999999", "/?run=m0-0x",
                     "/api/runs/m0-1/timeline", "/api/runs/m1-0/report"):  # fmt: skip
            self.assertEqual(served.ask(path)[0], 404, path)
        for path in ("/api/site", "/api/history/0", "/api/history/0/trend", "/api/optimize/0", "/api/monitor/0"):
            self.assertEqual(served.ask(path, "POST", b"{}")[0], 405, path)
            self.assertEqual(served.ask(path, Host="evil.example")[0], 421, path)
            self.assertEqual(served.ask(path, Origin="http://evil.example")[0], 403, path)
        answer = served.json("/api/history/0/trend?branch=';DROP TABLE run;--&label=x".replace(" ", "%20"))
        self.assertEqual(answer["trend"]["metrics"], [])
        self.assertEqual(served.json("/api/history/0")["series"][0]["runs"], 80)

    def test_broken_files_are_no_fault(self) -> None:
        search = make_search(self.folder)
        served = self.serve(str(search))
        for text in ("", "{", "[]", '{"state": 5}', '{"gapless": {"command": "optimize"}}', "\x00" * 100):
            (search / "progress.json").write_text(text)
            (search / "result.json").write_text(text)
            state = served.json("/api/optimize/0")
            self.assertEqual((state["has_result"], state.get("progress")), (False, None), text)
            self.assertEqual(served.ask("/api/optimize/0/result")[0], 400, text)

    def test_a_token_is_asked_for_here_too(self) -> None:
        token = self.folder / "token"
        token.write_text("0123456789abcdef0123")
        served = self.serve(make_history(PROGRAM, self.folder), "--token-file", str(token))
        self.assertEqual(served.ask("/api/history/0")[0], 401)
        self.assertEqual(served.ask("/api/history/0", Authorization="Bearer 0123456789abcdef0123")[0], 200)

    def test_answers_are_as_their_schema_says(self) -> None:
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        schema = schema_of_routes()
        jsonschema.Draft202012Validator.check_schema(schema)
        job, search = self.job(), make_search(self.folder)
        served = self.serve(
            make_history(PROGRAM, self.folder), str(search), str(job.folder), str(make_run(self.folder))
        )
        until(lambda: bool(served.json("/api/monitor/0")["gauges"]))
        launch = served.query("SELECT id FROM gpu_op WHERE launch_id IS NOT NULL LIMIT 1")[1]["cells"][0][0]
        parameters = {
            "tile": "?trace=0&level=16&at=0",
            "search": "?q=conv&most=5",
            "event": f"?kind=gpu_op&id={launch}",
            "selection": "?trace=0&from=0&to=100000000",
            "compare": "?with=0",
            "trend": "?branch=main&label=resnet50",
        }
        answers: dict[str, Any] = {"/api/runs/ID/query": served.query("SELECT 1 AS one, 'a' AS text, NULL AS none")[1]}
        result = "/api/optimize/ID/result"
        for route in schema["properties"]:
            if route not in answers and route != result:
                answers[route] = served.json(route.replace("ID", "0") + parameters.get(route.rsplit("/", 1)[1], ""))
        self.assertEqual(set(answers) | {result}, set(schema["properties"]))
        validator = jsonschema.Draft202012Validator(schema)
        problems = [
            f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
            for error in validator.iter_errors(answers)
        ]
        self.assertEqual(problems, [])
        end_search(search)
        over = {route: served.json(route.replace("ID", "0")) for route in ("/api/optimize/ID", result)}
        self.assertEqual([error.message for error in validator.iter_errors(over)], [])
        for route, answer in answers.items():  # and it says no to what is not so
            self.assertTrue(list(validator.iter_errors({route: {**answer, "nonsense": 1}})), route)


if __name__ == "__main__":
    unittest.main()
