#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 4: peak memory and throughput of batches of 32 to 256, in single and in mixed precision, each in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from lab import arguments, completed, device_here

STAGE = Path(__file__).with_name("training_memory_optimized.py")
FULL = Path(__file__).with_name("training_model_optimized.py")


def measured(script: Path, batch: int, words: list[str]) -> tuple[str, str]:
    """Returns memory and throughput as the stage prints them; dashes where it ended badly, as without memory."""
    command = [sys.executable, str(script), "--batch", str(batch), "--epochs", "1", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    numbers = [re.search(rf"(?m)^{name} (\S+)$", done.stdout) for name in ("memory_mb", "samples_per_second")]
    memory, rate = (number[1] if number else "–" for number in numbers)
    return memory, rate


def main() -> None:
    given = completed(arguments(__doc__).parse_args())
    small = ["--small"] if given.small else []
    words = [*small, "--size", str(given.size), "--steps", str(given.steps or 50)]
    print(f"{'batch':>6}{'precision':>11}{'blocks':>14}{'memory MB':>11}{'samples/s':>11}")
    for batch in (4, 8) if given.small else (32, 64, 128, 256):
        for script, precision, blocks in (
            (FULL, "FP32", "kept"), (FULL, "AMP", "kept"), (STAGE, "AMP", "checkpointed"),
        ):  # fmt: skip
            amp = ["--amp"] if precision == "AMP" else []
            memory, rate = measured(script, batch, [*words, *amp])
            print(f"{batch:>6}{precision:>11}{blocks:>14}{memory:>11}{rate:>11}", flush=True)
    if device_here().type == "cpu":
        print("memory is that of the whole process here; what a batch takes of a GPU's memory needs a GPU")


if __name__ == "__main__":
    main()
