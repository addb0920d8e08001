# SPDX-License-Identifier: Apache-2.0
"""One process launches for two devices in turn through DataParallel; or the same annotation on one device."""

from recording import Run


def _drives(run: Run, devices: int) -> None:
    rank = run.rank()
    for step in rank.steps(3, 1000):
        rank.annotation("DataParallel.forward", step + 5, 990)
        for device in range(devices):
            at = step + 10 + device * 480
            rank.operator("aten::mm", at, 470)
            rank.kernel("gemm", launch=at + 10, start=at + 30, dur=440 * (3 - devices))
            rank.events[-1]["args"]["device"] = device


def fires(run: Run) -> None:
    _drives(run, 2)


def silent(run: Run) -> None:
    _drives(run, 1)
