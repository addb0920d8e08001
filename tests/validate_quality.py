#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often change points and the history gate are right, on simulated series whose truth is known.

    validate_quality.py PROBE                          a quick fixed subset with bounds (the test)
    validate_quality.py PROBE --full [--seed report-1] all tables of docs/measured/gate.md#change-points, as Markdown

Series: 200 runs around 100 with noise of a kind and CV; the level rises by a share between two changes near 70 and 140. A
change counts as found within 5 runs of the true one, each once. Branches: 50 past runs, then new runs, judged one by one.
Every series has a generator of its own, seeded by its name, so that any table can be made again.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Callable

KINDS = ("normal", "lognormal", "ar1", "outliers")
CVS = (0.01, 0.02, 0.03, 0.05)
SHIFTS = (0.01, 0.02, 0.05, 0.10)
RUNS, TOLERANCE, PHI, HISTORY = 200, 5, 0.5, 50
HERE = pathlib.Path(__file__).resolve().parent
BATCH = 4000  # requests to one process


def generator(*name: object) -> random.Random:
    return random.Random(zlib.crc32(repr(name).encode()))


def ar1(rng: random.Random, count: int) -> list[float]:
    states = [rng.gauss(0, 1)]
    while len(states) < count:
        states.append(PHI * states[-1] + math.sqrt(1 - PHI * PHI) * rng.gauss(0, 1))
    return states


def spiked(rng: random.Random, value: float) -> float:
    """2 % of the runs are slower by 10 to 50 %."""
    return value * (1 + rng.uniform(0.1, 0.5)) if rng.random() < 0.02 else value


def noise(rng: random.Random, kind: str, cv: float, count: int) -> list[float]:
    """Values around 100."""
    if kind == "ar1":
        return [100 * (1 + cv * state) for state in ar1(rng, count)]
    if kind == "lognormal":
        sigma = math.sqrt(math.log1p(cv * cv))
        return [100 * math.exp(rng.gauss(-sigma * sigma / 2, sigma)) for _ in range(count)]
    values = [100 * (1 + cv * rng.gauss(0, 1)) for _ in range(count)]
    return [spiked(rng, value) for value in values] if kind == "outliers" else values


def text(values: Iterable[float]) -> str:
    return " ".join(f"{value:.9g}" for value in values)


def ask(probe: str, requests: Iterable[str]) -> Iterator[str]:
    """One answer for each request."""
    waiting: list[str] = []

    def flush() -> list[str]:
        run = subprocess.run([probe], input="".join(waiting), capture_output=True, text=True, check=True)
        answers = run.stdout.split("\n")[:-1]
        if len(answers) != len(waiting) or any(answer.startswith("error") for answer in answers):
            raise RuntimeError(f"the probe answered {len(answers)} of {len(waiting)} requests: {answers[:1]}")
        waiting.clear()
        return answers

    for request in requests:
        waiting.append(request + "\n")
        if len(waiting) == BATCH:
            yield from flush()
    if waiting:
        yield from flush()


def upper_bound(hits: int, of: int) -> float:
    """Upper end of the two-sided 95 % Clopper-Pearson interval of a share."""
    if hits >= of:
        return 1.0
    low, high = hits / of, 1.0
    for _ in range(60):
        p = (low + high) / 2
        tail = sum(
            math.exp(
                math.lgamma(of + 1)
                - math.lgamma(k + 1)
                - math.lgamma(of - k + 1)
                + k * math.log(p)
                + (of - k) * math.log1p(-p)
            )
            for k in range(hits + 1)
        )
        low, high = (p, high) if tail > 0.025 else (low, p)
    return high


@dataclasses.dataclass
class Score:
    found: int = 0  # true changes that were told
    false: int = 0
    missed: int = 0

    def precision(self) -> float:
        return self.found / max(1, self.found + self.false)

    def recall(self) -> float:
        return self.found / max(1, self.found + self.missed)

    def __str__(self) -> str:
        return f"{self.precision():.3f} / {self.recall():.3f}"


