# SPDX-License-Identifier: Apache-2.0
"""Samples of a program that loads data and waits, and nothing else; the same samples beside a recording with kernels."""

from recording import Run

STACKS = """\
<module> (/srv/app/train.py:41);train (/srv/app/train.py:34);Dataset.__getitem__ (/srv/app/data.py:14) 60
<module> (/srv/app/train.py:41);train (/srv/app/train.py:36) 15
<module> (/srv/app/train.py:41);train (/srv/app/train.py:37);synchronize (/usr/lib/python3.11/site-packages/torch/cuda/__init__.py:801) 25
"""


def fires(run: Run) -> None:
    run.text("train.folded", STACKS)


def silent(run: Run) -> None:
    run.text("train.folded", STACKS)
    rank = run.rank(0, world_size=1)
    for ts in rank.steps(5, 1000):
        rank.kernel("gemm", ts + 20, ts + 40, 900)
