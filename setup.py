# SPDX-License-Identifier: Apache-2.0
"""`make build && pip install .` installs the program beside the package; without a build the program is looked for on the PATH."""

from __future__ import annotations

from pathlib import Path

from setuptools import Distribution, setup

PROGRAM = Path(__file__).parent / "build" / "gapless"


class WithProgram(Distribution):
    """A wheel that holds a program is one for this platform."""

    def has_ext_modules(self) -> bool:
        return PROGRAM.exists()


setup(distclass=WithProgram, data_files=[("bin", ["build/gapless"])] if PROGRAM.exists() else [])
