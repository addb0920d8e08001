#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for a program that lacks `compare --ratios FILE --json`: answers that by the sign test, and hands everything else on.

GAPLESS_REAL names the program.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
from typing import Any


def judged(ratios: list[float]) -> dict[str, Any]:
    longer = sum(one > 0 for one in ratios)
    fewer = min(longer, len(ratios) - longer)
    p = min(1.0, sum(math.comb(len(ratios), k) for k in range(fewer + 1)) * 2.0 ** (1 - len(ratios)))
    middle = statistics.median(ratios)
    verdict = "cannot_tell" if p >= 0.05 else "slower" if middle > 0 else "faster"
    speedup = {"expected": math.exp(-middle)}
    if p < 0.05:
        speedup.update(low=math.exp(-max(ratios)), high=math.exp(-min(ratios)))
    return {
        "verdict": verdict, "speedup": speedup, "p_value": p, "statistically_significant": p < 0.05, "pairs": len(ratios),
    }  # fmt: skip


def main() -> int:
    words = sys.argv[1:]
    if words[:2] != ["compare", "--ratios"]:
        os.execv(os.environ["GAPLESS_REAL"], [os.environ["GAPLESS_REAL"], *words])
    with open(words[2], encoding="utf-8") as file:
        answer = judged(json.load(file))
    print(json.dumps(answer))
    return 0 if answer["verdict"] == "faster" else 1


if __name__ == "__main__":
    sys.exit(main())
