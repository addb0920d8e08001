#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imports of the agent (tools/check_agent_layers.py): circles wherever the imports stand, imports that go up, modules in no layer.

usage: agent_layers_test.py
"""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import check_agent_layers as check

LAYERS = "low: counts guard  # the lowest\nhooks: loader\n    steps hooks hooks.*\ntop: install"
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .{} import Thing\n"
IN_A_FUNCTION = "def make():\n    from .{} import Thing\n    return Thing()\n"
IN_A_METHOD = "class Maker:\n    def make(self):\n        from . import {}\n"


class Layers(unittest.TestCase):
    def problems(self, files: dict[str, str]) -> list[str]:
        """The breaches that are told of a package with these modules."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, *name.split("/")).with_suffix(".py")
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(check.problems(check.read_layers(LAYERS), check.read_imports(Path(folder))))

    def test_imports_that_go_down(self) -> None:
        files = {
            "counts": "import os\n",
            "guard": "from .counts import Counts\n",
            "loader": "from . import guard, counts\n",
        }
        files["install"] = "from .loader import Loader\nfrom gapless_agent.guard import Guard\n"
        self.assertEqual(self.problems(files), [])

    def test_circles_wherever_the_import_stands(self) -> None:
        for way in ("from .guard import Thing\n", "from gapless_agent.guard import Thing\n", "import gapless_agent.guard\n",
                    FOR_TYPES.format("guard"), IN_A_FUNCTION.format("guard"), IN_A_METHOD.format("guard")):  # fmt: skip
            with self.subTest(way):
                files = {"counts": way, "guard": "from .counts import Counts\n", "install": "from . import guard\n"}
                found = self.problems(files)
                self.assertEqual(found, ["a circle of imports: counts guard"])

    def test_a_circle_over_several_and_two_apart(self) -> None:
        files = {"counts": "from . import guard\n", "guard": "from . import counts\n"}
        files.update({"loader": "from .steps import A\n", "steps": FOR_TYPES.format("hooks")})
        files["hooks/__init__"] = "from .. import loader\n"
        found = self.problems(files)
        self.assertEqual(found, ["a circle of imports: counts guard", "a circle of imports: hooks loader steps"])

    def test_a_circle_of_a_folder_and_its_module(self) -> None:
        files = {"hooks/__init__": "from . import _shared\n", "hooks/_shared": "from .. import hooks\n"}
        self.assertEqual(self.problems(files), ["a circle of imports: hooks hooks._shared"])

    def test_imports_that_go_up(self) -> None:
        for way in (FOR_TYPES, IN_A_FUNCTION, IN_A_METHOD):
            found = self.problems({"counts": way.format("loader"), "loader": ""})
            self.assertEqual(found, ["counts (low) imports loader (hooks)"])

    def test_a_module_in_no_layer(self) -> None:
        self.assertEqual(self.problems({"counts": "", "other": ""}), ["other stands in no layer"])

    def test_modules_that_are_looked_up(self) -> None:
        files = {"hooks/__init__": "", "hooks/_shared": "", "steps": ""}
        files["hooks/beside"] = "from . import _shared\nfrom ..steps import Steps\n"
        self.assertEqual(self.problems(files), [])
        found = self.problems({**files, "install": "from .hooks import beside\n"})
        self.assertEqual(found, ["install imports hooks.beside, which is looked up by its name"])

    def test_the_agent_itself(self) -> None:
        layers = check.read_layers((check.FOLDER / "layers.txt").read_text(encoding="utf-8"))
        imports = check.read_imports(check.FOLDER / check.PACKAGE)
        self.assertEqual(list(check.problems(layers, imports)), [])
        self.assertGreater(len(imports), 100)

    def test_what_is_looked_up_names_its_class(self) -> None:
        """A file without it would be found when the agent starts, in the program of a user."""
        for folder, word in (("fixes", "FIX"), ("hooks", "HOOK")):
            files = [path for path in (check.FOLDER / check.PACKAGE / folder).glob("[!_]*.py") if path.is_file()]
            self.assertGreater(len(files), 2)
            for path in files:
                text = path.read_text(encoding="utf-8")
                name = text.rstrip().splitlines()[-1].partition(f"{word} = ")[2]
                self.assertTrue(name, f"{path.name} does not end with {word} = …")
                self.assertRegex(text, rf"\nclass {name}\(\w+\):\n", path.name)


if __name__ == "__main__":
    unittest.main()
