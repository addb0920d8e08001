#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In an environment with gapless alone, what needs an extra says so in one sentence with the exact line of pip: the program with status 4,
Python with an ImportError. Every extra that pyproject.toml declares has a case here.

usage: extras_test.py PROGRAM BUILD_FOLDER [unittest options]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
import venv
from pathlib import Path

from corpus import ROOT

SAMPLE = str(next((ROOT / "samples").glob("resnet50*.json.gz")))
OPENED = f"import gapless; table = gapless.open({SAMPLE!r}).table('step'); "
# Code of Python, by extra: what a user would write.
CODE = {
    "mcp": "from gapless.mcp_server import make_server; from gapless.referee import Referee; make_server(Referee(), False)",
    "pandas": OPENED + "table.to_pandas()",
    "polars": OPENED + "table.to_polars()",
    "transformers": "import gapless.integrations.transformers",
    "lightning": "import gapless.integrations.lightning",
    "accelerate": "import gapless.integrations.accelerate",
    "tensorboard": "from gapless.integrations.watch import Watch; Watch(log='tensorboard')",
    "mlflow": "from gapless.integrations.watch import Watch; Watch(log='mlflow')",
    "wandb": "from gapless.integrations.watch import Watch; Watch(log='wandb')",
    "pytest": "import gapless.pytest_plugin",
    "notebook": "from gapless.magic import cell_magic; cell_magic(None, '', 'pass')",
    "yaml": "from pathlib import Path; from gapless.model_config import read; read(Path('config.yaml'))",
    "hta": "import gapless.compat.hta",
    "ray": f"from gapless import cluster; cluster.analyze({SAMPLE!r}, on='ray')",
    "cluster": "from gapless import cluster; cluster.analyze('memory://run/')",
    "s3": "from gapless import cluster; cluster.analyze('s3://bucket/run/')",
    "gcs": "from gapless import cluster; cluster.analyze('gs://bucket/run/')",
    "azure": "from gapless import cluster; cluster.analyze('az://container/run/')",
}
# Words of the program.
WORDS = {"mcp": ["mcp"], "parquet": ["query", SAMPLE, "step", "--parquet", "rows.parquet"], "s3": ["analyze", "s3://bucket/run/"],
         "ray": ["summarize", SAMPLE, "--on", "ray", "-o", "summaries"]}  # fmt: skip
PROGRAM = ""


def declared() -> list[str]:
    section = (ROOT / "pyproject.toml").read_text().split("[project.optional-dependencies]\n", 1)[1].split("\n[", 1)[0]
    return re.findall(r"^(\w+) = \[", section, re.MULTILINE)


class Extras(unittest.TestCase):
    folder: Path
    python: str

    @classmethod
    def setUpClass(cls) -> None:
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.folder = Path(made.name)
        venv.create(cls.folder / "bare", with_pip=False, symlinks=True)
        (packages,) = (cls.folder / "bare/lib").glob("python3*/site-packages")
        (packages / "gapless.pth").write_text(f"{ROOT / 'python'}\n{ROOT / 'python/gapless/agent'}\n")
        (cls.folder / "config.yaml").write_text("a: 1\n")
        cls.python = str(cls.folder / "bare/bin/python")

    def run_it(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        left_out = ("PYTHON", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        return subprocess.run(
            words, cwd=self.folder, env={**kept, "GAPLESS_PYTHON": self.python, "GAPLESS_PROGRAM": PROGRAM},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def test_every_extra_is_here(self) -> None:
        self.assertEqual({*CODE, *WORDS}, set(declared()))

    def test_the_environment_has_gapless_alone(self) -> None:
        done = self.run_it([self.python, "-c", OPENED + "print(len(table))"])
        self.assertEqual((done.stdout, done.stderr), ("6\n", ""))

    def test_python(self) -> None:
        for name, code in CODE.items():
            with self.subTest(name):
                told = f"try:\n    {code}\nexcept ImportError as error:\n    print(error, getattr(error, 'status', 4), sep='|')"
                done = self.run_it([self.python, "-c", told.replace("; ", "\n    ")])
                self.assertEqual(done.stderr, "")
                sentence, status = done.stdout.strip().split("|")
                self.assertEqual(status, "4")
                self.assertRegex(sentence, rf'^[^\n]* pip install "gapless\[{name}\]"')

    def test_the_program(self) -> None:
        for name, words in WORDS.items():
            with self.subTest(name):
                done = self.run_it([PROGRAM, *words])
                self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
                first, *hints = done.stderr.splitlines()
                self.assertRegex(first, rf'^gapless[^\n]*: [^\n]* pip install "gapless\[{name}\]"')
                self.assertTrue(all(line.startswith("  hint: ") for line in hints), done.stderr)
                self.assertFalse((self.folder / "rows.parquet").exists())


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    os.environ["GAPLESS_LIBRARY"] = str(Path(sys.argv.pop(1)).resolve() / "libgapless.so")
    unittest.main()
