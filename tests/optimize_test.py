#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless optimize` on real training, on the CPU: planted problems are repaired, planted traps are refused.

usage: optimize_test.py PROGRAM [--ci] [--only PATTERN...]
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
from typing import Any

import cases
from agent_test import find_python

ROOT = Path(__file__).resolve().parent.parent
PLANTED = ROOT / "examples" / "planted"
TRAPS = ROOT / "tests" / "optimize" / "traps"
PROGRAM = ""
PYTHON = ""


LOADING = """
import time, torch
from torch.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self):
        return 20000
    def __getitem__(self, i):
        time.sleep(0.002)
        return torch.ones(16), torch.ones(1)
net = torch.nn.Linear(16, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in DataLoader(Slow(), batch_size=4):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
"""


# The same in two files, below a repository's root, and so slow that few runs prove the gain.
APART = {
    "data.py": LOADING[: LOADING.index("net =")].replace("0.002", "0.02")
    + "def batches():\n    return DataLoader(Slow(), batch_size=4)\n",
    "scripts/train.py": "import os, sys\nsys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\nimport torch\n"
    "from data import batches\n"
    + LOADING[LOADING.index("net =") :].replace("DataLoader(Slow(), batch_size=4)", "batches()"),
}


# A norm that computes more than it has to.
NORMS = """
import torch
torch.manual_seed(1)
def slow(self, x):
    for _ in range(20):
        y = torch.nn.functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
    return y
torch.nn.LayerNorm.forward = slow
net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.Linear(256, 8))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(256, 256), torch.randint(8, (256,))
for step in range(4000):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
"""


