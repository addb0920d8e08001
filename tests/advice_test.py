#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ledger of advice (bench/results/advice.csv): what it says is well-formed, recorded, and what the program says now; its
scripts run; what is kept of a recording names nobody.

usage: advice_test.py PROGRAM PROBE [TEST...]    PROBE is predict_probe; the scripts are skipped without a Python that has PyTorch: build/torch, or $GAPLESS_TORCH
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from corpus import FOLDER, ROOT

sys.path.insert(0, str(ROOT / "bench"))

import advice_calibration
import advice_keep
import advice_ledger
import gpu_pairs
from advice_calibration import as_predicted, leave_one_out, reliability
from advice_ledger import Range, Row
from advice_pairs import PAIRS

PROGRAM = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
PROBE = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release/predict_probe"
PYTHON = Path(os.environ.get("GAPLESS_TORCH", ROOT / "build/torch/bin/python"))
TOLERANCE = 2 * 10.0**-advice_ledger.DIGITS  # the ledger is rounded

# Runs scripts one after the other in one process, which imports torch once. Each line of the input is one's command line; each
# line of the output, what it printed.
RUNNER = """
import contextlib, io, json, runpy, sys, warnings
warnings.simplefilter("ignore")
for line in sys.stdin:
    sys.argv = json.loads(line)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(sys.argv[0], run_name="__main__")
    print(json.dumps(out.getvalue()), flush=True)
"""


def ledger() -> list[Row]:
    return advice_ledger.parse(advice_ledger.LEDGER.read_text(encoding="utf-8"))


def row(name: str, measured: float, predicted: Range | None, kind: str = "workers") -> Row:
    plain = Row(name, kind, kind, "samples/x", "a CPU", measured, None, None, None, None, None, "pair", "2026-01-01")
    return plain.with_prediction(predicted)


class Ledger(unittest.TestCase):
    def test_every_row_is_sound_and_named_once(self) -> None:
        rows = ledger()
        self.assertGreaterEqual(len(rows), 16)
        self.assertEqual(len({entry.id for entry in rows}), len(rows))
        self.assertEqual(advice_ledger.parse(advice_ledger.text_of(rows)), rows)

    def test_a_contradictory_row_is_refused(self) -> None:
        good = row("a", 0.5, Range(0.4, 0.5, 0.6))
        self.assertEqual(advice_ledger.parse(advice_ledger.text_of([good])), [good])
        for bad in (
            replace(good, measured_ratio=0.0),
            replace(good, measured_ratio=-1.0),
            replace(good, measured_low=0.6),
            replace(good, predicted_high=0.3),
            replace(good, kind="amp"),
            replace(good, recording=""),
            replace(good, machine="tpu"),
            replace(good, confidence="sure"),
            replace(good, repository="owner/name"),
        ):
            with self.assertRaises(ValueError, msg=str(bad)):
                advice_ledger.parse(advice_ledger.text_of([bad]))
        with self.assertRaises(ValueError):
            advice_ledger.parse("id,what\na,amp\n")

    def test_every_pair_was_measured(self) -> None:
        self.assertLessEqual({pair.name for pair in PAIRS}, {entry.id for entry in ledger()})

    def test_every_recording_is_there(self) -> None:
        for entry in ledger():
            with self.subTest(entry.id):
                if entry.machine == "gpu" and entry.id in {pair.id for pair in gpu_pairs.facts()}:
                    self.skipTest("recordings of other repositories are never kept")
                if not entry.recording.startswith(advice_ledger.IN_REPOSITORY) and not FOLDER.is_dir():
                    self.skipTest(f"no recordings in {FOLDER} (set GAPLESS_CORPUS)")
                self.assertTrue(entry.path(FOLDER).exists(), entry.recording)

    def test_recordings_are_small_and_name_nobody(self) -> None:
        for folder in sorted((ROOT / "samples/pairs").iterdir()):
            with self.subTest(folder.name):
                self.assertIn(folder.name, {pair.name for pair in PAIRS})
                files = [path for path in folder.rglob("*") if path.is_file()]
                self.assertLessEqual(sum(path.stat().st_size for path in files), advice_keep.MOST_BYTES)
                advice_keep.check(folder)

    def test_predictions_are_what_the_program_says_now(self) -> None:
        for entry in ledger():
            with self.subTest(entry.id):
                if not entry.path(FOLDER).exists():
                    self.skipTest(f"no recordings in {FOLDER} (set GAPLESS_CORPUS)")
                now = row(entry.id, 1, advice_ledger.ask(PROGRAM, entry.path(FOLDER), entry.what)).predicted
                hint = "run bench/advice_pairs.py PROGRAM --predict, and read what changed"
                self.assertEqual(now is None, entry.predicted is None, hint)
                if now and entry.predicted:
                    for name in ("low", "expected", "high"):
                        is_near = math.isclose(getattr(now, name), getattr(entry.predicted, name), abs_tol=TOLERANCE)
                        self.assertTrue(is_near, f"{name}: {now}, in the ledger {entry.predicted}; {hint}")


