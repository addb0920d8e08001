#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the report says first of every recording with steps, each reviewed by a person who read the recording.

usage: rankings.py PROGRAM [--update] [GOLDEN...]

tests/rankings/*.golden: lines with `#` say why the list is right, lines with `=` name the recordings (below kineto/ in the
corpus; versions of one file share a golden), the rest is what is printed of them: the class of the run, then the bottlenecks
as they are ranked. Every recording of the corpus that has steps must have one. --update writes what was printed; a golden
without a reason fails. And whatever is said must not contradict itself (contradictions).
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT, require

GOLDENS = ROOT / "tests" / "rankings"


def word(severity: float) -> str:
    return "critical" if severity > 0.7 else "warning" if severity >= 0.4 else "minor"


def ranking(report: dict[str, Any]) -> str:
    """The report's answer in short."""
    run = report["run"]
    steps = f"{run['steps']} steps of {run['step_ns']['median'] / 1e6:.2f} ms" if "steps" in run else "no steps"
    busy = f", busy {run['gpu_busy_share'] * 100:.1f} %" if "gpu_busy_share" in run else ""
    limit = f" ({run['limit']})" if "limit" in run else ""
    bound = "" if run.get("mfu_coverage", 0) > 0.995 else "≥ "
    mfu = f", MFU {bound}{run['mfu'] * 100:.1f} %" if run.get("mfu_coverage", 0) >= 0.5 else ""
    lines = [f"{run.get('class', 'no GPU work')}{limit}: {steps}{busy}{mfu}"]
    for place, found in enumerate(report["bottlenecks"], 1):
        share = f" {found['share_of_step'] * 100:5.1f} %" if "share_of_step" in found else ""
        gain = f"  {found['gain']['expected']:.2f}x" if "gain" in found else ""
        lines.append(f"{place:2} {found['id']:24} {word(found['severity']):8}{share}{gain}")
    return "\n".join(lines) + "\n"


# Class of a run -> the part of the breakdown that gives it its name.
WASTES = {
    "input bound": "idle_data_ns",
    "launch bound": "idle_launch_ns",
    "sync bound": "idle_sync_ns",
    "host bound": "idle_host_ns",
    "unknown": "idle_unknown_ns",
    "communication bound": "exposed_comm_ns",
    "copy bound": "exposed_copy_ns",
}
NAMES_THE_RUN = 0.30  # share of the time from which a waste does
ROUNDING = 0.001


def class_contradiction(run: dict[str, Any], breakdown: list[dict[str, Any]]) -> list[str]:
    """A waste names the run where it takes 30 % of the time or more; below that the largest bar does."""
    wall = sum(device["wall_ns"] for device in breakdown)
    judged = run.get("class", "") in WASTES or run.get("class") in ("compute bound", "memory bound")
    if wall == 0 or not judged or run.get("gpu_busy_is_least") or len(run["ranks"]) > 1:
        return []  # waiting for recorders of other ranks to start counts for nothing, and is not in the JSON
    share = {
        key: sum(device.get(key, 0) for device in breakdown) / wall
        for key in (*WASTES.values(), "compute_ns", "idle_ns")
    }
    bars = [share[key] for key in ("compute_ns", "idle_ns", "exposed_comm_ns", "exposed_copy_ns")]
    waste = max(share[key] for key in WASTES.values())
    if run["class"] not in WASTES:
        fits = waste <= NAMES_THE_RUN + ROUNDING and share["compute_ns"] >= max(bars) - ROUNDING
    else:
        named = share[WASTES[run["class"]]]
        fits = named >= max(NAMES_THE_RUN, waste) - ROUNDING or share["compute_ns"] < max(bars) + ROUNDING
    parts = ", ".join(f"{key} {part:.3f}" for key, part in share.items())
    return [] if fits else [f"{run['class']}: {parts}"]


def contradictions(report: dict[str, Any]) -> list[str]:
    """Returns what a report says that another part of it denies."""
    run, found, breakdown = report["run"], report["bottlenecks"], report.get("breakdown", [])
    wrong = class_contradiction(run, breakdown)
    window = sum(device["wall_ns"] for device in breakdown)
    for finding in found:
        for evidence in finding["evidence"]:
            if window and evidence.get("unit") == "ns" and evidence["value"] > window * (1 + ROUNDING):
                wrong.append(f"{finding['id']}: more than the {window / 1e6:.2f} ms analysed: {evidence['text']}")
    placed = [finding for finding in found if finding.get("gain", {}).get("expected", 1) >= 1.005]
    words = [word(finding["severity"]) for finding in placed if not finding.get("cured_by")]
    order = ["critical", "warning", "minor"]
    if words != sorted(words, key=order.index):
        wrong.append(f"severity does not fall along the list: {', '.join(words)}")
    for finding in found:
        if finding["id"] in report.get("together", {}).get("bottlenecks", []) and finding["gain"]["expected"] < 1.005:
            wrong.append(f"{finding['id']} is in the plan and brings {finding['gain']['expected']:.4f}x")
    return wrong


def report_of(program: Path, path: Path) -> dict[str, Any] | None:
    """The report as JSON; none where the file is no recording."""
    command = [str(program), "analyze", str(path), "--json", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"{path}: exit {done.returncode}: {done.stderr}")
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def read_golden(path: Path) -> tuple[list[str], list[str], str]:
    """Comment lines, recordings, what must be printed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    recordings = [line[2:] for line in lines if line.startswith("= ")]
    return comments, recordings, "\n".join(line for line in lines if line[:1] not in ("#", "=")) + "\n"


def check(program: Path, root: Path, golden: Path, update: bool) -> list[str]:
    comments, recordings, kept = read_golden(golden)
    wrong = [] if any(len(line) > 20 for line in comments) else [f"{golden.name}: no line says why this is right"]
    for recording in recordings:
        report = report_of(program, root / recording)
        text = ranking(report) if report else "not a recording\n"
        wrong += [f"{recording}: {line}" for line in (contradictions(report) if report else [])]
        if update and recording == recordings[0]:
            head = comments + [f"= {name}" for name in recordings]
            golden.write_text("\n".join(head) + "\n" + text, encoding="utf-8")
            kept = text
        wrong += difflib.unified_diff(kept.splitlines(), text.splitlines(), golden.name, recording, lineterm="")
    return wrong


def without_golden(program: Path, root: Path, named: set[str]) -> list[str]:
    """Recordings with steps that no golden names."""
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and str(path.relative_to(root)) not in named]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda path: report_of(program, path), paths))
    read = [(path.relative_to(root), report) for path, report in zip(paths, reports) if report]
    missing = [f"{path}: has steps and no golden" for path, report in read if "steps" in report["run"]]
    return missing + [f"{path}: {line}" for path, report in read for line in contradictions(report)]


def main() -> int:
    words = [argument for argument in sys.argv[1:] if argument != "--update"]
    program, update = Path(words[0]).resolve(), "--update" in sys.argv
    require()
    root = FOLDER / "kineto"
    goldens = [Path(argument) for argument in words[1:]] or sorted(GOLDENS.glob("*.golden"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda golden: check(program, root, golden, update), goldens))
    wrong = [line for lines in found for line in lines]
    if not words[1:]:
        wrong += without_golden(program, root, {name for golden in goldens for name in read_golden(golden)[1]})
    print("\n".join(wrong) if wrong else f"{len(goldens)} ranked lists are as reviewed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
