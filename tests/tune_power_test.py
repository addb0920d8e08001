#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless tune power` on GPUs of tests/standins/nvml.cc whose curve is known: what it finds, and that limits come back.

usage: tune_power_test.py PROGRAM STANDINS [--ci] [--only PATTERN...]

STANDINS is the folder of the stand-in libraries. The training is a loop without PyTorch that reports its steps as the agent does,
and whose steps take as long as the power limit in the GPUs' file lets them.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import NamedTuple

import cases
from corpus import ROOT

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
STANDINS = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/release/standins").resolve()
WAITS_S = 30  # a busy machine is no fault of the program

# Usage: train.py BOARDS STEPS NUMBER…: the GPUs of this rank, by their place in the file.
TRAIN = """
import os, struct, sys, time
from gapless_agent import layout
from gapless_agent.place import find_place
from gapless_agent.ring import Ring
boards, steps, numbers = open(sys.argv[1], "r+b", buffering=0), int(sys.argv[2]), [int(n) for n in sys.argv[3:]]
for number in numbers:
    boards.seek(128 * number + 72)
    boards.write(struct.pack("d", os.getpid()))
place = find_place()
folder = os.path.join(os.environ["GAPLESS_RUN"], place.folder)
ring = Ring(folder, os.getpid(), 4096, place, layout.ROLE_TRAINS, "python 3 torch none", "host")
for step in range(steps):
    began = time.time_ns()
    boards.seek(128 * (numbers or [0])[0])
    limit, _, _, _, _, _, idle, dynamic, exponent, _, _, _, lock, applications, _, _ = struct.unpack("16d", boards.read(128))
    most = (lock or applications or 1980) / 1980
    clock = min(most, max(0.2, (max(0.0, limit - idle) / dynamic) ** (1 / exponent)))
    end = began + 10_000_000 * (0.3 + 0.7 / clock)
    while time.time_ns() < end:
        time.sleep(max(0.0, (end - time.time_ns()) / 1e9))
    ring.write_step(0, 1, began, time.time_ns() - began, step, 32, 0, 0, None)
ring.set_state(layout.STATE_ENDED)
"""


class Board(NamedTuple):
    """A GPU as tests/standins/nvml.cc has it."""

    limit_w: float = 700
    joules: float = 0
    since_s: float = 0
    least_w: float = 200
    most_w: float = 700
    usual_w: float = 700
    idle_w: float = 190
    dynamic_w: float = 510
    exponent: float = 2.0
    pid: float = 0
    refuses: float = 0
    has_mig: float = 0
    lock_mhz: float = 0
    applications_mhz: float = 0
    has_no_reasons: float = 0
    unused: float = 0

    def step(self, limit_w: float) -> tuple[float, float]:
        """Returns the joules and the duration of a step, over those at the highest limit."""
        return self.step_at(
            min(1.0, max(0.2, (max(0.0, limit_w - self.idle_w) / self.dynamic_w) ** (1 / self.exponent)))
        )

    def step_at(self, clock: float) -> tuple[float, float]:
        """The same at a clock, over the highest one."""
        time_ratio = 0.3 + 0.7 / clock
        return (self.idle_w + self.dynamic_w * clock**self.exponent) * time_ratio / self.most_w, time_ratio


