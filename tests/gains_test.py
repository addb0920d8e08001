#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what holds of every gain that is printed, over every recording there is.

usage: gains_test.py PROGRAM [--list] [RECORDING...]

- No bottleneck brings more than the time at stake, 1 / (1 − share), unless it says what its fix does beside that (`also`).
- The plan is a waterfall: its gains multiply to what all bring together, and the sums up to each step are what they say.
- One remedy stands once, and what hangs under another bottleneck has no gain of its own.
- Nothing below 0.5 % has a place in the plan, and nothing with an expected loss is more than minor.
- `predict --what` says the same of the plan's fixes as the report does.
- A fix without an effect is exactly 1.00, and 1.00 has a reason: what is not known is refused, not predicted to bring nothing.
- Terminal, Markdown, page and JSON show the same numbers in the same order; the picture of the step is as long as its label says.

Without recordings: those of the corpus (GAPLESS_CORPUS) and of strangers (GAPLESS_STRANGERS), as far as they are there.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT, require

STRANGERS = Path(os.environ.get("GAPLESS_STRANGERS", ROOT.parent / "strangers"))
LEAST = 1.005  # what is worth a place
NOTHING = 0.004  # is shown as 1.00
WITH_VALUES = ("ddp_bucket=25", "nosync=4", "network=0.5", "batch=64")  # asked besides what needs no value
ROUNDING = 1.021  # by which a gain may pass its stake
MOST_BYTES = 12_000_000  # larger recordings say nothing new
Report = dict[str, Any]


def run(program: Path, *arguments: str) -> tuple[int, str]:
    environment = os.environ | {"LC_ALL": "C.UTF-8", "COLUMNS": "400"}
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout


def near(a: float, b: float, within: float = 1e-6) -> bool:
    return math.isclose(a, b, rel_tol=within)


def of_bottlenecks(report: Report) -> Iterator[str]:
    for finding in report["bottlenecks"]:
        gain, share = finding.get("gain"), finding.get("share_of_step")
        if finding.get("cured_by"):
            if gain:
                yield f"{finding['id']} hangs under {finding['cured_by']} and has a gain"
            if not any(other["id"] == finding["cured_by"] for other in report["bottlenecks"]):
                yield f"{finding['id']} hangs under nothing"
        if not gain:
            continue
        if not gain["low"] <= gain["expected"] <= gain["high"]:
            yield f"{finding['id']}: bounds {gain}"
        if share is not None and not finding.get("also"):
            most = 1 / (1 - min(share / finding["step_left"], 0.95))
            if gain["expected"] > most * ROUNDING:
                yield f"{finding['id']} brings {gain['expected']:.3f}, and {share:.3f} are at stake"
        if gain["expected"] < LEAST and finding["severity"] >= 0.4:
            yield f"{finding['id']} brings {gain['expected']:.3f} and is not minor"


def of_plan(report: Report) -> Iterator[str]:
    plan, together = report["plan"], report.get("together")
    product, fixes = 1.0, []
    for step in plan:
        product *= step["gain"]["expected"]
        fixes += [step["fix"].partition("=")[0]] if "fix" in step else []
        if step["gain"]["expected"] < LEAST:
            yield f"{step['bottleneck']} is planned for {step['gain']['expected']:.4f}"
        if not near(product, step["so_far"]["expected"]):
            yield f"up to {step['bottleneck']}: {step['so_far']['expected']}, not {product}"
    if len(fixes) != len(set(fixes)):
        yield f"a remedy stands twice: {fixes}"
    if bool(plan) != bool(together):
        yield "a plan and no sum, or a sum and no plan"
    if together and not near(product, together["gain"]["expected"]):
        yield f"together {together['gain']['expected']}, and the plan's product is {product}"
    if together and report["estimated_speedup"] != together["gain"]:
        yield "the estimated speed-up is not that of the plan"
    heads = [
        finding["id"] for finding in report["bottlenecks"] if not finding.get("cured_by") and not finding.get("apart")
    ]
    places = [heads.index(step["bottleneck"]) for step in plan]
    if places != sorted(places):
        yield "the list is not in the order of the plan"


