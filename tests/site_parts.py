#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what `gapless serve` takes beside recordings, without a GPU and without PyTorch: a history with a planted change, the folder of a
search for fixes, and the run folder of a job that is under way.

usage: site_parts.py PROGRAM FOLDER    makes all of them, and lets the job take steps until its input ends
"""

from __future__ import annotations

import json
import os
import platform
import select
import shutil
import struct
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from corpus import ROOT

sys.path.append(str(ROOT / "python" / "gapless" / "agent"))
from gapless_agent import layout

MS = 1_000_000
STEP_NS, SLOW_NS = 20 * MS, 300 * MS
SLOW_STEP = 220  # of the job
CAPACITY = 4096  # records of a ring
SAMPLE_BEGAN_NS = 1623142623460072000  # the first event of samples/resnet50_v100
FALLS_AT = 40  # run of the history
GAUGES = {"gpu.utilization": ("share", 0.75), "gpu.memory.used": ("bytes", 6.0 * 2**30), "gpu.power": ("W", 312.5)}

DIFF = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-    num_workers=0\n+    num_workers=4\n"
NO_TIME_YET = {"fix": "amp=bf16", "outcome": "no_time", "reason": "its trial takes too long", "pairs": 0, "took_s": 0}
DECIDED: list[dict[str, Any]] = [
    {"fix": "workers=4", "outcome": "accepted", "reason": "it is faster, and the losses agree", "pairs": 9,
     "predicted": {"low": 1.2, "expected": 1.5, "high": 1.7}, "measured": {"low": 1.41, "expected": 1.47, "high": 1.53},
     "took_s": 21.5},
    {"fix": "amp=bf16", "outcome": "other_training", "reason": "its losses differ <b>more</b> than two runs do", "pairs": 4,
     "measured": {"expected": 1.2}, "took_s": 9.25},
    {"fix": "fused_optimizer", "outcome": "does_not_apply", "reason": "the optimiser has no fused form", "pairs": 0,
     "took_s": 0},
]  # fmt: skip


def envelope() -> dict[str, Any]:
    return {"version": "1.2.3", "schema": 1, "schema_version": 1, "command": "optimize"}


def make_history(program: str, folder: Path, runs: int = 80) -> str:
    """A run a day on main, whose throughput falls at run 40, and few runs of two other benchmarks."""
    began = datetime(2026, 1, 1, tzinfo=timezone.utc)

    def line(run: int, commit: str, branch: str, benchmark: str, value: float) -> str:
        metric = {"name": "samples_per_second", "value": value}
        return json.dumps(
            {"gapless_history": 1, "uid": f"{benchmark}{run}", "recorded_unix_ns": int((began + timedelta(days=run)).timestamp()) * 10**9,
             "commit_sha": commit, "branch": branch, "benchmark": benchmark, "metrics": [metric]}
        )  # fmt: skip

    lines = []
    for run in range(runs):
        value = (736 if run >= FALLS_AT else 800) + 8 * ((run * 7) % 11) / 11
        lines.append(line(run, f"{run:08x}{'a' * 32}", "main", "resnet50", value))
    lines += [line(run, f"{run:040x}", "try/<this>", "small", 100 + run) for run in range(3)]
    lines += [line(run, f"{run:040x}", "main", "older", 50 + run) for run in range(2)]
    table = folder / "history.jsonl"
    table.write_text("\n".join(lines) + "\n")
    db = f"sqlite:{folder / 'history.db'}"
    subprocess.run([program, "history", "import", str(table), "--db", db], check=True, capture_output=True)
    return db


def write_progress(folder: Path, state: str, decided: int, pid: int | None = None) -> None:
    """As src/flows/optimize_progress.cc writes it, at once."""
    now_ms = time.time_ns() // MS
    progress = {
        "gapless": envelope(),
        "command": "python train.py",
        "state": state,
        "host": platform.node(),
        "pid": os.getpid() if pid is None else pid,
        "began_unix_ms": now_ms - 60_000,
        "updated_unix_ms": now_ms,
        "budget_s": 600,
        "done": decided,
        "of": 5,
        "decisions": [NO_TIME_YET, *DECIDED[:decided]],
        "warnings": [],
    }
    if state == "trying":
        progress["trial"] = {"what": "channels_last, pair 3: 1.08×", "fix": "channels_last", "pairs": 3,
                             "speedup": {"low": 0.97, "expected": 1.08}}  # fmt: skip
    new = folder / "progress.json.new"
    new.write_text(json.dumps(progress))
    new.rename(folder / "progress.json")


def make_search(folder: Path) -> Path:
    """A search that is under way."""
    search = folder / "optimized"
    search.mkdir()
    (search / "journal.jsonl").write_text('{"gapless_optimize":"python train.py"}\n')
    write_progress(search, "trying", 2)
    return search


def end_search(search: Path) -> dict[str, Any]:
    """Its result, as `gapless optimize --json` has it, and the patch."""

    def tried(one: dict[str, Any]) -> dict[str, Any]:
        return {"safety": "exact", "effort": "minutes", **{key: one[key] for key in one if key != "took_s"}}

    result: dict[str, Any] = {
        "gapless": envelope(),
        "command": "python train.py",
        "about": "2 processors · torch 2.15.0",
        "applied": [tried(DECIDED[0])],
        "refused": [tried(one) for one in DECIDED[1:]],
        "proved": True,
        "conclusion": "1.47× (1.41–1.53) faster with workers=4, from 9 pairs of runs",
        "speedup": {"low": 1.41, "expected": 1.47, "high": 1.53},
        "pairs": 9,
        "table": [
            {"optimization": "baseline", "step_time_ms": 100.04, "samples_per_second": 640.0},
            {"optimization": "workers=4", "step_time_ms": 68.03, "samples_per_second": 940.8,
             "speedup": {"low": 1.41, "expected": 1.47, "high": 1.53}},
        ],
        "recipe": "optimized/optimized.json",
        "patch": "optimized/optimized.patch",
        "patch_files": ["train.py"],
        "untried": [{"fix": "compile=default", "expected_speedup": 1.2, "trial_s": 80}],
        "ahead": [],
        "took_s": 80,
        "budget_s": 600,
        "interrupted": False,
        "warnings": [],
    }  # fmt: skip
    (search / "optimized.patch").write_text(DIFF)
    write_progress(search, "done", 3)
    (search / "result.json").write_text(json.dumps(result))
    return result


def telemetry(kind: int, body: bytes, count: int = 0) -> bytes:
    """A record of a telemetry file (src/wire/telemetry_stream.h)."""
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", 8 + len(body), kind, count) + body


class Job:
    """A run folder with two ranks, which this process is the launcher of."""

    def __init__(self, folder: Path, name: str = "job") -> None:
        self.folder = folder / name
        self.folder.mkdir(mode=0o700)
        self.steps = 0
        self.began_ns = time.time_ns() - (SLOW_STEP + 80) * STEP_NS
        self.ends_ns = self.began_ns
        control = bytearray(layout.CONTROL_BYTES)
        layout.CONTROL_HEADER.pack_into(
            control,
            0,
            layout.CONTROL_MAGIC,
            1,
            layout.CONTROL_HEADER_BYTES,
            layout.SLOT_BYTES,
            layout.SLOTS,
            0,
            os.getpid(),
        )
        struct.pack_into("<qqq64s", control, 40, self.began_ns, 0, -1, platform.node().encode()[:63])
        (self.folder / "control").write_bytes(control)
        self.rings = []
        self.helpers = [subprocess.Popen(["sleep", "600"]) for _ in range(2)]  # processes of the job, by their numbers
        for rank, helper in enumerate(self.helpers):
            below = self.folder / f"rank{rank}"
            below.mkdir(mode=0o700)
            ring = below / f"agent-{helper.pid}.ring"
            header = bytearray(layout.RING_HEADER_BYTES + CAPACITY * layout.RECORD_BYTES)
            layout.RING_HEADER.pack_into(
                header, 0, layout.RING_MAGIC, 1, layout.RING_HEADER_BYTES, layout.RECORD_BYTES, CAPACITY, helper.pid,
                self.began_ns, rank, 2, rank, rank, layout.ROLE_TRAINS, layout.STATE_RUNS,
            )  # fmt: skip
            ring.write_bytes(header)
            ring.chmod(0o600)
            self.rings.append((ring, [0]))
        self.telemetry = self.folder / "telemetry.gts"
        self.telemetry.write_bytes(self.telemetry_head())
        self.telemetry.chmod(0o600)

    def close(self) -> None:
        for helper in self.helpers:
            helper.kill()
            helper.wait()

    def end(self) -> None:
        """As the launcher leaves it."""
        self.close()
        with (self.folder / "control").open("r+b") as control:
            control.seek(48)
            control.write(struct.pack("<q", time.time_ns()))

    def put(self, rank: int, kind: int, **of: Any) -> None:
        ring, written = self.rings[rank]
        written[0] += 1
        record = layout.RECORD.pack(
            written[0], kind, of.get("flags", 0), of.get("value", 0), of["ts_ns"], of.get("dur_ns", 0), of.get("a", 0),
            of.get("b", 0), of.get("x", 0.0), of.get("y", 0.0),
        )  # fmt: skip
        with ring.open("r+b") as file:
            file.seek(layout.RING_HEADER_BYTES + (written[0] - 1) % CAPACITY * layout.RECORD_BYTES)
            file.write(record)
            file.seek(64)
            file.write(struct.pack("<QQ", written[0], self.steps))
            file.seek(88)
            file.write(struct.pack("<q", of["ts_ns"] + of.get("dur_ns", 0)))

    def step(self) -> None:
        """Each rank takes one; that of the slow number waits for its batch."""
        slow = self.steps == SLOW_STEP
        took = SLOW_NS if slow else STEP_NS + self.steps % 7 * 100_000
        for rank in range(2):
            wait = took - STEP_NS if slow else MS
            self.put(
                rank, layout.KIND_STEP, ts_ns=self.ends_ns, dur_ns=took + rank * 50_000, a=self.steps, b=32, x=wait
            )
        self.put(0, layout.KIND_LOSS, ts_ns=self.ends_ns, a=self.steps, x=2.5 / (1 + self.steps / 100))
        self.ends_ns += took
        self.steps += 1

    def telemetry_head(self) -> bytes:
        host = platform.node().encode()
        out = struct.pack("<8sIIqq", b"GAPLTEL\n", 1, 32, self.began_ns, 250 * MS)
        out += telemetry(1, struct.pack("<II", 4, len(host)) + b"host" + host)
        for series, (name, (unit, _)) in enumerate(GAUGES.items()):
            text = name.encode() + unit.encode()
            out += telemetry(2, struct.pack("<IiII", series, 0, len(name), len(unit)) + text)
        return out

    def sample(self) -> None:
        values = [value for _, value in GAUGES.values()]
        count = len(values)
        body = struct.pack(f"<q{count}d{count}I", time.time_ns(), *values, *range(count))
        with self.telemetry.open("ab") as file:
            file.write(telemetry(3, body, count))

    def record(self) -> Path:
        """The profiler's recording of the steps after the slow one."""
        path = self.folder / "rank0" / "slow.1.pt.trace.json.gz"
        shutil.copy(ROOT / "samples/resnet50_v100.pt.trace.json.gz", path)
        path.chmod(0o600)
        return path


