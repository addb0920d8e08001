#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records problems, measures what their fixes bring, and writes the ledger of advice, bench/results/advice.csv.

usage, with a Python that has torch (--predict and --table need none):
  advice_pairs.py PROGRAM --record [NAME...]     records the problem of each pair anew, into samples/pairs/NAME
  advice_pairs.py PROGRAM --measure [NAME...]    times it with and without the fix
  advice_pairs.py PROGRAM --predict              asks the program what it says of the recordings now
  advice_pairs.py PROGRAM --table                prints the ledger as a Markdown table, and how good the predictions are
  advice_pairs.py PROGRAM --picture              draws the reliability curve, docs/pictures/reliability.svg

Without names all pairs are meant; the scripts are those of examples/pairs. What is measured stands in advice_measure.py, what of a
recording is kept in advice_keep.py, the columns in advice_ledger.py. Pairs of recordings in the corpus are rows, too.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import advice_keep
from advice_calibration import PICTURE, as_predicted, curve, leave_one_out, picture, reliability
from advice_ledger import (
    DIGITS,
    IN_REPOSITORY,
    LEDGER,
    OWN,
    Row,
    ask,
    kind_of,
    parse,
    text_of,
)
from advice_measure import Pair, measure, ratio_of_medians

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("GAPLESS_CORPUS", ROOT.parent / "shared" / "data"))

PAIRS = [
    Pair("workers_python_1", "loading", "python", "workers=1", steps=160),
    Pair("workers_python_2", "loading", "python", "workers=2", steps=160),
    Pair("workers_files_2", "loading", "files", "workers=2", steps=160),
    Pair("workers_files_4", "loading", "files", "workers=4", steps=160),
    Pair("workers_tiny", "loading", "tiny", "workers=2", steps=160),
    Pair("workers_busy", "loading", "busy", "workers=2", threads=2, steps=160),
    Pair("pin_tiny", "loading", "tiny", "pin"),
    Pair("pin_python", "loading", "python", "pin"),
    Pair("optimizer_adamw_many", "updating", "adamw_many", "fused_optimizer", steps=300),
    Pair("optimizer_sgd_many", "updating", "sgd_many", "fused_optimizer"),
    Pair("optimizer_adam_large", "updating", "adam_large", "fused_optimizer"),
    Pair("sync_mlp", "reading", "mlp", "sync"),
    Pair("sync_conv", "reading", "conv", "sync", steps=160),
    Pair("compile_chain", "compiling", "chain", "compile"),
    Pair("compile_matrix", "compiling", "matrix", "compile"),
    Pair("compile_python", "compiling", "python", "compile"),
    Pair("threads_matrix", "computing", "matrix", "threads=2"),
    Pair("threads_tiny", "computing", "tiny", "threads=2"),
    Pair("amp_matrix", "computing", "matrix", "amp"),
    Pair("amp_tiny", "computing", "tiny", "amp"),
]

# Pairs of recordings in the corpus: a name, the fix, before, after, the device, when.
SAMPLES = "kineto/pytorch__kineto/tb_plugin/samples/resnet50_num_workers_"
AUTOGRAD = "kineto/pytorch__kineto/tb_plugin/samples/resnet50_autograd_api_num_workers_"
KINETO = "pytorch/kineto@114171dfba"
RECORDED_NOTE = "medians of the complete steps of both recordings"
RECORDED = [
    ("resnet50_stacks", "workers=4", f"{SAMPLES}0/worker0.1623143089861.pt.trace.json.gz",
     f"{SAMPLES}4/worker0.1623212756351.pt.trace.json.gz", "Tesla V100", "2021-06"),
    ("resnet50", "workers=4", f"{SAMPLES}0/worker0.pt.trace.json.gz",
     f"{SAMPLES}4/worker0.pt.trace.json.gz", "Tesla V100", "2021-06"),
    ("resnet50_autograd", "workers=4", f"{AUTOGRAD}0/worker0.pt.trace.json.gz",
     f"{AUTOGRAD}4/worker0.pt.trace.json.gz", "Tesla V100", "2021-06"),
]  # fmt: skip

STEPS_TO_RECORD = 60  # that many are taken; a few of them are recorded
# Options for the recording of a problem: the first of these with which it stays small enough. The defaults come first.
RECORDING = [[], ["--steps", "3"], ["--steps", "2"], ["--steps", "3", "--no-stacks"], ["--steps", "2", "--no-stacks"],
             ["--steps", "1", "--no-stacks"], ["--steps", "1", "--no-stacks", "--no-shapes"]]  # fmt: skip


def record(program: Path, pair: Pair) -> None:
    for options in RECORDING:
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            command = [str(program), "profile", "--quiet", "--output", str(run), *options, "--"]
            command += pair.command(False, STEPS_TO_RECORD)
            subprocess.run(command, check=True, cwd=ROOT, env=pair.environment(), stdout=subprocess.DEVNULL)
            size = advice_keep.keep(run, ROOT / IN_REPOSITORY / "pairs" / pair.name)
        print(f"{pair.name}: {size / 1024:.0f} KiB recorded with {' '.join(options) or 'the defaults'}", flush=True)
        if size <= advice_keep.MOST_BYTES:
            return


