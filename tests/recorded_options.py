#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what each option of the recorder brings: the table in docs/PROFILING_GUIDE.md says what gapless still finds without it.

Every rule has a recording on which it speaks (tests/rules/<rule>.py). What an option puts into a recording is taken out of
it, and the finding is compared with the one of the whole recording. What the page says must be what happens.

usage: recorded_options.py PROGRAM [--update]
--update writes the table into the page: read the difference before you keep it.
"""

from __future__ import annotations

import difflib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus import ROOT
from rule_contract import RULES, all_rules

PAGE = ROOT / "docs" / "PROFILING_GUIDE.md"
BEGIN, END = "<!-- written by tests/recorded_options.py --update -->\n", "<!-- end -->\n"
LISTED = 20  # rules, of an option without which more are gone their number says enough
Event = dict[str, Any]

DEVICE_SIDE = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync"}
SHAPES = {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"}
NCCL = {"dtype", "Collective name", "In msg nelems", "Out msg nelems", "Group size", "Process Group Name"}


def is_step(event: Event) -> bool:
    return str(event["name"]).startswith("ProfilerStep")


def without(keys: set[str]) -> Callable[[Event], Event]:
    return lambda event: {**event, "args": {key: value for key, value in event["args"].items() if key not in keys}}


# option → the event as it would be without it; None: it would not be there
Take = Callable[[Event], "Event | None"]
OPTIONS: dict[str, Take] = {
    "`record_shapes`": without(SHAPES),
    "`with_stack`": lambda event: None if event.get("cat") == "python_function" else event,
    "`profile_memory`": lambda event: None if event["name"] == "[memory]" else event,
    "`step()`": lambda event: None if is_step(event) else event,
    "NCCL's metadata": without(NCCL),
    "the host (`CPU`)": lambda event: (
        event if event.get("cat") in DEVICE_SIDE or event["ph"] != "X" or is_step(event) else None
    ),
}


def found(program: Path, rule: str, folder: Path) -> dict[str, Any] | None:
    """Returns what the rule says of the recording; None: nothing."""
    command = [str(program), "analyze", str(folder), "--no-cache", "--only", rule, "--json"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return next(iter(json.loads(printed)["bottlenecks"]), None)


def loss(whole: dict[str, Any], rest: dict[str, Any] | None) -> str:
    """Returns what is missing of a finding, in words; empty when nothing is."""
    if rest is None:
        return "not reported"
    words = []
    has_line = [any("source" in evidence for evidence in finding["evidence"]) for finding in (whole, rest)]
    if has_line == [True, False]:
        words.append("no line")
    if len(rest["evidence"]) < len(whole["evidence"]):
        words.append("less evidence")
    texts = [[advice["text"] for advice in finding["recommendations"]] for finding in (whole, rest)]
    if texts[0] != texts[1]:
        words.append("other advice")
    gains = [finding["gain"]["expected"] for finding in (whole, rest) if "gain" in finding]
    if len(gains) == 2 and abs(gains[1] - gains[0]) > 0.05 * gains[0]:
        words.append("other gain")
    return ", ".join(words)


def row(program: Path, rule: str) -> list[str]:
    """The cells of a rule: what is lost without each option. No cells for a rule of the whole run, which needs no recording."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        subprocess.run([sys.executable, "-B", str(RULES / "recording.py"), rule, "fires", str(whole)], check=True)
        if not list(whole.glob("*.json")):
            return []
        full = found(program, rule, whole)
        if full is None:
            sys.exit(f"{rule} is not reported where it should be")
        cells = []
        for number, take in enumerate(OPTIONS.values()):
            less = Path(folder) / str(number)
            less.mkdir()
            for path in whole.iterdir():
                if path.suffix != ".json":  # a table of another tool, which these options do not concern
                    shutil.copy(path, less / path.name)
                    continue
                document = json.loads(path.read_text(encoding="utf-8"))
                document["traceEvents"] = [kept for event in document["traceEvents"] if (kept := take(event))]
                (less / path.name).write_text(json.dumps(document), encoding="utf-8")
            cells.append(loss(full, found(program, rule, less)))
    return cells


def table(program: Path) -> str:
    """A row for each option: the rules that need it, and of which others less is said without it."""
    gone: list[list[str]] = [[] for _ in OPTIONS]
    less: list[list[str]] = [[] for _ in OPTIONS]
    for rule in all_rules():
        for number, lost in enumerate(row(program, rule)):
            if lost and lost != "no line":  # that there is no line without stacks is said once, for all
                (gone if lost == "not reported" else less)[number].append(f"`{rule}`")
    lines = ["| without | not reported | with less evidence, other advice or another gain |", "|---|---|---|"]
    for number, option in enumerate(OPTIONS):
        names = ", ".join(gone[number]) if len(gone[number]) <= LISTED else f"{len(gone[number])} of the rules"
        lines.append(f"| {option} | {names} | {', '.join(less[number])} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    program = Path(sys.argv[1]).resolve()
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    shown, after = rest.split(END)
    expected = "\n" + table(program) + "\n"
    if "--update" in sys.argv:
        PAGE.write_text(before + BEGIN + expected + END + after, encoding="utf-8")
    elif shown != expected:
        print(
            *difflib.unified_diff(shown.splitlines(), expected.splitlines(), str(PAGE), "happens", lineterm=""),
            "after reading this: tests/recorded_options.py build/gapless --update",
            sep="\n",
        )
        return 1
    print(f"{len(all_rules())} rules and {len(OPTIONS)} options: the guide says what happens")
    return 0


if __name__ == "__main__":
    sys.exit(main())