class Optimize(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gapless-optimize-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_it(self, *words: str, script: Path, accept: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
        self.words = [PROGRAM, "optimize", "--json", "-o", "out", *words]
        done = subprocess.run(
            [*self.words, "--", PYTHON, str(script)], check=False, cwd=self.folder, capture_output=True, text=True
        )
        self.assertIn(done.returncode, accept, done.stderr)
        self.said = done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def of(self, answer: dict[str, Any], fix: str) -> dict[str, Any]:
        both: list[dict[str, Any]] = answer["applied"] + answer["refused"]
        for item in both:
            if item["fix"].split("=")[0] == fix:
                return item
        raise AssertionError(f"{fix} is not in {json.dumps(answer)[:2000]}\n{self.said}")

    def assert_repaired(self, answer: dict[str, Any], fix: str) -> None:
        """It stays, its interval lies above one, and the losses agree."""
        found = self.of(answer, fix)
        self.assertEqual(found["outcome"], "accepted", found)
        self.assertGreater(found["measured"]["low"], 1)
        self.assertTrue(found["loss"]["parity"])
        self.assertGreater(answer["speedup"]["low"], 1)

    def assert_predict_agrees(self, answer: dict[str, Any]) -> None:
        """The prediction for a fix is what `gapless predict` says of the run that was recorded first."""
        predicted = [item for item in answer["applied"] + answer["refused"] if item.get("predicted")]
        self.assertTrue(predicted, "nothing was predicted")
        for item in predicted:
            done = subprocess.run(
                [PROGRAM, "predict", self.folder / "out" / "profile", "--what", item["fix"], "--json"],
                check=False, capture_output=True, text=True,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            said = json.loads(done.stdout)["predictions"][0]["speedup"]
            for bound in ("low", "expected", "high"):
                self.assertAlmostEqual(said[bound], item["predicted"][bound], places=9, msg=f"{item['fix']}: {bound}")

    def assert_refused(self, answer: dict[str, Any], fix: str, outcome: str, because: str) -> None:
        found = self.of(answer, fix)
        self.assertEqual(found["outcome"], outcome, found)
        self.assertIn(because, found["reason"])


class Repairs(Optimize):
    """Each script with a planted problem that a CPU feels, unedited."""

    def test_slow_loader(self) -> None:
        answer = self.run_it("--only", "workers", script=PLANTED / "slow_loader.py")
        self.assert_repaired(answer, "workers")
        self.assert_predict_agrees(answer)
        patch = (self.folder / "out" / "optimized.patch").read_text()
        self.assertIn("num_workers=", patch)
        page = (self.folder / "out" / "report.html").read_text()
        inlined = json.loads(page.split('id="data">')[1].split("</script>")[0])
        self.assertEqual(inlined["optimize"], json.loads((self.folder / "out" / "result.json").read_text()))
        self.assertEqual(inlined["page"]["diff"], patch)
        self.assertEqual(len(inlined["page"]["rows"]), len(inlined["page"]["shares"]))

    def test_workers_are_exchanged_within_one_process(self) -> None:
        """A program of many steps whose samples take their time: blocks of one process decide, pairs of runs prove."""
        script = self.folder / "train.py"
        script.write_text(LOADING)
        answer = self.run_it("--only", "workers", "--budget", "360s", script=script)
        self.assert_repaired(answer, "workers")
        lines = [json.loads(line) for line in (self.folder / "out" / "journal.jsonl").read_text().splitlines()[1:]]
        measured = {line["value"]: line for line in lines if line["fix"] == "workers" and line["pairs"]}
        self.assertTrue(all(line["live"] for line in measured.values()), measured)

    def test_patch_of_another_file(self) -> None:
        """The loader is made in a module beside the script's folder: the patch says so, was tested, and applies at the root."""
        for name, text in APART.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "init", "--quiet"], cwd=self.folder, check=True)
        answer = self.run_it("--only", "workers=4", "--budget", "360s", script=self.folder / "scripts" / "train.py")
        self.assert_repaired(answer, "workers")
        self.assertEqual(answer["patch_files"], ["data.py"])
        self.assertRegex(answer["patch_tested"], r"git applies it, each file compiles, it ran ([5-9]|\d\d+) steps$")
        self.assertNotIn("by_hand", answer)
        subprocess.run(["git", "apply", self.folder / "out" / "optimized.patch"], cwd=self.folder, check=True)
        self.assertIn("num_workers=4, persistent_workers=True", (self.folder / "data.py").read_text())

    def test_looping_optimizer(self) -> None:
        self.assert_repaired(
            self.run_it("--only", "fused_optimizer", script=PLANTED / "looping_optimizer.py"), "fused_optimizer"
        )

    # Only where nothing else computes
    def test_one_thread(self) -> None:
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: a second thread has nowhere to run")
        self.assert_repaired(self.run_it("--only", "threads", script=PLANTED / "one_thread.py"), "threads")

    def test_row_loop(self) -> None:
        self.assert_repaired(self.run_it("--only", "vmap", script=PLANTED / "row_loop.py"), "vmap")
        patch = (self.folder / "out" / "optimized.patch").read_text()
        self.assertIn("+    return torch.vmap(lambda row: (row - row.mean()) / row.std())(batch)", patch)

    def test_plain_adamw(self) -> None:
        self.assert_repaired(
            self.run_it("--only", "fused_optimizer", script=PLANTED / "plain_adamw.py"), "fused_optimizer"
        )

    def test_garbage(self) -> None:
        self.assert_repaired(self.run_it("--only", "gc_freeze", script=PLANTED / "garbage.py"), "gc_freeze")

    def test_anomaly(self) -> None:
        self.assert_repaired(self.run_it("--only", "anomaly", script=PLANTED / "anomaly.py"), "anomaly")


class Traps(Optimize):
    """Fixes of the user's own that must not stay, each with the right reason."""

    def trap(
        self, name: str, *words: str, safety: str = "rounding", script: str = "looping_optimizer"
    ) -> dict[str, Any]:
        return self.run_it(
            "--fix",
            f"{TRAPS / name}.py={safety}",
            "--only",
            name,
            *words,
            script=PLANTED / f"{script}.py",
            accept=(1,),
        )

    def test_slower(self) -> None:
        answer = self.trap("slower")
        self.assertEqual(answer["applied"], [])
        self.assertIn(self.of(answer, "slower")["outcome"], ("slower", "too_small"))

    def test_other_loss(self) -> None:
        # A model of one layer, whose answers depend on the rows: behind 200 they are the last bias, whatever goes in.
        answer = self.trap("other_loss", safety="exact", script="row_loop")
        self.assert_refused(answer, "other_loss", "other_training", "another training")

    def test_crashes(self) -> None:
        self.assert_refused(self.trap("crashes"), "crashes", "fault", "crashed")

    def test_hangs(self) -> None:
        self.assert_refused(self.trap("hangs", "--timeout", "20s"), "hangs", "fault", "hung")

    def test_out_of_memory(self) -> None:
        self.assert_refused(self.trap("out_of_memory"), "out_of_memory", "fault", "out of memory")

    def test_nan(self) -> None:
        self.assert_refused(self.trap("nan"), "nan", "other_training", "not finite")

    def test_diverges(self) -> None:
        self.assert_refused(self.trap("diverges"), "diverges", "other_training", "")


class Kernels(Optimize):
    """A package of kernels, of which a stand-in takes its place: what it gives decides, and not its name."""

    def answer_with(self, wait_ms: float) -> dict[str, Any]:
        package = self.folder / "liger_kernel" / "transformers"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").touch()
        (package / "__init__.py").touch()
        (package / "functional.py").write_text(
            f"import time, torch\ndef liger_layer_norm(x, weight, bias, eps):\n    time.sleep({wait_ms} / 1000)\n"
            "    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)\n"
            "def liger_cross_entropy(*words, **more): return torch.nn.functional.cross_entropy(*words, **more)\n"
        )
        script = self.folder / "train.py"
        script.write_text(NORMS)
        return self.run_it("--only", "liger", "--budget", "30m", script=script)

    def test_kernels_that_lose_are_refused(self) -> None:
        found = self.of(self.answer_with(20.0), "liger")
        self.assertEqual(found["outcome"], "slower", found)

    def test_kernels_that_win_stay(self) -> None:
        answer = self.answer_with(0.0)
        self.assert_repaired(answer, "liger")
        patch = (self.folder / "out" / "optimized.patch").read_text()
        self.assertIn("+        layer.forward = types.MethodType(lambda self, x: liger_layer_norm(", patch)


class Around(Optimize):
    @cases.in_ci
    def test_a_command_that_fails(self) -> None:
        script = self.folder / "train.py"
        script.write_text("raise SystemExit('no data')\n")
        done = subprocess.run(
            [PROGRAM, "optimize", "-o", "out", "--", PYTHON, str(script)],
            check=False, cwd=self.folder, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("no data", done.stderr)

    def test_what_was_decided_is_taken_over(self) -> None:
        script = PLANTED / "looping_optimizer.py"
        first = self.run_it("--only", "fused_optimizer", script=script)
        again = self.run_it("--only", "fused_optimizer", script=script)
        self.assertIn("continuing: ", self.said)
        early, late = self.of(first, "fused_optimizer"), self.of(again, "fused_optimizer")
        self.assertEqual(early["measured"], late["measured"])

    def test_without_a_proof_there_is_no_recipe(self) -> None:
        """A fix that stayed in its own trial is taken over, and no time is left to prove it."""
        script = PLANTED / "looping_optimizer.py"
        self.assertTrue(self.run_it("--only", "fused_optimizer", script=script, accept=(0,))["proved"])
        out = self.folder / "out"
        answer = self.run_it("--only", "fused_optimizer", "--budget", "1s", script=script, accept=(1,))
        self.assertEqual((answer["applied"], answer["proved"]), ([], False))
        self.assertEqual(self.of(answer, "fused_optimizer")["outcome"], "not_proved")
        self.assertFalse({"recipe", "patch", "candidate"} & set(answer))
        left = {path.name for path in out.iterdir()}
        self.assertFalse({"optimized.json", "optimized.patch", "candidate.json"} & left, left)
        self.assertIn("earlier.json", left)
        for page in ("report.md", "report.html"):
            self.assertNotIn("gapless run", (out / page).read_text())
        answer = self.run_it(
            "--only", "fused_optimizer", "--budget", "1s", "--keep-candidate", script=script, accept=(1,)
        )  # fmt: skip
        self.assertEqual(answer["candidate"], "out/candidate.json")
        self.assertIs(json.loads((out / "candidate.json").read_text())["proved"], False)

    def test_exact_keeps_every_bit(self) -> None:
        answer = self.run_it("--exact", "--only", "fused_optimizer,workers=2", script=PLANTED / "slow_loader.py")
        found = self.of(answer, "workers")
        if found["outcome"] == "accepted":
            self.assertTrue(found["loss"]["exact"])
        else:
            self.assertEqual(found["outcome"], "other_training", found)

    def test_a_report_instead_of_a_recording(self) -> None:
        report = self.folder / "report.json"
        report.write_text(json.dumps({"bottlenecks": [{"id": "host_optimizer", "title": "the optimiser loops"}]}))
        answer = self.run_it(
            "--bottlenecks", str(report), "--only", "fused_optimizer", script=PLANTED / "looping_optimizer.py"
        )
        tried = {item["fix"].split("=")[0] for item in answer["applied"] + answer["refused"]}
        self.assertEqual(tried, {"fused_optimizer"})
        self.assertFalse(
            (self.folder / "out" / "profile" / "main").exists()
            and list((self.folder / "out" / "profile").glob("*/*.pt.trace.json*"))
        )


class Nested(Optimize):
    """`gapless run --recipe` below a gapless that measures: its steps are those of the command."""

    def recipe(self, item: str) -> list[str]:
        path = self.folder / f"{item}.json"
        path.write_text(json.dumps({"format": "gapless.recipe", "schema": 1, "command": [], "fixes": [{"item": item}]}))
        return [PROGRAM, "run", "--quiet", "--recipe", str(path), "--"]

    def ask(self, *words: str, accept: tuple[int, ...] = (0,)) -> dict[str, Any]:
        done = subprocess.run(
            [PROGRAM, *words], check=False, cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "XDG_DATA_HOME": str(self.folder)},
        )  # fmt: skip
        self.assertIn(done.returncode, accept, done.stderr)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def test_its_steps_are_seen(self) -> None:
        command = [PYTHON, str(PLANTED / "looping_optimizer.py")]
        profile = [PROGRAM, "profile", "--quiet", "--output", str(self.folder / "inner"), "--"]
        bench = ["bench", "--json", "--steps", "1000", "--warmup", "3", "--"]
        bare, *nested = [self.ask(*bench, *before, *command) for before in ([], self.recipe("tf32"), profile)]
        for run in nested:
            self.assertEqual((run["source"], bare["source"]), ("steps", "steps"))
            self.assertEqual(len(run["steps"]), len(bare["steps"]))
        self.assertTrue(list((self.folder / "inner" / "main").glob("*.events")), "profile has its own folder, too")

    def test_what_helps_is_accepted(self) -> None:
        command = [PYTHON, str(PLANTED / "looping_optimizer.py")]
        words = ["validate", "--json", "--no-record", "--pairs", "40", "--"]
        found = self.ask(*words, *command, "--", *self.recipe("fused_optimizer"), *command)
        self.assertEqual((found["accepted"], found["source"]), (True, "steps"))

    def test_what_does_nothing_is_not_faster(self) -> None:
        command = [PYTHON, str(PLANTED / "looping_optimizer.py")]
        words = ["validate", "--json", "--no-record", "--margin", "30%", "--pairs", "40", "--"]
        found = self.ask(*words, *command, "--", *self.recipe("tf32"), *command, accept=(1,))
        self.assertEqual((found["verdict"], found["source"]), ("equivalent", "steps"))


SHARED_PARAMETERS = """
import torch, torch.multiprocessing as mp
def train(rank, net):
    torch.set_num_threads(1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(40):
        net(torch.randn(8, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
if __name__ == "__main__":
    net = torch.nn.Linear(4, 1).share_memory()
    mp.spawn(train, args=(net,), nprocs=2)
    with torch.no_grad():
        for _ in range(300):
            net(torch.randn(8, 4))
"""


class Processes(Optimize):
    """Among several processes, those that train are measured."""

    def test_children_train_and_the_parent_evaluates(self) -> None:
        script = self.folder / "shared.py"
        script.write_text(SHARED_PARAMETERS)
        words = [PROGRAM, "bench", "--json", "--steps", "1000", "--warmup", "5", "--", PYTHON, str(script)]
        at_once = {**os.environ, "GAPLESS_PROGRESS_SECONDS": "0"}
        done = subprocess.run(words, check=True, cwd=self.folder, env=at_once, capture_output=True, text=True)
        found = json.loads(done.stdout)
        self.assertEqual((found["source"], len(found["steps"])), ("steps", 35))
        self.assertRegex(done.stderr, r"(?m)^measuring  \d+ % of 1005 steps")
        self.assertRegex(found["next"][0], r"^gapless compare -- \S+ \S+shared.py -- CHANGED COMMAND$")


class Tune(unittest.TestCase):
    """`gapless tune`: the settings that are measured, not who wins, which takes minutes."""

    def ask(self, *words: str, script: Path, steps: int = 20) -> dict[str, Any]:
        command = [PROGRAM, "tune", *words, "--json", "--steps", str(steps), "--", PYTHON, str(script)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def test_workers(self) -> None:
        answer = self.ask("dataloader", "--rounds", "1", script=PLANTED / "slow_loader.py")
        found = {",".join(setting["fixes"]): setting for setting in answer["settings"]}
        self.assertIn("has num_workers=0 already", found["workers=0"]["reason"])
        self.assertEqual(found[""]["runs"], 2, "alone, and in the round")
        self.assertEqual(found["workers=1"]["pairs"], 1)
        self.assertEqual(answer["compared"], "samples")
        self.assertEqual(answer["best"], 0, "one pair is no proof")

    def test_parts_of_a_step(self) -> None:
        answer = self.ask("comm", "--rounds", "1", script=ROOT / "examples" / "lab" / "ddp.py")
        shares = [answer[name] for name in ("compute_share", "overhead_share", "communication_share")]
        self.assertAlmostEqual(sum(shares), 1, places=9)
        self.assertGreater(answer["step_time_alone_ms"], 0)

    def test_batches(self) -> None:
        answer = self.ask("batch", "--budget", "3m", script=PLANTED / "slow_loader.py")
        self.assertIn(["batch=2"], [setting["fixes"] for setting in answer["settings"]])


def main() -> int:
    global PROGRAM, PYTHON
    PROGRAM = str(Path(sys.argv[1]).resolve())
    PYTHON, problem = find_python("newest")
    if problem:
        print("skipped:", problem)
        return 77
    return cases.main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
