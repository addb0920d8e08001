# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured for every fix that gapless optimize can try."""

from __future__ import annotations

import importlib
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from gpu_parts.session import ROOT, Failed, OutOfTime, Session
from gpu_parts.workloads import recording

# Fixes that tests of predictions on GPUs lack come first.
FIRST = ("fused_optimizer", "workers", "amp", "channels_last", "tf32", "sdpa", "compile", "cudagraph", "pin",
         "prefetch_factor", "cudnn_benchmark", "batch", "threads", "zero_grad")  # fmt: skip
LEAST_S, PAIRS_S, PAIRS_OF_STAND_INS_S = 30.0, 60.0, 10.0
ON_CPU = ("threads",)  # what the stand-ins try


def cases() -> dict[str, str]:
    """Returns, for each item, such as workers=2, the script on which the fix should show; the scripts are those of bench/fix_gains.py."""
    sys.path.append(str(ROOT / "bench"))
    known = importlib.import_module("fix_gains").CASES
    names = {item.partition("=")[0]: item for item in known}
    order = [name for name in FIRST if name in names] + [name for name in names if name not in FIRST]
    return {names[name]: known[names[name]][0] for name in order}


def on_gpu(words: list[str]) -> list[str]:
    """The same script as large as a GPU deserves: without sizes for a CPU, and with 60 steps at least."""
    small = ("--size", "--batch", "--width", "--layers", "--length")
    kept: list[str] = []
    for before, word in zip(["", *words], words):
        if word in small or before in small:
            continue
        kept.append(str(max(60, int(word))) if before == "--steps" else word)
    return kept


def command_of(session: Session, script: str) -> list[str]:
    words = script.split()
    return [session.python, *(on_gpu(words) if session.on_gpu and "-m" not in words else words)]


def work(session: Session) -> dict[str, Any]:
    names = session.fixes or (list(ON_CPU) if session.stand_in else [])
    rows: list[dict[str, Any]] = []
    figures: dict[str, Any] = {"fixes": rows, "without_a_case": without_a_case(session)}
    for item, script in cases().items():
        name = item.partition("=")[0]
        if names and name not in names:
            continue
        if "nproc-per-node" in script and session.gpus < 2:
            rows.append({"fix": item, "reason": "needs two GPUs"})
            continue
        try:
            rows.append({"fix": item, "script": script, **measure(session, item, command_of(session, script))})
        except OutOfTime:
            session.left.append(name)
        except Failed as error:
            rows.append({"fix": item, "script": script, "reason": str(error)})
    judged = [row["within"] for row in rows if row.get("within") is not None]
    figures["within"], figures["judged"] = sum(judged), len(judged)
    return figures


def without_a_case(session: Session) -> list[str]:
    """Fixes of the catalogue for which bench/fix_gains.py names no script."""
    known = {item.partition("=")[0] for item in cases()}
    return [fix["name"] for fix in session.ask("optimize", "--list").get("fixes", []) if fix["name"] not in known]


def measure(session: Session, item: str, command: list[str]) -> dict[str, Any]:
    """Returns what gapless predicts of a recording without the fix, and what pairs of runs without and with it say."""
    if not session.plan and session.left_s() < LEAST_S:
        raise OutOfTime(item)
    name = "before_" + Path(next(word for word in command if word.endswith(".py"))).stem
    folder = recording(session, name, command, "--steps", "4")
    figures = {**prediction(session, folder, item), **measurement(session, item, command)}
    predicted, measured = figures.get("predicted"), figures.get("measured")
    if predicted and measured:
        figures["within"] = predicted["low"] <= measured["expected"] <= predicted["high"]
    return figures


def prediction(session: Session, folder: str, item: str) -> dict[str, Any]:
    """The predicted speedup, or why there is none."""
    try:
        answer = session.ask("predict", "--no-cache", folder, "--what", item, ok=(0, 1))
    except Failed as error:
        return {"not_predicted": str(error)}
    (found,) = answer.get("predictions") or [{"reason": answer.get("reason", "nothing is predicted")}]
    if found.get("speedup"):
        return {"predicted": found["speedup"]}
    return {"not_predicted": found.get("reason") or "; ".join(found.get("no_effect", []))}


def measurement(session: Session, item: str, command: list[str]) -> dict[str, Any]:
    """Pairs of runs of the command, as it is and with the fix, until gapless compare has decided or the time is over."""
    recipe = session.work / f"{item.replace('=', '_')}.json"
    if not session.plan:
        document = {"format": "gapless.recipe", "schema": 1, "command": command, "fixes": [{"item": item}]}
        recipe.write_text(json.dumps(document), encoding="utf-8")
    changed = [str(session.program), "run", "--quiet", "--recipe", str(recipe), "--", *command]
    budget_s = PAIRS_OF_STAND_INS_S if session.stand_in else PAIRS_S
    answer = session.ask(
        "compare", "--no-same", "--warmup", "5", "--steps", "30", "--pairs", "6", "--budget", f"{budget_s:.0f}s",
        "--a", shlex.join(command), "--b", shlex.join(changed), limit_s=budget_s + 60, ok=(0, 1), least_s=LEAST_S / 2,
    )  # fmt: skip
    kept = {"speedup": "measured", "verdict": "verdict", "pairs": "pairs"}
    return {to: answer[of] for of, to in kept.items() if answer.get(of) is not None}
