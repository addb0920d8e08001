#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Patches of what fixes changed, for scripts written by hand, random ones and Python's own library.

Every diff must apply with `patch -p1` and with `git apply`, to the same bytes; what comes of it must be Python, and differ from the
script in what was asked for and nothing else: that is looked up in the syntax tree.

usage: patch_test.py PROBE [--seed N] [--random N] [--exact N] [--library N]
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path
from typing import Any

from patch_edits import Change, Removal, exact_edit, random_edit, same
from patch_scripts import Writer

warnings.simplefilter("ignore")


class Probe:
    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, folder: Path, changes: list[Change]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"folder": str(folder), "changes": changes}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        answer["diff"] = bytes.fromhex(answer["diff"])
        return answer


def change(edit: Change, fix: str = "fix") -> Change:
    return {"fix": fix, "what": "changed", "edit": edit}


def applied(text: bytes, diff: bytes, name: str = "train.py") -> bytes:
    """The script after `patch -p1`, which `git apply` must agree with."""
    results = []
    for command in (["patch", "-p1", "--no-backup-if-mismatch", "--fuzz=0"], ["git", "apply", "--whitespace=nowarn"]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            done = subprocess.run(command, cwd=folder, input=diff, capture_output=True, check=False)
            said = (done.stdout + done.stderr).decode(errors="replace")
            assert done.returncode == 0, f"{command[0]}: {said}\n{diff.decode(errors='replace')}"
            assert "offset" not in said and "fuzz" not in said, said
            results.append(path.read_bytes())
    assert results[0] == results[1], "patch and git apply disagree"
    return results[0]


def patched(
    probe: Probe, text: bytes, changes: list[Change], name: str = "train.py", apply: bool = True
) -> tuple[bytes, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        for change in changes:
            change["edit"]["file"] = str(path)
        answer = probe.ask(Path(folder), changes)
        assert path.read_bytes() == text, "the script was written to"
    if not answer["diff"]:
        return text, answer
    return (applied(text, answer["diff"], name) if apply else by_hand(text, answer["diff"])), answer


def by_hand(text: bytes, diff: bytes) -> bytes:
    """Does what `patch` does, without starting it: for many scripts."""
    old, at = lines_of(text), 0
    new: list[bytes] = []
    lines = lines_of(diff)[3:]
    i = 0
    while i < len(lines):
        head = lines[i].split()
        start, count = (int(n) for n in head[1][1:].split(b","))
        begin = start - 1 if count else start
        new += old[at:begin]
        at = begin
        i += 1
        while i < len(lines) and not lines[i].startswith(b"@@ "):
            sign, rest = lines[i][:1], lines[i][1:]
            i += 1
            if i < len(lines) and lines[i].startswith(b"\\ "):
                rest = rest[:-1]
                i += 1
            if sign in b" -":
                assert old[at] == rest, (old[at], rest)
                at += 1
            if sign in b" +":
                new.append(rest)
    return b"".join(new + old[at:])


def lines_of(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [p + b"\n" for p in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def try_one(probe: Probe, rng: random.Random, text: bytes, about: str, apply: bool) -> tuple[int, int]:
    """One to three random edits; gives how many were made and how many left out."""
    tree = ast.parse(text)
    edits = [random_edit(rng, tree, text.count(b"\n") + 1) for _ in range(rng.randint(1, 3))]
    changes = [change(edit) for edit, _ in edits]
    after, answer = patched(probe, text, changes, apply=apply)
    understood(about, answer)
    removal = Removal()
    left = removal.visit(ast.parse(after))
    what = f"{about} {[e for e, _ in edits]}"
    assert same(left, ast.parse(text)), f"{what}: something else changed\n{answer['diff'].decode(errors='replace')}"
    if not answer["left_out"]:
        assert removal.found >= 1, f"{what}: nothing was done"
    return removal.found, len(answer["left_out"])


def understood(about: str, answer: dict[str, Any]) -> None:
    """Legal Python is read, and never made into what is not."""
    wrong = [
        "with this change",
        "can read",
        "old version",
        "cannot hold",
        "does not",
        "too",
        "not fit",
        "no statements",
    ]
    assert not any(word in why for why in answer["left_out"] for word in wrong), (about, answer["left_out"])


def try_exactly(probe: Probe, rng: random.Random, text: bytes, about: str) -> tuple[int, int]:
    """One edit whose result is known."""
    tree = ast.parse(text)
    made = exact_edit(rng, tree, text.count(b"\n") + 1)
    if made is None:
        return 0, 0
    edit, check = made
    after, answer = patched(probe, text, [change(edit)], apply=False)
    understood(about, answer)
    refused = bool(answer["left_out"])
    assert not refused or after == text, about
    try:
        check(None if refused else ast.parse(after))
    except (AssertionError, SyntaxError) as error:
        raise AssertionError(f"{about} {edit}: {error}\n{answer['diff'].decode(errors='replace')}") from error
    return 1 - refused, int(refused)


def random_scripts(probe: Probe, seed: int, count: int, exact: int) -> str:
    made = left = tried = 0
    for number in range(count):
        rng = random.Random(f"{seed}-{number}")
        text = Writer(rng).script()
        try:
            ast.parse(text)
        except SyntaxError:
            continue  # the writer is not perfect; how many are good is counted
        tried += 1
        done, refused = try_one(probe, rng, text, f"random script {seed}-{number}", apply=number % 20 == 0)
        made, left = made + done, left + refused
        for step in range(exact):
            done, refused = try_exactly(
                probe, random.Random(f"{seed}-{number}-{step}"), text, f"random script {seed}-{number}"
            )
            made, left = made + done, left + refused
    assert tried > count // 2 and made > tried / 2, (tried, made)
    return f"{tried} random scripts, {made} edits, {left} left out"


def library(probe: Probe, seed: int, count: int) -> str:
    """Python's own library, which holds every form there is."""
    files = sorted(p for p in Path(sysconfig.get_path("stdlib")).rglob("*.py") if "site-packages" not in p.parts)
    rng = random.Random(seed)
    made = left = tried = 0
    for path in rng.sample(files, min(count, len(files))):
        text = path.read_bytes()
        try:
            compile(text, path.name, "exec", dont_inherit=True)
            text.decode()
        except (SyntaxError, ValueError):
            continue
        if len(text) > 100_000 or not text.strip():
            continue
        tried += 1
        done, refused = try_one(probe, rng, text, str(path.name), apply=tried % 20 == 0)
        made, left = made + done, left + refused
    assert tried == 0 or made > tried / 2, (tried, made)
    return f"{tried} files of the library, {made} edits, {left} left out"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", type=int, default=600)
    parser.add_argument("--exact", type=int, default=1, help="edits of each random script whose result is known")
    parser.add_argument("--library", type=int, default=300)
    given = parser.parse_args()
    probe = Probe(given.probe)
    print(random_scripts(probe, given.seed, given.random, given.exact))
    print(library(probe, given.seed, given.library))
    return 0


if __name__ == "__main__":
    sys.exit(main())