class TunePower(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        if not (STANDINS / "libnvidia-ml.so.1").exists():
            raise FileNotFoundError(f"{STANDINS}/libnvidia-ml.so.1: build the target standin_nvml")

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "boards"
        (self.folder / "train.py").write_text(TRAIN)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS", "CUDA_"))
        }
        self.environment |= {
            "LD_LIBRARY_PATH": str(STANDINS),
            "GAPLESS_STANDIN_BOARDS": str(self.file),
            "HOME": str(self.folder),
        }

    def make(self, *boards: Board) -> None:
        self.file.write_bytes(b"".join(struct.pack("16d", *board._replace(since_s=time.time())) for board in boards))

    def boards(self) -> list[Board]:
        return [Board(*values) for values in struct.iter_unpack("16d", self.file.read_bytes())]

    def limits(self) -> list[float]:
        return [board.limit_w for board in self.boards()]

    def locks(self) -> list[float]:
        return [board.lock_mhz for board in self.boards()]

    def words(self, *options: str, steps: int = 100_000, numbers: tuple[int, ...] = (0,)) -> list[str]:
        train = [sys.executable, "train.py", str(self.file), str(steps), *map(str, numbers)]
        return [PROGRAM, "tune", "power", *options, "--", *train]

    def tune(
        self, *options: str, steps: int = 100_000, numbers: tuple[int, ...] = (0,), more: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*options, steps=steps, numbers=numbers), cwd=self.folder, env={**self.environment, **(more or {})}, text=True,
            capture_output=True, timeout=300, check=False,
        )  # fmt: skip

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Starts the verb and waits until it has changed a setting."""
        process = subprocess.Popen(
            self.words(*options), cwd=self.folder, env=self.environment, text=True, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.addCleanup(process.kill)
        self.wait_for(lambda: self.limits() != [700.0] or self.locks() != [0.0])
        return process

    def wait_for(self, condition: object) -> None:
        assert callable(condition)
        until = time.monotonic() + WAITS_S
        while not condition() and time.monotonic() < until:
            time.sleep(0.01)
        self.assertTrue(condition())

    def watchdogs(self) -> list[int]:
        """Returns the watchdogs of this test: processes of that name with the test's file open."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if (entry / "comm").read_text().strip() == "gapless-power" and str(self.file) in (
                    entry / "maps"
                ).read_text():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def test_finds_the_limit_of_least_energy(self) -> None:
        self.make(Board())
        done = self.tune("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        least = min(Board().step(watts)[0] for watts in range(200, 701))
        energy, duration = Board().step(answer["chosen_limit_w"])
        self.assertLessEqual(energy, 1.04 * least, answer)
        self.assertEqual(answer["verdict"], "saves")
        self.assertAlmostEqual(answer["proof"]["energy"]["expected"], energy, delta=0.06)
        self.assertAlmostEqual(answer["proof"]["time"]["expected"], duration, delta=0.2)
        self.assertLess(answer["proof"]["energy"]["high"], 1)
        self.assertLessEqual(len(answer["limits"]), 8)
        self.assertEqual(answer["set_command"], f"sudo nvidia-smi -i 0 -pl {answer['chosen_limit_w']:.0f}")
        self.assertAlmostEqual(answer["limits"][0]["joules_per_step"], 7, delta=0.7)  # 700 W for 10 ms
        self.assertAlmostEqual(answer["counter_update_s"], 0.02, delta=0.008)
        self.assertEqual(self.limits(), [700.0])
        self.assertEqual(self.watchdogs(), [])

    @cases.not_in_ci
    def test_finds_the_clock_of_least_energy(self) -> None:
        self.make(Board(applications_mhz=1755), Board(lock_mhz=990))
        done = self.tune("--json", "--by", "clocks", more={"CUDA_VISIBLE_DEVICES": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        least = min(Board().step_at(mhz / 1980)[0] for mhz in range(210, 1981, 15))
        usual, _ = Board().step_at(1755 / 1980)
        chosen = answer["chosen_clock_mhz"]
        energy, _ = Board().step_at(chosen / 1980)
        self.assertLessEqual(energy, 1.02 * least, answer)
        self.assertEqual(chosen % 15, 0, "an admitted clock")
        self.assertEqual((answer["verdict"], answer["setting"]), ("saves", "clock"))
        self.assertAlmostEqual(answer["proof"]["energy"]["expected"], energy / usual, delta=0.12)
        self.assertGreater(answer["proof"]["time"]["expected"], 1.1)
        self.assertLess(answer["proof"]["energy"]["high"], 1)
        self.assertLessEqual(len(answer["limits"]), 8)
        self.assertNotIn("clock_mhz", answer["limits"][0], "no clock was locked")
        self.assertNotIn("limit_w", answer["limits"][1])
        self.assertEqual((answer["least_clock_mhz"], answer["most_clock_mhz"]), (210, 1980))
        self.assertEqual(answer["set_command"], f"sudo nvidia-smi -i 0 --lock-gpu-clocks={chosen:.0f},{chosen:.0f}")
        self.assertEqual(self.locks(), [0.0, 990.0], "another GPU is left alone")
        self.assertEqual(self.limits(), [700.0, 700.0])
        self.assertEqual(self.watchdogs(), [])

    def test_clocks_are_free_after_a_signal(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number.name):
                self.make(Board())
                process = self.start("--by", "clocks")
                self.assertEqual(self.limits(), [700.0])
                os.killpg(process.pid, number)
                process.communicate(timeout=WAITS_S)
                self.wait_for(lambda: self.locks() == [0.0])
                self.wait_for(lambda: self.watchdogs() == [])

    @cases.not_in_ci
    def test_a_lock_that_could_not_be_given_back(self) -> None:
        refused = {
            "a setting holds the GPU's clock": Board(lock_mhz=1500),
            "does not say if the GPU's clock is locked": Board(has_no_reasons=1),
            "locking the clock needs root": Board(refuses=4),
        }
        for words, board in refused.items():
            with self.subTest(words):
                self.make(board)
                done = self.tune("--by", "clocks", steps=100)  # it ends by itself then
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertIn("hint: ", done.stderr)
                self.assertEqual(self.boards()[0].joules, 0, "nothing was set")
                self.assertEqual(self.locks(), [board.lock_mhz])

    @cases.not_in_ci
    def test_several_gpus_and_an_allowed_slowdown(self) -> None:
        self.make(Board(), Board(), Board())
        done = self.tune(
            "--json", "--most-slowdown", "10%", numbers=(0, 2), steps=900
        )  # too few, so that it is started again
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["gpus"], [0, 2], "the one in between does not compute for it")
        self.assertGreater(answer["runs"], 1)
        self.assertAlmostEqual(answer["limits"][0]["joules_per_step"], 14, delta=1.4)
        self.assertLessEqual(Board().step(answer["chosen_limit_w"])[1], 1.13)
        self.assertEqual(self.limits(), [700.0] * 3)

    @cases.not_in_ci
    def test_prints_a_table(self) -> None:
        self.make(Board())
        done = self.tune("--budget", "5s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("700 W", done.stdout)
        self.assertIn("as it is", done.stdout)
        self.assertIn("--budget gives more", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines()[1:])), 80, done.stdout)  # the first is the command
        self.assertEqual(self.limits(), [700.0])

    def test_limits_come_back_after_a_signal(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                self.make(Board())
                process = self.start()
                process.send_signal(number)
                process.communicate(timeout=WAITS_S)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(self.limits(), [700.0])

    def test_limits_come_back_after_sigkill(self) -> None:
        self.make(Board())
        process = self.start()
        os.killpg(process.pid, signal.SIGKILL)  # and all of its group, its parent too
        process.communicate(timeout=WAITS_S)
        self.wait_for(lambda: self.limits() == [700.0])
        self.wait_for(lambda: self.watchdogs() == [])

    @cases.not_in_ci
    def test_without_its_watchdog_it_gives_up(self) -> None:
        self.make(Board())
        process = self.start()
        for watchdog in self.watchdogs():
            os.kill(watchdog, signal.SIGKILL)
        _, err = process.communicate(timeout=WAITS_S)
        self.assertEqual(process.returncode, 4, err)
        self.assertIn("gives the power limits back is gone", err)
        self.assertEqual(self.limits(), [700.0])

    def test_refuses_what_it_may_not_change(self) -> None:
        cases: dict[str, tuple[Board, dict[str, str]]] = {
            "needs root": (Board(refuses=4), {}),
            "(MIG)": (Board(has_mig=1), {}),
            "are not to be changed": (Board(), {"GAPLESS_KEEP_GPU_SETTINGS": "1"}),
            "no GPU is there": (Board(), {"CUDA_VISIBLE_DEVICES": ""}),
            "management library is not installed": (Board(), {"LD_LIBRARY_PATH": ""}),
        }
        for words, (board, environment) in cases.items():
            with self.subTest(words):
                self.make(board)
                done = self.tune(more=environment, steps=100)  # it ends by itself then
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertIn("hint: ", done.stderr)
                self.assertEqual(self.boards()[0].joules, 0, "no limit was set")

    @cases.not_in_ci
    def test_leaves_the_gpus_of_others_alone(self) -> None:
        """Nobody says which GPU the command uses: its processes are on none, as in a container."""
        self.make(Board(pid=1), Board(pid=1))
        done = self.tune(numbers=())
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("CUDA_VISIBLE_DEVICES=0,1", done.stderr)
        self.assertEqual([board.joules for board in self.boards()], [0, 0])

    @cases.not_in_ci
    def test_bench_counts_the_energy_of_a_step(self) -> None:
        self.make(Board())
        words = [PROGRAM, "bench", "--steps", "100", "--json", "--", *self.words()[4:]]
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, text=True, capture_output=True, timeout=120, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        metrics = json.loads(done.stdout)["metrics"]
        self.assertAlmostEqual(metrics["joules_per_step"], 0.7 * metrics["step_time_ms"], delta=0.5)  # 700 W
        self.assertAlmostEqual(metrics["samples_per_joule"], metrics["samples_per_second"] / 700, delta=0.2)

    def test_a_command_that_does_not_train(self) -> None:
        self.make(Board())
        done = subprocess.run(
            [PROGRAM, "tune", "power", "--", "true"],
            cwd=self.folder,
            env=self.environment,
            text=True,
            capture_output=True,
            check=False,
        )
        self.assertEqual(done.returncode, 5, done.stderr)


if __name__ == "__main__":
    sys.exit(cases.main(sys.argv[3:]))
