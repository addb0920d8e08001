#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots against a replay of what Python's own pickle module makes of them: events, totals, lifetimes, segments and the
memory that lives at the peak. And pickles that would run code, which must be refused without running it.

usage: memory_snapshots_test.py PROGRAM
The snapshots are tests/data's and those of the corpus, where it is; GAPLESS_SNAPSHOTS names a folder with others.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else ""
LIMIT = 60
CATEGORIES = {
    "checkpoint": "activation",
    "amp": "activation",
    "offload": "activation",
    "offload_optimizer": "optimizer_state",
}
NAMES = {"segment_map": "segment_alloc", "segment_unmap": "segment_free", "free_completed": "free"}


def snapshots() -> list[Path]:
    folders = [ROOT / "tests/data", FOLDER / "memsnap", Path(os.environ.get("GAPLESS_SNAPSHOTS", "/nowhere"))]
    return sorted(path for folder in folders if folder.is_dir() for path in folder.rglob("*snapshot*.pickle"))


def query(path: Path, statement: str) -> list[Any]:
    done = subprocess.run(
        [PROGRAM, "query", str(path), statement, "--json", "--no-cache"],
        capture_output=True, text=True, timeout=LIMIT, check=True,
    )  # fmt: skip
    rows: list[Any] = json.loads(done.stdout)["rows"] if done.stdout.startswith("{") else json.loads(done.stdout)
    return [list(row.values()) if isinstance(row, dict) else row for row in rows]


def peak_of(document: dict[str, Any], device: int) -> tuple[int, dict[int, int]]:
    """The most that was active on a device, and the sizes of the blocks that were allocated in the recording and lived then."""
    events = document["device_traces"][device]
    active = sum(
        block.get("requested_size", block["size"])
        for segment in document["segments"]
        for block in segment["blocks"]
        if segment["device"] == device and block["state"].startswith("active")
    )
    for event in events:
        active -= {"alloc": event["size"], "free_completed": -event["size"]}.get(event["action"], 0)
    most, alive, at_peak = 0, {}, {}
    for event in events:
        if event["action"] == "alloc":
            alive[event["addr"]] = event["size"]
            active += event["size"]
        if event["action"] == "free_completed":
            alive.pop(event["addr"], None)
            active -= event["size"]
        if active > most:
            most, at_peak = active, dict(alive)
    return most, at_peak


def held_before(document: dict[str, Any], device: int) -> int:
    """The sizes of the blocks in use that no event allocated."""
    made = {event["addr"] for event in document["device_traces"][device] if event["action"] == "alloc"}
    return sum(
        block.get("requested_size", block["size"])
        for segment in document["segments"]
        for block in segment["blocks"]
        if segment["device"] == device and block["state"].startswith("active") and block["address"] not in made
    )


