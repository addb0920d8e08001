#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing is sent: every verb does its work where the kernel ends any process that makes a socket of IPv4 or IPv6, itself and all that it
starts. Only `monitor` serves, on the loopback address.

usage: network_test.py PROGRAM BUILD_FOLDER [unittest options]
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from corpus import ROOT

SAMPLE = str(next((ROOT / "samples").glob("resnet50*.json.gz")))
RANKS = str(ROOT / "tests/data/two_ranks")
STEPS = "for i in $(seq 30); do sleep 0.004; done"
PROGRAM = ""

# Constants of <linux/seccomp.h>, <linux/filter.h> and <sys/prctl.h>.
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE = 38, 22, 2
KILL, ALLOW = 0x80000000, 0x7FFF0000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
SOCKET = {"x86_64": 41, "aarch64": 198}
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16
INET, INET6 = 2, 10

# Verb → what it is asked. A verb may be asked several times.
ASKED: dict[str, list[list[str]]] = {
    "analyze": [[SAMPLE], [SAMPLE, "-o", "report.html"], [SAMPLE, "--json"], [SAMPLE, "--on", "processes"]],
    "brief": [[SAMPLE]],
    "query": [[SAMPLE, "SELECT 1"], [SAMPLE, "step", "--arrow", "rows.arrow"]],
    "convert": [[SAMPLE, "-o", "out.json"]],
    "summarize": [[SAMPLE, "--no-cache", "-o", "summaries"], [SAMPLE, "--on", "processes", "-o", "summaries"]],
    "slurm-script": [["rank{}.json", "--ranks", "8", "--summaries", "s"]],
    "kubernetes-job": [["rank{}.json", "--ranks", "8", "--summaries", "s", "--image", "gapless"]],
    "merge": [[str(ROOT / "tests/data/summary.gapsum"), "-o", "job.tar"]],
    "predict": [[SAMPLE]],
    "kernel": [[SAMPLE], [SAMPLE, "--write", "kernels"]],
    "why": [[SAMPLE, SAMPLE]],
    "diff": [[SAMPLE, SAMPLE]],
    "report": [[SAMPLE, "--style", "lab"]],
    "formats": [[]],
    "docs": [["pages"]],
    "help": [["analyze"]],
    "completion": [["bash"]],
    "doctor": [[]],
    "bench": [["--whole", "--steps", "3", "--warmup", "0", "--", "sh", "-c", "sleep 0.01"]],
    "compare": [["--budget", "3s", "--", "sh", "-c", "sleep 0.02", "--", "sh", "-c", "sleep 0.01"]],
    "gate": [["--db", "sqlite:history.db", "--", "sh", "-c", STEPS]],
    "history": [["record", SAMPLE, "--db", "sqlite:history.db"], ["list", "--db", "sqlite:history.db"]],
    "trend": [["--db", "sqlite:history.db"]],
    "profile": [["-o", "run", "--", sys.executable, "-c", "sum(range(1000))"]],
    "run": [["--recipe", str(ROOT / "tests/data/release-0.1.0/recipe.json"), "--", "true"]],
    "trigger": [["run", "--timeout", "1"]],
    "mcp": [[]],
    "validate": [["--", "sh", "-c", "sleep 0.02", "--", "sh", "-c", "sleep 0.01"]],
    "same": [["--", "true", "--", "true"]],
    "optimize": [["--budget", "5s", "--", "sh", "-c", STEPS]],
    "tune": [["dataloader", "--budget", "5s", "--", "sh", "-c", STEPS]],
    "bisect": [["--good", "x", "--bad", "y", "--", "true"]],
}
# Verbs that have no training here that they could judge: they say so, which is an answer, too.
ANSWERS = {
    "trigger": 3,
    "mcp": 0 if importlib.util.find_spec("mcp") else 4,
    "same": 5,
    "optimize": 1,
    "bisect": 3,
    "validate": 0,
}
MAY_ANSWER = {"compare": (1,)}  # that a busy machine shows no difference
LISTENS = {"monitor", "serve"}  # metrics: docs/monitoring.md; recordings: docs/security.md


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return code.to_bytes(2, "little") + bytes((if_true, if_false)) + value.to_bytes(4, "little")


