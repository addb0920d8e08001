# SPDX-License-Identifier: Apache-2.0
"""`make build && pip install .` installs the program beside the package; without a build the program is looked for on the PATH.

What setuptools writes while it builds goes below build/, which git ignores.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import Distribution, setup

PROGRAM = Path(__file__).parent / "build" / "gapless"


class WithProgram(Distribution):
    """A wheel that holds a program is one for this platform."""

    def has_ext_modules(self) -> bool:
        return PROGRAM.exists()


WRITTEN = "build/python"

# setuptools makes the folder of build_base, but not that of egg_base.
(Path(__file__).parent / WRITTEN).mkdir(parents=True, exist_ok=True)
setup(
    distclass=WithProgram,
    data_files=[("bin", ["build/gapless"])] if PROGRAM.exists() else [],
    options={"build": {"build_base": WRITTEN}, "egg_info": {"egg_base": WRITTEN}},
)
