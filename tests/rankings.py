#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report says first of every recording with steps, each reviewed by a person who read the recording.

usage: rankings.py PROGRAM [--update] [GOLDEN...]

tests/rankings/*.golden: lines with `#` say why the list is right, lines with `=` name the recordings (below kineto/ in the
corpus; versions of one file share a golden), the rest is what is printed of them: the class of the run, then the bottlenecks
as they are ranked. Every recording of the corpus that has steps must have one. --update writes what was printed; a golden
without a reason fails.
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
    missing = [path for path, report in zip(paths, reports) if report and "steps" in report["run"]]
    return [f"{path.relative_to(root)}: has steps and no golden" for path in missing]


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
