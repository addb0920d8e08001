#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_check, tried without a GPU: its plan, its parts with stand-ins, what it does with their figures.

usage: gpu_check_test.py PROGRAM [--whole]

--whole runs every part with stand-ins and trainings on the CPU; it needs PyTorch ($GAPLESS_TORCH, build/torch) and is skipped without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from gpu_parts import fixes, recordings, results, training
from gpu_parts.session import Failed, OutOfTime, Session

PROGRAM = Path()
PYTHON = os.environ.get("GAPLESS_TORCH") or str(ROOT / "build/torch/bin/python")
PARTS = ("doctor", "recordings", "agreement", "overhead", "fixes", "optimize", "kernels", "batch")


def gpu_check(*words: str, program: str = "") -> subprocess.CompletedProcess[str]:
    """Without a --python among the words PyTorch is not even looked for."""
    command = [
        sys.executable,
        str(ROOT / "tools/gpu_check"),
        "--program",
        program or str(PROGRAM),
        "--python",
        sys.executable,
        *words,
    ]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def parts_of(folder: str) -> dict[str, dict[str, Any]]:
    document = json.loads(Path(folder, "results.json").read_text(encoding="utf-8"))
    return {part["name"]: part for part in document["parts"]}


class Calls(unittest.TestCase):
    def test_the_plan_has_every_part_and_runs_nothing(self) -> None:
        done = gpu_check("--plan", program="nowhere/gapless")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in PARTS:
            self.assertIn(f"# {name}: ", done.stdout)
        for words in ("profile --json -o $WORK/slow", "--with ncu", "--cupti", "optimize --json", "predict --json"):
            self.assertIn(words, done.stdout)
        self.assertNotIn("--batch 8", done.stdout)  # sizes for a CPU

    def test_quick_parts_with_stand_ins(self) -> None:
        with tempfile.TemporaryDirectory() as out:
            done = gpu_check("--stand-in", "--out", out, "--only", "doctor", "agreement", "kernels")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            parts = parts_of(out)
            self.assertEqual(
                [parts[name]["status"] for name in ("doctor", "agreement", "kernels")], ["ok", "ok", "skipped"]
            )
            self.assertEqual(parts["agreement"]["figures"]["cupti"]["duration_ratio_median"], 1)
            self.assertIn("no GPU: tried with stand-ins", done.stdout)
            self.assertTrue(parts["agreement"]["commands"])
            self.assertTrue(Path(out, "logs/doctor.log").read_text(encoding="utf-8").startswith("$ gapless doctor"))

    def test_a_part_that_fails_loses_itself_alone(self) -> None:
        with tempfile.TemporaryDirectory() as out:
            done = gpu_check("--stand-in", "--out", out, "--only", "doctor", "kernels", program="/bin/false")
            self.assertEqual(done.returncode, 1)
            parts = parts_of(out)
            self.assertEqual((parts["doctor"]["status"], parts["kernels"]["status"]), ("failed", "skipped"))
            self.assertIn("gapless doctor: no JSON", parts["doctor"]["reason"])

    def test_without_time_everything_is_left_for_the_next_call(self) -> None:
        with tempfile.TemporaryDirectory() as out:
            done = gpu_check("--stand-in", "--out", out, "--budget", "5s", "--only", "doctor", "batch")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({part["status"] for part in parts_of(out).values()}, {"left"})
            self.assertIn("--only doctor batch", done.stdout)

    def test_every_fix_has_a_script_to_show_on(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            session = Session(PROGRAM, "python", Path(folder), Path(folder), time.monotonic() + 60, {})
            session.begin("fixes", 60)
            self.assertEqual(fixes.without_a_case(session), [])


class Commands(unittest.TestCase):
    def session(self, folder: str, seconds: float) -> Session:
        session = Session(PROGRAM, "python", Path(folder), Path(folder), time.monotonic() + seconds, {})
        session.begin("part", seconds)
        return session

    def test_a_command_ends_with_its_time(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            with self.assertRaisesRegex(Failed, "not done after"):
                self.session(folder, 30).run(["sh", "-c", "echo begun; sleep 60"], limit_s=0.5)
            self.assertLess(time.monotonic() - begun, 20)
            self.assertIn("begun", Path(folder, "logs/part.log").read_text(encoding="utf-8"))

    def test_no_command_begins_without_time(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(OutOfTime):
            self.session(folder, 0.5).run(["true"], limit_s=10)


class Figures(unittest.TestCase):
    def test_sizes_for_a_gpu(self) -> None:
        words = ["examples/lab/slow_train.py", "--size", "64", "--batch", "8", "--steps", "30"]
        self.assertEqual(fixes.on_gpu(words), ["examples/lab/slow_train.py", "--steps", "60"])
        self.assertEqual(fixes.on_gpu(["examples/planted/anomaly.py"]), ["examples/planted/anomaly.py"])

    def test_energy_counts_within_steps(self) -> None:
        rows = [{"value": 10.0 * at, "ts_ns": at, "begin_ns": 2, "end_ns": 12, "steps": 20} for at in range(20)]
        self.assertEqual(training.energy_of(rows), {"joules": 100.0, "steps": 20.0, "joules_a_step": 5.0})
        self.assertEqual(training.energy_of(rows[:3]), {})

    def test_agreement(self) -> None:
        found = recordings.compare({"a": (2, 100.0), "b": (1, 50.0), "c": (1, 1.0)}, {"a": (2, 110.0), "b": (3, 55.0)})
        self.assertEqual((found["kernels"], found["kernels_of_both"], found["same_launches_share"]), (3, 2, 0.5))
        self.assertAlmostEqual(found["duration_ratio_median"], 1.1)

    def test_calls_are_joined(self) -> None:
        def call(folder: str, name: str, *parts: results.Outcome) -> Path:
            about = {"card": {"name": name} if name else {}, "date": "2026-11-26"}
            path = Path(folder)
            path.mkdir(exist_ok=True)
            results.write(path, about, list(parts))
            return path

        row = {"fix": "amp", "within": True}
        with tempfile.TemporaryDirectory() as name:
            first = call(f"{name}/a", "NVIDIA H100 80GB HBM3", results.Outcome("fixes", "ok", figures={"fixes": [row]}),
                         results.Outcome("overhead", "ok", figures={"modes": {}}))  # fmt: skip
            second = call(f"{name}/b", "NVIDIA H100 80GB HBM3", results.Outcome("overhead", "failed"),
                          results.Outcome("fixes", "ok", figures={"fixes": [{"fix": "tf32", "within": False}]}))  # fmt: skip
            kept = results.keep([first, second], Path(name, "results"))
            self.assertEqual(kept.relative_to(name).as_posix(), "results/nvidia_h100_80gb_hbm3/2026-11-26.json")
            parts = {part["name"]: part for part in json.loads(kept.read_text(encoding="utf-8"))["parts"]}
            self.assertEqual([fix["fix"] for fix in parts["fixes"]["figures"]["fixes"]], ["amp", "tf32"])
            self.assertEqual((parts["fixes"]["figures"]["within"], parts["fixes"]["figures"]["judged"]), (1, 2))
            self.assertEqual(parts["overhead"]["status"], "ok")
            with self.assertRaises(ValueError):
                results.keep([call(f"{name}/c", "")], Path(name, "results"))


class Whole(unittest.TestCase):
    def test_every_part_with_stand_ins(self) -> None:
        with tempfile.TemporaryDirectory() as out:
            done = gpu_check("--stand-in", "--out", out, "--python", PYTHON)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            parts = parts_of(out)
            status = {name: part["status"] for name, part in parts.items()}
            self.assertEqual(list(status), list(PARTS))
            self.assertEqual([name for name in PARTS if status[name] == "failed"], [])
            self.assertEqual([status[name] for name in ("doctor", "recordings", "kernels")], ["ok", "ok", "skipped"])
            size = sum(path.stat().st_size for path in Path(out, "recordings").rglob("*") if path.is_file())
            self.assertLess(size, 8 << 20)


if __name__ == "__main__":
    PROGRAM = Path(sys.argv[1]).resolve()
    whole = "--whole" in sys.argv
    if whole and not Path(PYTHON).exists():
        print(f"skipped: no PyTorch in {PYTHON} (tools/torch_env.sh, or set GAPLESS_TORCH)")
        sys.exit(77)
    chosen = ["Whole"] if whole else ["Calls", "Commands", "Figures"]
    unittest.main(argv=[sys.argv[0], *chosen])
