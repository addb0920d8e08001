#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every script of examples/lab and examples/planted runs, says what it should, and gives the same losses twice.

usage: examples_test.py PROGRAM [--torch newest|oldest] [--ci] [--only PATTERN...]

In the Python that agent_test.py finds; skipped where there is none.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cases
from agent_test import ROOT, WHERE, find_python

LAB, PLANTED = ROOT / "examples/lab", ROOT / "examples/planted"
STAGES = ["slow_train", "stage1_loader", "stage2_precision", "stage3_layout", "stage4_compile", "stage5_all"]
SMALL = ("--size", "32", "--batch", "4", "--steps", "6")
LIMIT_S = 240
FEW_LINES = 20  # that two stages may differ in, counting both sides
PYTHON = ""
PROGRAM = ""
IMAGES = ""


def run(script: Path, *words: str, python: tuple[str, ...] = ()) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [PYTHON, *python, str(script), *words], capture_output=True, text=True, check=False, timeout=LIMIT_S, env=environment
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"{script.name} {' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def number(text: str, name: str) -> float:
    found = re.search(rf"(?m)^{name} ([-+.e0-9]+)$", text)
    if found is None:
        raise AssertionError(f"no {name} in {text!r}")
    return float(found[1])


@functools.cache
def stage(name: str, *words: str) -> float:
    return number(run(LAB / f"{name}.py", "--data", IMAGES, *SMALL, *words), "final_loss")


class Stages(unittest.TestCase):
    def test_twice_the_same_and_another_seed(self) -> None:
        first = stage("slow_train")
        self.assertEqual(first, stage.__wrapped__("slow_train"))
        self.assertNotEqual(first, stage("slow_train", "--seed", "1"))

    def test_workers_change_no_loss(self) -> None:
        self.assertEqual(stage("slow_train"), stage("stage1_loader"))

    def test_later_stages_learn_the_same(self) -> None:
        first = stage("slow_train")
        for name in STAGES[2:4]:
            self.assertAlmostEqual(stage(name), first, delta=0.1 * first, msg=name)

    def test_compiled_stages_learn_the_same(self) -> None:
        if shutil.which("g++") is None:
            self.skipTest("torch.compile needs g++ on a CPU")
        can = subprocess.run(
            [PYTHON, "-c", "import torch; torch.compile(torch.nn.Linear(1, 1))"], capture_output=True, text=True, check=False
        )  # fmt: skip
        if "not yet supported" in can.stderr or "not supported on Python" in can.stderr:
            self.skipTest(can.stderr.strip().splitlines()[-1])
        first = stage("slow_train")
        for name in STAGES[4:]:
            self.assertAlmostEqual(stage(name), first, delta=0.1 * first, msg=name)

    def test_throughput_and_accuracy(self) -> None:
        text = run(LAB / "slow_train.py", "--data", IMAGES, *SMALL[:4], "--steps", "12")
        self.assertGreater(number(text, "samples_per_second"), 0)
        self.assertTrue(0 <= number(text, "accuracy") <= 1)

    def test_each_stage_is_the_one_before_with_few_lines_changed(self) -> None:
        for before, after in zip(STAGES, STAGES[1:]):
            plain, other = ((LAB / f"{name}.py").read_text().splitlines() for name in (before, after))
            changed = [line for line in difflib.ndiff(plain, other) if line[0] in "+-"]
            self.assertTrue(2 < len(changed) <= FEW_LINES, f"{before} → {after}: {len(changed)} lines")


class Workloads(unittest.TestCase):
    def test_transformer(self) -> None:
        text = run(
            LAB / "transformer.py",
            *["--width", "64", "--layers", "2", "--length", "32", "--batch", "4", "--steps", "40"],
        )
        self.assertLess(number(text, "final_loss"), 5.4)  # ln 256 = 5.55
        self.assertIn("NVTX ranges need a GPU", text)

    def test_data_parallel_ranks(self) -> None:
        for ranks in (1, 2):
            launcher = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}") if ranks > 1 else ()
            text = run(LAB / "ddp.py", "--layers", "2", "--steps", "20", python=launcher)
            self.assertIn(f"ranks {ranks} over gloo", text)
            self.assertLess(number(text, "final_loss"), 1)

    def test_sharded_ranks(self) -> None:
        launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
        text = run(LAB / "fsdp.py", "--layers", "2", "--steps", "20", python=launcher)
        if "needs PyTorch 2.6" in text:
            self.skipTest(text.strip())
        whole = run(LAB / "fsdp.py", "--layers", "2", "--steps", "20")
        held, all_ = (int(re.findall(r"rank 0 holds (\d+)", report)[0]) for report in (text, whole))
        self.assertLessEqual(held, 0.51 * all_)
        self.assertLess(number(text, "final_loss"), 1)

    def test_stages(self) -> None:
        launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
        text = run(LAB / "pipeline.py", "--layers", "3", "--steps", "20", python=launcher)
        if "needs PyTorch 2.5" in text:
            self.skipTest(text.strip())
        self.assertIn("stages 2 over gloo", text)
        self.assertLess(number(text, "final_loss"), 1)

    def test_pools(self) -> None:
        text = run(LAB / "custom_allocator.py", "--steps", "30")
        used, made = map(int, re.findall(r"host pool: (\d+) batches in (\d+) buffers", text)[0])
        self.assertEqual(used, 30)
        self.assertTrue(1 < made <= 10)
        self.assertIn("a device memory pool needs a GPU", text)

    @cases.in_ci
    def test_recording_of_memory_is_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run(LAB / "memory_profiling.py", "--width", "64", "--folder", folder)
            words = [
                PROGRAM,
                "query",
                f"{folder}/memory.json",
                "SELECT count(*) n FROM memory_event",
                "--no-cache",
                "--csv",
            ]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            self.assertGreater(int(done.stdout.split()[1]), 10)

    @cases.in_ci
    def test_inference(self) -> None:
        text = run(LAB / "inference.py", *["--size", "32", "--batch", "4", "--requests", "20"])
        self.assertIn("requests 20 answers 80", text)
        self.assertLessEqual(number(text, "latency_p50_ms"), number(text, "latency_p95_ms"))


