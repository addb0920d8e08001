# SPDX-License-Identifier: Apache-2.0
"""Imports by short names: after `import gapless.compat`, `from profiling.profile_collector import ProfileCollector` works.

>>> import gapless.compat
>>> from analysis.bottleneck_analyzer import BottleneckAnalyzer
>>> from gapless.analysis import bottleneck_analyzer
>>> BottleneckAnalyzer is bottleneck_analyzer.BottleneckAnalyzer
True

The names are `profiling`, `analysis`, `optimization` and `validation`, and the modules of MODULES in them. A package of the same name that
the program has itself is never hidden: these are looked for last. `python -m gapless.compat SCRIPT …` runs a script with them. To have them in
every program of an environment, write the line `import gapless.compat` into a file `gapless_compat.pth` in its site-packages:

    echo "import gapless.compat" >"$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/gapless_compat.pth"
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

MODULES = {
    "profiling": ("profile_collector",),
    "analysis": ("bottleneck_analyzer",),
    "optimization": ("optimizers", "auto_optimizer"),
    "validation": ("performance_validator",),
}
NAMES = {*MODULES, *(f"{package}.{module}" for package, modules in MODULES.items() for module in modules)}


class ShortNames(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads the short names: each is the module of gapless itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in NAMES:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=fullname in MODULES)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(f"gapless.{module.__name__}")

    def is_package(self, fullname: str) -> bool:
        return fullname in MODULES

    def get_source(self, fullname: str) -> str | None:
        spec = importlib.util.find_spec(f"gapless.{fullname}")
        return (
            spec.loader.get_source(spec.name) if spec and isinstance(spec.loader, importlib.abc.InspectLoader) else None
        )

    def get_code(self, fullname: str) -> CodeType | None:
        spec = importlib.util.find_spec(f"gapless.{fullname}")
        return (
            spec.loader.get_code(spec.name) if spec and isinstance(spec.loader, importlib.abc.InspectLoader) else None
        )


def install() -> None:
    """Makes the short names importable; again is once."""
    if not any(type(finder).__name__ == ShortNames.__name__ for finder in sys.meta_path):
        sys.meta_path.append(ShortNames())


def main() -> int:
    """Runs the script that the command line names, with its words; returns the exit status."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(
            "usage: python -m gapless.compat SCRIPT [WORD…]\n\nRuns a script in which profiling, analysis, optimization and validation can be imported."
        )
        return 0 if len(sys.argv) > 1 else 2
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


install()
