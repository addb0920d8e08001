#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one file of each kind that outlives a version of gapless, for tests/versions_test.py: tests/data/release-VERSION.

usage: keep_release.py PROGRAM

To be run once for each release, from its tag. Folders of earlier releases stay, and every later version reads them.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = {  # recordings of this version that the tests have already
    "agent.events": "samples/agent.events",
    "collector.gcs": "samples/stand_in.gcs",
    "telemetry.gts": "tests/data/telemetry.gts",
    "python.host.json": "tests/data/python.host.json",
    "recipe.yaml": "tests/data/recipes/optimized.yaml",
    "recipe.json": "tests/data/recipes/threads.json",
}
RESULTS = (100.0, 101.0, 99.5, 100.5, 84.0)


def main() -> int:
    program = str(Path(sys.argv[1]).resolve())

    def run(*words: str, cwd: Path) -> str:
        done = subprocess.run([program, *words], cwd=cwd, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    version = json.loads(run("--version", "--json", cwd=ROOT))["gapless"]["version"]
    to = ROOT / "tests" / "data" / f"release-{version}"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        run("docs", "pages", cwd=work)
        schemas = {file.stem: json.loads(file.read_text()) for file in sorted((work / "pages/schema").glob("*.json"))}
        (to / "schemas.json.gz").write_bytes(gzip.compress(json.dumps(schemas).encode(), mtime=0))
        for number, rate in enumerate(RESULTS):
            commit = ["--commit", f"{number + 1:040x}", "--branch", "main", "--label", "speed"]
            run("history", "record", "--db", "history.db", *commit, "--metric", f"samples_per_second={rate}", cwd=work)
        run("history", "export", "history.jsonl", "--db", "history.db", cwd=work)
        with sqlite3.connect(work / "history.db") as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.execute("PRAGMA journal_mode=DELETE")
            database.execute("VACUUM")
        for kept in ("history.db", "history.jsonl"):
            shutil.copyfile(work / kept, to / kept)
    for kept, source in KEPT.items():
        shutil.copyfile(ROOT / source, to / kept)
    print(f"{to.relative_to(ROOT)}: {sum(file.stat().st_size for file in to.rglob('*') if file.is_file()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
