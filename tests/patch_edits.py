# SPDX-License-Identifier: Apache-2.0
"""Random edits of scripts for tests/patch_test.py, and what Python's syntax tree says must come of them."""

from __future__ import annotations

import ast
import copy
import random
from typing import Any, Callable, Optional

Change = dict[str, Any]
# Looks at the tree of the edited script, or none if the edit was left out. Raises where it is not what was asked for.
Check = Callable[[Optional[ast.Module]], None]


def same(a: ast.AST, b: ast.AST) -> bool:
    return ast.dump(a) == ast.dump(b)


class Removal(ast.NodeTransformer):
    """Takes the marks out of a tree again: what is left must be the tree from before."""

    def __init__(self, line: str = "marked()") -> None:
        self.found = 0
        self.line = ast.parse(line, mode="eval").body

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
            if isinstance(statement, ast.Expr) and same(statement.value, self.line):
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
            func = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            line = func.end_lineno if isinstance(func, ast.Attribute) else func.lineno
            if func is not node.func and not name[:1].isupper():
                continue  # `fs[i](x)` calls something else than `fs`
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


# --- edits whose result is known to the last node


def with_keyword(node: ast.Call, name: str, key: str) -> bool:
    """Sets a keyword of the call as the patch must. False: it cannot."""
    value = ast.parse("41 + 1", mode="eval").body
    for keyword in node.keywords:
        if keyword.arg == key:
            keyword.value = value
            return True
    starred = next((i for i, arg in enumerate(node.args) if isinstance(arg, ast.Starred)), len(node.args))
    positional = (
        ["dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers"] if name == "DataLoader" else []
    )
    if key in positional:
        if positional.index(key) < starred:
            node.args[positional.index(key)] = value
            return True
        if starred < len(node.args):
            return False
    mappings = [keyword for keyword in node.keywords if keyword.arg is None]
    if len(mappings) == 1:
        mappings[0].value = ast.Dict([None, ast.Constant(key)], [mappings[0].value, value])
    elif not mappings:
        node.keywords.append(ast.keyword(key, value))
    return len(mappings) < 2


def value_edit(rng: random.Random, tree: ast.Module) -> tuple[Change, Check] | None:
    """A keyword that the call may have already, by name, by position or in a mapping."""
    expected = copy.deepcopy(tree)
    calls = calls_of(expected)
    if not calls:
        return None
    name, line, node = rng.choice(calls)
    key = rng.choice(["lr", "key", "num_workers", "batch_size", "a", "b"])
    possible = with_keyword(node, name, key)

    def check(after: ast.Module | None) -> None:
        assert after is None or (possible and same(after, expected)), (
            f"not what {name} of line {line} with {key} should be"
        )

    return {"kind": "keywords", "line": line, "call": name, "set": {key: "41 + 1"}}, check


def walk(node: ast.AST, skipped: tuple[type[ast.AST], ...]) -> list[ast.AST]:
    found = [node]
    for child in ast.iter_child_nodes(node):
        found += [] if isinstance(child, skipped) else walk(child, skipped)
    return found


def sets(node: ast.AST, line: str) -> int:
    """Returns how many times this node, without those below it, sets what the line sets."""
    if "(" in line:
        return int(isinstance(node, ast.Call) and ast.unparse(node.func).endswith("set_num_threads"))
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value):
        targets = [node.target]
    return sum(ast.unparse(part).endswith("cudnn.benchmark") for t in targets for part in ast.walk(t)
               if isinstance(part, ast.Attribute))  # fmt: skip


def is_exactly(node: ast.stmt, line: str) -> bool:
    if isinstance(node, ast.Expr):
        return sets(node.value, line) == 1 and isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return sets(node, line) == 1 and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute)
    return isinstance(node, ast.AnnAssign) and sets(node, line) == 1


class Replacement(ast.NodeTransformer):
    def __init__(self, line: str) -> None:
        self.line = line

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.stmt) and is_exactly(node, self.line):
            return ast.parse(self.line).body[0]
        return self.generic_visit(node)


