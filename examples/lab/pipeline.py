#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline with few microbatches, one on each rank: torchrun --nproc-per-node 2 pipeline.py (gloo on a CPU, nccl on GPUs).

With p stages and m microbatches each stage waits for (p - 1) / (m + p - 1) of a step: a third with two and two.
"""

from __future__ import annotations

import ranks
import torch
import torch.distributed as dist
from torch import nn

try:
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe  # since 2.5
except ImportError:
    PipelineStage = None

MICROBATCHES = 2


def main() -> None:
    given = ranks.arguments(__doc__)
    with ranks.joined(given.seed) as device:
        if PipelineStage is None:
            ranks.say(f"a pipeline needs PyTorch 2.5, this is {torch.__version__}")
            return
        if device.type == "cpu":
            torch.set_num_threads(1)  # a processor for each stage
        rank, stages = dist.get_rank(), dist.get_world_size()
        network = ranks.network(given.layers)
        own = len(network) * rank // stages, len(network) * (rank + 1) // stages
        part = network[own[0] : own[1]].to(device)
        stage = PipelineStage(part, rank, stages, device)
        schedule = ScheduleGPipe(stage, n_microbatches=MICROBATCHES, loss_fn=nn.functional.cross_entropy)
        optimizer = torch.optim.AdamW(part.parameters(), lr=1e-3)
        centres = torch.randn(10, ranks.WIDTH)
        losses: list[torch.Tensor] = []
        for number in range(given.steps):
            labels = torch.randint(10, (given.batch,))
            inputs = centres[labels] + torch.randn(given.batch, ranks.WIDTH)
            optimizer.zero_grad()
            losses.clear()
            target = {"target": labels.to(device), "losses": losses} if rank == stages - 1 else {}
            schedule.step(*([inputs.to(device)] if rank == 0 else []), **target)
            optimizer.step()
            if losses and (number + 1) % 10 == 0:
                print(f"step {number + 1} loss {torch.stack(losses).mean().item():.4f}", flush=True)
        if losses:
            print(f"stages {stages} over {dist.get_backend()}", flush=True)
            print(f"final_loss {torch.stack(losses).mean().item():.9g}", flush=True)


if __name__ == "__main__":
    main()
