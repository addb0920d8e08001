# SPDX-License-Identifier: Apache-2.0
"""Products on tensor cores with a vocabulary that is no multiple of 8, far below the peak; and a padded one at 45 %.

Each operator changes the layout first, which takes as long again and is no matter of the matrix units.
"""

from __future__ import annotations

from recording import A100, Run

PEAK = 312e6  # FLOPs in a microsecond


def _multiplies(run: Run, n: int, of_peak: float) -> None:
    rank = run.rank(device=A100)
    dur = round(2 * 4096 * n * 1024 / PEAK / of_peak, 3)
    for step in rank.steps(3, 3 * dur):
        rank.python("train.py(12): forward", step, dur)
        rank.operator(
            "aten::mm", step + 10, 30, shapes=[[4096, 1024], [1024, n]], types=["c10::BFloat16", "c10::BFloat16"]
        )
        rank.kernel("batched_transpose_32x32_dword", launch=step + 14, start=step + 25, dur=dur)
        rank.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", launch=step + 20, start=step + 25 + dur, dur=dur)


def fires(run: Run) -> None:
    _multiplies(run, n=50257, of_peak=0.2)


def silent(run: Run) -> None:
    _multiplies(run, n=50304, of_peak=0.45)
