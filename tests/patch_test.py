#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Patches of what fixes changed, for scripts written by hand, random ones and Python's own library.

Every diff must apply with `patch -p1` and with `git apply`, to the same bytes; what comes of it must be Python, and differ from the
script in what was asked for and nothing else: that is looked up in the syntax tree.

usage: patch_test.py PROBE [--seed N] [--random N] [--library N]
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
from typing import Any, Callable

warnings.simplefilter("ignore")
Change = dict[str, Any]


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
    """What `patch` does, without starting it: for many scripts."""
    old, at = lines_of(text), 0
    new: list[bytes] = []
    lines = lines_of(diff)[2:]
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


def same(a: ast.AST, b: ast.AST) -> bool:
    return ast.dump(a) == ast.dump(b)


class Removal(ast.NodeTransformer):
    """Takes the marks out of a tree again: what is left must be the tree from before."""

    def __init__(self) -> None:
        self.found = 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        kept = []
        for keyword in node.keywords:
            if keyword.arg == "marked_key":
                self.found += 1
                continue
            if (
                keyword.arg is None
                and isinstance(keyword.value, ast.Dict)
                and keyword.value.keys
                and keyword.value.keys[0] is None
            ):
                last = keyword.value.keys[-1]
                if isinstance(last, ast.Constant) and last.value == "marked_key":
                    self.found += 1
                    keyword.value = keyword.value.values[0]
            kept.append(keyword)
        node.keywords = kept
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self.without(block))
        return node

    def without(self, block: list[ast.stmt]) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for statement in block:
            if isinstance(statement, ast.Expr) and same(statement.value, ast.parse("marked()", mode="eval").body):
                self.found += 1
            elif isinstance(statement, ast.With) and "marked_block" in ast.dump(statement.items[0]):
                self.found += 1
                kept += statement.body
            elif isinstance(statement, ast.Import) and statement.names[0].name == "marked_module":
                self.found += 1
            else:
                kept.append(statement)
        return kept


# --- random places of a script