class GpuPairs(unittest.TestCase):
    """Pairs that others measured on their GPUs, bench/gpu_pairs.toml."""

    PAIR = gpu_pairs.GpuPair(
        "a", "o/n", "abcdef0", "t/x.json", "kernels:mm=0.5", "T4", 20, 10, 2, "solid", "pair", "how"
    )

    def test_each_is_a_row_of_the_ledger_and_says_how_it_was_read(self) -> None:
        rows = {entry.id: entry for entry in ledger()}
        for pair in gpu_pairs.facts():
            with self.subTest(pair.id):
                self.assertEqual(rows[pair.id], pair.row(rows[pair.id].predicted))
                self.assertTrue(pair.note)

    def test_a_fact_becomes_a_row(self) -> None:
        made = self.PAIR.row(Range(0.4, 0.5, 0.6))
        advice_ledger.check(made)
        self.assertEqual((made.kind, made.machine, made.repository), ("kernels", "gpu", "o/n@abcdef0"))
        self.assertEqual((made.measured_ratio, made.predicted_expected, made.recording), (0.5, 0.5, "o__n/t/x.json"))

    def test_the_table_says_held_missed_refused_or_not_there(self) -> None:
        def line(said: Range | None, reason: str = "") -> str:
            return gpu_pairs.line_of(self.PAIR, gpu_pairs.Answer(said, said, reason))

        self.assertIn("2.00 (1.67 to 2.50) | 2.000 | held", line(Range(0.4, 0.5, 0.6)))
        self.assertIn("missed", line(Range(0.8, 0.9, 1)))
        self.assertIn("refused | 2.000 | | no steps", line(None, "no steps"))
        self.assertIn("no clone holds the recording", gpu_pairs.line_of(self.PAIR, None))

    def test_the_recording_is_taken_from_a_clone_at_its_commit(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            clone = Path(folder) / "o+n"
            for words in (["init", "-q", str(clone)], ["-C", str(clone), "add", "."]):
                subprocess.run(["git", *words], check=True)
                (clone / "t").mkdir(exist_ok=True)
                (clone / "t/x.json").write_text("then", encoding="utf-8")
            who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
            subprocess.run(["git", "-C", str(clone), *who, "commit", "-qm", "x"], check=True)
            (clone / "t/x.json").write_text("now", encoding="utf-8")
            with gpu_pairs.recording_of(replace(self.PAIR, commit="HEAD"), Path(folder)) as found:
                self.assertEqual(found and found.read_text(encoding="utf-8"), "then")
            with gpu_pairs.recording_of(replace(self.PAIR, repository="o/other"), Path(folder)) as found:
                self.assertIsNone(found)

    def test_a_repository_is_left_out_whole(self) -> None:
        """Rows of one repository do not calibrate each other, whatever their commits; those of another do."""
        off = [replace(row(name, 0.9, Range(0.5, 0.5, 0.5)), machine="gpu") for name in "abcd"]
        alone = [replace(entry, repository=f"o/n@{index:07}") for index, entry in enumerate(off)]
        others = [
            replace(entry, id=entry.id + name, repository=f"o/{name}@abcdef0")
            for entry in off
            for name in ("k", "l", "m")
        ]
        for _, said in leave_one_out(alone):
            self.assertAlmostEqual(said.expected, 0.5)
        told = {entry.id: said for entry, said in leave_one_out(alone + others)}
        for entry in alone:
            self.assertGreater(told[entry.id].expected, 0.6)


class Reliability(unittest.TestCase):
    def test_the_ledger_is_predicted_well(self) -> None:
        """Each by a calibration that has not seen its repository: half within 10 %, and four of five within their intervals.

        Of seven repositories with models a quantile moves in steps of an eighth: nine of ten may be within."""
        for machine, least in (("gpu", 20), ("cpu", 15)):
            found = reliability([answer for answer in leave_one_out(ledger()) if answer[0].machine == machine])
            self.assertGreaterEqual(found.rows, least)
            self.assertLessEqual(found.median_error, 0.10)
            self.assertGreaterEqual(found.within, 0.72)
            self.assertLessEqual(found.within, 0.92)
        self.assertGreaterEqual(sum(entry.measured_ratio > 0.97 for entry in ledger()), 4, "fixes that do not help")

    def test_the_program_says_the_same_of_rows_that_it_has_not_seen(self) -> None:
        """Its calibration and the one of bench/advice_calibration.py were written from one definition."""
        done = subprocess.run([str(PROBE), "--ledger"], check=True, capture_output=True, text=True)
        program = {said["id"]: said for said in map(json.loads, done.stdout.splitlines())}
        ours = leave_one_out(ledger())
        self.assertEqual(sorted(program), sorted(entry.id for entry, _ in ours))
        for entry, said in ours:
            for name in ("low", "expected", "high"):
                self.assertAlmostEqual(getattr(said, name), program[entry.id][name], places=9)

    def test_the_curve_in_the_docs_is_that_of_the_ledger(self) -> None:
        drawn = advice_calibration.PICTURE.read_text(encoding="utf-8")
        self.assertEqual(drawn, advice_calibration.picture(ledger()), "run bench/advice_pairs.py PROGRAM --picture")

    def test_of_the_predictions_as_they_are(self) -> None:
        rows = [
            row("exact", 0.5, Range(0.4, 0.5, 0.6)),
            row("outside", 0.5 * math.exp(0.5), Range(0.4, 0.5, 0.6)),
            row("near", 0.5 * math.exp(0.1), Range(0.4, 0.5, 0.6)),
            row("unknown", 0.5, None),
        ]
        found = reliability(as_predicted([replace(entry, repository=f"gapless:{entry.id}") for entry in rows]))
        self.assertEqual(found.rows, 3)
        self.assertAlmostEqual(found.median_error, 0.1, places=6)
        self.assertAlmostEqual(found.within, 2 / 3)

    def test_a_ladder_weighs_as_much_as_a_single_pair(self) -> None:
        """Nine rows of one repository hold, the one of another does not: half of the trials."""
        held = [
            replace(row(f"row {number}", 0.5, Range(0.4, 0.5, 0.6)), repository="o/n@abcdef0") for number in range(9)
        ]
        missed = replace(row("missed", 0.9, Range(0.4, 0.5, 0.6)), repository="o/m@abcdef0")
        self.assertAlmostEqual(reliability(as_predicted([*held, missed])).within, 0.5)

    def test_nothing_predicted_is_no_figure(self) -> None:
        self.assertTrue(math.isnan(reliability(leave_one_out([row("a", 0.5, None)])).median_error))
        self.assertTrue(math.isnan(reliability(as_predicted([])).within))


class Kept(unittest.TestCase):
    def test_what_names_a_folder_is_found(self) -> None:
        for text in (f'"{os.sep}home/somebody/train.py(3): main"', '{"PATH": "/usr/local/bin:/usr/bin"}'):  # fmt: skip
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "manifest.json").write_text(text, encoding="utf-8")
                with self.assertRaises(ValueError, msg=text):
                    advice_keep.check(Path(folder))

    def test_recordings_are_whole_runs(self) -> None:
        """The profiler's steps, the agent's, and the processors that were used are all there."""
        for folder in sorted((ROOT / "samples/pairs").iterdir()):
            with self.subTest(folder.name):
                sql = "SELECT format FROM trace"
                command = [str(PROGRAM), "query", str(folder), sql, "--json", "--no-cache"]
                done = subprocess.run(command, check=False, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr, "")
                self.assertEqual({trace["format"] for trace in json.loads(done.stdout)}, {"kineto", "telemetry"})
                self.assertEqual(len(list(folder.glob("main/agent-*.events"))), 1)
                manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
                self.assertEqual(manifest["exit_status"], 0)