def make_run(folder: Path, watts: tuple[float, ...] = (250.0, 300.0, 275.0, 310.0)) -> Path:
    """A run that is over: the sample with telemetry of its GPU, a value each fifth of a second."""
    job = Job(folder, "over")
    job.end()
    for below in job.folder.glob("rank*/*.ring"):
        below.unlink()
    shutil.copy(ROOT / "samples/resnet50_v100.pt.trace.json.gz", job.folder / "rank0" / "run.1.pt.trace.json.gz")
    with job.telemetry.open("ab") as file:
        for at, power in enumerate(watts):
            values = [0.5 + at / 10, 6.0 * 2**30 + at, power]
            body = struct.pack("<q3d3I", SAMPLE_BEGAN_NS + at * 200 * MS, *values, 0, 1, 2)
            file.write(telemetry(3, body, 3))
    return job.folder


def make_job(folder: Path) -> Job:
    """It has taken 300 steps, one of them slow and recorded."""
    job = Job(folder)
    for _ in range(SLOW_STEP + 80):
        job.step()
    job.sample()
    job.record()
    return job


def main() -> int:
    program, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    run = make_run(folder)
    db, search, job = make_history(program, folder), make_search(folder), make_job(folder)
    print(json.dumps({"history": db, "search": str(search), "job": str(job.folder), "run": str(run)}), flush=True)
    try:
        while True:
            readable, _, _ = select.select([sys.stdin], [], [], 0.25)
            if readable:
                word = sys.stdin.readline().strip()
                if word != "end search":
                    return 0
                end_search(search)
                print("ended", flush=True)
            job.step()
            job.sample()
    finally:
        job.close()


if __name__ == "__main__":
    sys.exit(main())
