# SPDX-License-Identifier: Apache-2.0
"""Helpers of the agent's tests: running a program under the agent, and reading what it left.

tests/agent_test.py runs them: with the agent's folder on the path, and the Python that has torch in GAPLESS_TEST_PYTHON.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import textwrap
import unittest
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gapless_agent.layout

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "python" / "gapless" / "agent"
layout = gapless_agent.layout

PYTHON = os.environ.get("GAPLESS_TEST_PYTHON", "")
TIMEOUT_S = 300

# A shell starts what runs in the background with SIGINT ignored, and so would be the programs of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)

KINDS = {value: name[len("KIND_") :].lower() for name, value in vars(layout).items() if name.startswith("KIND_")}


@dataclass
class Record:
    kind: str
    flags: int
    value: int
    ts_ns: int
    dur_ns: int
    a: int
    b: int
    x: float
    y: float


@dataclass
class Ring:
    """A ring as the launcher reads it."""

    path: Path
    pid: int
    rank: int
    role: int
    state: int
    written: int
    step: int
    acknowledged: int
    cost_ns: int
    versions: str
    records: list[Record] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    def of(self, kind: str) -> list[Record]:
        return [record for record in self.records if record.kind == kind]

    def text(self, identity: float) -> str:
        return self.texts[int(identity)]


def read_ring(path: Path) -> Ring:
    data = path.read_bytes()
    magic, version, header, size, capacity, pid, _, rank, _, _, _, role, state = layout.RING_HEADER.unpack_from(data)
    assert (magic, version, header, size) == (layout.RING_MAGIC, layout.VERSION, 4096, 64)
    written, step, acknowledged, _, cost, _, _ = struct.unpack_from("<7Q", data, 64)
    versions = data[layout.OFFSET_VERSIONS :][:64].rstrip(b"\0").decode()
    ring = Ring(path, pid, rank, role, state, written, step, acknowledged, cost, versions)
    pieces: dict[int, bytes] = {}
    for number in range(max(1, written - capacity + 1), written + 1):
        offset = 4096 + ((number - 1) % capacity) * 64
        found, kind, flags, value = struct.unpack_from("<QHHi", data, offset)
        assert found == number, f"record {number} says it is {found}"
        if kind == layout.KIND_TEXT:
            pieces[value] = pieces.get(value, b"") + data[offset + 16 :][: flags & 0x7FFF]
        else:
            ring.records.append(Record(KINDS[kind], flags, value, *struct.unpack_from("<qqqqdd", data, offset + 16)))
    ring.texts = {identity: piece.decode() for identity, piece in pieces.items()}
    return ring


@dataclass
class Done:
    run: Path
    code: int
    out: str
    err: str

    def rings(self) -> list[Ring]:
        return [read_ring(path) for path in sorted(self.run.glob("*/agent-*.ring"))]

    def ring(self) -> Ring:
        """The ring of the only process that trains."""
        found = [ring for ring in self.rings() if ring.role == layout.ROLE_TRAINS]
        assert len(found) == 1, f"{len(found)} rings; the program said: {self.err}"
        return found[0]

    def files(self, pattern: str) -> list[Path]:
        return sorted(self.run.glob(pattern))


def environment(run: Path | None, options: dict[str, Any] | None, extra: dict[str, str] | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS", "PYTHON"))}
    kept.update(OMP_NUM_THREADS="1")
    if run is not None:
        kept.update(GAPLESS_RUN=str(run), PYTHONPATH=str(AGENT), GAPLESS_OPTIONS=json.dumps(options or {}))
    kept.update(extra or {})
    return kept


class AgentTest(unittest.TestCase):
    """A test with a run folder of its own."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gapless-agent-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.run_folder = self.folder / "run"
        self.run_folder.mkdir()

    def script(self, text: str, name: str = "train.py") -> Path:
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path

    def start(
        self,
        *words: str | Path,
        options: dict[str, Any] | None = None,
        env: dict[str, str] | None = None,
        agent: bool = True,
        cwd: Path | None = None,
        shell: str = "",
    ) -> subprocess.Popen[str]:
        """Starts Python with the words; `shell` is a line that starts it instead, as "$0" with the words "$@"."""
        if not PYTHON:
            self.skipTest("no Python with torch: GAPLESS_TEST_PYTHON is not set")
        given = environment(self.run_folder if agent else None, options, env)
        process = subprocess.Popen(
            [*(["sh", "-c", shell] if shell else []), PYTHON, *map(str, words)],
            env=given,
            cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            process.kill()
            process.communicate()

    def finish(self, process: subprocess.Popen[str]) -> Done:
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"the program hangs: {out}{err}")
        return Done(self.run_folder, process.returncode, out, err)

    def execute(self, *words: str | Path, **how: Any) -> Done:
        return self.finish(self.start(*words, **how))

    def succeed(self, text: str, *words: str, **how: Any) -> Done:
        done = self.execute(self.script(text), *words, **how)
        self.assertEqual(done.code, 0, done.err)
        for ring in done.rings():
            self.assertNotEqual(ring.state, layout.STATE_OFF, [ring.texts])
        return done


def make_control(run: Path) -> Path:
    path = run / "control"
    header = (layout.CONTROL_MAGIC, layout.VERSION, layout.CONTROL_HEADER_BYTES, layout.SLOT_BYTES, layout.SLOTS, 0, 1)
    data = bytearray(layout.CONTROL_BYTES)
    layout.CONTROL_HEADER.pack_into(data, 0, *header)
    path.write_bytes(data)
    return path


def post(path: Path, command: int, argument: int = 0, text: str = "", at_step: int = -1) -> int:
    """Posts a command as the launcher does: the slot first, then the sequence."""
    with path.open("r+b") as file:
        data = file.read()
        sequence = int(struct.unpack_from("<Q", data, 24)[0]) + 1
        file.seek(layout.CONTROL_HEADER_BYTES + ((sequence - 1) % layout.SLOTS) * layout.SLOT_BYTES)
        file.write(layout.SLOT.pack(sequence, command, 0, at_step, argument, 1, text.encode()))
        file.flush()
        file.seek(24)
        file.write(struct.pack("<Q", sequence))
    return sequence


def traces(done: Done) -> Iterator[dict[str, Any]]:
    for path in done.files("*/*.pt.trace.json.gz"):
        yield json.loads(gzip.decompress(path.read_bytes()))


def patched(text: str, edit: dict[str, Any]) -> str:
    """The script with an edit and those that belong to it, made as the patch makes them."""
    lines: list[str] = text.splitlines()
    edits = [edit, *edit.get("more", [])]
    for one in sorted(edits, key=lambda one: (one["line"], one["kind"] != "before"), reverse=True):
        at, last = one["line"] - 1, one.get("last", one["line"])
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        own = {"before": lines[at:last], "with": ["    " + line for line in lines[at:last]], "replace": []}[one["kind"]]
        lines[at:last] = [*(indent + line for line in one["lines"]), *own]
    imports = dict.fromkeys(line for one in edits for line in one.get("imports", []))
    return "\n".join([*imports, *lines]) + "\n"