class Snapshots(unittest.TestCase):
    def test_events_and_totals(self) -> None:
        for path in snapshots():
            with self.subTest(path.name):
                document = pickle.loads(path.read_bytes())
                wanted = Counter(
                    NAMES.get(event["action"], event["action"])
                    for events in document["device_traces"]
                    for event in events
                    if event["action"] not in ("free_requested", "snapshot")
                )
                rows = query(path, "SELECT action, count(*) FROM memory_event GROUP BY action")
                self.assertEqual(dict(rows), dict(wanted))
                for device, events in enumerate(document["device_traces"]):
                    if not events:
                        continue
                    most, _ = peak_of(document, device)
                    self.assertEqual(
                        query(path, f"SELECT max(total_allocated) FROM memory_event WHERE device = {device}"), [[most]]
                    )

    def test_segments(self) -> None:
        for path in snapshots():
            with self.subTest(path.name):
                document = pickle.loads(path.read_bytes())
                wanted = Counter(
                    (segment["device"], block["state"], block["size"])
                    for segment in document["segments"]
                    for block in segment["blocks"]
                )
                rows = query(path, "SELECT device, state, bytes FROM memory_block WHERE segment IS NOT NULL")
                self.assertEqual(Counter(map(tuple, rows)), wanted)
                held = sum(segment["total_size"] for segment in document["segments"])
                self.assertEqual(query(path, "SELECT sum(reserved_bytes) FROM memory_segments"), [[held]])

    def test_what_lives_at_the_peak_adds_up_to_it(self) -> None:
        for path in snapshots():
            with self.subTest(path.name):
                document = pickle.loads(path.read_bytes())
                for device, events in enumerate(document["device_traces"]):
                    if not events:
                        continue
                    most, alive = peak_of(document, device)
                    rows = query(path, f"SELECT sum(bytes) FROM memory_at_peak WHERE device = {device}")
                    self.assertEqual(rows, [[most]])
                    known = sum(alive.values()) + held_before(document, device)
                    rows = query(path, f"SELECT sum(bytes) FROM memory_at_peak WHERE device = {device} AND blocks > 0")
                    self.assertEqual(rows, [[known or None]])

    def test_no_change_frees_more_than_there_is(self) -> None:
        """The memory that a change frees is part of its category at the peak; its rows agree with `predict`, which knows no time here."""
        for path in snapshots():
            with self.subTest(path.name):
                rows = query(
                    path,
                    "SELECT change, device, peak_bytes, held_bytes, freed_bytes, peak_drop_bytes FROM memory_savings",
                )
                held = {
                    (device, category): size
                    for device, category, size in query(
                        path,
                        "SELECT device, category, sum(bytes) FROM memory_at_peak WHERE category NOT NULL GROUP BY 1, 2",
                    )
                }
                for change, device, peak, of, freed, drop in rows:
                    self.assertTrue(0 < freed <= of <= peak, (change, freed, of, peak))
                    self.assertLessEqual(drop or 0, freed)
                    category = CATEGORIES.get(change)
                    if category:
                        self.assertEqual(of, held[device, category])
                self.assertEqual("allocator" in [row[0] for row in rows], self.may_extend(path), rows)

    def may_extend(self, path: Path) -> bool:
        """Does the allocator hold more than is in use at the peak, in segments that it does not extend?"""
        settings = pickle.loads(path.read_bytes()).get("allocator_settings") or {}
        unused = query(path, "SELECT max(unused_at_peak_bytes) FROM memory")[0][0]
        return bool(unused) and not settings.get("expandable_segments")

    def test_predict_says_the_memory_where_no_time_is_known(self) -> None:
        for path in snapshots():
            with self.subTest(path.name):
                freed = query(path, "SELECT max(freed_bytes) FROM memory_savings WHERE change = 'checkpoint'")[0][0]
                command = [PROGRAM, "predict", str(path), "--what", "checkpoint", "--no-cache"]
                as_json = subprocess.run(
                    [*command, "--json"], capture_output=True, text=True, timeout=LIMIT, check=False
                )
                as_text = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
                if freed is None:
                    self.assertEqual([as_json.returncode, as_text.returncode], [3, 3])
                    continue
                document = json.loads(as_json.stdout)
                self.assertEqual([one["freed_bytes"] for one in document["predictions"][0]["memory"]], [freed])
                self.assertNotIn("step_ns", document)
                self.assertIn("time unknown", as_text.stdout)
                said = re.search(r"frees about ([0-9.]+) ([kMGT]?)B", as_text.stdout)
                assert said
                size = float(said[1]) * 1000 ** " kMGT".index(said[2] or " ")
                self.assertAlmostEqual(size / freed, 1, delta=0.06)

    def test_frames_are_those_of_the_file(self) -> None:
        for path in snapshots():
            with self.subTest(path.name):
                document = pickle.loads(path.read_bytes())
                wanted = {
                    (frame["name"], frame["filename"] if frame["filename"] != "??" else None, frame["line"] or None)
                    for events in document["device_traces"]
                    for event in events
                    if event["action"] not in ("free_requested", "free_completed", "snapshot")
                    for frame in event.get("frames", [])
                }
                rows = query(path, "SELECT DISTINCT function, file, line FROM stack")
                found = {tuple(row) for row in rows}
                self.assertLessEqual({(name or None, file or None, line) for name, file, line in wanted}, found)


class Code:
    """Pickles to something that makes a folder when it is loaded."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (self.folder,)


class Malicious(unittest.TestCase):
    def test_nothing_is_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                path, made = Path(folder) / f"snapshot{protocol}.pickle", Path(folder) / "made"
                document = {"segments": [Code(str(made))], "device_traces": [[Code(str(made))]]}
                path.write_bytes(pickle.dumps(document, protocol))
                done = subprocess.run(
                    [PROGRAM, "analyze", str(path)], capture_output=True, text=True, timeout=LIMIT, check=False
                )
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertIn("would run code", done.stderr)
                self.assertFalse(made.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
