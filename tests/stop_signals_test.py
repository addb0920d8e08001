#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each verb that measures ends with 128 + N soon after signal N, and so does all that it started; after SIGKILL that ends, too.

usage: stop_signals_test.py PROGRAM
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from corpus import ROOT

PROGRAM = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
STOPS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
WAITS = "import time; time.sleep(600)"
STARTS_S, ENDS_S = 30, 10  # a busy machine is no fault of the program; what ignores signals has three seconds


class StopSignals(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.mark = f"{self.folder.name}-mark"
        self.addCleanup(self.end_all)
        (self.folder / "temporary").mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.folder / "temporary"), "HOME": str(self.folder)}
        for name in [name for name in self.environment if name.startswith(("GAPLESS", "XDG_"))]:
            del self.environment[name]

    def command(self, body: str) -> list[str]:
        """A shell whose child does the work: the signal reaches the shell alone."""
        return ["sh", "-c", f'{sys.executable} -c "{body}" {self.mark}; true', self.mark]

    def verbs(self, body: str = WAITS) -> dict[str, list[str]]:
        command = self.command(body)
        return {
            "bench": ["bench", "--", *command],
            "compare": ["compare", "--", *command, "--", *command],
            "optimize": ["optimize", "-o", "out", "--budget", "60s", "--", *command],
            "gate": ["gate", "--db", "sqlite:history.db", "--", *command],
            "same": ["same", "--", *command, "--", *command],
            "tune": ["tune", "dataloader", "--", *command],
        }

    def left(self) -> list[int]:
        """Returns the commands that still run, by the mark among their arguments."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if self.mark.encode() in words and state != "Z" and not words.startswith(PROGRAM.encode()):
                found.append(int(entry.name))
        return found

    def end_all(self) -> None:
        for pid in self.left():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def started(self, words: list[str], children: int = 2) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [PROGRAM, *words], cwd=self.folder, env=self.environment, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        until = time.monotonic() + STARTS_S
        while len(self.left()) < children and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        self.assertEqual(len(self.left()), children, f"{words}: {process.poll()}")
        return process

    def gone(self) -> bool:
        until = time.monotonic() + ENDS_S
        while self.left() and time.monotonic() < until:
            time.sleep(0.02)
        return not self.left()

    def test_each_verb_ends_with_the_signal(self) -> None:
        for verb, words in self.verbs().items():
            for number in STOPS:
                with self.subTest(verb, signal=number.name):
                    process = self.started(words)
                    process.send_signal(number)
                    _, err = process.communicate(timeout=ENDS_S)
                    self.assertEqual(process.returncode, 128 + number, err)
                    self.assertNotIn("printed nothing", err)
                    self.assertEqual(self.left(), [])
                    self.assertEqual(list((self.folder / "temporary").iterdir()), [])

    def test_a_signal_while_it_starts(self) -> None:
        """It reaches the command, or the command is never started; without a handler the signal ends the program itself."""
        for verb in ("monitor", "profile"):
            for delay_ms in (0, 10, 20, 40, 60, 80):
                with self.subTest(verb, delay_ms=delay_ms):
                    words = [verb, "-q", "-o", f"{verb}-{delay_ms}", "--", sys.executable, "-c", WAITS, self.mark]
                    process = subprocess.Popen(
                        [PROGRAM, *words], cwd=self.folder, env=self.environment, text=True, start_new_session=True,
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    )  # fmt: skip
                    time.sleep(delay_ms / 1000)
                    process.send_signal(signal.SIGTERM)
                    _, err = process.communicate(timeout=ENDS_S)
                    self.assertIn(process.returncode, (128 + signal.SIGTERM, -signal.SIGTERM), err)

    def test_what_ignores_the_signal_is_killed(self) -> None:
        """The shell and its child ignore what they are sent."""
        body = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]; time.sleep(600)"
        process = self.started(self.verbs(body)["bench"])
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=ENDS_S)
        self.assertEqual((process.returncode, self.left()), (128 + signal.SIGTERM, []))

    def test_after_sigkill_the_command_ends(self) -> None:
        for verb, words in self.verbs().items():
            with self.subTest(verb):
                process = self.started(words)
                process.kill()
                process.communicate(timeout=ENDS_S)  # what it left holds none of its files open
                self.assertTrue(self.gone(), f"{verb} left its command running")

    def test_a_profiled_training_goes_on_after_sigkill(self) -> None:
        """It is somebody's training: the end of whoever watches it is no reason to end it."""
        process = self.started(["profile", "-q", "--", *self.command(WAITS)])
        process.kill()
        process.wait(ENDS_S)
        time.sleep(4)
        self.assertEqual(len(self.left()), 2)

    def test_nohup_is_respected(self) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            process = self.started(["bench", "--", *self.command(WAITS)])
        finally:
            signal.signal(signal.SIGHUP, before)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=ENDS_S)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
