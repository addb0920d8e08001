#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds gapless to the TensorBoard plugin, where both mean the same.

usage: oracle_tensorboard.py PROGRAM

tests/oracle/tensorboard.json holds what the plugin (torch-tb-profiler, its last state in Kineto's repository, 94979607^)
answers about the recordings of the corpus: steps, mean step in µs by category, per device utilisation, estimated SM
efficiency and occupancy, and the operators with most device time of their own.

The plugin's analysed time is made from gapless's rows by the plugin's rule and must be the plugin's; gapless's own (which
differs where steps follow each other within 1 %, see docs/definitions.md) is compared with it, and what both measure over
the same time must be equal. Other differences are in EXPLAINED, with what was found to be the reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT, require

ANSWERS = ROOT / "tests" / "oracle" / "tensorboard.json"
HALF_US = 0.5

IDS = (
    "external ids of calls are not those of operators: the plugin gives device time to operators that launched nothing"
)
DRIVER = "the plugin does not read driver calls, by which Triton launches"
BINARY = "the plugin keeps microseconds since 1970 as binary numbers, in steps of a quarter"
LOST = "the plugin's operator tree holds a part of the calls only; why was not looked into"
# (part of the recording's path, quantity, why it differs)
EXPLAINED = (
    ("et_replay/tests/inputs/linear_kineto", "operator", IDS),
    ("et_replay/tests/inputs/resnet_kineto", "operator", IDS),
    ("critical_path/alexnet", "operator", IDS),
    ("critical_path/end_to_end/simple_add", "operator", IDS),
    ("b200/eager_trace", "operator vllm::moe_forward", DRIVER),
    ("ns_resolution_trace", "operator", BINARY),
    ("ns_resolution_trace", "utilization", BINARY),
    ("ns_resolution_trace", "occupancy_pct", BINARY),
    ("mi300/resnet_act_checkpoint", "operator", LOST),
    ("normalization/normalization_layer_test", "operator", LOST),
)


class Comparison:
    """Counts what was compared, and keeps what differs."""

    def __init__(self, recording: str) -> None:
        self.recording, self.compared, self.explained, self.failures = recording, 0, Counter[str](), list[str]()

    def close(self, quantity: str, mine: float | None, theirs: float, tolerance: float) -> None:
        self.compared += 1
        if mine is not None and abs(mine - theirs) <= tolerance:
            return
        for part, what, why in EXPLAINED:
            if part in self.recording and quantity.startswith(what):
                self.explained[why] += 1
                return
        self.failures.append(f"{self.recording}: {quantity}: gapless {mine}, the plugin {theirs}")