def calls_of(tree: ast.AST) -> list[tuple[str, int, ast.Call]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for inner in ast.walk(node):
                inner.in_string = True  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and not hasattr(node, "in_string"):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            line = node.func.end_lineno if isinstance(node.func, ast.Attribute) else node.lineno
            if name and line and not any(k.arg == "marked_key" for k in node.keywords):
                found.append((name, line, node))
    return found


def replacement(rng: random.Random, tree: ast.Module) -> Change | None:
    """One to three statements of a block become the same, written in another way, and one more."""
    blocks = [block for node in ast.walk(tree) for _, block in ast.iter_fields(node)
              if isinstance(block, list) and block and isinstance(block[0], ast.stmt)]  # fmt: skip
    if not blocks:
        return None
    block = rng.choice(blocks)
    first = rng.randrange(len(block))
    statements = block[first : first + rng.randint(1, 3)]
    lines = ["marked()", *(line for statement in statements for line in ast.unparse(statement).splitlines())]
    if any('"""' in line or "'''" in line or not line.isprintable() for line in lines):
        return None  # strings whose lines are not lines of code
    decorators = getattr(statements[0], "decorator_list", [])
    line = min([statements[0].lineno, *(decorator.lineno for decorator in decorators)])
    return {"kind": "replace", "line": line, "last": statements[-1].end_lineno, "lines": lines}


def random_edit(rng: random.Random, tree: ast.Module, lines: int) -> tuple[Change, str]:
    kind = rng.choice(["keywords", "before", "after", "with", "after_imports", "replace"])
    calls = calls_of(tree)
    if kind == "keywords" and calls:
        name, line, _ = rng.choice(calls)
        return {"kind": kind, "line": line, "call": name, "set": {"marked_key": "41 + 1"}}, kind
    if kind == "after_imports" or kind == "keywords":
        return {
            "kind": "after_imports",
            "line": 0,
            "lines": ["marked()"],
            "imports": ["import marked_module"],
        }, "after_imports"
    if kind == "replace":
        return replacement(rng, tree) or {"kind": "before", "line": 1, "lines": ["marked()"]}, kind
    text = ["with marked_block():"] if kind == "with" else ["marked()"]
    return {"kind": kind, "line": rng.randint(1, max(1, lines)), "lines": text}, kind


def try_one(probe: Probe, rng: random.Random, text: bytes, about: str, apply: bool) -> tuple[int, int]:
    """One to three random edits; gives how many were made and how many left out."""
    tree = ast.parse(text)
    edits = [random_edit(rng, tree, text.count(b"\n") + 1) for _ in range(rng.randint(1, 3))]
    changes = [change(edit) for edit, _ in edits]
    after, answer = patched(probe, text, changes, apply=apply)
    assert not any("do not fit together" in why for why in answer["left_out"]), (about, edits, answer["left_out"])
    assert not any("does not" in why or "too deep" in why or "not fit" in why for why in answer["left_out"]), (
        about,
        answer["left_out"],
    )
    removal = Removal()
    left = removal.visit(ast.parse(after))
    what = f"{about} {[e for e, _ in edits]}"
    assert same(left, ast.parse(text)), f"{what}: something else changed\n{answer['diff'].decode(errors='replace')}"
    if not answer["left_out"]:
        assert removal.found >= 1, f"{what}: nothing was done"
    return removal.found, len(answer["left_out"])


# --- scripts at random


class Writer:
    """Writes scripts that are legal and ugly."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.unit = rng.choice(["    ", "  ", "\t", "        "])
        self.end = rng.choice(["\n", "\n", "\r\n"])

    def string(self) -> str:
        return self.rng.choice(
            [
                '"a#b("',
                "'it\\'s)'",
                'r"\\\\"',
                "b'\\x00'",
                '"""three\n lines) # no\n"""',
                "f'{1 + 1:>{3}}'",
                "f\"{'q'}(\"",
                "'é'",
                "rf'{{{0}'",
                '""',
                "'''\n'''",
                "f'{1!r:}'",
            ]
        )

    def value(self, depth: int = 0) -> str:
        r = self.rng
        if depth > 3:
            return r.choice(["1", "x", self.string()])
        forms: list[Callable[[], str]] = [
            lambda: str(r.randint(0, 9)),
            lambda: "x",
            self.string,
            lambda: f"[{self.value(depth + 1)},{self.gap()}{self.value(depth + 1)}]",
            lambda: f"{{{self.value(depth + 1)}: {self.value(depth + 1)}}}",
            lambda: f"(lambda a=1: {self.value(depth + 1)})",
            lambda: self.call(depth + 1),
            lambda: f"x[{self.value(depth + 1)}:]",
            lambda: f"({self.value(depth + 1)}{self.gap()}if x == 1 else{self.gap()}2)",
        ]
        return r.choice(forms)()

    def gap(self) -> str:
        return self.rng.choice(["", " ", " ", "\n", "\n      ", "  # note, (\n   "]) or " "

    def call(self, depth: int = 0) -> str:
        r = self.rng
        name = r.choice(["f", "DataLoader", "a.b.DataLoader", "Adam", "zero_grad"])
        parts = [self.value(depth + 1) for _ in range(r.randint(0, 2))]
        if r.random() < 0.2:
            parts.append("*x")
        names = ["num_workers", "lr", "key"]
        r.shuffle(names)
        parts += [f"{n}{r.choice(['=', ' = '])}{self.value(depth + 1)}" for n in names[: r.randint(0, 2)]]
        if r.random() < 0.2:
            parts.append("**x")
        if not parts and r.random() < 0.5:
            return f"{name}(i for i in x)"
        text = (("," + self.gap()).join(parts)) if parts else ""
        if parts and r.random() < 0.4:
            text += ","
        return f"{name}({r.choice(['', self.gap()])}{text}{r.choice(['', self.gap(), self.gap()])})"

    def statement(self, indent: str, depth: int) -> list[str]:
        r, inner = self.rng, indent + self.unit

        def block() -> list[str]:
            return self.block(inner, depth + 1)

        if depth < 3 and r.random() < 0.4:
            kind = r.randint(0, 6)
            if kind == 0:
                out = [f"{indent}if {self.value(2)}:", *block()]
                out += [f"{indent}elif x:", *block()] if r.random() < 0.4 else []
                return out + ([f"{indent}else:  # other", *block()] if r.random() < 0.4 else [])
            if kind == 1:
                return [f"{indent}for i in {self.call()}:", *block()]
            if kind == 2:
                return [
                    f"{indent}try:",
                    *block(),
                    f"{indent}except ValueError:",
                    *block(),
                    f"{indent}finally:",
                    *block(),
                ]
            if kind == 3:
                return [
                    f"{indent}@decorate",
                    f"{indent}@other({self.string()})",
                    f"{indent}def g(a, b={self.value(2)}):",
                    *block(),
                ]
            if kind == 4:
                return [f"{indent}with {self.call()} as y:", *block()]
            if kind == 5:
                return [f"{indent}class C(f(x)):", *block()]
            return [
                f"{indent}match x:",
                f"{inner}case 1:",
                *self.block(inner + self.unit, depth + 1),
                f"{inner}case _: pass",
            ]
        forms: list[Callable[[], str]] = [
            lambda: f"x = {self.value()}",
            lambda: self.call(),
            lambda: f"x = 1 + \\\n{self.value(2)}",
            lambda: f"x: int = {self.call()}  # why",
            lambda: f"x = 1; y = {self.call()}",
            lambda: f"if x: y = {self.call()}",
            lambda: "pass",
            lambda: "raise ValueError",
            lambda: f"import torch{r.choice(['', '.nn', ' as t', ', os'])}",
            lambda: "from a import (b,\n  DataLoader as DL)",
            lambda: f"x = DL({self.value()})",
        ]
        return [indent + r.choice(forms)()]

    def block(self, indent: str, depth: int) -> list[str]:
        out = []
        for _ in range(self.rng.randint(1, 4)):
            if self.rng.random() < 0.15:
                out.append(self.rng.choice(["", "# note", indent + "# note: (", "   "]))
            out += self.statement(indent, depth)
        return out

    def script(self) -> bytes:
        r = self.rng
        lines = ["#!/usr/bin/env python3"] if r.random() < 0.2 else []
        lines += ['"""What it does."""'] if r.random() < 0.3 else []
        lines += ["from __future__ import annotations"] if r.random() < 0.3 else []
        text = "\n".join(lines + self.block("", 0)) + r.choice(["\n", "\n", "", "\n\n# end\n"])
        data = text.replace("\n", self.end).encode()
        return b"\xef\xbb\xbf" + data if r.random() < 0.1 else data


def random_scripts(probe: Probe, seed: int, count: int) -> str:
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
            ast.parse(text)
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
    parser.add_argument("--library", type=int, default=300)
    given = parser.parse_args()
    probe = Probe(given.probe)
    print(random_scripts(probe, given.seed, given.random))
    print(library(probe, given.seed, given.library))
    return 0


if __name__ == "__main__":
    sys.exit(main())
