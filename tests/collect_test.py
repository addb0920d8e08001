#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless profile`, `monitor` and `trigger` on real training with PyTorch: what the user's program does stays as it is, and
what is left can be analysed.

usage: collect_test.py PROGRAM [--ci] [--only PATTERN...]    skipped without a Python that has PyTorch: build/torch, or $GAPLESS_TORCH
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import cases
from corpus import ROOT

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
PYTHON = Path(os.environ.get("GAPLESS_TORCH", ROOT / "build/torch/bin/python"))
PLANTED = ROOT / "examples/planted"
SKIPPED = 77
LIMIT = 120  # seconds for one command

LOOP = """
import torch, time, sys, os
torch.manual_seed(1); torch.set_num_threads(1)
model = torch.nn.Linear(8, 8); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step():
    loss = model(torch.rand(4, 8)).pow(2).mean(); optimizer.zero_grad(); loss.backward(); optimizer.step()
    return loss
"""

ACTOR = """
import multiprocessing, time, torch
def act(queue):
    model = torch.nn.Linear(8, 8)
    with torch.no_grad():
        while True:
            queue.put(model(torch.rand(1, 8)).numpy())
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue(50)
    actor = context.Process(target=act, args=(queue,), daemon=True)
    actor.start()
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(40):
        [queue.get() for _ in range(10)]
        optimizer.zero_grad()
        model(torch.rand(4, 8)).pow(2).mean().backward()
        optimizer.step()
        time.sleep(0.02)
    actor.terminate()
"""


