#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With --redact nothing of the paths, hosts and users of a recording is left in any form of report, in no table, and not in the data of
the page; and nothing else changes: the same findings with the same numbers, and the same names each time.

usage: redact_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT
from moved_recording import HOST, LIBRARY, LINUX, MAC, WINDOWS, WINDOWS_LIBRARY, recording

PROGRAM = ""
# Parts of every path, host and user above; no word of the program's own has them.
SECRETS = ("zorb", "quux", "trainer", "imagenet", "anaconda3", "cluster.example", "yangu")
FORMS = ("terminal", "markdown", "html", "json", "brief", "sarif")
FRAMES = """SELECT DISTINCT source_line AS frame FROM all_slice WHERE frame != ''
UNION SELECT name FROM all_slice WHERE category = 'python' AND name LIKE '/%.py(%'"""
KEPT = 4  # parts of a path that are looked for: at least this long


def run(*words: str) -> bytes:
    done = subprocess.run([PROGRAM, *words], capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode:
        raise AssertionError(f"{words}: {done.stderr.decode()}")
    return done.stdout + done.stderr


def tables() -> list[str]:
    listed = json.loads(run("query", "--tables", "--json"))["tables"]
    return [table["name"] for table in listed] + [f"all_{table['name']}" for table in listed if not table["analysis"]]


def outputs(path: str, every_table: bool = True) -> dict[str, bytes]:
    """All that can be asked of a recording, by what was asked."""
    found = {form: run("analyze", path, "--redact", "--format", form, "-v", "--all-steps") for form in FORMS}
    found["explain"] = run("analyze", path, "--redact", "--explain", "data_loading")
    found["brief --json"] = run("brief", path, "--redact", "--json")
    for table in tables() if every_table else ["slice", "environment", "trace", "thread"]:
        found[table] = run("query", path, table, "--redact", "--csv")
    found["arrow"] = run("query", path, "slice", "--redact", "--arrow", "-")
    found["convert"] = run("convert", path, "--redact")
    found["report"] = run("report", path, "--redact")
    found["report --json"] = run("report", path, "--redact", "--json")
    return found


class Redacted(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "zorblax-runs"

    def assert_nothing_left(self, found: dict[str, bytes], secrets: Any, ignored: str = "") -> None:
        for asked, said in found.items():
            text = said.decode("utf-8", "replace").lower()
            for secret in secrets:
                at = text.find(secret.lower())
                self.assertEqual(at, -1, f"{asked}: {secret!r} in …{text[max(0, at - 60) : at + 60]}…{ignored}")

    def test_nothing_is_left(self) -> None:
        for name, script, library in (
            ("linux", LINUX, None),
            ("mac", MAC, None),
            ("windows", WINDOWS, WINDOWS_LIBRARY),
        ):
            with self.subTest(name):
                file = self.folder / f"{HOST}_977.1718000100000.pt.trace.json"
                recording(file, script, library or LIBRARY, host=HOST)
                plain = run("analyze", str(file), "--format", "json").decode()
                self.assertIn("trainer.py:42", plain, "the recording has what is looked for")
                self.assert_nothing_left(outputs(str(file)), SECRETS)

    def test_the_rest_stays(self) -> None:
        file = str(recording(self.folder / "run.json", LINUX, host=HOST))
        plain = json.loads(run("analyze", file, "--json"))
        redacted = json.loads(run("analyze", file, "--json", "--redact"))
        self.assertEqual(
            [(each["id"], each.get("gain"), each.get("share_of_step")) for each in redacted["bottlenecks"]],
            [(each["id"], each.get("gain"), each.get("share_of_step")) for each in plain["bottlenecks"]],
        )
        self.assertEqual(redacted["breakdown"], plain["breakdown"])
        brief = run("brief", file, "--redact").decode()
        self.assertRegex(brief, r"where   file-\d+\.py:42")
        self.assertEqual(run("brief", file, "--redact", "--no-cache").decode(), brief, "the same names each time")
        frames = run("query", file, "SELECT value FROM environment WHERE key = 'command'", "--redact", "--csv").decode()
        self.assertRegex(frames, r"python file-\d+\.py --data path-\d+ --host host-1")

    def test_two_runs_share_their_names(self) -> None:
        """A file that both runs have keeps one name, so that nothing seems new or gone; the runs themselves have a letter."""
        a = str(recording(self.folder / "before.json", LINUX, host=HOST))
        after = recording(self.folder / "after.json", LINUX, host=HOST)
        # One more path, which is the first by name: numbers that were given anew would be others.
        text = after.read_text(encoding="utf-8").replace(
            '"traceName": "', '"more": "/aa/zorb/first.py", "traceName": "'
        )
        document = json.loads(text)
        for event in document["traceEvents"]:
            if event.get("cat", "").lower() == "kernel" and "sgemm" in event["name"]:
                event["dur"] /= 2
        after.write_text(json.dumps(document), encoding="utf-8")
        b = str(after)
        for verb in ("why", "diff"):
            for form in ((), ("--json",)):
                said = run(verb, a, b, "--redact", *form)
                self.assert_nothing_left({verb: said}, SECRETS)
            self.assertEqual(json.loads(run(verb, a, a, "--redact", "--json"))["a"]["name"], "recording A")
        for verb in ("why", "diff"):
            plain, redacted = (json.loads(run(verb, a, b, "--json", *more)) for more in ((), ("--redact",)))
            self.assertEqual([*redacted], [*plain])
            for part in ("causes", "operators", "kernels"):
                self.assertEqual(len(redacted.get(part, [])), len(plain.get(part, [])), part)
        of_a = run(
            "query", a, "SELECT DISTINCT source_line FROM all_slice WHERE source_line LIKE '%:42'", "--redact", "--csv"
        )
        file, _, line = of_a.decode().split()[-1].rpartition(":")
        self.assertEqual(line, "42")
        shown = set(re.findall(r'"source_line": "(.*):', run("why", a, b, "--redact", "--json").decode()))
        self.assertEqual(shown, {file}, "the script has the name that it has in A")

    def test_results_are_redacted_too(self) -> None:
        """A result of bench names its command, which names files."""
        file = self.folder / "zorb-baseline.json"
        self.folder.mkdir(exist_ok=True)
        done = subprocess.run(
            [PROGRAM, "bench", "--whole", "--runs", "5", f"--json={file}", "--", sys.executable, "-c", "pass"],
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        plain = run("report", str(file)).decode()
        self.assertIn("zorb-baseline", plain, "the report names the result")
        self.assert_nothing_left(
            {"report": run("report", str(file), "--redact"), "json": run("report", str(file), "--redact", "--json")},
            SECRETS,
        )

    def test_what_could_not_be_read(self) -> None:
        recording(self.folder / "rank0.json", LINUX, host=HOST)
        (self.folder / "rank1.json").write_text("{}")
        self.assert_nothing_left(
            {form: run("analyze", str(self.folder), "--redact", "--format", form) for form in FORMS}, SECRETS
        )

    @unittest.skipUnless(FOLDER.is_dir(), "no corpus")
    def test_recordings_of_others(self) -> None:
        """Nothing is left that looks like a file of somebody's own code, a host or a folder of a user in the recordings of the corpus."""
        tried = 0
        for path in sorted((FOLDER / "kineto").rglob("*.json*")):
            if path.suffix not in (".json", ".gz") or path.stat().st_size > 8_000_000:
                continue
            done = subprocess.run([PROGRAM, "query", str(path), FRAMES, "--json"], capture_output=True, check=False)
            frames = [row["frame"] for row in json.loads(done.stdout)] if done.returncode == 0 else []
            files = {re.split(r"\(\d+\)|:\d+$", frame)[0] for frame in frames}
            # Not those of libraries, whose names stay, nor "forward() (model.py)", which is looked for without the function.
            lines = {re.sub(r"^.*\((.*)\)$", r"\1", file) for file in files}
            lines = {file for file in lines if not re.search(r"(site|dist)-packages/|/lib/python|^<|^\w+/", file)}
            owners = {name for line in lines for name in re.findall(r"/(?:home|Users)/([^/]+)/", line)}
            secrets = {line for line in lines if len(line) >= KEPT} | {f"/{name}/" for name in owners}
            if not secrets:
                continue
            tried += 1
            with self.subTest(str(path.relative_to(FOLDER))):
                self.assert_nothing_left(outputs(str(path), every_table=False), secrets)
        self.assertGreater(tried, 5)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    os.chdir(ROOT)
    unittest.main()