def forbid_the_network() -> None:
    """From now on a socket of the internet ends this process; what it starts inherits that."""
    steps = [
        step(LOAD, NUMBER_AT),
        step(EQUAL, SOCKET[platform.machine()], 0, 4),
        step(LOAD, FIRST_ARGUMENT_AT),
        step(EQUAL, INET, 1, 0),
        step(EQUAL, INET6, 0, 1),
        step(RETURN, KILL),
        step(RETURN, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(steps))
    program = Program(len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def without_network(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "GAPLESS_PYTHON": sys.executable,
    }
    environment["PYTHONPATH"] = str(ROOT / "python")
    return subprocess.run(
        words, preexec_fn=forbid_the_network, cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@unittest.skipUnless(platform.machine() in SOCKET, "the number of the system call is not known here")
class Nothing(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)

    def test_the_kernel_watches(self) -> None:
        """Otherwise the others would prove nothing: also what a process starts is ended; sockets of this machine are not."""
        code = "import socket; socket.socketpair(); print('local', flush=True); socket.socket(socket.{})"
        for family in ("AF_INET", "AF_INET6"):
            done = without_network([sys.executable, "-c", code.format(family)], self.folder)
            self.assertEqual((done.returncode, done.stdout), (-signal.SIGSYS, "local\n"))
        starts = f"import subprocess, sys; sys.exit(-subprocess.run([sys.executable, '-c', {code.format('AF_INET')!r}]).returncode)"
        self.assertEqual(without_network([sys.executable, "-c", starts], self.folder).returncode, signal.SIGSYS)

    def test_every_verb(self) -> None:
        listed = without_network([PROGRAM, "completion", "bash"], self.folder).stdout
        known = set(ASKED) | LISTENS
        verbs = {verb for verb in known if verb in listed}
        self.assertEqual(verbs, known)
        helped = without_network([PROGRAM, "--help"], self.folder).stdout
        named = {line.split()[0] for line in helped.splitlines() if line.startswith("  ") and line[2:3].isalpha()}
        self.assertEqual(named - known, set(), "every verb is asked")
        for verb, asked in ASKED.items():
            for words in asked:
                with self.subTest(verb, words=words):
                    done = without_network([PROGRAM, verb, *words], self.folder)
                    said = done.stderr[-500:]
                    self.assertIn(done.returncode, {ANSWERS.get(verb, 0), *MAY_ANSWER.get(verb, ())}, said)
                    self.assertNotIn("Bad system call", done.stdout + done.stderr)
                    self.assertNotIn("SIGSYS", done.stdout + done.stderr)

    def test_the_library(self) -> None:
        code = f"import gapless; run = gapless.open({SAMPLE!r}); print(len(run.table('step')), len(str(run.report())) > 500)"
        done = without_network([sys.executable, "-c", code], self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "6 True\n"), done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("mcp"), "not installed: mcp")
    def test_the_server_for_assistants(self) -> None:
        code = (
            "import asyncio, sys\n"
            "from mcp import ClientSession, StdioServerParameters, stdio_client\n"
            "async def talk():\n"
            f"    server = StdioServerParameters(command={PROGRAM!r}, args=['mcp'], env=dict(__import__('os').environ))\n"
            "    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:\n"
            "        await session.initialize()\n"
            f"        opened = await session.call_tool('open_recording', {{'paths': [{SAMPLE!r}]}})\n"
            "        print(opened.content[0].text.split()[0])\n"
            "asyncio.run(talk())\n"
        )
        done = without_network([sys.executable, "-c", code], self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "opened\n"), done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    os.environ["GAPLESS_PROGRAM"] = PROGRAM
    os.environ["GAPLESS_LIBRARY"] = str(Path(sys.argv.pop(1)).resolve() / "libgapless.so")
    unittest.main()
