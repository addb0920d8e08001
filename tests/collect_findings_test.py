#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The findings of `gapless analyze` in real training with PyTorch under `gapless profile`: planted problems, and those that only the
whole run shows.

usage: collect_findings_test.py PROGRAM [--ci] [--only PATTERN...]    skipped without a Python that has PyTorch, as collect_test.py
"""

from __future__ import annotations

import json
import sys
from typing import Any

import cases
from collect_test import PLANTED, PYTHON, SKIPPED, Case


class Planted(Case):
    """The planted problem is what the report puts first."""

    def check(self, script: str, rule: str, *launcher: object, line: str = "") -> None:
        done = self.gapless("profile", "-q", "--", *(launcher or (PYTHON,)), PLANTED / script)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(self.gapless("analyze", "run", "--json").stdout)
        self.assertEqual(report["bottlenecks"][0]["id"], rule, [finding["title"] for finding in report["bottlenecks"]])
        self.assertGreater(report["bottlenecks"][0]["severity"], 0.7)
        if line:
            self.check_place(report["bottlenecks"][0], *line.split(": "))

    def check_place(self, found: dict[str, Any], file: str, text: str) -> None:
        """The finding stands at the line of the script that has `text`, wherever it is shown."""
        lines = (PLANTED / file).read_text(encoding="utf-8").splitlines()
        (number,) = [number for number, line in enumerate(lines, 1) if text in line]
        place = f"{file}:{number}"
        self.assertIn(place, [evidence.get("source") for evidence in found["evidence"]])
        self.assertIn(place, self.gapless("analyze", "run").stdout)
        for page in ("report.html", "report.md"):
            self.gapless("analyze", "run", "-o", page)
            self.assertIn(place, (self.folder / page).read_text(encoding="utf-8"))

    @cases.in_ci
    def test_slow_loader(self) -> None:
        self.check("slow_loader.py", "host_data_loading", line="slow_loader.py: in DataLoader(Slow(")

    def test_unfused_optimizer(self) -> None:
        self.check("looping_optimizer.py", "host_optimizer", line="planted.py: optimizer.step()")

    def test_tiny_kernels(self) -> None:
        self.check("row_loop.py", "host_operators", line="row_loop.py: row - row.mean()")

    def test_straggler_rank(self) -> None:
        torchrun = (PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", 4)
        self.check("straggler_rank.py", "host_straggler", *torchrun, line="straggler_rank.py: time.sleep(0.02)")
        self.assertEqual(len(self.rows("SELECT DISTINCT rank FROM trace WHERE format = 'kineto'")), 4)
        report = json.loads(self.gapless("analyze", "run", "--json").stdout)
        self.assertIn("rank 2", report["bottlenecks"][0]["title"])

    def test_a_stall_in_one_of_500_steps_is_recorded_and_explained(self) -> None:
        done = self.gapless("monitor", "-q", "--listen", "127.0.0.1:0", "--", PYTHON, PLANTED / "stall.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        texts = [event["text"] for event in self.manifest()["events"]]
        told = [text for text in texts if text.startswith("slow step: step 300 took 4")]
        self.assertEqual(len(told), 1, texts)
        self.assertRegex(told[0], r"39\d\.\d ms more in waiting for the next batch|40\d\.\d ms more in waiting")
        self.assertIn("recorded", told[0])
        self.assertTrue(list((self.folder / "run/main").glob("*.pt.trace.json.gz")))


class WholeRun(Case):
    """Reports name what happens in all steps, with or without a recording of six."""

    def found(self, *options: object, folder: str = "run") -> dict[str, dict[str, Any]]:
        done = self.gapless("profile", "-q", *options, "--", PYTHON, self.folder / "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(self.gapless("analyze", folder, "--json").stdout)
        return {finding["id"]: finding for finding in report["bottlenecks"]}

    @cases.in_ci
    def test_waits_for_batches_without_a_recording(self) -> None:
        self.script(
            "class Slow(torch.utils.data.Dataset):\n"
            "    def __len__(self): return 200\n"
            "    def __getitem__(self, i): time.sleep(0.002); return torch.rand(8)\n"
            "for batch in torch.utils.data.DataLoader(Slow(), batch_size=4):\n    step()\n"
        )
        found = self.found("--no-record")
        self.assertEqual(list(found), ["run_data_loading"])
        self.assertGreater(found["run_data_loading"]["share_of_step"], 0.5)
        self.assertEqual(found["run_data_loading"]["evidence"][0]["source"], "train.py:11")

    def test_the_agent_knows_the_line_where_no_stacks_were_recorded(self) -> None:
        self.script(
            "class Slow(torch.utils.data.Dataset):\n"
            "    def __len__(self): return 200\n"
            "    def __getitem__(self, i): time.sleep(0.002); return torch.rand(8)\n"
            "for batch in torch.utils.data.DataLoader(Slow(), batch_size=4):\n    step()\n"
        )
        found = self.found("--no-stacks")
        self.assertEqual(found["host_data_loading"]["evidence"][0]["source"], "train.py:11")

    def test_checkpoints_that_the_recorded_steps_do_not_show(self) -> None:
        self.script(
            "state = torch.rand(1 << 22)\n"
            "for number in range(80):\n    step()\n    if number % 20 == 19: torch.save(state, 'checkpoint.pt')\n"
        )
        found = self.found()
        self.assertEqual(found["run_checkpoints"]["evidence"][0]["source"], "train.py:11")

    def test_evaluations_that_the_recorded_steps_do_not_show(self) -> None:
        self.script(
            "def evaluate():\n    model.eval()\n    time.sleep(0.02)\n    model.train()\n"
            "for number in range(80):\n    step()\n    if number % 7 == 6: evaluate()\n"
        )
        (evidence,) = self.found()["run_evaluation"]["evidence"]
        self.assertEqual(evidence["source"], "train.py:9")
        self.assertRegex(evidence["text"], r"^(9|10) evaluations: ")

    def test_images_that_steps_wait_for_and_those_of_a_thread(self) -> None:
        """A stand-in for PIL: its name, class and method are what is looked for."""
        library = self.folder / "lib/site-packages/PIL"
        library.mkdir(parents=True)
        (library / "__init__.py").touch()
        (library / "Image.py").write_text("import time\nclass Image:\n    def save(self, path): time.sleep(0.004)\n")
        begin = "sys.path.append('lib/site-packages')\nfrom PIL.Image import Image\n"
        self.script(f"import sys\n{begin}for number in range(80):\n    step()\n    Image().save('a.png')\n")
        found = self.found("--no-record")["run_side_work"]
        self.assertRegex(found["title"], r"^writing images takes \d.* of every step, over the whole run$")
        self.assertEqual(found["evidence"][0]["source"], "train.py:13")
        self.assertRegex(found["evidence"][1]["text"], r"^Image\.save: \d\d calls, ")
        self.script(
            f"import sys\n{begin}from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(1) as pool:\n    for number in range(80):\n        step()\n"
            "        pool.submit(Image().save, 'a.png')\n"
        )
        self.assertNotIn("run_side_work", self.found("--no-record", "-o", "threads", folder="threads"))
        said = self.gapless("analyze", "threads").stdout
        self.assertIn("in threads of their own, which no step waits for: images: Image.save ", said)

    def test_steps_to_which_each_adds_a_hook(self) -> None:
        self.script(
            "def keep_mean(module, inputs, output):\n    for _ in range(20): output.detach().mean()\n"
            "for number in range(120):\n    model.register_forward_hook(keep_mean)\n    step()\n"
        )
        found = self.found()["step_growth"]
        self.assertRegex(found["title"], r"^steps grow: .* in the first quarter of the run, .* in the last$")
        self.assertEqual(found["evidence"][0]["source"], "train.py:8")
        self.assertIn("keep_mean() (train.py) is called ", found["evidence"][0]["text"])

    def test_memory_that_each_step_keeps(self) -> None:
        self.script(
            "kept = []\n"
            "for number in range(300):\n    step()\n    time.sleep(0.01)\n    kept.append(torch.ones(1 << 18))\n"
        )
        found = self.found("--no-record")["memory_growth"]
        self.assertRegex(found["title"], r"^memory of the host grows all through the run: 1\.\d+ MB a step, ")

    def test_steps_that_the_scaler_skips(self) -> None:
        self.script(
            "scaler = torch.amp.GradScaler('cpu', init_scale=1024.0)\n"
            "for number in range(120):\n"
            "    loss = model(torch.rand(4, 8)).pow(2).mean() * (float('inf') if number % 3 == 0 else 1.0)\n"
            "    optimizer.zero_grad(); scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()\n"
        )
        found = self.found("--no-record")
        self.assertRegex(found["run_skipped_steps"]["title"], r"GradScaler skips (39|40) of 119 steps")
        self.assertIn("loss scale 512 at first", found["run_skipped_steps"]["evidence"][1]["text"])

    def test_python_and_sleep_in_steps(self) -> None:
        self.script(
            "def parse(): return [int(str(number)) for number in range(20000)]\n"
            "for _ in range(24):\n    parse()\n    time.sleep(0.004)\n    step()\n"
        )
        found = self.found()
        self.assertIn("parse() (train.py)", found["host_python"]["title"])
        self.assertEqual(found["host_sleep"]["evidence"][0]["source"], "train.py:11")
        notes = self.gapless("analyze", "run").stdout
        self.assertRegex(notes, r"recording adds about [\d.]+ .s to a step")

    def test_a_metric_in_plain_python_comes_before_operators(self) -> None:
        """Small operators take a part of the step, too, and would be the wrong thing to work on."""
        self.script(
            "def pair_agreement(scores, labels):\n"
            "    rows = [(max(r), y) for r, y in zip(scores, labels)]\n"
            "    return sum((a > b) == (y > z) for i, (a, y) in enumerate(rows) for b, z in rows[i + 1 :])\n"
            "for _ in range(30):\n    step()\n"
            "    pair_agreement(model(torch.rand(256, 8)).tolist(), list(range(256)))\n"
        )
        first = next(iter(self.found().values()))
        self.assertEqual(first["id"], "host_python", first["title"])
        self.assertIn("pair_agreement() (train.py)", first["title"])
        self.assertGreater(first["share_of_step"], 0.5)
        self.assertEqual(first["evidence"][0]["source"].split(":")[0], "train.py", first["evidence"])

    @cases.in_ci
    def test_counted_calls_name_the_functions(self) -> None:
        self.script(
            "def parse():\n    values = []\n    for number in range(20000): values.append(int(str(number)))\n"
            "for _ in range(24):\n    parse()\n    step()\n"
        )
        found = self.found("--python=cprofile")
        self.assertIn("parse() (train.py)", found["host_python"]["title"])
        self.assertRegex(self.gapless("analyze", "run").stdout, r"parse\s+\(train.py,\s+from\s+line\s+8\)")


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"skipped: no PyTorch in {PYTHON} (tools/torch_env.sh, or set GAPLESS_TORCH)")
        sys.exit(SKIPPED)
    sys.exit(cases.main(sys.argv[2:]))
