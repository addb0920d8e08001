# SPDX-License-Identifier: Apache-2.0
"""Makes a training command faster, with proof, and writes its configuration with the fixes that do it.

  auto_optimizer.py --bottlenecks bottleneck_report.json --model-config config/model.yaml --output optimized_config.yaml

The model configuration is the training's own file, YAML or JSON. It names how the training is started by one of these keys:
  command: python train.py --config {config}     a line or a list; {config} stands for the file
  script: train.py                                a Python file, with args (a line or a list)
  model: package.module:function                  a model, with dataset: package.module:function; gapless trains it, by batch_size,
                                                  num_workers, precision, compile and more (model_run.py --help)
Without one of them the command comes after `--`, or from the report of bottleneck_analyzer.py.

The output is the configuration, comments and all, with a recipe at its end: `gapless run --recipe optimized_config.yaml -- COMMAND`
trains with the fixes. An output that ends in .json is the recipe alone. Exit status: that of `gapless optimize`: 0 if a fix was kept, 1 if
none was (then the recipe has no fixes); 2 for wrong use.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if not __package__:  # started as a file: the folder of the package takes the place of this one in the path
    import pathlib

    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2])

from gapless.auto import AutoOptimizer, OptimizationResult
from gapless.bottlenecks import Bottleneck
from gapless.command_line import INTERRUPTED, WRONG_USE, parser_of, write
from gapless.model_config import command_of, parse, with_config
from gapless.program import NO_PROGRAM, ProgramError, find_program

__all__ = ["AutoOptimizer", "OptimizationResult"]
NAME = "auto_optimizer"
MARK = "# What follows is gapless's: a recipe, for `gapless run --recipe` with this file."
EMPTY: dict[str, Any] = {"format": "gapless.recipe", "schema": 1, "command": [], "fixes": []}


def arguments(words: Sequence[str] | None, name: str) -> argparse.Namespace:
    parser = parser_of(name, __doc__ or "")
    parser.add_argument(
        "--bottlenecks",
        metavar="REPORT",
        help="of bottleneck_analyzer.py or gapless analyze --json (otherwise it is profiled)",
    )
    parser.add_argument("--model-config", type=Path, metavar="FILE", help="the training's configuration, YAML or JSON")
    parser.add_argument("--output", type=Path, default=Path("optimized_config.yaml"), metavar="FILE")
    parser.add_argument("--folder", default="optimized", metavar="DIR", help="for the report and the patch (optimized)")
    parser.add_argument("--budget", metavar="TIME", help="begin no trial after this time: 90s, 10m, 2h")
    parser.add_argument(
        "--optimize", action="append", default=[], metavar="OPTION", help="for gapless optimize: --optimize=--pairs=8"
    )
    parser.add_argument("command", nargs="*", metavar="-- COMMAND")
    return parser.parse_args(words)


def wanted_command(given: argparse.Namespace, text: str, report: dict[str, Any]) -> list[str]:
    """Returns the command to optimise, with the configuration's path in its place."""
    words: list[str] = list(given.command)
    if not words and given.model_config:
        words = command_of(parse(text.partition(MARK)[0], given.model_config))
    words = words or [str(word) for word in report.get("command") or []]
    if not words:
        raise ValueError(
            "no command: give it after `--`, or as `command`, `script` or `model` in the model configuration"
        )
    return with_config(words, given.model_config)


def read_report(path: str | None) -> dict[str, Any]:
    """Returns a report of bottlenecks, in the form that the program reads; a list of bottlenecks is one, too."""
    if path is None:
        return {}
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    entries = found.get("bottlenecks") if isinstance(found, dict) else found
    if not isinstance(entries, list):
        raise ValueError(  # noqa: TRY004 -- the file, not a type
            f"cannot use {path}: there are no bottlenecks in it; make it with bottleneck_analyzer.py --profile DIR"
        )
    if isinstance(found, dict) and "gapless" in found:
        return found
    command = found.get("command") if isinstance(found, dict) else None
    return {"gapless": {}, "bottlenecks": [Bottleneck.of(entry).to_program() for entry in entries], "command": command}


def optimized(options: list[str], command: list[str], report: dict[str, Any], given_report: str | None) -> str | None:
    """Returns the path of the recipe; None where nothing was kept. The program's output goes where it always goes: it takes its time."""
    program = find_program()
    if program is None:
        raise ProgramError(NO_PROGRAM)
    with tempfile.TemporaryDirectory(prefix="gapless-") as folder:
        answer = Path(folder) / "answer.json"
        if report and not given_report:  # one that the program would not read as it is
            given_report = str(Path(folder) / "report.json")
            Path(given_report).write_text(json.dumps(report), encoding="utf-8")
        options = [*options, "--bottlenecks", given_report] if given_report else options
        done = subprocess.run([program, "optimize", *options, f"--json={answer}", "--", *command], check=False)
        if done.returncode not in (0, 1) or not answer.exists():
            raise ProgramError(f"gapless optimize ended with {done.returncode}", done.returncode or 3)
        recipe: str | None = json.loads(answer.read_text(encoding="utf-8")).get("recipe")
        return recipe


def joined(text: str, recipe: dict[str, Any]) -> str:
    """Returns the configuration with the recipe behind it. A `command` of one line becomes the recipe's: there it is a list."""
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


def work(given: argparse.Namespace) -> int:
    text = given.model_config.read_text(encoding="utf-8") if given.model_config else ""
    report = read_report(given.bottlenecks)
    command = wanted_command(given, text, report)
    budget = [f"--budget={given.budget}"] if given.budget else []
    as_it_is = given.bottlenecks if report.get("gapless") else None
    path = optimized(["--output", given.folder, *budget, *given.optimize], command, report, as_it_is)
    recipe = json.loads(Path(path).read_text(encoding="utf-8")) if path else {**EMPTY, "command": command}
    if given.output.suffix == ".json":
        write(given.output, json.dumps(recipe, indent=2, ensure_ascii=False) + "\n")
    else:
        write(given.output, joined(text, recipe))
    kept = ", ".join(fix["item"] for fix in recipe["fixes"])
    print(f"{given.output}: {kept or 'nothing is significantly faster'}")
    return 0 if kept else 1


def main(words: Sequence[str] | None = None, name: str = NAME) -> int:
    """Runs the command line; returns the exit status."""
    try:
        return work(arguments(words, name))
    except ProgramError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.status
    except (OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
