# SPDX-License-Identifier: Apache-2.0
"""After each decode iteration of 3 ms the engine makes text of its tokens, for 1 ms or for 50 µs."""

from recording import H100, Run


def _decodes(run: Run, text: float) -> None:
    rank, at = run.rank(device=H100), 0.0
    for _ in range(8):
        rank.annotation("execute_context_0(0)_generation_64(64)", at, 3_000)
        rank.kernel("gemm", launch=at + 5, start=at + 15, dur=2_985)
        at += 3_000
        rank.python("vllm/v1/engine/output_processor.py(400): process_outputs", at, text)
        at += text


def fires(run: Run) -> None:
    _decodes(run, 1_000)


def silent(run: Run) -> None:
    _decodes(run, 50)
