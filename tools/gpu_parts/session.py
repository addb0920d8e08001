# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the parts within their time, and keeps what they printed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
CPU_FACTOR = 4.0  # how much longer a command may take with stand-ins, on a CPU that others use, too
GRACE_S = 3.0  # between asking a command to end and killing it


class OutOfTime(Exception):
    """The time of a part is over before its next command."""


class Skipped(Exception):
    """A part has nothing to do here; the text says why."""


class Failed(Exception):
    """A command failed; the text says how."""


@dataclass(frozen=True)
class Done:
    status: int
    stdout: str
    stderr: str

    @property
    def last_line(self) -> str:
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        return lines[-1] if lines else "it printed nothing"


@dataclass
class Session:
    """One call of tools/gpu_check.

    With `plan` no command runs: each is printed, and its answer is empty. `work` is for what need not be brought back."""

    program: Path
    python: str
    out: Path
    work: Path
    deadline: float  # of time.monotonic()
    card: dict[str, Any]  # see find_card()
    environment: dict[str, str] = field(default_factory=dict)
    plan: bool = False
    stand_in: bool = False
    fixes: list[str] = field(default_factory=list)  # of the part "fixes": names that were asked for; empty: all
    planned: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # what the present part had no time for
    recorded: dict[tuple[str, ...], Path] = field(default_factory=dict)
    part_ends: float = 0.0
    log: Path | None = None

    @property
    def on_gpu(self) -> bool:
        return bool(self.card.get("name"))

    @property
    def gpus(self) -> int:
        return int(self.card.get("count", 0))

    def begin(self, name: str, limit_s: float) -> None:
        self.left = []
        self.part_ends = min(self.deadline, time.monotonic() + limit_s)
        self.log = None if self.plan else self.out / "logs" / f"{name}.log"

    def left_s(self) -> float:
        return self.part_ends - time.monotonic()

    def run(self, words: list[str], limit_s: float, ok: tuple[int, ...] = (0,), least_s: float = 1.0) -> Done:
        """Runs a command in the repository and returns what it printed. Raises OutOfTime if less than `least_s` are left."""
        line = self.line_of(words)
        if self.plan:
            self.planned.append(line)
            return Done(0, "", "")
        if self.left_s() < least_s:
            raise OutOfTime(line)
        limit_s *= CPU_FACTOR if self.stand_in else 1
        done = self._attend(words, min(limit_s, self.left_s()), OutOfTime if self.left_s() < limit_s else Failed)
        self._write_log(line, done)
        if done.status not in ok:
            raise Failed(f"{line}: status {done.status}: {done.last_line}")
        return done

    def ask(self, *words: str, limit_s: float = 120, ok: tuple[int, ...] = (0,), least_s: float = 1.0) -> Any:
        """Runs the program with --json, and returns its answer; {} in a plan."""
        verb, *rest = words
        done = self.run([str(self.program), verb, "--json", *rest], limit_s, ok, least_s)
        if self.plan:
            return {}
        try:
            return json.loads(done.stdout)
        except ValueError as error:
            raise Failed(f"gapless {verb}: no JSON: {done.last_line}") from error

    def line_of(self, words: list[str]) -> str:
        """The command as one types it."""
        short = {str(self.program): "gapless", self.python: "python", str(self.out): "$OUT", str(self.work): "$WORK"}
        shown = []
        for word in words:
            for path, name in short.items():
                word = word.replace(path, name)
            shown.append(word if word.startswith("$") else shlex.quote(word))
        return " ".join(shown)

    def _attend(self, words: list[str], limit_s: float, too_long: type[Exception]) -> Done:
        process = subprocess.Popen(
            words, cwd=ROOT, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8", errors="replace", start_new_session=True,
        )  # fmt: skip
        try:
            stdout, stderr = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            stdout, stderr = self._end(process)
            self._write_log(self.line_of(words), Done(process.returncode, stdout, stderr))
            raise too_long(f"{self.line_of(words)}: not done after {limit_s:.0f} s") from None
        return Done(process.returncode, stdout, stderr)

    def _end(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            return process.communicate(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()

    def _write_log(self, line: str, done: Done) -> None:
        if self.log is None:
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"$ {line}\n{done.stdout}{done.stderr}[status {done.status}]\n\n")


CARD = """
import json, torch
found = {"torch": torch.__version__, "cuda": torch.version.cuda}
if torch.cuda.is_available():
    seen = torch.cuda.get_device_properties(0)
    found.update(name=seen.name, count=torch.cuda.device_count(), memory_bytes=seen.total_memory,
                 multiprocessors=seen.multi_processor_count, capability=f"{seen.major}.{seen.minor}")
print(json.dumps(found))
"""


def find_card(python: str) -> dict[str, Any]:
    """Returns what PyTorch says of the first GPU: name, count, memory, …; without a GPU no name, without PyTorch nothing."""
    done = subprocess.run([python, "-c", CARD], check=False, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found
