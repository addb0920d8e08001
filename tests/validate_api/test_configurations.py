# SPDX-License-Identifier: Apache-2.0
"""performance_validator.py: the commands that it makes of two configurations, and the report. The program is a stand-in, which answers as
`gapless validate` does. Needs no PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

from cases import in_ci

ROOT = Path(__file__).resolve().parents[2]
ANSWER = {
    "accepted": True, "verdict": "faster", "speedup": {"low": 1.9, "expected": 2.1, "high": 2.3}, "p_value": 0.001,
    "statistically_significant": True, "memory_saved_gb": 4.2, "pairs": 12, "a": {"metrics": {"step_time_ms": 20.0}},
    "b": {"metrics": {"step_time_ms": 9.5}},
}  # fmt: skip
STAND_IN = f"""
    #!{sys.executable}
    import json, os, sys
    from pathlib import Path
    words = sys.argv[1:]
    Path("asked.json").write_text(json.dumps(words))
    answer = next(word.partition("=")[2] for word in words if word.startswith("--json="))
    status = int(os.environ.get("STAND_IN_STATUS", "0"))
    if status < 2:
        Path(answer).write_text({json.dumps(json.dumps(ANSWER))})
    sys.exit(status)
"""


@in_ci
class Validator(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "gapless"
        self.program.write_text(textwrap.dedent(STAND_IN).lstrip())
        self.program.chmod(0o755)

    def validate(self, a: dict[str, Any], b: dict[str, Any], *words: str, status: int = 0, stand_in: int = 0) -> str:
        (self.folder / "a.json").write_text(json.dumps(a))
        (self.folder / "b.json").write_text(json.dumps(b))
        environment = {**os.environ, "GAPLESS_PROGRAM": str(self.program), "STAND_IN_STATUS": str(stand_in)}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [
                sys.executable, str(ROOT / "python/gapless/validation/performance_validator.py"), "--baseline", "a.json", "--optimized", "b.json",
                *words,
            ],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def commands(self) -> tuple[str, str]:
        asked = json.loads((self.folder / "asked.json").read_text())
        return asked[asked.index("--a") + 1], asked[asked.index("--b") + 1]

    def test_each_configuration_stands_in_the_command(self) -> None:
        said = self.validate({"command": "python t.py --config {config}"}, {"lr": 1})
        self.assertIn("validation_report.json: speedup 2.10×, memory saved 4.20 GB; accepted", said)
        self.assertEqual(self.commands(), ("python t.py --config a.json", "python t.py --config b.json"))
        report = json.loads((self.folder / "validation_report.json").read_text())
        self.assertEqual((report["speedup"], report["speedup_confidence_interval"]), (2.1, [1.9, 2.3]))
        self.assertEqual((report["memory_saved_gb"], report["statistically_significant"]), (4.2, True))
        self.assertEqual(report["optimized_metrics"], {"step_time_ms": 9.5})
        self.assertEqual(report["validation"], ANSWER)

    def test_a_recipe_is_switched_on(self) -> None:
        recipe = {"format": "gapless.recipe", "command": ["python", "t.py"], "fixes": [{"item": "threads=1"}]}
        self.validate({}, recipe, "--db", "sqlite:h.db", "--output", "sub/v.json")
        self.assertEqual(self.commands(), ("python t.py", f"{self.program} run --recipe b.json -- python t.py"))
        self.assertIn("--db=sqlite:h.db", json.loads((self.folder / "asked.json").read_text()))
        self.assertTrue((self.folder / "sub" / "v.json").exists())

    def test_a_recipe_without_fixes_is_the_baseline(self) -> None:
        recipe = {"format": "gapless.recipe", "schema": 1, "command": ["python", "t.py"], "fixes": []}
        self.validate({}, recipe)
        self.assertEqual(self.commands(), ("python t.py", "python t.py"))
        command = {"command": ["python", "t.py", "{config}"], "batch_size": 8}
        self.validate(command, {**command, **recipe})
        self.assertEqual(self.commands(), ("python t.py a.json",) * 2)
        self.validate(command, {**command, **recipe, "batch_size": 16})
        self.assertEqual(
            self.commands(), ("python t.py a.json", f"{self.program} run --recipe b.json -- python t.py b.json")
        )

    def test_a_model_is_trained_by_gapless(self) -> None:
        self.validate({"model": "mine:model", "python": "python3"}, {"model": "mine:model"})
        a, b = self.commands()
        self.assertRegex(a, r"^python3 \S*model_run\.py --config a\.json$")
        self.assertEqual(b, a.replace("a.json", "b.json"))

    def test_no_and_what_is_wrong(self) -> None:
        command = {"command": ["python", "t.py"]}
        self.assertIn("not accepted", self.validate(command, {}, status=1, stand_in=1))
        self.assertIn("gapless validate ended with 5", self.validate(command, {}, status=5, stand_in=5))
        self.assertIn("cannot find a command", self.validate({}, {}, status=3))
        self.validate(command, {}, "--", "python", "other.py")
        self.assertEqual(self.commands(), ("python other.py",) * 2)
        (self.folder / "list.json").write_text("[1]")
        self.assertIn("holds no mapping of settings", self.validate({}, {}, "--baseline", "list.json", status=3))


if __name__ == "__main__":
    unittest.main()
