#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 5: training_ddp.py on 1, 2, 4 and 8 ranks: time of a step, speedup, efficiency, and the curve, also as scaling.svg.

Counts that the machine has not enough GPUs for (on a CPU: processors) are left out. `gapless bench --scaling` measures it with rounds and a range.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import torch
from lab import arguments

SCRIPT = Path(__file__).with_name("training_ddp.py")
WIDTH = 40  # of the bars of the curve


def measured(count: int, words: list[str]) -> dict[str, float]:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}"]
    done = subprocess.run([*launcher, str(SCRIPT), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{count} ranks ended with {done.returncode}: {done.stderr[-1000:]}")
    return {name: float(value) for name, value in re.findall(r"(?m)^([a-z_]+) ([-+.e0-9]+)$", done.stdout)}


def draw(speedups: dict[int, float], file: Path) -> None:
    """The curve beside the ideal one, as a picture."""
    most = max(speedups)

    def place(count: int, speedup: float) -> str:
        return f"{20 + 260 * count / most:.0f},{180 - 160 * speedup / most:.0f}"

    curves = {"#999": {0: 0.0, most: float(most)}, "#06c": {0: 0.0, **speedups}}
    lines = [
        f'<polyline fill="none" stroke="{colour}" points="{" ".join(place(*point) for point in curve.items())}"/>'
        for colour, curve in curves.items()
    ]
    text = '<text x="20" y="198" font-size="10">ranks against speedup; grey: ideal</text>'
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200">{"".join(lines)}{text}</svg>\n')


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--output", type=Path, default=Path("scaling.svg"))
    given, words = parser.parse_known_args()[0], sys.argv[1:]
    if "--output" in words:
        del words[words.index("--output") : words.index("--output") + 2]
    here = torch.cuda.device_count() or len(os.sched_getaffinity(0))
    counts = [count for count in (1, 2, 4, 8) if count <= here]
    rates: dict[int, float] = {}
    print(f"{'ranks':>6}{'step ms':>9}{'samples/s':>11}{'speedup':>9}{'efficiency':>12}")
    for count in counts:
        found = measured(count, words)
        rates[count] = found["samples_per_second"]
        speedup = rates[count] / rates[counts[0]]
        print(
            f"{count:>6}{found['step_ms']:>9.1f}{rates[count]:>11.1f}{speedup:>9.2f}{speedup / count:>12.0%}",
            flush=True,
        )
    speedups = {count: rate / rates[counts[0]] for count, rate in rates.items()}
    for count, speedup in speedups.items():
        print(f"{count:>3} |{'#' * round(WIDTH * speedup / counts[-1])}")
    draw(speedups, given.output)
    left_out = [str(count) for count in (1, 2, 4, 8) if count > here]
    if left_out:
        print(
            f"left out: {', '.join(left_out)} ranks, this machine has {here} {'GPUs' if torch.cuda.is_available() else 'processors'}"
        )


if __name__ == "__main__":
    main()
