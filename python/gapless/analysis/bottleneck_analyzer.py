# SPDX-License-Identifier: Apache-2.0
"""Finds the bottlenecks of a recording, prints the report of the worst five, and writes all of them as JSON.

  bottleneck_analyzer.py --profile profiles/baseline --output bottleneck_report.json

The profile is a folder of profile_collector.py or `gapless profile`, or a file that `gapless formats` lists. The JSON is that of
`gapless analyze --json` with two more keys: report (the text) and command (the recorded one, where it is known). Exit status: 0; 2 for
wrong use; 3 if the profile cannot be read; 4 if the program gapless is missing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

if not __package__:  # started as a file: the folder of the package takes the place of this one in the path
    import pathlib

    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2])

from gapless.analyzer import MAX_BOTTLENECKS, BottleneckAnalyzer
from gapless.analyzers import DataLoadingAnalyzer, KernelAnalyzer, MultiGPUAnalyzer
from gapless.bottlenecks import Bottleneck, BottleneckType
from gapless.command_line import parser_of, run, write_json
from gapless.program import ask

__all__ = [
    "Bottleneck",
    "BottleneckAnalyzer",
    "BottleneckType",
    "DataLoadingAnalyzer",
    "KernelAnalyzer",
    "MultiGPUAnalyzer",
]
NAME = "bottleneck_analyzer"


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = parser_of(NAME, __doc__ or "")
    parser.add_argument("--profile", required=True, metavar="DIR", help="folder or file of a recording")
    parser.add_argument("--output", default="bottleneck_report.json", metavar="FILE", help="(bottleneck_report.json)")
    given = parser.parse_args(words)
    document = ask("analyze", given.profile, "--no-cache")
    found = sorted(
        (Bottleneck.of(each) for each in document["bottlenecks"]), key=lambda bottleneck: -bottleneck.severity
    )
    document["report"] = BottleneckAnalyzer().generate_report(found[:MAX_BOTTLENECKS])
    command = recorded_command(Path(given.profile))
    if command:
        document["command"] = command
    write_json(Path(given.output), document)
    print(document["report"])
    print(f"{given.output}: {len(found)} bottleneck{'' if len(found) == 1 else 's'}")
    return 0


def recorded_command(folder: Path) -> list[str]:
    """Returns the command of a run folder; empty where none is known."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(word) for word in manifest.get("command") or []]


if __name__ == "__main__":
    sys.exit(run(main, NAME))
