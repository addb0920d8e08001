# SPDX-License-Identifier: Apache-2.0
"""The programs that the request for this product shows: their names and signatures exist here, and they run as they are.

They are in the folder GAPLESS_USER_CODE (default ../shared/user_code beside the checkout), without which this file is skipped.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gapless.compat  # noqa: F401 -- the short names that the programs import
from cases import in_ci

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("GAPLESS_USER_CODE") or ROOT.parent / "shared" / "user_code")
if not FOLDER.is_dir():
    raise unittest.SkipTest(f"no folder {FOLDER}: set GAPLESS_USER_CODE")

SHOWN = {
    "1_profile_collector.py": "profiling.profile_collector",
    "3_bottleneck_analyzer.py": "analysis.bottleneck_analyzer",
    "4_optimizers.py": "optimization.optimizers",
    "6_performance_validator.py": "validation.performance_validator",
}
PACKAGE = [str(ROOT / "python"), str(ROOT / "python" / "gapless" / "agent")]
TRAIN = """
    import argparse, time
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    class Slow(torch.utils.data.Dataset):  # so that it is known what is found
        def __len__(self):
            return 128
        def __getitem__(self, index):
            time.sleep(0.002)
            return torch.randn(3, 16, 16), index % 4

    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = DataLoader(Slow(), batch_size=8)
    for _ in range(3):
        for images, labels in data:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
"""
# The workflow needs these names: model, loader, configuration.
GIVEN = """
    import copy, runpy
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    import gapless.compat

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 4))
    data = TensorDataset(torch.randn(64, 3, 16, 16), torch.randint(4, (64,)))
    given = dict(
        model=model, baseline_model=model, optimized_model=copy.deepcopy(model), train_loader=DataLoader(data, batch_size=8),
        baseline_config={"batch_size": 8, "num_workers": 0},
    )
    found = runpy.run_path("workflow.py", init_globals=given)
    print(sorted(found["optimizations"]))
"""


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def load_yaml() -> Any:
    """Returns the module yaml of this Python, else of the system's; skips the test where neither has it."""
    try:
        return importlib.import_module("yaml")
    except ImportError:
        ask = ["/usr/bin/python3", "-c", "import yaml; print(yaml.__path__[0])"]
        done = subprocess.run(ask, capture_output=True, text=True, check=False)
    if done.returncode:
        raise unittest.SkipTest("no PyYAML in this Python, nor in the system's")
    sys.path.append(str(Path(done.stdout.strip()).parent))
    try:
        return importlib.import_module("yaml")
    finally:
        sys.path.pop()


