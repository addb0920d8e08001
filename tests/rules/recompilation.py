# SPDX-License-Identifier: Apache-2.0
"""The last of four steps compiles for 800 µs because its batch is smaller; or only the first step does."""

from recording import Run


def _compiles(run: Run, which: int) -> None:
    rank = run.rank()
    at = 0.0
    for number in range(4):
        compiling = 800 if number == which else 0
        rank.step(number, at, 1000 + compiling)
        rank.operator(f"Torch-Compiled Region: 0/{1 if number >= which > 0 else 0}", at + 2, 990 + compiling)
        if compiling:
            rank.annotation("_compile.compile_inner (dynamo_timed)", at + 5, compiling)
            rank.annotation("compile_fx_inner (dynamo_timed)", at + 100, compiling - 200)
        rank.kernel("triton_poi_fused_add_0", launch=at + compiling + 6, start=at + compiling + 12, dur=985)
        at += 1000 + compiling


def fires(run: Run) -> None:
    _compiles(run, 3)


def silent(run: Run) -> None:
    _compiles(run, 0)
