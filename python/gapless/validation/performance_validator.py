# SPDX-License-Identifier: Apache-2.0
"""Proves that an optimised configuration is faster and the same training, and writes the report as JSON.

  performance_validator.py --baseline config/model.yaml --optimized optimized_config.yaml --output validation_report.json

The command is that of the baseline's configuration (keys command, script or model, as for auto_optimizer.py), else that of the optimised one,
or it comes after `--`; `{config}` in it stands for the configuration's path. A recipe in the optimised configuration is switched on.
Both run in pairs (`gapless validate`); where nothing differs, a recipe without fixes for one, nothing is run and the answer says so. The report has speedup, speedup_confidence_interval, p_value, statistically_significant,
memory_saved_gb, verdict, accepted, baseline_metrics, optimized_metrics, and validation: all that the program says. A figure that was
not measured has no key. Exit status: 0 if accepted, 1 if not; 2 for wrong use; 3 for bad input; 4 if the program gapless is missing; 5 if a
command failed.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if not __package__:  # started as a file: the folder of the package takes the place of this one in the path
    import pathlib

    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2])

from gapless.ab_test import ABTestResult, ABTestValidator
from gapless.benchmark import PerformanceBenchmark
from gapless.command_line import parser_of, run, write_json
from gapless.metrics import PerformanceMetrics
from gapless.model_config import PLACE, command_of, read, with_config
from gapless.program import NO_PROGRAM, ProgramError, find_program
from gapless.regression import Regression, RegressionDetector
from gapless.validator import PerformanceValidator, ValidationResult

__all__ = [
    "ABTestResult",
    "ABTestValidator",
    "PerformanceBenchmark",
    "PerformanceMetrics",
    "PerformanceValidator",
    "Regression",
    "RegressionDetector",
    "ValidationResult",
]
NAME = "performance_validator"
RECIPE = ("format", "schema", "command", "fixes")  # keys of a recipe without fixes
COMPARED = ("p_value", "statistically_significant", "memory_saved_gb", "verdict", "accepted", "pairs", "loss")


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(NAME, __doc__ or "")
    parser.add_argument("--baseline", type=Path, required=True, metavar="FILE", help="configuration as it was")
    parser.add_argument("--optimized", type=Path, required=True, metavar="FILE", help="configuration to be proven")
    parser.add_argument("--output", type=Path, default=Path("validation_report.json"), metavar="FILE")
    parser.add_argument(
        "--db", metavar="URL", help="the history: sqlite:FILE or postgresql://… (otherwise the user's own)"
    )
    parser.add_argument(
        "--validate", action="append", default=[], metavar="OPTION", help="for gapless validate: --validate=--pairs=8"
    )
    parser.add_argument("command", nargs="*", metavar="-- COMMAND")
    return parser.parse_args(words)


def commands(given: argparse.Namespace, program: str) -> tuple[list[str], list[str]]:
    """Returns the command of each configuration."""
    baseline, optimized = read(given.baseline), read(given.optimized)
    words: list[str] = list(given.command) or command_of(baseline) or command_of(optimized)
    if not words:
        raise ValueError(
            f"cannot find a command: give it after `--`, or as command, script or model in {given.baseline}"
        )
    if nothing_differs(words, baseline, optimized):
        return with_config(words, given.baseline), with_config(words, given.baseline)
    candidate = with_config(words, given.optimized)
    if optimized.get("format") == "gapless.recipe":
        candidate = [program, "run", "--recipe", str(given.optimized), "--", *candidate]
    return with_config(words, given.baseline), candidate


def nothing_differs(words: list[str], baseline: dict[str, Any], optimized: dict[str, Any]) -> bool:
    """Returns True if both configurations make one training: no fixes, and the same settings where the command reads them."""
    if optimized.get("fixes") or optimized.get("environment"):
        return False
    settings = [{key: value for key, value in config.items() if key not in RECIPE} for config in (baseline, optimized)]
    is_read = any(PLACE in word for word in words)
    return settings[0] == settings[1] or (not is_read and command_of(optimized) in ([], command_of(baseline), words))


def report_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Returns the report: the asked figures at its top, and the program's whole answer."""
    speedup = answer.get("speedup") or {}
    found: dict[str, Any] = {}
    if "expected" in speedup:
        found["speedup"] = float(speedup["expected"])
    if "low" in speedup and "high" in speedup:
        found["speedup_confidence_interval"] = [speedup["low"], speedup["high"]]
    found.update({name: answer[name] for name in COMPARED if name in answer})
    if "memory_saved_gb" in found:
        found["memory_saved_gb"] = float(found["memory_saved_gb"])
    for name, side in (("baseline_metrics", "a"), ("optimized_metrics", "b")):
        if side in answer:
            found[name] = answer[side].get("metrics", answer[side])
    return {**found, "validation": answer}


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    given = arguments(words)
    program = find_program()
    if program is None:
        raise ProgramError(NO_PROGRAM)
    baseline, optimized = commands(given, program)
    options = [f"--db={given.db}"] if given.db else []
    with tempfile.TemporaryDirectory(prefix="gapless-") as folder:
        answer = Path(folder) / "answer.json"
        line = [
            program,
            "validate",
            *options,
            *given.validate,
            f"--json={answer}",
            "--a",
            shlex.join(baseline),
            "--b",
            shlex.join(optimized),
        ]
        done = subprocess.run(line, check=False)
        if done.returncode not in (0, 1) or not answer.exists():
            raise ProgramError(f"cannot validate: gapless validate ended with {done.returncode}", done.returncode or 3)
        report = report_of(json.loads(answer.read_text(encoding="utf-8")))
    write_json(given.output, report)
    speedup = f"speedup {report['speedup']:.2f}×" if "speedup" in report else "no speedup was measured"
    saved = f", memory saved {report['memory_saved_gb']:.2f} GB" if "memory_saved_gb" in report else ""
    print(f"{given.output}: {speedup}{saved}; {'accepted' if done.returncode == 0 else 'not accepted'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(run(main, NAME))
