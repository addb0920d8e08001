#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers to assistants: bounded texts whose pages make a whole, refusals with their reason, and verdicts; and, where the protocol's SDK is
installed, a conversation with its own client over standard input and output.

usage: referee_test.py PROGRAM BUILD_FOLDER [unittest options]
"""

from __future__ import annotations

import asyncio
import csv
import importlib.util
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

sys.path.insert(0, str(ROOT / "python"))

from gapless.referee import CANNOT, MAX_CHARACTERS, Referee, bounded

SAMPLE = str(next((ROOT / "samples").glob("resnet50*.json.gz")))
HAS_SDK = importlib.util.find_spec("mcp") is not None
CALLS = 100


def cursor_of(answer: str) -> int | None:
    found = re.search(r"ask again with cursor=(\d+)$", answer)
    return int(found[1]) if found else None


class Answers(unittest.TestCase):
    referee: Referee
    opened: str
    run_name: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.referee = Referee()
        cls.opened = cls.referee.open_recording([SAMPLE])
        cls.run_name = cls.opened.split()[2]

    def test_opening_lists_the_findings(self) -> None:
        self.assertRegex(self.opened, r"^opened as run\d+\n\ngapless brief of resnet50")
        for part in ("data_loading", "where   resnet50_profiler_api.py:42", "num_workers=2", "gapless compare"):
            self.assertIn(part, self.opened)
        self.assertEqual(self.referee.findings(self.run_name), self.opened.split("\n\n", 1)[1].rstrip("\n"))

    def test_pages_make_the_whole(self) -> None:
        """Every row once, whatever the texts hold, and no answer is longer than is said."""
        sql = "SELECT id, name, dur_ns FROM gpu_op ORDER BY id LIMIT 700"
        rows: list[list[str]] = []
        cursor: int | None = 0
        while cursor is not None:
            answer = self.referee.query(self.run_name, sql, cursor)
            self.assertLessEqual(len(answer), MAX_CHARACTERS)
            page = list(csv.reader(io.StringIO(answer[: answer.rindex("rows ")])))
            self.assertEqual(page[0], ["id", "name", "dur_ns"])
            rows += page[1:]
            cursor = cursor_of(answer)
        self.assertEqual([int(row[0]) for row in rows], list(range(int(rows[0][0]), int(rows[0][0]) + 700)))

    def test_ids_can_be_asked_for(self) -> None:
        evidence = self.referee.query(self.run_name, "SELECT max(id) AS id FROM gpu_op")
        row = evidence.splitlines()[1]
        self.assertIn(
            f"\n{row},", "\n" + self.referee.query(self.run_name, f"SELECT id, name FROM gpu_op WHERE id = {row}")
        )

    def test_long_texts_are_cut_into_pages(self) -> None:
        text = "\n".join(f"line {number} " + "x" * 50 for number in range(1000))
        lines: list[str] = []
        cursor: int | None = 0
        while cursor is not None:
            page = bounded(text, cursor)
            self.assertLessEqual(len(page), MAX_CHARACTERS)
            cursor = cursor_of(page)
            lines += page.splitlines()[: -1 if cursor is not None else None]
        self.assertEqual("\n".join(lines), text)
        self.assertLess(len(bounded("y" * 1_000_000)), MAX_CHARACTERS)

    def test_what_cannot_be_answered_says_why(self) -> None:
        for answer, reason in (
            (self.referee.findings("run99"), "open the recording first"),
            (self.referee.open_recording(["/nowhere.json"]), "/nowhere.json"),
            (self.referee.query(self.run_name, "SELECT nosuch FROM gpu_op"), "no such column"),
            (self.referee.query(self.run_name, "DELETE FROM gpu_op"), ""),
            (self.referee.list_tables("gpu_opp"), "there is no table"),
            (self.referee.explain(self.run_name, "nosuch"), "nosuch"),
            (self.referee.predict(self.run_name, ["nosuch"]), "nosuch"),
            (self.referee.compare_results("/nowhere.json", "/nowhere.json"), "/nowhere.json"),
        ):
            self.assertTrue(answer.startswith(CANNOT), answer)
            self.assertIn(reason, answer)

    def test_predictions(self) -> None:
        lines = self.referee.predict(self.run_name, ["workers=4", "tf32"]).splitlines()
        self.assertRegex(lines[1], r"^workers=4: \d\.\d\d \(\d\.\d\d-\d\.\d\d\)$")
        self.assertRegex(lines[2], r"^tf32: 1\.00 .*; \w+", "no gain without a reason")

    def test_results_that_exist_are_compared(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, factor in (("a", 1.0), ("b", 0.5)):
                times = [factor * (1 + 0.01 * (at % 7)) for at in range(30)]
                result = {"command": name, "mean": sum(times) / 30, "times": times, "exit_codes": [0] * 30}
                Path(folder, f"{name}.json").write_text(json.dumps({"results": [result]}), encoding="utf-8")
            answer = self.referee.compare_results(f"{folder}/a.json", f"{folder}/b.json")
            self.assertTrue(answer.startswith("faster? yes (exit status 0)\n"), answer)
            self.assertTrue(
                self.referee.compare_results(f"{folder}/b.json", f"{folder}/a.json").startswith("faster? no")
            )

    def test_every_question_about_commands_is_put(self) -> None:
        """Commands that train nothing get an answer, and none that the program did not understand."""
        quick = {"before": "sleep 0.01", "after": "sleep 0.01"}
        self.assertRegex(self.referee.same_training(**quick), r"^the same training\? cannot tell \(exit status 5\)\n")
        for asked in (self.referee.judge, self.referee.compare_commands):
            self.assertRegex(
                asked(**quick, budget="1s"), r"^(faster|accepted)\? (no|cannot tell|yes) \(exit status \d\)\n"
            )

    def test_memory_stays(self) -> None:
        def ask() -> None:
            self.referee.query(self.run_name, "SELECT * FROM gpu_op LIMIT 500")
            self.referee.findings(self.run_name)

        for _ in range(20):
            ask()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(CALLS):
            ask()
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 8 * 1024, "KiB")

    def test_runs_that_are_open_are_few(self) -> None:
        referee = Referee(most_open=2)
        names = [referee.open_recording([SAMPLE]).split()[2] for _ in range(3)]
        self.assertTrue(referee.findings(names[0]).startswith(CANNOT))
        self.assertFalse(referee.findings(names[2]).startswith(CANNOT))


class Server(unittest.TestCase):
    def start(self, *options: str) -> Any:
        from mcp import StdioServerParameters

        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        environment["GAPLESS_PYTHON"] = sys.executable
        return StdioServerParameters(command=os.environ["GAPLESS_PROGRAM"], args=["mcp", *options], env=environment)

    @unittest.skipUnless(HAS_SDK, "not installed: mcp")
    def test_a_conversation(self) -> None:
        async def talk() -> None:
            from mcp import ClientSession, stdio_client

            async with stdio_client(self.start()) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                tools = (await session.list_tools()).tools
                self.assertEqual({tool.name for tool in tools}, set(Referee.READS))
                self.assertTrue(all(tool.description for tool in tools))
                opened = await session.call_tool("open_recording", {"paths": [SAMPLE]})
                name = opened.content[0].text.split()[2]
                asked = {"run": name, "sql": "SELECT count(*) AS n FROM step"}
                rows = await session.call_tool("query", asked)
                self.assertEqual(rows.content[0].text.splitlines()[:2], ["n", "6"])
                refused = await session.call_tool("findings", {"run": "run99"})
                self.assertTrue(refused.content[0].text.startswith(CANNOT))

        asyncio.run(talk())

    @unittest.skipUnless(HAS_SDK, "not installed: mcp")
    def test_it_runs_commands_only_where_that_is_allowed(self) -> None:
        async def talk() -> None:
            from mcp import ClientSession, stdio_client

            async with stdio_client(self.start("--allow-run")) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                self.assertEqual(
                    {tool.name for tool in (await session.list_tools()).tools}, {*Referee.READS, *Referee.RUNS}
                )
                commands = {"before": "sleep 0.08", "after": "sleep 0.02", "budget": "20s"}
                answer = await session.call_tool("compare_commands", commands)
                self.assertTrue(answer.content[0].text.startswith("faster? yes"), answer.content[0].text)

        asyncio.run(talk())

    @unittest.skipIf(HAS_SDK, "the SDK is installed")
    def test_without_the_sdk_it_says_what_to_install(self) -> None:
        for path in (str(ROOT / "python"), ""):
            done = subprocess.run(
                [os.environ["GAPLESS_PROGRAM"], "mcp"],
                env={**os.environ, "PYTHONPATH": path, "GAPLESS_PYTHON": sys.executable},
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 4)
            self.assertIn('pip install "gapless[mcp]"', done.stderr)


if __name__ == "__main__":
    program, build = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    os.chdir(ROOT)
    os.environ["GAPLESS_PROGRAM"], os.environ["GAPLESS_LIBRARY"] = program, f"{build}/libgapless.so"
    unittest.main()
