# SPDX-License-Identifier: Apache-2.0
"""Records, examples in docstrings, short names, and command lines of the package. Needs neither PyTorch nor a recording."""

from __future__ import annotations

import copy
import doctest
import importlib
import importlib.util
import json
import pickle
import pkgutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gapless
from cases import in_ci
from gapless.record import Record, hidden


@dataclass
class Found(Record):
    speedup: float
    model: Any = hidden(default=None)


@in_ci
class Records(unittest.TestCase):
    def test_attributes_and_keys_are_one(self) -> None:
        found = Found(2.0, "large")
        self.assertEqual(
            (found["speedup"], found.get("speedup"), "speedup" in found, list(found)), (2.0, 2.0, True, ["speedup"])
        )
        found["speedup"] = 3.0
        found.update(speedup=found.speedup + 1)
        self.assertEqual((found.speedup, dict(found)), (4.0, {"speedup": 4.0}))
        self.assertEqual((found["model"], found.get("model")), ("large", None))  # an attribute, and not in its JSON
        self.assertEqual(json.dumps(dict(found)), '{"speedup": 4.0}')
        with self.assertRaises(KeyError):
            found["other"]

    def test_copies(self) -> None:
        found = Found(2.0, "large")
        for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
            self.assertEqual((other, other.speedup, other["speedup"], other.model), (found, 2.0, 2.0, "large"))
        self.assertNotEqual(found, Found(3.0))


class Package(unittest.TestCase):
    @in_ci
    def test_examples_in_docstrings(self) -> None:
        tried = 0
        for module in pkgutil.walk_packages(gapless.__path__, "gapless."):
            if ".agent" in module.name or (
                module.name.endswith("pytest_plugin") and not importlib.util.find_spec("pytest")
            ):
                continue
            try:
                imported = importlib.import_module(module.name)
            except ImportError as error:  # the sentence of an extra that is not installed
                self.assertIn('pip install "gapless[', str(error), module.name)
                continue
            done = doctest.testmod(imported)
            self.assertEqual(done.failed, 0, module.name)
            tried += done.attempted
        self.assertGreater(tried, 20)

    @in_ci
    def test_short_names_do_not_hide_a_package_of_the_program(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "analysis").mkdir()
            (Path(folder) / "analysis" / "__init__.py").write_text("MINE = True\n")
            (Path(folder) / "script.py").write_text(
                "import sys, analysis, profiling.profile_collector\n"
                "from analysis.bottleneck_analyzer import BottleneckAnalyzer\n"
                "print(analysis.MINE, BottleneckAnalyzer.__module__, sys.argv[1:])\n"
            )
            done = subprocess.run(
                [sys.executable, "-m", "gapless.compat", "script.py", "a"],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.stdout, "True gapless.analyzer ['a']\n", done.stderr)
            usage = subprocess.run(
                [sys.executable, "-m", "gapless.compat"], cwd=folder, capture_output=True, text=True, check=False
            )
            self.assertEqual((usage.returncode, usage.stdout[:30]), (2, "usage: python -m gapless.compa"))

    @in_ci
    def test_a_command_line_says_what_is_wrong(self) -> None:
        for words, status, text in (
            (["gapless.analysis.bottleneck_analyzer", "--profile", "/nowhere"], 3, "bottleneck_analyzer: "),
            (["gapless.analysis.bottleneck_analyzer"], 2, "--profile"),
            (["gapless.profiling.profile_collector", "--command", "'"], 3, "cannot read the command"),
            (
                ["gapless.validation.performance_validator", "--baseline", "/nowhere.yaml", "--optimized", "x"],
                3,
                "/nowhere.yaml",
            ),
        ):
            done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