def ask(program: Path, path: str, sql: str) -> list[dict[str, Any]]:
    command = [str(program), "query", str(FOLDER / "kineto" / path), sql, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def compare_operators(check: Comparison, program: Path, answer: dict[str, Any]) -> None:
    """Device time of each operator's own, over the whole recording."""
    rows = ask(
        program,
        check.recording,
        "SELECT s.name AS name, sum(g.dur_ns) AS ns FROM gpu_op g JOIN slice s ON g.op_id = s.id GROUP BY s.name",
    )
    mine = {row["name"]: row["ns"] / 1000 for row in rows}
    for name, _, _, own_us in answer["operators"]:
        check.close(f"operator {name}", mine.get(name), own_us, HALF_US)


Span = tuple[int, int]


def plugin_steps(steps: list[dict[str, Any]], ops: list[dict[str, Any]]) -> list[Span]:
    """The steps as the plugin stretches them over the device work that calls inside them launched."""
    hosts = [(step["ts_ns"], step["ts_ns"] + step["dur_ns"]) for step in steps]
    mine: list[list[Span]] = [[] for _ in hosts]
    others: list[Span] = []
    for op in ops:
        span = (op["ts_ns"], op["ts_ns"] + op["dur_ns"])
        known = op.get("launch") is not None
        inside = [i for i, host in enumerate(hosts) if known and host[0] <= op["launch"] and op["end"] <= host[1]]
        (mine[inside[0]] if inside else others).append(span)
    previous = hosts[0][0]
    if mine[0]:
        first = min(start for start, _ in mine[0])
        previous = max([previous, *(end for _, end in others if end < first)])
    spans: list[Span] = []
    for host, launched in zip(hosts, mine):
        start = max(previous, host[0])
        previous = max([start, host[1], *(end for _, end in launched)])
        spans.append((start, previous))
    while any(mine) and len(spans) > 1 and not mine[len(spans) - 1]:
        spans.pop()
    last = len(spans) - 1
    return spans[:last] if last > 0 and len(mine[last - 1]) * 0.8 > len(mine[last]) else spans


def union_within(spans: list[Span], window: Span) -> int:
    total, reached = 0, window[0]
    for start, end in sorted(spans):
        start, end = max(start, reached), min(end, window[1])
        total += max(0, end - start)
        reached = max(reached, end)
    return total


def compare_windows(check: Comparison, program: Path, answer: dict[str, Any]) -> bool:
    """The analysed time; True when ours is the same, so that what is measured over it can be compared."""
    steps = ask(program, check.recording, "SELECT ts_ns, dur_ns FROM step WHERE source = 'profiler' ORDER BY ts_ns")
    if not steps:
        return False  # the plugin takes the whole recording for one step
    ops = ask(
        program,
        check.recording,
        "SELECT g.kind, g.device, g.ts_ns, g.dur_ns, l.ts_ns AS launch, l.ts_ns + l.dur_ns AS end "
        "FROM gpu_op g LEFT JOIN slice l ON g.launch_id = l.id ORDER BY g.ts_ns",
    )
    theirs = plugin_steps(steps, ops)
    length = answer["step_us"].get("Total", 0) * answer["steps"]
    check.close("steps", sum(end - start for start, end in theirs) / 1000, length, HALF_US)
    window = (theirs[0][0], theirs[-1][1])
    for device, share in answer["utilization"].items():
        kernels = [(op["ts_ns"], op["ts_ns"] + op["dur_ns"]) for op in ops
                   if op["kind"] == "kernel" and str(op["device"]) == device]  # fmt: skip
        mine = union_within(kernels, window) / (window[1] - window[0])
        check.close(f"utilization of device {device}", mine, share, 1e-5)
    ours = ask(program, check.recording, "SELECT sum(dur_ns) AS ns FROM steps WHERE complete = 1")[0].get("ns") or 0
    return bool(abs(ours / 1000 - length) <= HALF_US)


def compare_devices(check: Comparison, program: Path, answer: dict[str, Any]) -> None:
    """Compares what the plugin says of each device over the analysed time."""
    rows = ask(program, check.recording, "SELECT * FROM sm_use")
    for row in rows:
        device = str(row["device"])
        for quantity, column in (("sm_efficiency", "sm_efficiency"), ("occupancy_pct", "occupancy_pct")):
            if device in answer[quantity]:
                check.close(f"{quantity} of device {device}", row.get(column), answer[quantity][device], 1e-5)


def compare(program: Path, recording: str, answer: dict[str, Any]) -> Comparison:
    check = Comparison(recording)
    compare_operators(check, program, answer)
    if compare_windows(check, program, answer):
        compare_devices(check, program, answer)
    return check


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    require()
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    with ThreadPoolExecutor(2) as pool:
        checks = list(pool.map(lambda item: compare(program, *item), answers.items()))
    failures = [failure for check in checks for failure in check.failures]
    explained = sum((check.explained for check in checks), Counter[str]())
    print("\n".join(failures))
    for why, count in explained.most_common():
        print(f"{count:5} differ: {why}")
    compared = sum(check.compared for check in checks)
    print(
        f"{len(checks)} recordings, {compared} numbers compared, {sum(explained.values())} explained, {len(failures)} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
