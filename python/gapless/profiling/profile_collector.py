# SPDX-License-Identifier: Apache-2.0
"""Records a training command with every profiler that is installed, and leaves a folder.

  profile_collector.py --command "python train.py" --output profiles/baseline
  bottleneck_analyzer.py --profile profiles/baseline --output bottleneck_report.json

The folder has the recordings, report.html, and profile_summary.json: for each profiler (pytorch, nsys, ncu, dcgm) its path, summary and
recommendations. An earlier recording in the folder is renamed first. Exit status: 0; 2 for wrong use; 3 for bad input; 4 if the program
gapless is missing; 5 if the command failed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

if not __package__:  # started as a file: the folder of the package takes the place of this one in the path
    import pathlib

    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2])

from gapless.collect import PyTorchProfiler
from gapless.collector import ProfileCollector
from gapless.command_line import parser_of, run, write_json
from gapless.metrics import plain
from gapless.nsight import NsightComputeProfiler, NsightSystemsProfiler
from gapless.results import ProfileResult, ProfilerType

__all__ = [
    "NsightComputeProfiler",
    "NsightSystemsProfiler",
    "ProfileCollector",
    "ProfileResult",
    "ProfilerType",
    "PyTorchProfiler",
]
NAME = "profile_collector"


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = parser_of(NAME, __doc__ or "")
    parser.add_argument("--command", required=True, metavar="TEXT", help='the training command, e.g. "python train.py"')
    parser.add_argument("--output", default="profiles", metavar="DIR", help="folder for the recordings (profiles)")
    parser.add_argument("--no-kernel-details", action="store_true", help="do not run ncu on the five longest kernels")
    given = parser.parse_args(words)
    results = ProfileCollector().profile_comprehensive(given.command, given.output, not given.no_kernel_details)
    summary = {kind.value: plain(dict(result)) for kind, result in results.items()}
    write_json(Path(given.output) / "profile_summary.json", summary)
    missing = results[ProfilerType.PYTORCH_PROFILER].summary["missing"]
    for text in missing:
        print(f"missing: {text}")
    print(f"{given.output}: recorded by {', '.join(summary)}; next: bottleneck_analyzer.py --profile {given.output}")
    return 0


if __name__ == "__main__":
    sys.exit(run(main, NAME))