def without_import(after: ast.AST, tree: ast.AST) -> bool:
    """Returns True if the tree is as it was, but for one more `import torch` at the top level."""
    if same(after, tree):
        return True
    assert isinstance(after, ast.Module)
    for i, statement in enumerate(after.body):
        rest = ast.Module(after.body[:i] + after.body[i + 1 :], after.type_ignores)
        if ast.unparse(statement) == "import torch" and same(rest, tree):
            return True
    return False


BRANCHES: tuple[type[ast.AST], ...] = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.ClassDef)
if hasattr(ast, "Match"):
    BRANCHES += (getattr(ast, "Match"),)  # noqa: B009  (Python 3.9 has none)


def may_not_run(tree: ast.AST, line: str) -> bool:
    """Returns True if the statement that sets the same as the line stands in a branch, a loop, a handler or a class."""
    for node in ast.walk(tree):
        is_main = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
        if not isinstance(node, BRANCHES) or is_main:
            continue
        if any(isinstance(inner, ast.stmt) and is_exactly(inner, line) for inner in walk(node, (ast.Lambda,))):
            return True
    return False


def setting_edit(rng: random.Random, tree: ast.Module) -> tuple[Change, Check]:
    line = rng.choice(["torch.set_num_threads(4)", "torch.backends.cudnn.benchmark = True"])
    nodes = walk(tree, (ast.Lambda, ast.JoinedStr))
    count = sum(sets(node, line) for node in nodes)
    exact = sum(is_exactly(node, line) for node in nodes if isinstance(node, ast.stmt))
    expected = Replacement(line).visit(copy.deepcopy(tree)) if exact else tree

    def check(after: ast.Module | None) -> None:
        if after is None:
            return
        assert count == exact and count < 2, "a statement that does more than set it, or another one, is left"
        if count == 0 or may_not_run(tree, line):
            where = [i for i, statement in enumerate(after.body) if ast.unparse(statement) == line]
            assert len(where) == 1, "the line is not there once"
            assert has_run(after.body[: where[0]]), "nothing has imported torch"
            after.body.pop(where[0])
        assert without_import(after, expected), "something else changed"

    return {"kind": "after_imports", "line": 0, "lines": [line], "imports": ["import torch"]}, check


def has_run(statements: list[ast.stmt], bound: bool = False) -> bool:
    """Returns True if `torch` is known behind these statements, however they went."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            bound = bound or any(a.name.split(".")[0] == "torch" and not a.asname for a in statement.names)
        elif isinstance(statement, ast.Try):
            bound = has_run(statement.body, bound)
        elif isinstance(statement, ast.If):
            bound = has_run(statement.body, bound) and has_run(statement.orelse, bound)
        elif isinstance(statement, ast.Delete):
            bound = bound and "torch" not in [ast.unparse(target) for target in statement.targets]
    return bound


def import_edit(rng: random.Random, tree: ast.Module, lines: int) -> tuple[Change, Check]:
    """A line that uses torch, before or behind any statement."""

    def check(after: ast.Module | None) -> None:
        if after is None:
            return
        outer = [i for i, s in enumerate(after.body) if "torch.marked()" in ast.unparse(s)]
        assert len(outer) == 1, "the line is not there once"
        assert has_run(after.body[: outer[0]]), "nothing has imported torch before it is used"
        left = Removal("torch.marked()").visit(after)
        assert without_import(left, tree), "something else changed"

    kind = rng.choice(["before", "after"])
    return {
        "kind": kind,
        "line": rng.randint(1, max(1, lines)),
        "lines": ["torch.marked()"],
        "imports": ["import torch"],
    }, check


def exact_edit(rng: random.Random, tree: ast.Module, lines: int) -> tuple[Change, Check] | None:
    kind = rng.randint(0, 2)
    if kind == 0:
        return value_edit(rng, tree)
    return setting_edit(rng, tree) if kind == 1 else import_edit(rng, tree, lines)
