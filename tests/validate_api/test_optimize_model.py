# SPDX-License-Identifier: Apache-2.0
"""scripts/optimize_model.py, which is gapless.optimization.auto_optimizer: what it asks the program for, and the configuration it writes. The program is a stand-in, which answers as
`gapless optimize` does; what comes of it is read by the real one, where it knows recipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from cases import in_ci

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """# my training
command: [python, train.py, --config, "{config}"]
model: {width: 64}  # small
"""
RECIPE = {
    "format": "gapless.recipe", "schema": 1, "command": ["python", "train.py"],
    "fixes": [{"item": "workers=4", "safety": "exact", "speedup": {"low": 1.5, "measured": 1.7, "high": 1.9}}],
    "environment": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, "speedup": {"low": 1.5, "measured": 1.7, "high": 1.9},
}  # fmt: skip
STAND_IN = f"""
    #!{sys.executable}
    import json, os, sys
    from pathlib import Path
    words = sys.argv[1:]
    Path("asked.json").write_text(json.dumps(words))
    if os.environ.get("STAND_IN_COPIES"):
        Path("read.json").write_text(Path(words[words.index("--bottlenecks") + 1]).read_text())
    if os.environ.get("STAND_IN_FAILS"):
        sys.exit("gapless: no")
    folder = Path(words[words.index("--output") + 1])
    folder.mkdir(exist_ok=True)
    answer = next(word.partition("=")[2] for word in words if word.startswith("--json="))
    recipe = {{**json.loads({json.dumps(json.dumps(RECIPE))}), "command": words[words.index("--") + 1:]}}
    (folder / "optimized.json").write_text(json.dumps(recipe))
    kept = not os.environ.get("STAND_IN_KEEPS_NOTHING")
    Path(answer).write_text(json.dumps({{"recipe": str(folder / "optimized.json")}} if kept else {{}}))
    sys.exit(0 if kept else 1)
"""


class OptimizeModel(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "gapless"
        self.program.write_text(textwrap.dedent(STAND_IN).lstrip())
        self.program.chmod(0o755)
        (self.folder / "model.yaml").write_text(CONFIG)
        (self.folder / "report.json").write_text('{"gapless": {"schema": 1}, "bottlenecks": []}')

    def script(self, *words: str, status: int = 0, **variables: str) -> str:
        environment = {**os.environ, "GAPLESS_PROGRAM": str(self.program), **variables}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts/optimize_model.py"), *words], env=environment, cwd=self.folder,
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def written(self) -> str:
        return (self.folder / "optimized_config.yaml").read_text()

    def needs_yaml(self) -> None:
        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("no PyYAML in this Python")

    @in_ci
    def test_the_command_of_the_configuration(self) -> None:
        self.needs_yaml()
        said = self.script("--bottlenecks", "report.json", "--model-config", "model.yaml", "--optimize=--budget=5m")
        self.assertIn("optimized_config.yaml: workers=4", said)
        asked = json.loads((self.folder / "asked.json").read_text())
        self.assertEqual(
            asked[:1] + asked[1:6], ["optimize", "--output", "optimized", "--budget=5m", "--bottlenecks", "report.json"]
        )
        self.assertEqual(asked[asked.index("--") + 1 :], ["python", "train.py", "--config", "model.yaml"])
        self.assertTrue(self.written().startswith(CONFIG))
        import yaml

        found = yaml.safe_load(self.written())
        self.assertEqual(found["model"], {"width": 64})
        self.assertEqual(
            {name: found[name] for name in ("fixes", "speedup", "schema")},
            {name: RECIPE[name] for name in ("fixes", "speedup", "schema")},
        )

    def test_script_and_arguments(self) -> None:
        self.needs_yaml()
        (self.folder / "model.yaml").write_text("script: train.py\nargs: --lr 1 --config {config}\npython: python3\n")
        self.script("--model-config", "model.yaml")
        asked = json.loads((self.folder / "asked.json").read_text())
        self.assertEqual(asked[asked.index("--") + 1 :], ["python3", "train.py", "--lr", "1", "--config", "model.yaml"])

    def test_the_command_of_the_report_and_bottlenecks_made_by_hand(self) -> None:
        found = {
            "type": "data_loading",
            "severity": 0.8,
            "description": "slow",
            "evidence": {"idle": 0.4},
            "recommendations": ["workers"],
        }
        for document in ({"bottlenecks": [found], "command": ["python", "t.py"]}, [found]):
            (self.folder / "report.json").write_text(json.dumps(document))
            words = [] if isinstance(document, dict) else ["--", "python", "t.py"]
            self.script("--bottlenecks", "report.json", "--output", "o.json", *words, STAND_IN_COPIES="1")
            asked = json.loads((self.folder / "asked.json").read_text())
            self.assertEqual(asked[asked.index("--") + 1 :], ["python", "t.py"])
            read = json.loads((self.folder / "read.json").read_text())["bottlenecks"][0]
            self.assertEqual((read["type"], read["severity"]), ("DATA_LOADING", 0.8))
            self.assertIn("workers", [advice.get("fix") for advice in read["recommendations"]])
        (self.folder / "report.json").write_text('{"speedup": 2}')
        said = self.script("--bottlenecks", "report.json", "--", "x", status=2)
        self.assertIn("there are no bottlenecks in it", said)

    def test_again_replaces_what_was_written(self) -> None:
        words = ("--model-config", "model.yaml", "--", "python", "train.py")
        self.script(*words)
        first = self.written()
        (self.folder / "model.yaml").write_text(first)
        self.script(*words)
        self.assertEqual(self.written(), first)

    def test_a_command_of_one_line_becomes_a_list(self) -> None:
        (self.folder / "model.yaml").write_text("command: python t.py --config {config}\nlr: 1\n")
        self.script("--model-config", "model.yaml", "--", "python", "t.py")
        self.assertTrue(self.written().startswith('command: ["python", "t.py"]\nlr: 1\n'))

    def test_nothing_is_kept(self) -> None:
        said = self.script("--model-config", "model.yaml", "--", "python", "t.py", status=1, STAND_IN_KEEPS_NOTHING="1")
        self.assertIn("nothing is significantly faster", said)
        self.assertIn("\nfixes: []\n", self.written())

    def test_a_recipe_alone(self) -> None:
        self.script("--output", "o.json", "--", "python", "t.py")
        self.assertEqual(json.loads((self.folder / "o.json").read_text())["command"], ["python", "t.py"])

    def test_problems_are_said(self) -> None:
        self.assertIn("no command", self.script(status=2))
        self.assertIn("no.yaml", self.script("--model-config", "no.yaml", status=2))
        self.assertIn("ended with 1", self.script("--", "x", status=1, STAND_IN_FAILS="1"))
        (self.folder / "model.yaml").write_text("fixes: mine\n")
        said = self.script("--model-config", "model.yaml", "--", "x", status=2)
        self.assertIn("keys that a recipe has, too: fixes", said)
        self.assertFalse((self.folder / "optimized_config.yaml").exists())

    def test_the_program_reads_it(self) -> None:
        real = os.environ["GAPLESS_PROGRAM"]
        if subprocess.run([real, "run", "--help"], capture_output=True, check=False).returncode:
            self.skipTest("this gapless has no verb `run`")
        self.script("--model-config", "model.yaml", "--", "python", "train.py")
        words = [real, "run", "--recipe", "optimized_config.yaml", "--print", "--", "python", "train.py"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertIn("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", done.stdout, done.stderr)
        self.assertIn("workers=4", done.stderr)


if __name__ == "__main__":
    unittest.main()
