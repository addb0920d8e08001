# SPDX-License-Identifier: Apache-2.0
"""`make build && pip install .` installs the program beside the package; without a build the program is looked for on the PATH. From the
source package of a release pip runs `make build` itself, which takes minutes.

tools/wheel/build.sh names with GAPLESS_WHEEL a folder with bin/gapless, libgapless.so, LICENSES and gapless.cdx.json, and with
GAPLESS_WHEEL_PLATFORM the platform that they run on: then these make the wheel, which is for every Python of that platform.

GAPLESS_ADDRESS is the address of the repository, for the links on the package's page; a release has that which it is made of.

What setuptools writes while it builds goes below build/, which git ignores.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
BUILT = Path(os.environ.get("GAPLESS_WHEEL", ""))
PLATFORM = os.environ.get("GAPLESS_WHEEL_PLATFORM", "")
PROGRAM = BUILT / "bin" / "gapless" if PLATFORM else HERE / "build" / "gapless"
LIBRARY = "libgapless.so"
PARTS = "gapless.cdx.json"


class WithProgram(Distribution):
    """A wheel that holds a program is one for this platform."""

    def has_ext_modules(self) -> bool:
        return PROGRAM.exists()


class WithLibrary(build_py):
    """Puts the C library into the folder of the package, where gapless/native.py looks first."""

    def run(self) -> None:
        super().run()
        shutil.copy(BUILT / LIBRARY, Path(self.build_lib) / "gapless" / LIBRARY)


def commands_of_wheel() -> dict[str, Any]:
    """Commands of a wheel for others. Older versions of setuptools, which lack the first of these, make none."""
    from distutils.command.build_scripts import build_scripts

    from setuptools.command.bdist_wheel import bdist_wheel

    class ForEveryPython(bdist_wheel):
        def get_tag(self) -> tuple[str, str, str]:
            return "py3", "none", PLATFORM

        def write_wheelfile(self, wheelfile_base: str, **words: Any) -> None:
            super().write_wheelfile(wheelfile_base, **words)
            licences = Path(wheelfile_base) / "licenses"
            licences.mkdir(exist_ok=True)
            for file in (HERE / "LICENSE", HERE / "NOTICE", BUILT / "LICENSES"):
                shutil.copy(file, licences / file.name)
            parts = Path(wheelfile_base) / "sboms"
            parts.mkdir(exist_ok=True)
            shutil.copy(BUILT / PARTS, parts)

    class Programs(build_scripts):
        """Scripts that are programs: nothing in them is a first line to be adjusted."""

        def run(self) -> None:
            Path(self.build_dir).mkdir(parents=True, exist_ok=True)
            shutil.copy(PROGRAM, self.build_dir)

    return {"bdist_wheel": ForEveryPython, "build_scripts": Programs, "build_py": WithLibrary}


def what_to_install() -> dict[str, Any]:
    if PLATFORM:
        return {"scripts": [os.path.relpath(PROGRAM, HERE)], "cmdclass": commands_of_wheel()}
    return {"data_files": [("bin", ["build/gapless"])] if PROGRAM.exists() else []}


def links() -> dict[str, str]:
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    address = os.environ.get("GAPLESS_ADDRESS", f"{server}/{repository}" if repository else "")
    pages = {
        "Homepage": "",
        "Documentation": "/blob/main/docs/index.md",
        "Changelog": "/blob/main/CHANGELOG.md",
        "Source": "",
        "Issues": "/issues",
    }
    return {name: address + page for name, page in pages.items()} if address else {}


def build_program() -> None:
    """Only of a source package (a checkout has no PKG-INFO), and not where pip asks for the metadata alone."""
    if PLATFORM or PROGRAM.exists() or not (HERE / "PKG-INFO").exists() or "bdist_wheel" not in sys.argv:
        return
    if not shutil.which("make") or subprocess.run(["make", "build"], cwd=HERE, check=False).returncode != 0:
        sys.exit("gapless: cannot compile the program: `make build` needs Debian 12 or Ubuntu 24.04 and, with root's rights, "
                 "`tools/install_packages.sh build` in the unpacked source package")  # fmt: skip


WRITTEN = f"build/python-{PLATFORM}" if PLATFORM else "build/python"

build_program()
# setuptools makes the folder of build_base, but not that of egg_base.
(HERE / WRITTEN).mkdir(parents=True, exist_ok=True)
setup(
    distclass=WithProgram,
    project_urls=links(),
    options={"build": {"build_base": WRITTEN}, "egg_info": {"egg_base": WRITTEN}},
    **what_to_install(),
)
