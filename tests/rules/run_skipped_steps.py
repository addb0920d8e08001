# SPDX-License-Identifier: Apache-2.0
"""GradScaler skips 40 of 400 steps, or the first 10, in which it looks for its scale."""

from recording import Run


def fires(run: Run) -> None:
    list(run.agent().steps(400, 1000, skipped=range(100, 140)))


def silent(run: Run) -> None:
    list(run.agent().steps(400, 1000, skipped=range(10)))
