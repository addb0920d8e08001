# SPDX-License-Identifier: Apache-2.0
"""Writes random scripts for tests/patch_test.py: legal Python, as ugly as can be, with whatever a parser may misread."""

from __future__ import annotations

import random
from typing import Callable


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
            lambda: f"({self.lambda_(depth + 1)})",
            lambda: f"({self.value(depth + 1)}{self.gap()}if x == 1 else{self.gap()}2)",
        ]
        return r.choice(forms)()

    def lambda_(self, depth: int) -> str:
        parameters = self.rng.choice(["a, b", "a, *b", "a, lr=1", "a, *, key=x, **k", "*a, **k", "a, b=(1, 2), /"])
        return f"lambda {parameters}: {self.value(depth + 1)}"

    def mappings(self) -> list[str]:
        """Arguments behind two stars: mostly none, mostly a name."""
        forms = [[], [], [], ["**x"], ["**x or {}"], ["**x if x else {}"], ["**x['a'](1)"], ["**x", "**{}"]]
        return self.rng.choice(forms)

    def gap(self) -> str:
        return self.rng.choice(["", " ", " ", "\n", "\n      ", "  # note, (\n   "]) or " "

    def call(self, depth: int = 0) -> str:
        r = self.rng
        name = r.choice(["f", "DataLoader", "a.b.DataLoader", "Adam", "zero_grad", "(f)", "DataLoader[int]", "match"])
        parts = [self.lambda_(depth) if r.random() < 0.1 else self.value(depth + 1) for _ in range(r.randint(0, 2))]
        if r.random() < 0.2:
            parts.append(r.choice(["*x", "*x", "*x or ()", "*f(x)", "*a.b.f(x)"]))
        names = ["num_workers", "lr", "key"]
        r.shuffle(names)
        for key in names[: r.randint(0, 2)]:
            value = self.lambda_(depth) if r.random() < 0.1 else self.value(depth + 1)
            parts.append(f"{key}{r.choice(['=', ' = '])}{value}")
        parts += self.mappings()
        if not parts and r.random() < 0.5:
            return f"{name}({r.choice(['i for i in x', 'i for i, j in x', '(i, j) for i, j in x if (i, j)'])})"
        text = (("," + self.gap()).join(parts)) if parts else ""
        if parts and r.random() < 0.4:
            text += ","
        return f"{name}({r.choice(['', self.gap()])}{text}{r.choice(['', self.gap(), self.gap()])})"

    def statement(self, indent: str, depth: int) -> list[str]:
        r, inner = self.rng, indent + self.unit

        def block() -> list[str]:
            return self.block(inner, depth + 1)

        if depth < 3 and r.random() < 0.4:
            kind = r.randint(0, 8)
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
            if kind == 6:
                guard = r.choice(["if TYPE_CHECKING", "if x", "def h()", "try"])
                out = [f"{indent}{guard}:", f"{inner}import torch"]
                out += [f"{indent}except ImportError: pass"] if guard == "try" else []
                either = guard == "if x" and r.random() < 0.6
                return out + ([f"{indent}else:", f"{inner}{r.choice(['import torch', 'pass'])}"] if either else [])
            return [
                f"{indent}match x:",
                f"{inner}case {r.choice(['1', 'f(key=1)', 'DataLoader(lr=x)'])}:",
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
            lambda: r.choice(
                ["match: int = 1", "match = lambda: 1", "match(x)[1:2]", "type = 1", "match, case = 1, x"]
            ),
            lambda: r.choice(["case = lambda: 1", "case: int = 1", "case = 1; f(x)", "case(x)[1:2]", "type(x)"]),
            lambda: r.choice(["import os; import torch", "f(x); f(1);", "import re; from a import DataLoader as DL"]),
            lambda: r.choice(["for i in x: f(i); f(x)", "while x: f(x)", "class D: y = f(x)", "with f(x): y = 1"]),
            lambda: r.choice(["if x: import torch", f"if x: f(1)\n{indent}else: f(x)", "def h(): return f(x)"]),
            lambda: f"try: from a import f as g\n{indent}except ImportError: pass",
            self.setting,
        ]
        return [indent + r.choice(forms)()]

    def setting(self) -> str:
        r, call, flag = self.rng, "torch.set_num_threads(1)", "torch.backends.cudnn.benchmark"
        if r.random() < 0.5:
            return r.choice([f"{flag} = x = 1", f"x = {flag} = 1", f"{flag} = a, b = x", f"{flag}, x = 1, 2", f"(y, [*{flag}]), x = x", f"{flag} = 1",
                             f"{flag}: bool = x", f"{flag}: bool", f"{flag} |= x", f"x = {flag}", f"x = 1; {flag} = x"])  # fmt: skip
        return r.choice([call, f"({call})", f"{call}; f(x)", f"{call}, f(x)", f"{call} or f(x)", f"{call} if x else f(1)",
                         f"{call}.x()", f"if x: {call}", "torch. \\\n  set_num_threads(1)", f"x = lambda: {call}"])  # fmt: skip

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
        docstrings = [
            '"""What it does."""',
            '"""What it does."""',
            "('d')",
            "'d'; x = 1",
            "'d'; from __future__ import division",
        ]
        lines += [r.choice(docstrings)] if r.random() < 0.3 else []
        lines += ["from __future__ import annotations"] if r.random() < 0.3 else []
        text = "\n".join(lines + self.block("", 0)) + r.choice(["\n", "\n", "", "\n\n# end\n"])
        data = text.replace("\n", self.end).encode()
        return b"\xef\xbb\xbf" + data if r.random() < 0.1 else data
