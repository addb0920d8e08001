#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The arguments that nsys and ncu get, and the way of their reports, with stand-ins for both on PATH that keep their arguments.

usage: nsight_runs_test.py PROGRAM
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = Path()


class Nsight(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        tools = self.folder / "tools"
        tools.mkdir()
        for name in ("nsys", "ncu"):
            (tools / name).symlink_to(ROOT / "tests/standins/nsight.py")
        self.environment = {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "GAPLESS_STANDIN_KEPT": str(self.folder / "kept"),
            "LC_ALL": "C.UTF-8",
        }

    def gapless(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PROGRAM), *words],
            env={**self.environment, **environment},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def asked(self) -> list[list[str]]:
        path = self.folder / "kept"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def test_options_of_nsys_reach_it(self) -> None:
        options = ["--trace", "cuda,osrt", "--duration", "30", "--cuda-memory-usage"]
        self.gapless("profile", "-o", str(self.folder / "run"), "--with", "nsys", *options, "--", "true")
        profile, export = self.asked()
        self.assertEqual(profile[:2], ["nsys", "profile"])
        for word in ("--trace=cuda,osrt", "--duration=30", "--cuda-memory-usage=true"):
            self.assertIn(word, profile)
        self.assertEqual(profile[-1], "true")
        self.assertEqual(export[1:3], ["export", "--type=sqlite"])

    def test_options_of_ncu_reach_it(self) -> None:
        options = ["--kernel-name", "regex:gemm.*", "--launch-count", "2", "--set", "roofline"]
        self.gapless("profile", "-o", str(self.folder / "run"), "--with", "ncu", *options, "--", "true")
        words = " ".join(self.asked()[0])
        for wanted in ("regex:gemm.*", "roofline", "--launch-count"):
            self.assertIn(wanted, words)
        self.assertEqual(self.asked()[0][-1], "true")

    def test_reports_of_nsys_are_read_without_it(self) -> None:
        for ending in (".nsys-rep", ".qdrep"):
            with self.subTest(ending):
                report = self.folder / f"report{ending}"
                shutil.copy(ROOT / "tests/data/nsys_two_processes.nsys-rep", report)
                done = self.gapless("query", str(report), "--no-cache", "--csv", "SELECT count(*) FROM gpu_op")
                self.assertEqual(done.stdout.split()[-1], "6", done.stderr)
                self.assertEqual(self.asked(), [])
                self.assertFalse((self.folder / "report.sqlite").exists())

    def test_a_report_and_its_export_in_a_folder_are_one_recording(self) -> None:
        folder = self.folder / "both"
        folder.mkdir()
        for ending in (".nsys-rep", ".sqlite"):
            shutil.copy(ROOT / f"tests/data/nsys_two_processes{ending}", folder / f"report{ending}")
        done = self.gapless("query", str(folder), "--no-cache", "--csv", "SELECT count(*) FROM trace")
        self.assertEqual(done.stdout.split()[-1], "1", done.stderr)

    def test_a_report_of_ncu_is_read_without_ncu(self) -> None:
        report = self.folder / "kernels.ncu-rep"
        shutil.copy(ROOT / "tests/data/kernels.ncu-rep", report)
        sql = "SELECT count(*) FROM measured_kernels"
        done = self.gapless("query", str(report), "--no-cache", "--csv", sql, PATH="/usr/bin:/bin")
        self.assertEqual(done.stdout.split()[-1], "2", done.stderr)
        self.assertEqual(
            [self.asked(), sorted(path.suffix for path in self.folder.glob("kernels*"))], [[], [".ncu-rep"]]
        )

    def test_a_report_of_ncu_and_its_table_in_a_folder_are_one_recording(self) -> None:
        folder = self.folder / "both"
        folder.mkdir()
        for ending in (".ncu-rep", ".ncu.csv"):
            shutil.copy(ROOT / f"tests/data/kernels{ending}", folder / f"kernels{ending}")
        sql = "SELECT count(*) FROM kernel_metric"
        both, table = (
            self.gapless("query", str(path), "--no-cache", "--csv", sql)
            for path in (folder, folder / "kernels.ncu.csv")
        )
        self.assertEqual(both.stdout, table.stdout, both.stderr)

    def test_a_report_of_ncu_that_cannot_be_read_names_the_command(self) -> None:
        report = self.folder / "my kernels.ncu-rep"
        report.write_bytes((ROOT / "tests/data/kernels.ncu-rep").read_bytes()[:60])
        done = self.gapless("analyze", str(report))
        self.assertEqual(done.returncode, 3)
        self.assertIn("it was cut off before the first kernel", done.stderr)
        self.assertIn("ncu --import '", done.stderr)
        self.assertIn("my kernels.ncu-rep' --csv --page raw", done.stderr)

    def test_a_report_of_nsys_that_cannot_be_read_names_the_export(self) -> None:
        whole = (ROOT / "tests/data/nsys_two_processes.nsys-rep").read_bytes()
        report = self.folder / "my report.nsys-rep"
        report.write_bytes(whole[: len(whole) // 2])
        done = self.gapless("analyze", str(report))
        self.assertEqual(done.returncode, 3)
        self.assertIn("it was cut off", done.stderr)
        self.assertIn("nsys export --type sqlite --output report.sqlite '", done.stderr)
        self.assertIn("my report.nsys-rep'", done.stderr)

    def test_comprehensive_has_a_section_for_each_tool(self) -> None:
        folder = self.folder / "run"
        # Without a training in the command nothing is in the folder but what the stand-ins left.
        self.gapless("profile", "-o", str(folder), "--comprehensive", "--kernel-name", "gemm", "--", "true")
        text = (folder / "tools.md").read_text(encoding="utf-8")
        for heading in ("PyTorch profiler", "Python code", "Telemetry", "Nsight Systems", "Nsight Compute"):
            self.assertIn(f"## {heading}\n", text)
        self.assertIn("No recording: no process of the command trained", text)
        self.assertIn("ncu measured 1 kernel.", text)
        self.assertIn("Of the time of all GPU operations kernels take", text)

    def test_comprehensive_says_what_was_missing(self) -> None:
        folder = self.folder / "run"
        self.gapless("profile", "-o", str(folder), "--comprehensive", "--", "sleep", "0.4", PATH="/usr/bin:/bin")
        text = (folder / "tools.md").read_text(encoding="utf-8")
        self.assertIn("nsys is not installed, so it is left out", text)
        self.assertIn("ncu is not installed, so it is left out", text)


if __name__ == "__main__":
    PROGRAM = Path(sys.argv.pop(1)).absolute()
    unittest.main()
