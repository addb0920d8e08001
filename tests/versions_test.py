#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of earlier releases are read, those of newer ones are refused with both versions, and no key of a document went.

usage: versions_test.py PROGRAM

tests/data/release-VERSION has a file of each kind (tools/keep_release.py); docs/versions.md is what is promised of them.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import corpus

PROGRAM = Path(sys.argv[1]).resolve()
RELEASES = sorted((corpus.ROOT / "tests" / "data").glob("release-*"))
FUTURE = 77
Schema = dict[str, Any]


def properties(schema: Schema, root: Schema, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Each key that a document may have, as a path, with the type of its value."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    kinds = schema.get("type", "any")
    yield path, "/".join(sorted(kinds)) if isinstance(kinds, list) else kinds
    if depth > 12:
        return
    for name, below in schema.get("properties", {}).items():
        yield from properties(below, root, f"{path}/{name}", depth + 1)
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            yield from properties(schema[word], root, f"{path}/*", depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        for below in schema.get(word, []):
            yield from properties(below, root, path, depth + 1)


class Versions(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_it(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [str(PROGRAM), *map(str, words)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)

    def json_of(self, *words: object) -> Any:
        done = self.run_it(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def copy(self, release: Path, name: str) -> Path:
        return Path(shutil.copyfile(release / name, self.folder / name))

    def refused(self, what: str, status: int, *words: object) -> None:
        """The error names the version that was found and the one that is read."""
        done = self.run_it(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertRegex(done.stderr, rf"{what} has version {FUTURE}, and gapless [0-9.]+ reads version [0-9]+")
        self.assertIn("update gapless", done.stderr)

    def test_recordings_are_read(self) -> None:
        rows = {
            "agent.events": "step",
            "collector.gcs": "slice",
            "telemetry.gts": "counter",
            "python.host.json": "host_function",
        }
        for release in RELEASES:
            for name, table in rows.items():
                with self.subTest(release=release.name, name=name):
                    found = self.json_of("query", "--no-cache", release / name, f"SELECT count(*) AS n FROM {table}")
                    self.assertGreater(found[0]["n"], 0)

    def test_histories_are_read_and_brought_up_to_date(self) -> None:
        for release in RELEASES:
            with self.subTest(release=release.name):
                database = self.copy(release, "history.db")
                self.assertEqual(len(self.json_of("history", "list", "--db", database)["runs"]), 5)
                done = self.run_it("history", "import", self.copy(release, "history.jsonl"), "--db", "new.db")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len(self.json_of("history", "list", "--db", "new.db")["runs"]), 5)

    def test_recipes_are_read(self) -> None:
        for release in RELEASES:
            for name in ("recipe.yaml", "recipe.json"):
                with self.subTest(release=release.name, name=name):
                    printed = self.run_it("run", "--recipe", self.copy(release, name), "--print")
                    self.assertLess(printed.returncode, 2, printed.stderr)  # 1: not all of it is in the printed command
                    self.assertIn("OMP_NUM_THREADS=4", printed.stdout)

    def test_no_key_of_a_document_went(self) -> None:
        """A key that goes or changes its type needs a new major version; then its release's folder goes, too."""
        now = corpus.pages(PROGRAM) / "schema"
        for release in RELEASES:
            kept = json.loads(gzip.decompress((release / "schemas.json.gz").read_bytes()))
            self.assertGreater(len(kept), 20)
            for name, before in kept.items():
                with self.subTest(release=release.name, document=name):
                    after = json.loads((now / f"{name}.json").read_text(encoding="utf-8"))
                    gone = set(properties(before, before)) - set(properties(after, after))
                    self.assertEqual(gone, set())

    def test_files_of_a_newer_gapless_are_refused(self) -> None:
        release = RELEASES[-1]
        for name, what in (
            ("agent.events", "this file of the agent"),
            ("collector.gcs", "this stream of the native collector"),
            ("telemetry.gts", "this recording of telemetry"),
        ):
            with self.subTest(name=name):
                content = bytearray((release / name).read_bytes())
                content[8:12] = struct.pack("<I", FUTURE)  # the version stands behind eight bytes of magic
                (self.folder / name).write_bytes(content)
                self.refused(what, 3, "analyze", "--no-cache", name)
        profile = (release / "python.host.json").read_text()
        changed = re.sub(r'"version": ?1\b', f'"version": {FUTURE}', profile, count=1)
        self.assertNotEqual(changed, profile)
        (self.folder / "python.host.json").write_text(changed)
        self.refused("this profile of Python", 3, "analyze", "--no-cache", "python.host.json")

    def test_what_is_kept_by_a_newer_gapless_is_refused(self) -> None:
        release = RELEASES[-1]
        recipe = json.loads((release / "recipe.json").read_text())
        (self.folder / "recipe.json").write_text(json.dumps(recipe | {"schema": FUTURE}))
        self.refused("the recipe", 125, "run", "--recipe", "recipe.json", "--print")
        lines = re.sub(r'"gapless_history": 1', f'"gapless_history": {FUTURE}', (release / "history.jsonl").read_text())
        (self.folder / "history.jsonl").write_text(lines)
        self.refused("this line of an exported history", 3, "history", "import", "history.jsonl", "--db", "new.db")
        database = self.copy(release, "history.db")
        with sqlite3.connect(database) as connection:
            connection.execute("INSERT INTO gapless_schema VALUES (?, 0, 'future')", (FUTURE,))
        self.refused("the schema of this history", 4, "history", "list", "--db", database)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
