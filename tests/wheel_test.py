#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel of `make wheel` as others get it: installed by pip into bare environments of each Python that is here, used from a folder
outside of the checkout, and giving what the program of the other compiler gives.

usage: wheel_test.py PROGRAM [WHEEL] [unittest options]
Without WHEEL the newest one in dist/ is taken; where there is none, the test is skipped. GAPLESS_OLD_ROOT names a folder with an older
distribution (as root: debootstrap --variant=minbase --include=python3,python3-venv bullseye FOLDER), in which the program is run, too.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus import FOLDER, ROOT

SAMPLE = next((ROOT / "samples").glob("*.json.gz"))
MOST_BYTES, MOST_SECONDS = 12_000_000, 10
OLDEST = (3, 10)
RECORDINGS = 40
LARGEST = 30_000_000  # bytes of a recording that is compared
# Everything that NOTICE says is inside, by the words above its licence.
LINKED = [
    "simdjson",
    "isal",
    "zstd",
    "sqlite3",
    "xxhash",
    "yaml",
    "re2",
    "cli11",
    "cpp-httplib",
    "boost",
    "tree-sitter",
    "libc++",
    "libgcc",
    "zig",
]
# The collector is what CUDA would load; a step of a training of three lines makes the agent known.
TRAINS = """
import ctypes, os, sys
ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection
import torch
import gapless_agent
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    model(torch.randn(256, 64)).square().mean().backward()
    optimizer.step()
print(os.path.dirname(gapless_agent.__file__))
"""
OPENS = """
import gapless, sys
run = gapless.open(sys.argv[1])
print(len(run.table("gpu_op")), run.bottlenecks[0].id, gapless.__file__)
"""
TORCH = Path(os.environ.get("GAPLESS_TORCH", ROOT / "build/torch/bin/python"))
PROGRAM = ""
WHEEL = Path()


def run(*words: str | Path, **environment: str) -> str:
    """Standard output; what the command said when it fails. Nothing of this checkout or of the caller's Python is in its environment."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS", "PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, encoding="utf-8", check=False,
                          cwd=tempfile.gettempdir(), env={**inherited, "LC_ALL": "C.UTF-8", **environment})  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> dict[tuple[int, ...], str]:
    """The Pythons of this machine that can make an environment, by version."""
    names = [*(shutil.which(f"python3.{minor}") or "" for minor in range(9, 16)), sys.executable]
    names += [str(path) for path in Path.home().glob(".pyenv/versions/3.*/bin/python")]
    found: dict[tuple[int, ...], str] = {}
    for name in filter(None, names):
        words = [name, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"]
        said = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
        if len(said) == 2:
            found.setdefault(tuple(map(int, said)), name)
    return found


def same(a: Any, b: Any) -> bool:
    """Equal but for the last digits of numbers: libraries of two compilers round some of them differently."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12)
    return type(a) is type(b) and bool(a == b)


