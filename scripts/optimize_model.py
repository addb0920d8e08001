#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a training command faster, with proof, and writes its configuration with the fixes that do it.

The model configuration is the training's own YAML file. Its key `command` says how the training is started, a line or a list, where
`{config}` stands for the file; or the command comes after `--`. The output is that file, comments and all, with a recipe at its end:
`gapless run --recipe optimized_config.yaml -- COMMAND` trains with the fixes. An output that ends in .json is the recipe alone.

The exit status is that of `gapless optimize`: 0 when a fix was kept, 1 when none was; then the recipe has no fixes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import beside  # noqa: F401 -- finds what follows
from gapless.program import ProgramError, find_program

MARK = "# What follows is gapless's: a recipe, for `gapless run --recipe` with this file."
EMPTY: dict[str, Any] = {"format": "gapless.recipe", "schema": 1, "command": [], "fixes": []}
WRONG_USE = 2


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bottlenecks", metavar="REPORT", help="of gapless analyze --json (otherwise it is profiled)")
    parser.add_argument("--model-config", type=Path, metavar="FILE", help="the training's configuration, YAML")
    parser.add_argument("--output", type=Path, default=Path("optimized_config.yaml"), metavar="FILE")
    parser.add_argument("--folder", default="optimized", metavar="DIR", help="for the report and the patch (optimized)")
    parser.add_argument(
        "--optimize", action="append", default=[], metavar="OPTION", help="for gapless optimize: --optimize=--budget=5m"
    )
    parser.add_argument("command", nargs="*", metavar="-- COMMAND")
    return parser.parse_args()


def command_of(given: argparse.Namespace, text: str) -> list[str]:
    """What is to be optimised, with the configuration's path in its place."""
    words = given.command or (words_of(text, given.model_config) if given.model_config else [])
    if not words:
        raise ValueError("no command: give it after `--`, or as `command` in the model configuration")
    return [word.replace("{config}", str(given.model_config)) if given.model_config else word for word in words]


def words_of(text: str, path: Path) -> list[str]:
    try:
        import yaml
    except ImportError:
        raise ValueError(f"reading {path} needs PyYAML: pip install pyyaml, or give the command after `--`") from None
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from None
    command = found.get("command") if isinstance(found, dict) else None
    if isinstance(command, str):
        return shlex.split(command)
    return [str(word) for word in command] if isinstance(command, list) else []


def optimized(options: list[str], command: list[str]) -> str | None:
    """The path of the recipe; None where nothing was kept. What the program says goes where it always goes: it takes its time."""
    program = find_program()
    if program is None:
        raise ProgramError("the program gapless is not on the PATH: set GAPLESS_PROGRAM to its path")
    with tempfile.TemporaryDirectory(prefix="gapless-") as folder:
        answer = Path(folder) / "answer.json"
        done = subprocess.run([program, "optimize", *options, f"--json={answer}", "--", *command], check=False)
        if done.returncode not in (0, 1) or not answer.exists():
            raise ProgramError(f"gapless optimize ended with {done.returncode}", done.returncode or 3)
        recipe: str | None = json.loads(answer.read_text(encoding="utf-8")).get("recipe")
        return recipe


def joined(text: str, recipe: dict[str, Any]) -> str:
    """The configuration with the recipe behind it. A `command` of one line becomes the recipe's: there it is a list."""
    text = text.partition(MARK)[0].rstrip()
    keys = dict(recipe)
    command = json.dumps(keys["command"], ensure_ascii=False)
    text, replaced = re.subn(r"(?m)^command:[ \t]*[^\s\[|>#&*].*$", lambda _: f"command: {command}", text, count=1)
    if replaced or re.search(r"(?m)^command:", text):
        del keys["command"]
    taken = [name for name in keys if re.search(rf"(?m)^{re.escape(name)}:", text)]
    if taken:
        raise ValueError(
            f"the model configuration has keys that a recipe has, too: {', '.join(taken)}; use --output FILE.json"
        )
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in keys.items()]
    return "\n".join([*([text, ""] if text else []), MARK, *lines]) + "\n"


def write(path: Path, text: str) -> None:
    """At once: who reads the file sees all of it or none."""
    beside_it = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside_it.write_text(text, encoding="utf-8")
        beside_it.replace(path)
    finally:
        beside_it.unlink(missing_ok=True)


def main() -> int:
    given = arguments()
    text = given.model_config.read_text(encoding="utf-8") if given.model_config else ""
    command = command_of(given, text)
    options = ["--output", given.folder, *given.optimize]
    if given.bottlenecks:
        options += ["--bottlenecks", given.bottlenecks]
    path = optimized(options, command)
    recipe = json.loads(Path(path).read_text(encoding="utf-8")) if path else {**EMPTY, "command": command}
    if given.output.suffix == ".json":
        write(given.output, json.dumps(recipe, indent=2, ensure_ascii=False) + "\n")
    else:
        write(given.output, joined(text, recipe))
    kept = ", ".join(one["item"] for one in recipe["fixes"])
    print(f"{given.output}: {kept or 'nothing is significantly faster'}")
    return 0 if kept else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"optimize_model: {error}", file=sys.stderr)
        sys.exit(WRONG_USE)
    except ProgramError as error:
        print(f"optimize_model: {error}", file=sys.stderr)
        sys.exit(error.status)
    except KeyboardInterrupt:
        sys.exit(130)