def device() -> str:
    """The processor's name, and how many of them the scripts may use."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "CPU")
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def measured(pair: Pair, most_pairs: int, tries: int) -> Row:
    found = measure(pair, most_pairs, tries)
    spread = "" if found.is_sharp else "; not within 3 %"
    print(
        f"{pair.name}: {found.before_ms:.2f} -> {found.after_ms:.2f} ms, {found.ratio:.4f} ({found.low:.4f} to "
        f"{found.high:.4f}), {found.pairs} pairs, others used {found.others:.2f} processors{spread}",
        flush=True,
    )
    return Row(
        id=pair.name, what=pair.fix, kind=pair.fix.partition("=")[0], recording=f"{IN_REPOSITORY}pairs/{pair.name}",
        device=device(), measured_ratio=round(found.ratio, DIGITS), measured_low=round(found.low, DIGITS),
        measured_high=round(found.high, DIGITS), predicted_low=None, predicted_expected=None, predicted_high=None,
        source="pair", date=datetime.date.today().isoformat(), repository=f"{OWN}{pair.script}/{pair.case}",
    )  # fmt: skip


def recorded_rows(program: Path) -> list[Row]:
    """The pairs of the corpus, from the steps that were recorded."""

    def steps(recording: str) -> list[float]:
        sql = "SELECT dur_ns FROM step WHERE complete"
        command = [str(program), "query", str(CORPUS / recording), sql, "--json", "--no-cache"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return [float(row["dur_ns"]) for row in json.loads(done.stdout)]

    rows = []
    for name, what, before, after, where, when in RECORDED:
        if not (CORPUS / before).exists():
            print(f"{name}: not in {CORPUS}")
            continue
        ratio, low, high = (round(number, DIGITS) for number in ratio_of_medians(steps(after), steps(before)))
        rows.append(
            Row(
                id=name, what=what, kind=kind_of(what), recording=before, device=where, measured_ratio=ratio,
                measured_low=low, measured_high=high, predicted_low=None, predicted_expected=None, predicted_high=None,
                source="pair", date=when, repository=KINETO, machine="gpu", note=RECORDED_NOTE,
            )
        )  # fmt: skip
    return rows


def read() -> list[Row]:
    return parse(LEDGER.read_text(encoding="utf-8")) if LEDGER.exists() else []


def write(rows: list[Row]) -> None:
    """In the order of the pairs; what else is in the ledger follows."""
    names = [*(pair.name for pair in PAIRS), *(recorded[0] for recorded in RECORDED)]
    order = {name: place for place, name in enumerate(names)}
    LEDGER.parent.mkdir(exist_ok=True)
    LEDGER.write_text(text_of(sorted(rows, key=lambda row: order.get(row.id, len(order)))), encoding="utf-8")


def merge(rows: list[Row], new: list[Row]) -> list[Row]:
    """The new rows instead of those of the same name, with the predictions of those."""
    old = {row.id: row for row in rows}
    kept = [row for row in rows if row.id not in {fresh.id for fresh in new}]
    return kept + [row.with_prediction(old[row.id].predicted) if row.id in old else row for row in new]


def predict(program: Path, rows: list[Row]) -> list[Row]:
    """Where the recording is not here, what was predicted before stays."""
    return [
        row.with_prediction(ask(program, row.path(CORPUS), row.what)) if row.path(CORPUS).exists() else row
        for row in rows
    ]


def table(rows: list[Row]) -> str:
    """The rows with an interval of their measurement, and how all rows fare. Those of other people's GPUs have a table of their own."""
    lines = ["| pair | fix | measured | 95 % interval | predicted | interval |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row.measured_low is None or row.measured_high is None:
            continue
        said = row.predicted
        answer = f"{said.expected:.2f} | {said.low:.2f} to {said.high:.2f}" if said else "none | "
        lines.append(
            f"| `{row.id}` | `{row.what}` | {row.measured_ratio:.3f} | {row.measured_low:.3f} to "
            f"{row.measured_high:.3f} | {answer} |"
        )
    for name, answers in (("as predicted", as_predicted(rows)), ("leave one out", leave_one_out(rows))):
        found = reliability(answers)
        lines.append(
            f"\n{name}: {found.rows} predictions, median error {found.median_error:.1%}, "
            f"{found.within:.0%} of the measured within the interval"
        )
    shares = ", ".join(f"{held:.0%} at {meant:.0%}" for meant, held in curve(rows))
    lines.append(f"\nreliability (what intervals hold at what they are meant to): {shares}")
    return "\n".join(lines)


def main() -> int:
    names = [pair.name for pair in PAIRS]
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--record", nargs="*", metavar="NAME", choices=names)
    parser.add_argument("--measure", nargs="*", metavar="NAME", choices=names)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--picture", action="store_true")
    parser.add_argument("--most-pairs", type=int, default=14, help="pairs of processes, where the interval stays wide")
    parser.add_argument("--tries", type=int, default=3, help="for a process that other programs disturb")
    given = parser.parse_args()
    for pair in PAIRS:
        if given.record is not None and pair.name in (given.record or names):
            record(given.program, pair)
    for pair in PAIRS:
        if given.measure is not None and pair.name in (given.measure or names):
            write(merge(read(), [measured(pair, given.most_pairs, given.tries)]))
    if given.measure == []:
        write(merge(read(), recorded_rows(given.program)))
    if given.predict:
        write(predict(given.program, read()))
    if given.table:
        print(table(read()))
    if given.picture:
        PICTURE.write_text(picture(read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