def recordings() -> list[Path]:
    """Every n-th of the recordings in single files, so that each profiler has some."""
    found = [
        path for path in sorted(FOLDER.glob("*/**/*")) if re.search(r"\.(json|json\.gz|sqlite|csv|pickle)$", path.name)
    ]
    found = [path for path in found if path.is_file() and path.stat().st_size < LARGEST]
    return found[:: max(1, len(found) // RECORDINGS)]


class Wheel(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    unpacked: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.unpacked = Path(cls.folder.name, "unpacked")
        with zipfile.ZipFile(WHEEL) as file:
            file.extractall(cls.unpacked)
        cls.program().chmod(0o755)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    @classmethod
    def program(cls) -> Path:
        return next(cls.unpacked.glob("*.data/scripts/gapless"))

    def test_it_is_for_every_python_and_depends_on_nothing(self) -> None:
        self.assertRegex(WHEEL.name, r"^gapless-[\d.]+-py3-none-manylinux_2_17_\w+\.whl$")
        self.assertLessEqual(WHEEL.stat().st_size, MOST_BYTES)
        about = next(self.unpacked.glob("*.dist-info/METADATA")).read_text()
        self.assertIn(f"Requires-Python: >={'.'.join(map(str, OLDEST))}\n", about)
        needed = re.findall(r"^Requires-Dist: (.+)$", about, re.MULTILINE)
        self.assertEqual([name for name in needed if "extra ==" not in name], [])

    def test_each_library_inside_has_its_licence(self) -> None:
        folder = next(self.unpacked.glob("*.dist-info/licenses"))
        self.assertEqual((folder / "LICENSE").read_text(), (ROOT / "LICENSE").read_text())
        titles = set(re.findall(r"^(.+)\n=+$", (folder / "LICENSES").read_text(), re.MULTILINE))
        self.assertEqual(set(LINKED) - titles, set())

    def test_it_lists_what_is_linked_in(self) -> None:
        document = json.loads(next(self.unpacked.glob("*.dist-info/sboms/*.cdx.json")).read_text())
        parts = {part["name"]: part for part in document["components"]}
        self.assertEqual({*LINKED, "echarts", "preact"} - set(parts), set())
        for name, part in parts.items():
            self.assertTrue(part["purl"].startswith("pkg:") and part["licenses"], name)
            self.assertEqual("version" not in part, name == "glibc", name)

    def test_an_old_libc_is_enough(self) -> None:
        run(sys.executable, ROOT / "tools/wheel/check.py", self.program(), self.unpacked / "gapless/libgapless.so")

    def test_from_pip_to_the_first_report_takes_seconds(self) -> None:
        python = self.bare(sys.executable, "first")
        begin = time.monotonic()
        run(python, "-m", "pip", "install", "-q", "--no-index", WHEEL)
        report = run(python.parent / "gapless", "analyze", SAMPLE)
        seconds = time.monotonic() - begin
        self.assertIn("what to fix", report)
        self.assertLess(seconds, MOST_SECONDS)
        print(f"from pip install to the first report: {seconds:.1f} s")

    def test_every_python_opens_a_recording(self) -> None:
        for version, name in pythons().items():
            with self.subTest(python=version):
                python = self.bare(name, "python" + ".".join(map(str, version)))
                words = (python, "-m", "pip", "install", "-q", "--no-index", WHEEL)
                if version < OLDEST:
                    with self.assertRaisesRegex(
                        AssertionError, "requires a different Python|not a supported|Requires-Python"
                    ):
                        run(*words)
                    continue
                run(*words)
                # The PATH is bare: the library is found where it lies, without the program.
                kernels, finding, module = run(python, "-c", OPENS, SAMPLE, PATH="/usr/bin:/bin").split()
                self.assertGreater(int(kernels), 0)
                self.assertTrue(finding)
                self.assertIn(str(python.parent.parent), module)
                said = run(python, "-m", "gapless", "analyze", SAMPLE, "--json", PATH="/usr/bin:/bin")
                self.assertEqual(json.loads(said)["bottlenecks"][0]["id"], finding)
        print(
            "opened by Python "
            + ", ".join(".".join(map(str, version)) for version in sorted(pythons()) if version >= OLDEST)
        )

    def test_the_first_lines_of_the_readme_run(self) -> None:
        venv = ROOT / "build/wheel/uv"
        words = [str(ROOT / "tools/venv.sh"), str(venv), str(ROOT / "tools/wheel/uv.txt")]
        if not shutil.which("uvx") and subprocess.run(words, check=False, cwd=ROOT).returncode != 0:
            self.skipTest("there is no uvx, and PyPI is out of reach")
        lines = re.findall(r"^uvx .+?(?= {2,}#|$)", (ROOT / "README.md").read_text(), re.MULTILINE)
        self.assertTrue(lines)
        for line in lines:
            path = f"{venv}/bin:{os.environ['PATH']}"
            report = run(
                "bash", "-c", f"cd '{ROOT}' && {line.replace('dist/gapless-*_x86_64.whl', str(WHEEL))}", PATH=path
            )
            self.assertIn("what to fix", report)

    def test_a_training_is_recorded_by_the_agent_and_the_collector_inside(self) -> None:
        if not TORCH.exists():
            self.skipTest(f"{TORCH} is missing: tools/torch_env.sh makes it")
        python = self.bare(str(TORCH), "trains")
        run(python, "-m", "pip", "install", "-q", "--no-index", WHEEL)
        packages = run(TORCH, "-c", "import torch, os; print(os.path.dirname(os.path.dirname(torch.__file__)))").strip()
        next(python.parent.parent.glob("lib/python*/site-packages")).joinpath("torch.pth").write_text(packages + "\n")
        recording = Path(self.folder.name, "run")
        agent = run(
            python, "-m", "gapless", "profile", "-o", recording, "--", python, "-c", TRAINS, PATH="/usr/bin:/bin"
        )
        self.assertEqual(Path(agent.strip()), recording / "tools/agent/gapless_agent")
        rows = json.loads(
            run(python, "-m", "gapless", "query", recording, "SELECT count(*) AS steps FROM step", "--json")
        )
        self.assertGreater(rows[0]["steps"], 0)

    def bare(self, python: str, name: str) -> Path:
        folder = Path(self.folder.name, name)
        run(python, "-m", "venv", folder)
        return folder / "bin" / "python"

    def test_it_says_what_the_other_compiler_s_program_says(self) -> None:
        compared = 0
        for path in recordings():
            with self.subTest(recording=path.name):
                texts, documents = zip(*(self.answers(program, path) for program in (PROGRAM, str(self.program()))))
                self.assertEqual(*texts)
                self.assertTrue(same(*documents), "the JSON differs by more than the last digit")
                compared += 1
        if not compared:
            self.skipTest(f"no recordings in {FOLDER}")
        print(f"the same of {compared} recordings")

    def answers(self, program: str, recording: Path) -> Iterator[Any]:
        for options in ((), ("--json",)):
            words = [program, "analyze", "--no-cache", str(recording), *options]
            done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
            answer: Any = (done.returncode, done.stdout, done.stderr)
            if options and done.returncode == 0:
                answer = json.loads(done.stdout)
            yield answer

    def test_it_runs_in_an_older_distribution(self) -> None:
        root = os.environ.get("GAPLESS_OLD_ROOT")
        if not root:
            self.skipTest("GAPLESS_OLD_ROOT names no older distribution")
        with tempfile.TemporaryDirectory(dir=Path(root, "tmp")) as folder:
            for file in (WHEEL, SAMPLE):
                shutil.copy(file, folder)
            here = f"/tmp/{Path(folder).name}"
            install = f"python3 -m venv {here}/v && {here}/v/bin/pip install -q --no-index --ignore-requires-python {here}/{WHEEL.name}"
            report = run(
                "chroot", root, "/bin/sh", "-c", f"{install} && {here}/v/bin/gapless analyze {here}/{SAMPLE.name}"
            )
            self.assertEqual(report.split("\n")[1:9], run(self.program(), "analyze", SAMPLE).split("\n")[1:9])


if __name__ == "__main__":
    PROGRAM, *words = sys.argv[1:]
    given = [Path(words.pop(0))] if words and words[0].endswith(".whl") else []
    made = given or sorted((ROOT / "dist").glob(f"*_{platform.machine()}.whl"), key=lambda path: path.stat().st_mtime)
    if not made:
        print("skipped: there is no wheel in dist/; `make wheel` builds one")
        sys.exit(77)
    PROGRAM, WHEEL = str(Path(PROGRAM).resolve()), made[-1].resolve()
    unittest.main(argv=[sys.argv[0], *words])
