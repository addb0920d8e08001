#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Callbacks for training frameworks, with the real packages: steps counted, a window recorded and read, numbers and findings in the
trackers, and a sentence where a package is missing. Steps as `gapless profile` counts them are in tests/agent/test_frameworks.py.

Needs the packages of tests/agent/frameworks/requirements.txt (GAPLESS_FRAMEWORKS, or tools/torch_env.sh frameworks); the trackers are
tested where that Python has them.

usage: integrations_test.py PROGRAM BUILD_FOLDER [unittest options]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT

PROGRAMS = ROOT / "tests/agent/frameworks"
PYTHON = os.environ.get("GAPLESS_FRAMEWORKS") or str(ROOT / "build" / "torch-frameworks" / "bin" / "python")
TAKEN = {"transformers_callback": 24, "lightning_callback": 24, "accelerate_watch": 20}
BLOCKED = "import sys; sys.modules[{!r}] = None; sys.path.insert(0, {!r})\n"


def has(module: str) -> bool:
    if not Path(PYTHON).exists():
        return False
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


class Integrations(unittest.TestCase):
    def setUp(self) -> None:
        if not Path(PYTHON).exists():
            self.skipTest(f"no {PYTHON}: run tools/torch_env.sh frameworks, or set GAPLESS_FRAMEWORKS")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, name: str, options: dict[str, Any], **more: str) -> dict[str, Any]:
        """The words of a program on its watch, after its training."""
        framework = name.partition("_")[0]
        if not has(framework):
            self.skipTest(f"{PYTHON} has no {framework}")
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "WATCH": json.dumps(options), **more}
        done = subprocess.run(
            [PYTHON, str(PROGRAMS / f"{name}.py")], capture_output=True, text=True, cwd=self.folder, env=environment, timeout=300, check=False
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("gapless watches no more steps", done.stderr)
        lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("steps ", "watched ")))
        self.assertEqual(int(lines["steps"]), TAKEN[name])
        watched: dict[str, Any] = json.loads(lines["watched"])
        self.assertEqual((watched["count"], watched["broken"]), (TAKEN[name], False))
        return watched

    def test_a_window_is_recorded_and_read(self) -> None:
        for name in TAKEN:
            with self.subTest(program=name):
                watched = self.run_program(name, {"record": "run", "skip": 5, "steps": 4})
                self.assertTrue(Path(watched["path"]).is_file())
                self.assertEqual(watched["recorded"], 4)

    def test_a_window_that_the_training_cuts_short_is_kept(self) -> None:
        watched = self.run_program("accelerate_watch", {"record": "run", "skip": 18, "steps": 50})
        self.assertTrue(Path(watched["path"]).is_file())

    def test_nothing_is_recorded_where_nothing_was_asked_for(self) -> None:
        self.assertIsNone(self.run_program("accelerate_watch", {"every": 5})["path"])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_tensorboard(self) -> None:
        if not has("tensorboard"):
            self.skipTest(f"{PYTHON} has no tensorboard")
        for name, taken in TAKEN.items():
            with self.subTest(program=name):
                self.run_program(
                    name, {"record": "run", "skip": 5, "steps": 4, "log": f"tensorboard={name}", "every": 5}
                )
                read = (
                    "import json, sys; from tensorboard.backend.event_processing.event_accumulator import EventAccumulator as E\n"
                    "e = E(sys.argv[1]); e.Reload(); t = e.Tags()\n"
                    "print(json.dumps({'texts': t['tensors'], **{n: [s.step for s in e.Scalars(n)] for n in t['scalars']}}))"
                )
                done = subprocess.run(
                    [PYTHON, "-c", read, name], capture_output=True, text=True, cwd=self.folder, check=True
                )
                kept = json.loads(done.stdout.splitlines()[-1])
                every_fifth = list(range(5, taken + 1, 5))
                self.assertEqual(kept["gapless/step_ms"], every_fifth)
                self.assertEqual(kept["gapless/findings_count"], [taken])
                self.assertEqual([one.split("/text")[0] for one in kept["texts"]], ["gapless/findings"])
                if name == "lightning_callback":
                    self.assertEqual(kept["gapless/loss"], every_fifth)

    def test_mlflow(self) -> None:
        if not has("mlflow"):
            self.skipTest(f"{PYTHON} has no mlflow")
        place = (self.folder / "mlruns").as_uri()
        self.run_program("lightning_callback", {"record": "run", "skip": 5, "steps": 4, "log": "mlflow", "every": 5},
                         MLFLOW_TRACKING_URI=place, MLFLOW_ALLOW_FILE_STORE="true")  # fmt: skip
        metrics = {path.name: path.read_text().split() for path in self.folder.glob("mlruns/*/*/metrics/gapless/*")}
        self.assertEqual([int(step) for step in metrics["step_ms"][2::3]], [5, 10, 15, 20])
        self.assertEqual(len(metrics["loss"]), 3 * 4)
        self.assertTrue(list(self.folder.glob("mlruns/*/*/artifacts/gapless/findings.md")))

    def test_wandb_offline(self) -> None:
        if not has("wandb"):
            self.skipTest(f"{PYTHON} has no wandb")
        self.run_program("lightning_callback", {"record": "run", "skip": 5, "steps": 4, "log": "wandb", "every": 5},
                         WANDB_MODE="offline", WANDB_DIR=str(self.folder), WANDB_SILENT="true")  # fmt: skip
        (kept,) = self.folder.glob("wandb/offline-run-*/*.wandb")
        data = kept.read_bytes()
        for name in (b"gapless/step_ms", b"gapless/loss", b"gapless/findings"):
            self.assertIn(name, data)

    def test_under_profile_the_launcher_records(self) -> None:
        if not has("accelerate"):
            self.skipTest(f"{PYTHON} has no accelerate")
        words = [
            os.environ["GAPLESS_PROGRAM"],
            "profile",
            "-o",
            "launched",
            "--",
            PYTHON,
            str(PROGRAMS / "accelerate_watch.py"),
        ]
        environment = {**os.environ, "WATCH": json.dumps({"record": "run", "skip": 2, "steps": 4})}
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=self.folder, env=environment, timeout=300, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"path": null', done.stdout)
        self.assertFalse((self.folder / "run").exists())
        (counted,) = self.folder.glob("launched/*/agent-*")
        self.assertTrue(counted.is_file())

    def test_what_goes_wrong_is_warned_of_and_the_training_goes_on(self) -> None:
        if not has("accelerate"):
            self.skipTest(f"{PYTHON} has no accelerate")
        (self.folder / "run").write_text("a file where the folder is to be")
        environment = {**os.environ, "WATCH": json.dumps({"record": "run/below", "skip": 2})}
        done = subprocess.run(
            [PYTHON, str(PROGRAMS / "accelerate_watch.py")], capture_output=True, text=True, cwd=self.folder, env=environment, check=False
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("steps 20", done.stdout)


class Missing(unittest.TestCase):
    """Without the packages; any Python will do."""

    def told(self, module: str, code: str) -> None:
        program = BLOCKED.format(module, str(ROOT / "python")) + code
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        line = done.stderr.strip().splitlines()[-1]
        self.assertEqual(
            line, f'gapless.integrations.extras.MissingPackage: this needs {module}: pip install "gapless[{module}]"'
        )

    def test_a_framework(self) -> None:
        for module in ("transformers", "accelerate"):
            with self.subTest(module=module):
                self.told(module, f"import gapless.integrations.{module}")

    def test_a_tracker(self) -> None:
        for module in ("wandb", "mlflow", "tensorboard"):
            with self.subTest(module=module):
                self.told(module, f"from gapless.integrations.watch import Watch; Watch(log={module!r})")

    def test_it_is_an_import_error_of_status_4(self) -> None:
        code = "try:\n    import gapless.integrations.accelerate\nexcept ImportError as error:\n    print(error.status)"
        program = BLOCKED.format("accelerate", str(ROOT / "python")) + code
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "4\n")

    def test_the_package_itself_imports_no_framework(self) -> None:
        code = (
            f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import gapless, gapless.integrations\n"
            "print([name for name in ('torch', 'transformers', 'lightning', 'accelerate', 'wandb', 'mlflow') if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n")


if __name__ == "__main__":
    os.environ["GAPLESS_PROGRAM"] = str(Path(sys.argv[1]).resolve())
    os.environ["GAPLESS_LIBRARY"] = str(Path(sys.argv[2]).resolve() / "libgapless.so")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