def matches(true: Sequence[int], told: Sequence[int]) -> int:
    left, found = set(told), 0
    for change in true:
        near = [index for index in left if abs(index - change) <= TOLERANCE]
        if near:
            left.remove(min(near, key=lambda index: abs(index - change)))
            found += 1
    return found


def told_changes(answer: str) -> list[int]:
    return [int(change.split(":")[0]) for change in answer.split()]


def ratio_band(shift: float, cv: float) -> str:
    ratio = shift / cv
    return "≤ 0.5" if ratio <= 0.5 else "0.5–1" if ratio <= 1 else "1–2.5" if ratio <= 2.5 else "> 2.5"


Scores = dict[str, dict[str, Score]]  # by table, by column


def change_scores(probe: str, seed: str, reps: int) -> Scores:
    truth: list[tuple[str, float, float, list[int]]] = []

    def requests() -> Iterator[str]:
        for kind in KINDS:
            for cv in CVS:
                for shift in SHIFTS:
                    for rep in range(reps):
                        rng = generator(seed, "changes", kind, cv, shift, rep)
                        values = noise(rng, kind, cv, RUNS)
                        begin, end = rng.randrange(60, 80), rng.randrange(130, 150)
                        values[begin:end] = [value * (1 + shift) for value in values[begin:end]]
                        truth.append((kind, cv, shift, [begin, end]))
                        yield f"changes | {text(values)}"

    scores: Scores = {table: defaultdict(Score) for table in ("kind", "shift", "ratio")}
    for at, answer in enumerate(ask(probe, requests())):
        kind, cv, shift, true = truth[at]
        told = told_changes(answer)
        found = matches(true, told)
        for table, column in (("kind", kind), ("shift", f"{shift:.0%}"), ("ratio", ratio_band(shift, cv))):
            for name in (column, "all"):
                score = scores[table][name]
                score.found += found
                score.false += len(told) - found
                score.missed += len(true) - found
    return scores


def clean_series(probe: str, seed: str, reps: int) -> dict[str, tuple[int, int]]:
    """Returns, for each kind, series with any change told, and changes told."""
    order = [(kind, rep) for kind in KINDS for rep in range(reps)]
    requests = (
        f"changes | {text(noise(generator(seed, 'clean', kind, rep), kind, CVS[rep % len(CVS)], RUNS))}"
        for kind, rep in order
    )
    counts = {kind: (0, 0) for kind in KINDS}
    for (kind, _), answer in zip(order, ask(probe, requests)):
        told = len(told_changes(answer))
        counts[kind] = (counts[kind][0] + (told > 0), counts[kind][1] + told)
    return counts


@dataclasses.dataclass
class GateShares:
    pending: float  # of branches of 100 clean runs with any pending alarm
    alarms: float  # with any regression
    caught: dict[float, tuple[float, ...]]  # by slowdown: pending at the first run; a regression by runs CAUGHT_BY


CAUGHT_BY = (3, 5, 8, 12)

SHARP = "effect=0.025"  # a threshold below the slowdowns that are to be caught


def gate_shares(
    probe: str, seed: str, kind: str, cv: float, reps: int, options: str = SHARP, history: int = HISTORY
) -> GateShares:
    clean: list[str] = []
    for rep in range(reps):
        rng = generator(seed, "gate", kind, cv, rep)
        values = noise(rng, kind, cv, history + 100)
        clean.append(f"walk {options} | {text(values[:history])} | {text(values[history:])}")
    answers = [answer.split() for answer in ask(probe, clean)]
    caught: dict[float, tuple[float, ...]] = {}
    for shift in (0.05, 0.10):
        slow: list[str] = []
        for rep in range(reps):
            values = noise(generator(seed, "slower", kind, cv, rep), kind, cv, history + CAUGHT_BY[-1])
            after = [value * (1 + shift) for value in values[history:]]
            slow.append(f"walk {options} | {text(values[:history])} | {text(after)}")
        at = [[int(word.replace("-", "99")) for word in answer.split()] for answer in ask(probe, slow)]
        seen = sum(first < 1 for first, _ in at) / reps
        caught[shift] = (seen, *(sum(index < runs for _, index in at) / reps for runs in CAUGHT_BY))
    share = [sum(answer[column] != "-" for answer in answers) / reps for column in (0, 1)]
    return GateShares(share[0], share[1], caught)


