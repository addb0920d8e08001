# SPDX-License-Identifier: Apache-2.0
"""Measures what each way of profiling costs: the same training with and without, in rounds of random order."""

from __future__ import annotations

import math
import random
import re
from typing import Any

from gpu_parts.session import Failed, OutOfTime, Session
from gpu_parts.workloads import transformer

MODES: dict[str, list[str]] = {
    "steps": ["profile", "--light"],
    "everything but operators": ["profile", "--no-record"],
    "recorded": ["profile"],
    "native collector": ["profile", "--cupti"],
    "recorded, no stacks": ["profile", "--no-stacks"],
    "recorded, memory": ["profile", "--memory"],
    "recorded, Python sampled": ["profile", "--python"],
    "monitor": ["monitor", "--listen", "127.0.0.1:0"],
}
MAX_ROUNDS = 10
RATE = re.compile(r"^samples_per_second ([0-9.]+)$", re.MULTILINE)


def measure(session: Session) -> dict[str, Any]:
    """Rounds until the time is over; a round that is not complete counts with the modes that it has."""
    logs: dict[str, list[float]] = {mode: [] for mode in MODES}
    told: dict[str, dict[str, Any]] = {mode: {} for mode in MODES}
    lots = random.Random(1)
    rounds = 1 if session.plan or session.stand_in else MAX_ROUNDS
    try:
        for number in range(rounds):
            plain = rate_of(session, [])
            order = list(MODES)
            lots.shuffle(order)
            for mode in order:
                logs[mode].append(math.log(plain / rate_of(session, words_of(session, mode, number), told[mode])))
    except OutOfTime:
        pass
    few = [mode for mode, values in logs.items() if len(values) < 3]
    if few and not session.plan and not session.stand_in:
        session.left.append(f"too few rounds for an interval of {', '.join(few)}")
    return {
        "modes": {mode: {**interval(session, mode, values), **told[mode]} for mode, values in logs.items() if values}
    }


def words_of(session: Session, mode: str, number: int) -> list[str]:
    verb, *options = MODES[mode]
    folder = session.work / "overhead" / f"{mode.replace(' ', '_').replace(',', '')}_{number}"
    return [str(session.program), verb, "--json", "-o", str(folder), *options, "--"]


def rate_of(session: Session, around: list[str], told: dict[str, Any] | None = None) -> float:
    """Samples per second that the training counts itself, after its first ten steps."""
    done = session.run([*around, *transformer(session, 200)], limit_s=60, least_s=15 if session.on_gpu else 5)
    if session.plan:
        return 1.0
    found = RATE.search(done.stderr if around else done.stdout)
    if found is None:
        raise Failed("the training printed no samples_per_second")
    if told is not None:
        import json

        answer = json.loads(done.stdout)
        told.update({key: answer[key] for key in ("agent_share", "recorded_step_slowdown") if key in answer})
    return float(found[1])


def interval(session: Session, mode: str, logs: list[float]) -> dict[str, Any]:
    """The ratio of times with and without, judged as gapless judges any pairs."""
    figures: dict[str, Any] = {"rounds": len(logs), "time_ratio": math.exp(sum(logs) / len(logs))}
    if session.plan or len(logs) < 2:
        return figures
    file = session.work / f"ratios_{mode.replace(' ', '_').replace(',', '')}.txt"
    file.write_text("".join(f"{value}\n" for value in logs), encoding="utf-8")
    session.part_ends += 5  # it takes milliseconds, and the time may be over
    answer = session.ask("compare", "--ratios", str(file), ok=(0, 1))
    speedup = answer.get("speedup", {})
    ends = {"low": "high", "expected": "expected", "high": "low"}
    figures["verdict"] = answer.get("verdict")
    figures["time_ratio_interval"] = {to: 1 / speedup[of] for to, of in ends.items() if speedup.get(of)}
    return figures