HALVES = """
import copy, sys
sys.path.insert(0, sys.argv[1])
import torch
from lab import Settings, Trainer

torch.manual_seed(0)
model, device = torch.nn.Linear(8, 4), torch.device("cpu")
whole, halves = Trainer(model, Settings(), device), Trainer(copy.deepcopy(model), Settings(accumulate=2), device)
for _ in range(3):
    images, labels = torch.randn(8, 8), torch.randint(4, (8,))
    whole.step(images, labels)
    for half in (slice(0, 4), slice(4, 8)):
        halves.step(images[half], labels[half])
print("difference", float((whole.model.weight - halves.model.weight).abs().max()))
"""


class Labs(unittest.TestCase):
    """The stages of the labs, small; and every command of their guides."""

    STAGES = ("dataloader", "model", "memory", "final")

    def final_loss(self, name: str, *words: str) -> float:
        return number(run(LAB / f"training_{name}.py", "--small", *words), "final_loss")

    def test_stages_train_the_same_data(self) -> None:
        first = self.final_loss("baseline")
        self.assertEqual(first, self.final_loss("baseline"))
        self.assertEqual(first, self.final_loss("dataloader_optimized"), "workers change no sample")
        for name in self.STAGES[1:]:
            self.assertAlmostEqual(self.final_loss(f"{name}_optimized"), first, delta=0.1 * first, msg=name)

    def test_checkpoints_change_no_loss(self) -> None:
        plain = self.final_loss("model_optimized", "--steps", "3", "--amp")
        self.assertEqual(self.final_loss("memory_optimized", "--steps", "3"), plain)

    @cases.in_ci
    def test_accumulated_halves_are_a_whole(self) -> None:
        """Two passes over the halves of a batch leave the weights that one over the whole leaves."""
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "halves.py"
            script.write_text(HALVES)
            self.assertLess(number(run(script, str(LAB)), "difference"), 1e-6)

    def test_the_grids_name_the_best(self) -> None:
        text = run(LAB / "benchmark_dataloader.py", "--small")
        rows = [line.split() for line in text.splitlines() if line.split()[0].isdigit()]
        best = max(rows, key=lambda row: float(row[3]))
        self.assertIn(f"best: batch {best[0]}, {best[1]} workers, not pinned", text)
        self.assertEqual(len(rows), 4)
        text = run(LAB / "benchmark_memory.py", "--small")
        self.assertEqual(text.count("checkpointed"), 2)
        self.assertNotIn("–", text, "each batch fits")

    def test_ranks_and_their_scaling(self) -> None:
        launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
        self.assertIn("ranks 2 over gloo", run(LAB / "training_ddp.py", "--small", python=launcher))
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "scaling.svg"
            text = run(LAB / "analyze_scaling.py", "--small", "--steps", "6", "--output", str(picture))
            self.assertRegex(text, r"(?m)^ +1 .* 1\.00 +100%$")
            self.assertIn("<polyline", picture.read_text())

    def test_every_command_of_the_guides(self) -> None:
        for guide in ("LAB_A.md", "LAB_B.md"):
            blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", (LAB / guide).read_text())
            lines = [line for block in blocks for line in block.splitlines()]
            self.assertGreater(len(lines), 5)
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "examples").symlink_to(ROOT / "examples")
                programs = os.pathsep.join([str(Path(PROGRAM).parent), str(Path(PYTHON).parent), os.environ["PATH"]])
                environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": programs}
                for line in lines:
                    done = subprocess.run(
                        ["bash", "-o", "pipefail", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
                        check=False, timeout=LIMIT_S,
                    )  # fmt: skip
                    self.assertEqual(done.returncode, 0, f"{guide}: {line}\n{done.stdout[-800:]}{done.stderr[-800:]}")
                self.check_handed_in(guide, Path(folder))

    def check_handed_in(self, guide: str, folder: Path) -> None:
        if guide == "LAB_A.md":
            analysis = (folder / "baseline_analysis.txt").read_text()
            self.assertIn("# Baseline analysis", analysis)
            self.assertIn("busy", analysis)
        report = (folder / guide.lower()).read_text()
        self.assertIn("| stage |", report)
        self.assertGreater(len(report.split()), 500)


class Planted(unittest.TestCase):
    def test_each_runs_and_has_its_line_in_the_readme(self) -> None:
        readme = (PLANTED / "README.md").read_text()
        for script in sorted(PLANTED.glob("*.py")):
            if script.name in ("planted.py", "straggler_rank.py"):  # shared code, and ranks: collect_test.py
                continue
            with self.subTest(script.name):
                self.assertIn(f"`{script.name}`", readme)
                run(script, "--steps", "3")


# Script -> calls that the profiler records, and the lines of the script that make them.
TRAIN = ("name LIKE 'Optimizer.step#%'", "planted.py", "optimizer.step()")
CALLS: dict[str, list[tuple[str, str, str]]] = {
    "anomaly.py": [("name = 'aten::rand'", "anomaly.py", "torch.rand(64")],
    "fragmenting_allocator.py": [("name = 'aten::rand'", "fragmenting_allocator.py", "torch.rand(size")],
    "garbage.py": [("name LIKE '<built-in method tensor of%'", "garbage.py", "return torch.tensor(")],
    "item_every_step.py": [("name = 'aten::item'", "item_every_step.py", "loss.item()")],
    "kept_gradients.py": [("name LIKE 'Optimizer.zero_grad#%'", "kept_gradients.py", "zero_grad(set_to_none=False)")],
    "looping_optimizer.py": [TRAIN],
    "no_amp.py": [("name = 'aten::rand'", "no_amp.py", "torch.rand(4096")],
    "one_thread.py": [("name = 'aten::rand'", "one_thread.py", "torch.rand(512")],
    "pageable_batches.py": [("name = 'nn.Module: Sequential_0'", "planted.py", "cross_entropy(model(inputs)")],
    "plain_adamw.py": [TRAIN],
    "row_loop.py": [
        ("name = 'aten::mean'", "row_loop.py", "row - row.mean()"),
        ("name = 'aten::stack'", "row_loop.py", "return torch.stack(rows)"),
    ],
    "slow_loader.py": [("name LIKE 'enumerate(DataLoader)#%'", "slow_loader.py", "in DataLoader(Slow("), TRAIN],
    "stall.py": [("name LIKE 'enumerate(DataLoader)#%'", "stall.py", "in DataLoader(Stalling(")],
    "straggler_rank.py": [("name = '<built-in function sleep>'", "straggler_rank.py", "time.sleep(0.02)")],
}  # fmt: skip


class CallingLines(unittest.TestCase):
    """A recorded call has the line that makes it: not its function's first line, nor the line at which the recording began."""

    def check(self, script: str) -> None:
        ranks = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=4"] if "straggler" in script else []
        with tempfile.TemporaryDirectory() as folder:
            window = ["--wait", "2", "--warmup", "1", "--steps", "3"]
            command = [PROGRAM, "profile", "-q", "-o", folder, *window, "--", PYTHON, *ranks, str(PLANTED / script)]
            subprocess.run([*command, "--steps", "7"], check=True, capture_output=True, timeout=LIMIT_S)
            for where, file, text in CALLS[script]:
                lines = (PLANTED / file).read_text().splitlines()
                (number,) = [number for number, line in enumerate(lines, 1) if text in line]
                # A call that was under way when the recording began has no line.
                sql = f"SELECT DISTINCT source_line FROM slice WHERE source_line IS NOT NULL AND {where}"
                done = subprocess.run(
                    [PROGRAM, "query", folder, sql, "--json", "--no-cache"], check=True, capture_output=True, text=True
                )
                self.assertEqual(json.loads(done.stdout), [{"source_line": f"{file}:{number}"}], where)

    @cases.in_ci
    def test_a_read_value(self) -> None:
        self.check("item_every_step.py")

    def test_every_script(self) -> None:
        scripts = {path.name for path in PLANTED.glob("*.py")} - {"planted.py"}
        self.assertEqual(scripts, set(CALLS))
        for script in sorted(scripts):
            with self.subTest(script):
                self.check(script)


def main() -> int:
    global PYTHON, PROGRAM, IMAGES
    parser = cases.arguments()
    parser.add_argument("program")
    parser.add_argument("--torch", choices=sorted(WHERE), default="newest")
    given = parser.parse_args()
    PYTHON, problem = find_python(given.torch)
    if problem:
        print("skipped:", problem)
        return 77
    PROGRAM = str(Path(given.program).resolve())
    with tempfile.TemporaryDirectory() as IMAGES:
        return cases.main(cases.options(given))


if __name__ == "__main__":
    sys.exit(main())