def executable(path: Path, text: str) -> None:
    path.write_text(textwrap.dedent(text).lstrip())
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Case(unittest.TestCase):
    """A folder of its own, in which `python` is the Python of the tests."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        executable(self.programs / "python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        self.environment = {
            **os.environ, "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": PACKAGE[0],
            "HOME": str(self.folder), "GITHUB_OUTPUT": str(self.folder / "github_output"),
        }  # fmt: skip

    def run_words(self, *words: str, statuses: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False, timeout=540
        )
        self.assertIn(done.returncode, statuses, done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout


def classes_of(path: Path) -> Iterator[ast.ClassDef]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node


def value_of(node: ast.expr) -> Any:
    value = ast.literal_eval(node)
    return tuple(value) if isinstance(value, list) else value


@in_ci
class Signatures(unittest.TestCase):
    """Each class, field, method, argument and default of the four files, in the module of the user's name."""

    def test_all(self) -> None:
        checked = 0
        for file, module in SHOWN.items():
            for node in classes_of(FOLDER / file):
                ours = getattr(importlib.import_module(module), node.name, None)
                self.assertIsNotNone(ours, f"{module}.{node.name}")
                for member in node.body:
                    checked += self.check(ours, member, f"{module}.{node.name}")
        self.assertGreater(checked, 50)  # members were found at all

    def check(self, ours: Any, member: ast.stmt, place: str) -> int:
        if isinstance(member, ast.FunctionDef):
            self.check_method(ours, member, place)
        elif isinstance(member, ast.Assign) and isinstance(member.targets[0], ast.Name):
            name = member.targets[0].id
            found, shown = getattr(ours, name), ast.literal_eval(member.value)
            self.assertEqual(getattr(found, "value", found), shown, f"{place}.{name}")
        elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
            self.assertIn(member.target.id, ours.__dataclass_fields__, place)
        else:
            return 0
        return 1

    def check_method(self, ours: Any, method: ast.FunctionDef, place: str) -> None:
        place = f"{place}.{method.name}"
        if method.name == "__init__":
            self.check_attributes(ours, method, place)
        found = inspect.signature(getattr(ours, method.name)).parameters
        shown = [argument.arg for argument in method.args.args]
        self.assertEqual(list(found)[: len(shown)], shown, place)
        for name, default in zip(reversed(shown), reversed(method.args.defaults)):
            ours_default = found[name].default
            ours_default = tuple(ours_default) if isinstance(ours_default, list) else ours_default
            self.assertEqual(ours_default, value_of(default), f"{place}({name})")
        for name, parameter in list(found.items())[len(shown) :]:
            self.assertIsNot(parameter.default, inspect.Parameter.empty, f"{place}({name}) must be optional")

    def check_attributes(self, ours: Any, method: ast.FunctionDef, place: str) -> None:
        """The attributes that the shown constructor sets are there."""
        made = ours(*["metrics.db"] * (len(method.args.args) - 1))
        for statement in method.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
                name = statement.targets[0].attr
                if name == "scaler" and not has_torch():
                    continue
                self.assertTrue(hasattr(made, name), f"{place}: {name}")

    def test_fields_are_in_their_order(self) -> None:
        for file, module in SHOWN.items():
            for node in classes_of(FOLDER / file):
                shown = [member.target.id for member in node.body if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)]  # fmt: skip
                if shown:
                    ours = getattr(importlib.import_module(module), node.name)
                    self.assertEqual(list(ours.__dataclass_fields__)[: len(shown)], shown)


@in_ci
class ShownTests(unittest.TestCase):
    def test_they_pass(self) -> None:
        analysis = importlib.import_module("analysis.bottleneck_analyzer")
        ran = 0
        for path in sorted(FOLDER.glob("tests_*.py")):
            names = {name: getattr(analysis, name) for name in ("KernelAnalyzer", "BottleneckType")}
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # noqa: S102 -- the shown tests
            for name, function in list(names.items()):
                if name.startswith("test_"):
                    function()
                    ran += 1
        self.assertGreaterEqual(ran, 6)


