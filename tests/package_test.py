#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C++ library as others get it: installed, moved to another place, found by CMake and by pkg-config, compiled by g++ and
by clang, and giving the numbers that the program gives.

usage: package_test.py PROGRAM BUILD_FOLDER CMAKE [--sanitizers=NAMES] [unittest options]
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from corpus import ROOT

SAMPLE = str(next((ROOT / "samples").glob("*.json.gz")))
COMPILERS = [name for name in ("g++", "clang++-16") if shutil.which(name)]
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
PROGRAM = CMAKE = ""
BUILD = Path()


def run(*command: str | Path, **environment: str) -> str:
    """Standard output; what the command said when it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Package(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    prefix: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        os.environ["XDG_CACHE_HOME"] = f"{cls.folder.name}/cache"
        run(CMAKE, "--build", BUILD, "--target", "gapless_shared")
        run(CMAKE, "--install", BUILD, "--prefix", f"{cls.folder.name}/first place")
        cls.prefix = Path(cls.folder.name) / "second place"
        Path(cls.folder.name, "first place").rename(cls.prefix)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    @property
    def library(self) -> Path:
        return next(self.prefix.rglob("libgapless.so"))

    def test_what_is_installed(self) -> None:
        files = {path.relative_to(self.prefix).as_posix() for path in self.prefix.rglob("*")}
        version = json.loads(run(PROGRAM, "--version", "--json"))["gapless"]["version"]
        libraries = self.library.parent.relative_to(self.prefix)
        for name in (
            "bin/gapless",
            "include/gapless/gapless.h",
            f"{libraries}/libgapless.so.{version}",
            f"{libraries}/cmake/gapless/gaplessConfig.cmake",
            f"{libraries}/cmake/gapless/gaplessConfigVersion.cmake",
            f"{libraries}/pkgconfig/gapless.pc",
        ):
            self.assertIn(name, files)
        headers = {path.name for path in (ROOT / "include" / "gapless").glob("*.h")}
        self.assertEqual({path.name for path in (self.prefix / "include" / "gapless").iterdir()}, headers)

    def test_nothing_installed_names_the_place_it_was_made_in(self) -> None:
        for path in self.prefix.rglob("*"):
            if path.suffix in (".cmake", ".pc", ".h"):
                text = path.read_text(encoding="utf-8")
                for place in (str(ROOT), str(BUILD), "first place"):
                    self.assertNotIn(place, text, path.name)

    def test_every_header_compiles_alone(self) -> None:
        for header in sorted((self.prefix / "include" / "gapless").glob("*.h")):
            source = Path(self.folder.name) / "alone.cc"
            source.write_text(f"#include <gapless/{header.name}>\n#include <gapless/{header.name}>\n", encoding="utf-8")
            for compiler in COMPILERS:
                with self.subTest(header=header.name, compiler=compiler):
                    run(compiler, *STRICT, "-fsyntax-only", f"-I{self.prefix}/include", source)

    def test_only_the_api_is_exported(self) -> None:
        symbols = [line.split()[-1] for line in run("nm", "-D", "--defined-only", self.library).splitlines()]
        self.assertGreater(len(symbols), 20)
        for symbol in symbols:
            self.assertRegex(symbol, r"^(_ZNK?7gapless(?!8internal)|gapless_\w+$)")

    def test_the_c_header_is_c_and_declares_what_is_exported(self) -> None:
        header = (self.prefix / "include" / "gapless" / "c.h").read_text(encoding="utf-8")
        declared = set(re.findall(r"^GAPLESS_C_API [^;(]*?(gapless_\w+)\(", header, re.MULTILINE))
        symbols = {line.split()[-1] for line in run("nm", "-D", "--defined-only", self.library).splitlines()}
        self.assertEqual({symbol for symbol in symbols if symbol.startswith("gapless_")}, declared)
        source, program = ROOT / "examples" / "c" / "longest.c", Path(self.folder.name) / "longest"
        flags = (
            f"-I{self.prefix}/include",
            f"-L{self.library.parent}",
            f"-Wl,-rpath,{self.library.parent}",
            "-lgapless",
        )
        run("gcc", "-std=c99", *STRICT[1:], source, *flags, "-o", program)
        sql = "SELECT name, max(dur_ns) AS ns FROM gpu_op GROUP BY name ORDER BY ns DESC, name LIMIT 3"
        longest = json.loads(run(PROGRAM, "query", SAMPLE, sql, "--json"))
        self.assertEqual(run(program, SAMPLE).splitlines(), [f"{row['ns']} ns {row['name']}" for row in longest])
        with self.assertRaisesRegex(AssertionError, "ended with 3\n.*nowhere.json"):
            run(program, "nowhere.json")

    def test_it_needs_nothing_but_the_c_and_cxx_libraries(self) -> None:
        needed = re.findall(r"NEEDED.*\[(\w+)", run("readelf", "-d", self.library))
        self.assertTrue(needed)
        self.assertLessEqual(set(needed), {"libstdc", "libm", "libgcc_s", "libc", "ld"})

    def check_example(self, program: Path) -> None:
        """Its numbers are those of the program."""
        report = Path(self.folder.name) / "report.md"
        lines = run(program, SAMPLE, report).splitlines()
        ranked = json.loads(run(PROGRAM, "analyze", SAMPLE, "--json"))["bottlenecks"][:3]
        expected = []
        for number, found in enumerate(ranked, 1):
            said = f", {found['gain']['expected']:.2f} times" if "gain" in found else ""
            said += f", cured with {found['cured_by']}" if "cured_by" in found else ""
            expected.append(f"{number} {found['id']}: {found['title']}{said}")
            expected += [f"    {advice['text']}" for advice in found["recommendations"]]
        self.assertEqual(lines[: len(expected)], expected)
        sql = "SELECT sum(dur_ns) AS ns FROM gpu_op WHERE kind = 'kernel'"
        time = json.loads(run(PROGRAM, "query", SAMPLE, sql, "--json"))[0]["ns"]
        self.assertEqual(lines[len(expected)], f"kernels run for {time} ns")
        sql = "SELECT name, max(dur_ns) AS ns FROM gpu_op GROUP BY name ORDER BY ns DESC, name LIMIT 3"
        longest = json.loads(run(PROGRAM, "query", SAMPLE, sql, "--json"))
        self.assertEqual(lines[len(expected) + 1 :], [f"{row['ns']} ns {row['name']}" for row in longest])
        markdown = run(PROGRAM, "analyze", SAMPLE, "--format", "markdown")
        self.assertEqual(report.read_text(encoding="utf-8"), markdown)

    def test_an_example_builds_with_cmake(self) -> None:
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                build = Path(self.folder.name) / f"example {compiler}"
                run(
                    CMAKE,
                    *("-S", ROOT / "examples" / "cpp", "-B", build),
                    *(f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={compiler}"),
                    *("-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS={' '.join(STRICT[1:])}"),
                )
                run(CMAKE, "--build", build)
                self.check_example(build / "first_three")

    def test_cmake_refuses_a_version_that_it_is_not(self) -> None:
        project = Path(self.folder.name) / "other version"
        project.mkdir()
        text = "cmake_minimum_required(VERSION 3.16)\nproject(other LANGUAGES CXX)\nfind_package(gapless 99 REQUIRED)\n"
        (project / "CMakeLists.txt").write_text(text, encoding="utf-8")
        with self.assertRaisesRegex(AssertionError, 'requested version\n? *"99"'):
            run(CMAKE, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_an_example_builds_with_pkg_config(self) -> None:
        path = {"PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig")}
        version = json.loads(run(PROGRAM, "--version", "--json"))["gapless"]["version"]
        self.assertEqual(run("pkg-config", "--modversion", "gapless", **path).strip(), version)
        # Words with spaces come escaped, as for a shell.
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "gapless", **path))
        source, program = ROOT / "examples" / "cpp" / "first_three.cc", Path(self.folder.name) / "by_pkg_config"
        run(COMPILERS[0], "-std=c++20", source, *flags, f"-Wl,-rpath,{self.library.parent}", "-o", program)
        self.check_example(program)

    def test_the_guide_shows_the_example_as_it_is(self) -> None:
        guide = (ROOT / "docs" / "cpp_api.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```cpp\n(.*?)```", guide, re.DOTALL)
        source = (ROOT / "examples" / "cpp" / "first_three.cc").read_text(encoding="utf-8")
        self.assertIn(source, blocks)
        self.assertIn((ROOT / "examples" / "cpp" / "CMakeLists.txt").read_text(encoding="utf-8"), guide)

    def test_the_guide_names_every_public_type(self) -> None:
        guide = (ROOT / "docs" / "cpp_api.md").read_text(encoding="utf-8")
        for header in sorted((ROOT / "include" / "gapless").glob("*.h")):
            text = header.read_text(encoding="utf-8")
            names = re.findall(r"^(?:class|struct|enum class) (?:GAPLESS_API )?(\w+)[^;]*\{", text, re.MULTILINE)
            for name in [*names, *re.findall(r"^using (\w+)", text, re.MULTILINE)]:
                self.assertIn(f"`{name}`", guide, header.name)


if __name__ == "__main__":
    sanitizers = next((word.partition("=")[2] for word in sys.argv if word.startswith("--sanitizers=")), "")
    if sanitizers:
        print(f"skipped: a plain program cannot load a library built with {sanitizers} sanitizers")
        sys.exit(77)
    sys.argv = [word for word in sys.argv if not word.startswith("--sanitizers=")]
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    BUILD = Path(sys.argv.pop(1)).resolve()
    CMAKE = sys.argv.pop(1)
    unittest.main()