def number(cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        return math.nan


def lists_of(name: str, value: object) -> Iterator[tuple[str, list[float]]]:
    """Every list of at least ten numbers in a JSON document."""
    if isinstance(value, list):
        if len(value) >= 10 and all(isinstance(item, (int, float)) or item is None for item in value):
            yield name, [number(item) for item in value]
        else:
            for item in value:
                yield from lists_of(name, item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("index", "time"):
                yield from lists_of(f"{name} {key}", item)


def recorded_series(folder: pathlib.Path) -> Iterator[tuple[str, list[float]]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".json", ".txt", ".csv") or ".v-" in path.name or "expected" in path.name:
            continue
        if path.suffix == ".csv":
            rows = [row for row in csv.reader(path.open(encoding="utf-8")) if row and not row[0].startswith("#")]
            columns = zip(*rows) if rows and len({len(row) for row in rows}) == 1 and len(rows) < 5000 else ()
            for column in columns:
                values = [number(cell) for cell in column[1:]]
                if sum(map(math.isfinite, values)) >= 10:
                    yield f"{path.name} {column[0]}", values
            continue
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        yield from lists_of(path.name, document)


def row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(row(head))
    print("|" + "---|" * len(head))
    for cells in rows:
        print(row(cells))
    print(flush=True)


def print_full(probe: str, seed: str, reps: int) -> None:
    print(f"Seed `{seed}`.\n")
    scores = change_scores(probe, seed, reps)
    for table, columns in (
        ("kind", (*KINDS, "all")),
        ("shift", (*(f"{shift:.0%}" for shift in SHIFTS), "all")),
        ("ratio", ("≤ 0.5", "0.5–1", "1–2.5", "> 2.5", "all")),
    ):
        print(f"Precision / recall by {table}, {reps} series a cell\n")
        print_table(columns, [[scores[table][column] for column in columns]])
    clean = clean_series(probe, seed, 1000)
    print("1,000 clean series a kind\n")
    heads = ("noise", "series with a change", "changes", "upper 95 % bound")
    print_table(heads, [(kind, n, told, f"{upper_bound(n, 1000):.1%}") for kind, (n, told) in clean.items()])
    for options, name in (
        (SHARP, "history gate, threshold 2.5 %"),
        ("naive=10", "naive: 5 % over the mean of the last 10"),
    ):
        count = 1000 if options == SHARP else 200
        print(f"{name}, {HISTORY} past runs, {count} branches a row, %\n")
        print_gate(
            ((kind, cv, gate_shares(probe, seed, kind, cv, count, options)) for kind in KINDS for cv in CVS), "CV"
        )
    print("history gate by past runs, CV 2 %, 1000 branches a row, %\n")
    lengths = (10, 20, 30)
    print_gate(
        ((kind, past, gate_shares(probe, seed, kind, 0.02, 1000, SHARP, past)) for kind in KINDS for past in lengths),
        "past runs",
    )


def print_gate(rows: Iterable[tuple[str, float, GateShares]], what: str) -> None:
    cells = []
    for kind, value, shares in rows:
        caught = [" / ".join(f"{100 * share:.1f}" for share in shares.caught[shift]) for shift in (0.05, 0.10)]
        alarms = [f"{100 * share:.1f}" for share in (shares.pending, shares.alarms)]
        cells.append((kind, f"{value:.0%}" if value < 1 else value, *alarms, *caught))
    slow = [f"{shift}: pending at run 1 / a regression by run 3 / 5 / 8 / 12" for shift in ("5 %", "10 %")]
    print_table(("noise", what, "any pending in 100", "any regression in 100", *slow), cells)


def print_recorded(probe: str, folder: pathlib.Path) -> None:
    series = list(recorded_series(folder))
    rows = []
    for (name, values), answer in zip(series, ask(probe, (f"changes | {text(values)}" for _, values in series))):
        told, distinct = len(told_changes(answer)), len({value for value in values if math.isfinite(value)})
        rows.append((name, len(values), distinct, told, f"{100 * told / len(values):.1f}"))
    print("Recorded series\n")
    print_table(("series", "values", "distinct", "changes", "per 100"), rows)


def storms(probe: str, folder: pathlib.Path) -> list[str]:
    """Recorded series on which changes are told more often than once in 20 values."""
    series = list(recorded_series(folder))
    answers = ask(probe, (f"changes | {text(values)}" for _, values in series))
    return [
        name for (name, values), answer in zip(series, answers) if len(told_changes(answer)) > max(3, len(values) / 20)
    ]


def checks(probe: str) -> Iterator[tuple[str, float, Callable[[float], bool]]]:
    """The quick subset: what is measured, the value, the bound. Wider than the aims by what so few series vary."""
    scores = change_scores(probe, "quick", 10)
    yield "precision", scores["kind"]["all"].precision(), lambda value: value >= 0.90
    yield "recall", scores["kind"]["all"].recall(), lambda value: value >= 0.57
    yield "recall, shift/CV > 2.5", scores["ratio"]["> 2.5"].recall(), lambda value: value >= 0.97
    for kind, (told, _) in clean_series(probe, "quick", 200).items():
        yield f"clean {kind} series with a change", told / 200, lambda value: value <= 0.03
    for kind in KINDS:
        shares = gate_shares(probe, "quick", kind, 0.02, 100)
        yield f"any false alarm in 100 {kind} runs", shares.alarms, lambda value: value <= 0.08
        # A threshold per run found 78 % of the slowdowns by 5 % at a CV of 2 % with the fifth run, and raised a false alarm in
        # every history with spikes. Runs must agree beyond a line that a drift may follow, which takes longer: 62 % and 57 % by
        # the eighth run and 74 % by the twelfth, here. Slowdowns by 10 % are found by the third run as before.
        if kind in ("normal", "lognormal"):
            yield f"{kind}, 10 % pending at the first run", shares.caught[0.10][0], lambda value: value >= 0.68
            yield f"{kind}, 10 % a regression by the third run", shares.caught[0.10][1], lambda value: value >= 0.93
            yield f"{kind}, 5 % a regression by the eighth run", shares.caught[0.05][3], lambda value: value >= 0.55
            yield f"{kind}, 5 % a regression by the twelfth run", shares.caught[0.05][4], lambda value: value >= 0.70
    naive = gate_shares(probe, "quick", "normal", 0.03, 50, "naive=10")
    yield "the naive rule cries wolf", naive.alarms, lambda value: value >= 0.9
    folder = pathlib.Path(os.environ.get("GAPLESS_CORPUS", HERE.parent.parent / "shared" / "data")) / "perfseries"
    if folder.is_dir():
        yield "recorded series with a storm", len(storms(probe, folder)), lambda value: value == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probe", help="the program validate_probe")
    parser.add_argument("--full", action="store_true", help="print all tables")
    parser.add_argument("--seed", default="report-1", help="name of the series, with --full")
    parser.add_argument("--reps", type=int, default=60, help="series a cell, with --full")
    parser.add_argument("--recorded", type=pathlib.Path, help="print the table of the recorded series in this folder")
    options = parser.parse_args()
    if options.full:
        print_full(options.probe, options.seed, options.reps)
    if options.recorded:
        print_recorded(options.probe, options.recorded)
    if options.full or options.recorded:
        return 0
    failed = 0
    for name, value, holds in checks(options.probe):
        failed += not holds(value)
        print(f"{'ok  ' if holds(value) else 'FAIL'} {name}: {value:.3f}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