def of_predict(program: Path, path: Path, report: Report) -> Iterator[str]:
    together = report.get("together", {})
    if not together.get("fixes"):
        return
    code, output = run(program, "predict", str(path), "--no-cache", "--json", "--what", ",".join(together["fixes"]))
    if code != 0:
        yield f"predict exits with {code}"
        return
    speedup = json.loads(output)["predictions"][0]["speedup"]
    for bound in ("low", "expected", "high"):
        if not near(speedup[bound], together["replayed"][bound]):
            yield f"predict says {bound} {speedup[bound]}, the report {together['replayed'][bound]}"


def of_no_effect(program: Path, path: Path) -> Iterator[str]:
    asked = [word for item in WITH_VALUES for word in ("--what", item)]
    outputs = [run(program, "predict", str(path), "--no-cache", "--json", *more)[1] for more in ([], asked)]
    for prediction in [one for output in outputs for one in json.loads(output or "{}").get("predictions", [])]:
        expected = prediction.get("speedup", {}).get("expected")
        if prediction.get("no_effect") and expected != 1:
            yield f"{prediction['what']} has no effect and brings {expected}"
        if expected is not None and abs(expected - 1) < NOTHING and not prediction.get("no_effect"):
            yield f"{prediction['what']} brings {expected}, and nobody says why"


def factor(value: float) -> str:
    return f"{value:.2f}×" if value < 9.995 else f"{value:.1f}×"


def in_order(words: list[str], text: str) -> bool:
    at = 0
    for word in words:
        at = text.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True


def of_forms(program: Path, path: Path, report: Report) -> Iterator[str]:
    gains = [factor(step["gain"]["expected"]) for step in report["plan"]]
    if not gains:
        return
    last = [factor(report["together"]["gain"]["expected"])] if len(gains) > 1 else []
    if not in_order(gains + last, run(program, "analyze", str(path), "--no-cache", "-v")[1]):
        yield f"the terminal does not show {gains + last}"
    markdown = run(program, "analyze", str(path), "--no-cache", "--format", "markdown")[1]
    missing = [gain for gain in gains + last if gain not in markdown]
    if missing:
        yield f"Markdown does not show {missing}"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        run(program, "analyze", str(path), "--no-cache", "-o", str(page))
        found = re.search(
            r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text("utf-8"), re.DOTALL
        )
    if not found:
        yield "the page holds no data"
        return
    data = json.loads(found[1])
    if data["analyze"]["plan"] != report["plan"]:
        yield "the page's plan is another one"
    if "predicted" in data:
        before, after = (data["predicted"][when]["dur_ns"] for when in ("before", "after"))
        if not near(before / after, report["together"]["replayed"]["expected"], 1e-3):
            yield f"the picture shows {before / after:.3f}, its label {report['together']['replayed']['expected']:.3f}"


def check(program: Path, path: Path) -> list[str] | None:
    """None: it is no recording."""
    code, output = run(program, "analyze", str(path), "--no-cache", "--json")
    if code == 3 or not output.strip():
        return None
    report = json.loads(output)
    if "bottlenecks" not in report:
        return None
    return [
        *of_bottlenecks(report),
        *of_plan(report),
        *of_predict(program, path, report),
        *of_no_effect(program, path),
        *of_forms(program, path, report),
    ]


def recordings() -> list[Path]:
    endings = (".json", ".json.gz", ".sqlite", ".db")
    found = [path for folder in ("kineto", "nsys", "rocm", "chrome") for path in (FOLDER / folder).rglob("*")]
    found += STRANGERS.rglob("*") if STRANGERS.exists() else []
    return sorted(path for path in found if path.name.endswith(endings) and path.stat().st_size < MOST_BYTES)


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", type=Path)
    arguments.add_argument("recordings", nargs="*", type=Path)
    options = arguments.parse_args()
    if not options.recordings:
        require()
    chosen = options.recordings or recordings()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(zip(chosen, pool.map(lambda path: check(options.program, path), chosen)))
    read = [(path, said) for path, said in answers if said is not None]
    for path, said in read:
        for breach in said:
            print(f"{path.name}: {breach}")
    good = sum(not said for _, said in read)
    print(f"{good} of {len(read)} recordings, {len(chosen) - len(read)} files that are none")
    return 0 if good == len(read) else 1


if __name__ == "__main__":
    sys.exit(main())