class Workflow(Case):
    @in_ci
    def test_the_four_steps_run_as_they_are(self) -> None:
        if not has_torch():
            self.skipTest("no PyTorch in this Python")
        shutil.copy(FOLDER / "workflow.py", self.folder)
        (self.folder / "train.py").write_text(textwrap.dedent(TRAIN))
        (self.folder / "given.py").write_text(textwrap.dedent(GIVEN))
        said = self.run_words("python", "given.py")
        self.assertIn(
            "=== GPU Performance Analysis Report ===\n\nCritical Issues (severity >0.7):\n1. [DATA_LOADING] ", said
        )
        self.assertRegex(said, r"(?m)^Speedup: 1\.00×$")
        self.assertRegex(said, r"(?m)^Memory saved: 0\.00 GB$")
        self.assertIn("'estimated_speedup', 'fixes', 'memory_saved_gb', 'new_config', 'optimizations_applied'", said)
        self.assertTrue((self.folder / "profiles" / "baseline" / "report.html").exists())
        self.assertFalse((self.folder / "metrics.db").exists(), "a copy of the baseline is nothing to record")

    def test_the_four_commands_run_one_after_the_other(self) -> None:
        yaml = load_yaml()
        if not has_torch():
            self.skipTest("no PyTorch in this Python")
        (self.folder / "lib").mkdir()
        (self.folder / "lib" / "yaml").symlink_to(yaml.__path__[0])
        self.environment["PYTHONPATH"] = os.pathsep.join([PACKAGE[0], str(self.folder / "lib")])
        (self.folder / "train.py").write_text(textwrap.dedent(TRAIN))
        (self.folder / "config").mkdir()
        (self.folder / "config" / "model.yaml").write_text("batch_size: 8\nlayers: [8, 4]  # mine\n")
        package = ROOT / "python" / "gapless"
        self.run_words("python", str(package / "profiling/profile_collector.py"), "--command", "python train.py", "--output", "profiles/baseline")  # fmt: skip
        self.run_words("python", str(package / "analysis/bottleneck_analyzer.py"), "--profile", "profiles/baseline", "--output", "bottleneck_report.json")  # fmt: skip
        report = json.loads((self.folder / "bottleneck_report.json").read_text())
        self.assertEqual(report["command"], ["python", "train.py"])
        optimized = self.run_words(
            "python", str(package / "optimization/auto_optimizer.py"), "--bottlenecks", "bottleneck_report.json", "--model-config", "config/model.yaml",
            "--output", "optimized_config.yaml", "--budget", "20s", statuses=(0, 1),
        )  # fmt: skip
        self.assertIn("optimized_config.yaml: ", optimized)
        config = yaml.safe_load((self.folder / "optimized_config.yaml").read_text())
        self.assertEqual((config["layers"], config["format"]), ([8, 4], "gapless.recipe"))
        self.run_words(
            "python", str(package / "validation/performance_validator.py"), "--baseline", "config/model.yaml", "--optimized", "optimized_config.yaml",
            "--output", "validation_report.json", "--validate=--pairs=4", "--validate=--steps=20", "--db=sqlite:h.db", statuses=(0, 1),
        )  # fmt: skip
        validation = json.loads((self.folder / "validation_report.json").read_text())
        self.assertGreater(validation["speedup"], 0.3)
        self.assertIsInstance(validation["memory_saved_gb"], float)


COMMENT = """
const lines = [];
const github = {rest: {issues: {createComment: (comment) => lines.push(comment.body)}}};
const context = {issue: {number: 1}, repo: {owner: 'o', repo: 'r'}};
(async () => { SCRIPT
})().then(() => console.log(lines.join('\\n')));
"""


class Pipeline(Case):
    """The scripts that the shown workflow of GitHub runs, and the comment that it makes of their result."""

    @in_ci
    def test_its_lines_run(self) -> None:
        yaml = load_yaml()
        if not has_torch() or shutil.which("node") is None:
            self.skipTest("no PyTorch in this Python, or no node")
        steps = yaml.safe_load((FOLDER / "performance-benchmark.yml").read_text())["jobs"]["benchmark"]["steps"]
        (self.folder / "scripts").symlink_to(ROOT / "scripts")
        self.environment["XDG_DATA_HOME"] = str(self.folder / "data")
        ran = [step["run"] for step in steps if "scripts/" in step.get("run", "")]
        self.assertEqual(len(ran), 2)
        for lines in ran:
            text = lines.replace("${{ github.sha }}", "4f2a91c0").replace("${{ github.ref_name }}", "main")
            self.assertNotIn("${{", text)
            self.run_words("bash", "-e", "-c", text)
        self.assertIn("regression=false", (self.folder / "github_output").read_text())
        results = json.loads((self.folder / "benchmark_results.json").read_text())
        self.assertEqual(results["commit_sha"], "4f2a91c0")
        script = next(step["with"]["script"] for step in steps if "script" in step.get("with", {}))
        (self.folder / "comment.js").write_text(COMMENT.replace("SCRIPT", script))
        comment = self.run_words("node", "comment.js")
        self.assertRegex(comment, r"\*\*Samples/sec\*\*: \d+ \(0\.0%\)")
        self.assertRegex(comment, r"\*\*GPU Utilization\*\*: \d+\.\d%")
        self.assertRegex(comment, r"\*\*Memory Usage\*\*: \d\.\d\d GB")
        self.assertIn("No regression detected", comment)
        for wrong in ("null", "NaN", "undefined"):
            self.assertNotIn(wrong, comment)


if __name__ == "__main__":
    unittest.main()