class Scripts(unittest.TestCase):
    def test_each_runs_as_it_was_and_fixed(self) -> None:
        if not PYTHON.exists():
            self.skipTest(f"no {PYTHON}: set GAPLESS_TORCH, or run tools/torch_env.sh newest")
        lines = {
            json.dumps(pair.command(fixed, 3)[1:])
            for pair in PAIRS
            for fixed in (False, True)
            if not (fixed and pair.fix == "compile")  # takes a compiler and a minute
        }
        environment = {
            **os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": str(ROOT / "examples/pairs"),
        }  # fmt: skip
        done = subprocess.run(
            [str(PYTHON), "-c", RUNNER], check=False, cwd=ROOT, env=environment, input="\n".join(sorted(lines)),
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = [json.loads(json.loads(line)) for line in done.stdout.splitlines()]
        self.assertEqual([len(line["step_ms"]) for line in printed], [3] * len(lines))

    def test_a_fix_that_a_script_does_not_have_is_refused(self) -> None:
        if not PYTHON.exists():
            self.skipTest(f"no {PYTHON}: set GAPLESS_TORCH, or run tools/torch_env.sh newest")
        command = [str(PYTHON), "examples/pairs/reading.py", "mlp", "--fix", "workers=2"]
        done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 2)
        self.assertIn("can be fixed by sync, not by workers=2", done.stderr)


if __name__ == "__main__":
    unittest.main()
