# SPDX-License-Identifier: Apache-2.0
"""Does both labs from one command: every command of LAB_A.md and LAB_B.md, part by part, and then the search for fixes, twice.

    python examples/lab/labs.py -o labs              # 40 minutes on two processors
    python examples/lab/labs.py -o labs --full       # on a GPU: as the sheets ask for it, hours
    python examples/lab/labs.py -o labs --only optimize --budget 10m

What is handed in lies in the folder: baseline_analysis.txt, lab_a.md, lab_b.md, scaling.svg, the recordings, and labs.md, which has the table
of every fix (predicted, measured, kept or why not) of both searches, and says if they agree. `gapless` and a Python with PyTorch must be on
the PATH. A part that fails is named, and the others go on; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
GUIDES = ("LAB_A.md", "LAB_B.md")
SCRIPT = "examples/lab/training_baseline.py"


class Part(NamedTuple):
    name: str  # "LAB_A: 1. The baseline"
    commands: list[str]


def parts_of(guide: str, full: bool) -> list[Part]:
    """The parts of a guide that have commands, in order."""
    parts = []
    for section in re.split(r"(?m)^## ", (HERE / guide).read_text(encoding="utf-8"))[1:]:
        blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", section)
        commands = [line for block in blocks for line in block.splitlines()]
        if full:
            commands = [line.replace(" --small", "") for line in commands]
        if commands:
            parts.append(Part(f"{guide.removesuffix('.md')}: {section.splitlines()[0]}", commands))
    return parts


def run_part(part: Part, folder: Path, log: Any) -> str:
    """Returns what failed; "" where all went well."""
    for command in part.commands:
        log.write(f"\n$ {command}\n")
        log.flush()
        words = ["bash", "-o", "pipefail", "-c", command]
        done = subprocess.run(words, cwd=folder, stdout=log, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            return f"exit status {done.returncode}: {command}"
    return ""


def search(folder: Path, name: str, budget: str, full: bool, log: Any) -> dict[str, Any]:
    """Returns the decision of `gapless optimize` on each fix, within the budget."""
    script = [SCRIPT] if full else [SCRIPT, "--small", "--steps", "400"]
    words = [
        "gapless",
        "optimize",
        "--fresh",
        "--budget",
        budget,
        "-o",
        name,
        f"--json={name}.json",
        "--",
        "python",
        *script,
    ]
    log.write(f"\n$ {' '.join(words)}\n")
    log.flush()
    began = time.monotonic()
    done = subprocess.run(words, cwd=folder, stdout=log, stderr=subprocess.STDOUT, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"gapless optimize ended with {done.returncode}")
    answer: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    answer["took_s"] = time.monotonic() - began
    return answer


def gain(found: dict[str, Any] | None) -> str:
    """A gain with its interval, where there is one: a fix that was slower in every pair is given up before there is."""
    if not found:
        return "–"
    return f"{found['expected']:.2f}×" + (f" ({found['low']:.2f}–{found['high']:.2f})" if "low" in found else "")


def rows_of(answer: dict[str, Any]) -> dict[str, list[str]]:
    """Returns for each fix: predicted, measured, kept or why not."""
    kept = {
        item["fix"]: [gain(item.get("predicted")), gain(item.get("measured")), "kept"] for item in answer["applied"]
    }
    for item in answer["refused"]:
        why = item.get("reason") or item["outcome"].replace("_", " ")
        kept.setdefault(item["fix"], [gain(item.get("predicted")), gain(item.get("measured")), why])
    return kept


def measured_of(answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The gains that a search measured of a fix, of each of its values, where there is an interval."""
    items = [item for item in answer["applied"] + answer["refused"] if item["fix"].partition("=")[0] == name]
    return [item["measured"] for item in items if "low" in item.get("measured", {})]


def agreement(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Says if the two searches keep the same fixes; of one that only one of them keeps, if what the other measured contradicts that.
    Searches measure a gain with an interval: one that is smaller than the other search could detect is kept by chance of the pairs."""
    kept = [{item["fix"].partition("=")[0]: item for item in answer["applied"]} for answer in (first, second)]
    if kept[0].keys() == kept[1].keys():
        return "The two searches keep the same fixes" if kept[0] else "Neither search keeps a fix"
    lines = []
    for name in sorted(kept[0].keys() ^ kept[1].keys()):
        one, other = (0, second) if name in kept[0] else (1, first)
        own, others = kept[one][name]["measured"], measured_of(other, name)
        said = "the other has no interval of it"
        if others:
            fits = any(found["low"] <= own["expected"] <= found["high"] for found in others)
            said = f"the other measured {', '.join(map(gain, others))}, which {'fits' if fits else 'does not fit'}"
        lines.append(f"{name} is kept in one alone, at {gain(own)}; {said}")
    return "The two searches differ. " + ". ".join(lines)


def table_of(first: dict[str, Any], second: dict[str, Any]) -> str:
    rows = [rows_of(answer) for answer in (first, second)]
    lines = ["| fix | predicted | measured | | again: measured | |", "|---|---|---|---|---|---|"]
    for fix in dict.fromkeys([*rows[0], *rows[1]]):
        one, other = (found.get(fix, ["–", "–", "not tried"]) for found in rows)
        lines.append(f"| {fix} | {' | '.join(one)} | {other[1]} | {other[2]} |")
    speedups = [gain(answer.get("speedup")) for answer in (first, second)]
    same = agreement(first, second)
    took = ", ".join(f"{answer['took_s']:.0f} s" for answer in (first, second))
    return "\n".join([*lines, "", f"{same}. All together: {speedups[0]}, again {speedups[1]}. They took {took}."])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("labs"), help="folder of what is handed in (labs)")
    parser.add_argument("--only", help="do the parts whose names have this in them: LAB_A, 'Memory', optimize")
    parser.add_argument("--budget", default="15m", help="of each of the two searches (15m)")
    parser.add_argument("--full", action="store_true", help="sizes of the sheets, for a GPU")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "examples").unlink(missing_ok=True)
    (given.output / "examples").symlink_to(HERE.parent)
    text, failed = ["# The labs", ""], []
    with (given.output / "log.txt").open("w", encoding="utf-8") as log:
        for part in [part for guide in GUIDES for part in parts_of(guide, given.full)]:
            if given.only and given.only not in part.name:
                continue
            began = time.monotonic()
            problem = run_part(part, given.output, log)
            failed += [part.name] if problem else []
            text.append(f"- {part.name}: {problem or 'done'}, {time.monotonic() - began:.0f} s")
            print(text[-1], flush=True)
        if not given.only or given.only in "optimize":
            answers = [search(given.output, name, given.budget, given.full, log) for name in ("optimized", "again")]
            text += ["", "## Every fix", "", table_of(answers[0], answers[1])]
            print("\n".join(text[-2:]))
    (given.output / "labs.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print(f"written to {given.output}: labs.md and what the parts make; log.txt has all output")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
