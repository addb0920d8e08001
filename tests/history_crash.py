#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that record into one history are killed while they write: what was acknowledged is there, and no run is there in
part. Once with SQLite, once with PostgreSQL, whose server is killed as well and started again.

Eight workers record a thousand runs, each run in a process of its own, with twelve metrics, six of which have samples. A run
counts as acknowledged when its process has ended with status 0. About one process in six is killed by SIGKILL, after a time
drawn between nothing and the time that a run takes. One that finds no server when it begins is started again.

usage: history_crash.py PROGRAM [--records N]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import postgres

WORKERS, METRICS, SAMPLED, SAMPLES = 8, 12, 6, 50
KILLED_SHARE = 1 / 6
ATTEMPTS = 300  # while there is no server


@dataclass
class Outcome:
    acknowledged: set[str] = field(default_factory=set)  # commits
    killed: int = 0
    refused: int = 0  # found no server when they began
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


def result_file(folder: Path) -> Path:
    """Results as hyperfine writes them: SAMPLED benchmarks with samples, the others with a mean only."""
    results = []
    for index in range(METRICS):
        result = {"command": f"metric {index}", "mean": index + 0.5}
        if index < SAMPLED:
            result["times"] = [index + i / SAMPLES for i in range(SAMPLES)]
        results.append(result)
    path = folder / "results.json"
    path.write_text(json.dumps({"results": results}), encoding="utf-8")
    return path


class Workers:
    def __init__(self, program: str, url: str, results: Path, records: int) -> None:
        self.program, self.url, self.results = program, url, results
        self.next = iter(range(records))
        self.lock = threading.Lock()
        self.outcome = Outcome()
        self.typical_s = 0.2
        self.done = 0

    def record_one(self, number: int, chance: random.Random, last: bool) -> bool:
        """False: there was no server, so that nothing was recorded; not when it is the last attempt."""
        commit = f"commit-{number}"
        command = [self.program, "history", "record", str(self.results), "--db", self.url, "--commit", commit]
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd="/")
        kill = chance.random() < KILLED_SHARE
        try:
            errors = process.communicate(timeout=chance.random() * self.typical_s if kill else 180)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            errors = process.communicate()[1]
        with self.lock:
            self.done += 1
            if process.returncode == 0:
                self.outcome.acknowledged.add(commit)
                self.typical_s += 0.1 * (time.monotonic() - started - self.typical_s)
            elif process.returncode < 0:
                self.outcome.killed += 1
            elif "PostgreSQL" in errors and not last:
                self.outcome.refused += 1
                self.done -= 1
                return False
            else:
                self.outcome.failed.append(errors.strip())
        return True

    def work(self, seed: int) -> None:
        chance = random.Random(seed)
        while True:
            with self.lock:
                number = next(self.next, None)
            if number is None:
                return
            for attempt in range(ATTEMPTS):
                if self.record_one(number, chance, attempt == ATTEMPTS - 1):
                    break
                time.sleep(0.2)

    def run(self) -> Outcome:
        started = time.monotonic()
        threads = [threading.Thread(target=self.work, args=(seed,)) for seed in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.outcome.seconds = time.monotonic() - started
        return self.outcome


def check(name: str, program: str, url: str, outcome: Outcome, records: int) -> bool:
    export = subprocess.run([program, "history", "export", "--db", url], capture_output=True, text=True, check=True)
    runs = [json.loads(line) for line in export.stdout.splitlines()]
    commits = [run["commit_sha"] for run in runs]
    torn = [
        run["commit_sha"]
        for run in runs
        if len(run["metrics"]) != METRICS
        or sum(len(metric.get("samples", [])) == SAMPLES for metric in run["metrics"]) != SAMPLED
    ]
    lost = outcome.acknowledged - set(commits)
    twice = len(commits) - len(set(commits))
    print(
        f"{name}: {records} processes in {outcome.seconds:.1f} s, {len(outcome.acknowledged)} acknowledged, "
        f"{outcome.killed} killed, {len(outcome.failed)} failed, {outcome.refused} found no server and came again; in the history {len(runs)}: "
        f"{len(lost)} lost, {len(torn)} torn, {twice} twice"
    )
    for message in outcome.failed[:3]:
        print("  failed:", message)
    return not (lost or torn or twice) and outcome.killed > 0 and len(outcome.failed) == 0


def on_sqlite(program: str, results: Path, folder: Path, records: int) -> bool:
    url = f"sqlite:{folder / 'history.db'}"
    return check("sqlite", program, url, Workers(program, url, results, records).run(), records)


def on_postgres(program: str, results: Path, server: postgres.Server, records: int) -> bool:
    workers = Workers(program, server.new_database(), results, records)

    def interrupt() -> None:
        while workers.done < records // 2:
            time.sleep(0.01)
        server.kill()
        time.sleep(0.5)
        server.start()

    thread = threading.Thread(target=interrupt)
    thread.start()
    outcome = workers.run()
    thread.join()
    return check("postgresql, its server killed once", program, workers.url, outcome, records)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))  # workers start elsewhere
    parser.add_argument("--records", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gapless-crash-") as name:
        folder = Path(name)
        results = result_file(folder)
        good = on_sqlite(arguments.program, results, folder, arguments.records)
        binaries = postgres.binaries()
        if binaries is None:
            print("skipped with PostgreSQL: it is not installed (apt install postgresql)")
            return 0 if good else 1
        server = postgres.Server(binaries)
        try:
            good = on_postgres(arguments.program, results, server, arguments.records) and good
        finally:
            server.stop()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
