# SPDX-License-Identifier: Apache-2.0
"""A trainer's GPU idles while the rollout server generates, for most of each iteration; or the two take turns in 4 ms pieces."""

from recording import Run


def _job(run: Run, rollout: float, train: float) -> None:
    trainer, server = run.rank(0, world_size=1), run.rank(None)
    trainer.document["gapless.role"], server.document["gapless.role"] = "trainer", "rollout"
    for iteration in range(4):
        start = iteration * (rollout + train)
        server.annotation("generate", start, rollout)
        server.kernel("paged_attention", launch=start, start=start + 10, dur=rollout - 20)
        trainer.step(iteration, start, rollout + train)
        trainer.operator("autograd::engine::evaluate_function: AddmmBackward0", start + rollout, 100)
        trainer.kernel("gemm", launch=start + rollout, start=start + rollout + 10, dur=train - 20)
    server.kernel("paged_attention", launch=4 * (rollout + train), start=4 * (rollout + train) + 10, dur=100)


def fires(run: Run) -> None:
    _job(run, 60_000, 30_000)


def silent(run: Run) -> None:
    _job(run, 4_000, 4_000)