class Case(unittest.TestCase):
    """A folder of its own, and commands that run in it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "LC_ALL": "C.UTF-8"}
        for name in ("GAPLESS_RUN", "PYTHONPATH", "GAPLESS_DISABLE"):
            self.environment.pop(name, None)

    def run_plain(self, *command: object, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=LIMIT, check=False, **more,
        )  # fmt: skip

    def gapless(self, *words: object, **more: Any) -> subprocess.CompletedProcess[str]:
        return self.run_plain(PROGRAM, *words, **more)

    def start(self, *words: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(PROGRAM), *(str(word) for word in words)], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def script(self, body: str, name: str = "train.py") -> Path:
        path = self.folder / name
        path.write_text(LOOP + body, encoding="utf-8")
        return path

    def rows(self, sql: str, run: str = "run") -> list[dict[str, Any]]:
        done = self.gapless("query", run, sql, "--json", "--no-cache")
        self.assertEqual(done.returncode, 0, done.stderr)
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    def manifest(self, run: str = "run") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / run / "manifest.json").read_text(encoding="utf-8"))
        return found

    def wait_for_steps(self, steps: int, run: str = "run") -> None:
        """Until some process of the run has taken so many steps, as its ring says."""
        for _ in range(600):
            for ring in (self.folder / run).glob("*/agent-*.ring"):
                if int.from_bytes(ring.read_bytes()[72:80], "little") >= steps:
                    return
            time.sleep(0.1)
        self.fail(f"no process took {steps} steps")


class Unchanged(Case):
    """With and without: the same output, the same status, the same files."""

    def check(self, body: str, *options: str, expected: int) -> None:
        script = self.script(body)
        with tempfile.TemporaryDirectory() as other:
            plain = subprocess.run(
                [PYTHON, *options, script], cwd=other, env=self.environment, capture_output=True, text=True, check=False
            )
            plain_files = {path.name: path.read_bytes() for path in Path(other).iterdir()}
        watched = self.gapless(
            "profile", "--wait", "1", "--warmup", "1", "--steps", "2", "--", PYTHON, *options, script
        )
        status = expected if expected >= 0 else 128 - expected
        self.assertEqual(plain.returncode, expected)
        self.assertEqual(watched.returncode, status, watched.stderr)
        self.assertEqual(watched.stdout, plain.stdout)
        mine = [line for line in watched.stderr.splitlines() if not line.startswith("gapless: ")]
        # Times and process numbers in what PyTorch itself says differ from run to run.
        numberless = [[re.sub(r"\d+", "#", line) for line in lines] for lines in (mine, plain.stderr.splitlines())]
        self.assertEqual(*numberless)
        ours = {"run", "cache", script.name}
        files = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.name not in ours}
        self.assertEqual(files, plain_files)

    @cases.in_ci
    def test_success(self) -> None:
        self.check(
            "for _ in range(8): last = step()\nprint('loss', float(last.detach()), torch.rand(1).item())\n"
            "torch.save(model.state_dict(), 'model.pt') if False else open('done', 'w').write('x')",
            expected=0,
        )
        self.assertEqual(self.rows("SELECT count(*) n FROM all_step WHERE source = 'agent'"), [{"n": 8}])

    def test_exception(self) -> None:
        self.check("for _ in range(3): step()\nraise ValueError('as ever')", expected=1)

    def test_exit_7(self) -> None:
        self.check("for _ in range(3): step()\nprint('bye'); sys.exit(7)", expected=7)

    def test_sigkill(self) -> None:
        self.check("for _ in range(6): step()\nprint('going', flush=True); os.kill(os.getpid(), 9)", expected=-9)
        self.assertEqual(self.rows("SELECT count(*) n FROM all_step WHERE source = 'agent'"), [{"n": 6}])

    def test_their_own_sitecustomize(self) -> None:
        (self.folder / "theirs").mkdir()
        (self.folder / "theirs/sitecustomize.py").write_text("print('their own customisation')\n", encoding="utf-8")
        self.environment["PYTHONPATH"] = str(self.folder / "theirs")
        script = self.script("step()")
        done = self.gapless("profile", "-q", "--", PYTHON, script)
        self.assertEqual(done.stdout, "their own customisation\n")

    def test_their_own_profiler(self) -> None:
        self.check(
            "from torch.profiler import profile, ProfilerActivity\n"
            "with profile(activities=[ProfilerActivity.CPU]) as p:\n    for _ in range(8): step()\n"
            "print(len([e for e in p.events() if e.name == 'aten::addmm']))",
            expected=0,
        )

    def test_python_that_ignores_the_environment(self) -> None:
        self.check("for _ in range(3): step()\nprint('isolated')", "-I", expected=0)
        done = self.gapless("profile", "-o", "again", "--", PYTHON, "-I", self.script("step()"))
        self.assertIn("python -I keeps the agent out", done.stderr)


class Survives(Case):
    """Whatever is killed, what was recorded until then can be read."""

    def test_a_hanging_program(self) -> None:
        script = self.script("for _ in range(20): step()\nprint('hanging', flush=True); time.sleep(600)")
        process = self.start("profile", "--", PYTHON, script)
        self.wait_for_steps(20)
        report = self.gapless("analyze", "run")
        self.assertEqual(report.returncode, 0, report.stderr)
        process.terminate()  # is passed on
        process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.rows("SELECT count(*) n FROM all_step WHERE source = 'agent'"), [{"n": 20}])

    def test_gapless_itself_is_killed(self) -> None:
        script = self.script("for number in range(400): step(); time.sleep(0.01)\nopen('finished', 'w').write('yes')")
        process = self.start("profile", "--", PYTHON, script)
        self.wait_for_steps(60)
        process.kill()
        process.wait(timeout=LIMIT)
        self.assertGreaterEqual(len(self.rows("SELECT * FROM all_step WHERE source = 'agent'")), 60)
        for _ in range(300):
            if (self.folder / "finished").exists():
                break
            time.sleep(0.1)
        self.assertTrue((self.folder / "finished").exists(), "the program goes on without its watcher")
        self.assertEqual(self.manifest()["state"], "running")
        self.assertEqual(self.rows("SELECT count(*) n FROM all_step WHERE source = 'agent'"), [{"n": 400}])

    def test_wrappers_and_modules(self) -> None:
        self.script("for _ in range(20): step()", "loop.py")
        (self.folder / "wrapper.sh").write_text(f'cd "$(dirname "$0")" && {PYTHON} -m loop\n', encoding="utf-8")
        done = self.gapless("profile", "--", "bash", "wrapper.sh")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("run: 20 steps, 1 recording", done.stderr)
        self.assertRegex(
            done.stderr,
            r"overhead: the agent took [\d.]+ % of the steps' time; recorded steps took [\d.]+× as long as the others",
        )
        self.assertRegex(
            done.stderr, r"recording cost [\d.]+ (ms|s), [\d.]+ % of the run: .*[\d.]+ .?s to write its file"
        )

    def test_what_recording_cost_adds_up(self) -> None:
        done = self.gapless("profile", "--json", "--", PYTHON, self.script("for _ in range(40): step()"))
        cost = json.loads(done.stdout)["recording_cost"]
        parts = ("agent_ns", "start_ns", "slow_steps_ns", "stop_ns", "export_ns", "end_ns", "python_ns")
        self.assertEqual(cost["total_ns"], sum(cost[part] for part in parts))
        self.assertGreater(min(cost["start_ns"], cost["stop_ns"], cost["export_ns"]), 0)
        self.assertTrue(0 < cost["share"] <= 1, cost)

    def test_it_says_why_nothing_was_recorded(self) -> None:
        """Not that the steps were too few where they were not."""
        own = "with torch.profiler.profile(): [step() for _ in range(20)]"
        done = self.gapless("profile", "--", PYTHON, self.script(own))
        self.assertIn("run: 20 steps\n", done.stderr)
        self.assertIn("nothing was recorded: the program uses PyTorch's profiler itself\n", done.stderr)
        done = self.gapless("profile", "--output", "few", "--", PYTHON, self.script("step()"))
        self.assertIn("nothing was recorded: that takes 9 steps or more; lower --wait and --warmup\n", done.stderr)

    def test_an_actor_is_not_the_training(self) -> None:
        """It calls its model far more often than the learner steps."""
        (self.folder / "train.py").write_text(ACTOR, encoding="utf-8")
        done = self.gapless("profile", "--", PYTHON, "train.py")
        self.assertIn("run: 40 steps, ", done.stderr)
        self.assertEqual({process["role"] for process in self.manifest()["processes"]}, {"trains", "only infers"})
        report = json.loads(self.gapless("analyze", "run", "--json", "--no-cache").stdout)
        self.assertEqual(report["run"]["workload"], "training")
        self.assertIn("of a process beside the training that trains nothing itself", " ".join(report["warnings"]))


class OnDemand(Case):
    """A job that is under way is asked for a recording."""

    def test_all_ranks_record_the_same_steps(self) -> None:
        torchrun = ("-m", "torch.distributed.run", "--nproc-per-node", 4)
        self.start("profile", "--no-record", "--", PYTHON, *torchrun, PLANTED / "straggler_rank.py", "--steps", 4000)
        self.wait_for_steps(30)
        done = self.gapless("trigger", "run", "--steps", 3, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        replies = json.loads(done.stdout)["processes"]
        self.assertEqual([reply["answer"] for reply in replies], ["done"] * 4)
        self.assertEqual(len({reply["step"] for reply in replies}), 1, replies)
        for reply in replies:
            with gzip.open(self.folder / "run" / reply["folder"] / reply["file"], "rt", encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]  # a plain Kineto file
            steps = {event["name"] for event in events if str(event.get("name")).startswith("ProfilerStep#")}
            self.assertEqual(len(steps), 3)

    @cases.in_ci
    def test_a_run_that_has_ended_is_not_asked(self) -> None:
        self.gapless("profile", "-q", "--", "true")
        done = self.gapless("trigger", "run")
        self.assertEqual(done.returncode, 3)
        self.assertIn("this run has ended", done.stderr)

    @cases.in_ci
    def test_prometheus_scrapes_a_job(self) -> None:
        prometheus = shutil.which("prometheus")
        if prometheus is None:
            self.skipTest("there is no prometheus")
        script = self.script("for _ in range(100000): step(); time.sleep(0.005)")
        job = self.start("monitor", "--listen", "127.0.0.1:0", "--", PYTHON, script)
        assert job.stdout is not None
        address = re.search(r"127\.0\.0\.1:\d+", job.stdout.readline())
        self.assertIsNotNone(address)
        self.wait_for_steps(50)
        target = address.group(0)  # type: ignore[union-attr]
        config = {"scrape_configs": [{"job_name": "gapless", "scrape_interval": "1s",
                                      "static_configs": [{"targets": [target]}]}]}  # fmt: skip
        (self.folder / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
        server = subprocess.Popen(
            [prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--web.listen-address=127.0.0.1:0",
             "--log.format=json"],
            cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        assert server.stderr is not None
        port = next(
            found.group(1)
            for line in server.stderr
            if (found := re.search(r'"address":"127\.0\.0\.1:([1-9]\d*)"', line))
        )
        value = 0.0
        for _ in range(100):
            query = f"http://127.0.0.1:{port}/api/v1/query?query=gapless_steps_total"
            try:
                with urllib.request.urlopen(query, timeout=10) as answer:
                    result = json.load(answer)["data"]["result"]
            except urllib.error.HTTPError:
                result = []  # it is not ready yet
            if result:
                value = float(result[0]["value"][1])
                break
            time.sleep(0.2)
        self.assertGreater(value, 50)


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"skipped: no PyTorch in {PYTHON} (tools/torch_env.sh, or set GAPLESS_TORCH)")
        sys.exit(SKIPPED)
    sys.exit(cases.main(sys.argv[2:]))
