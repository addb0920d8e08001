# SPDX-License-Identifier: Apache-2.0
"""A pipeline of two stages with few microbatches, on two processes of one thread each: a third of a step its stages wait for each other.

usage: torchrun --nproc-per-node 2 pipeline_stages.py [--steps N]
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

BATCH, TOKENS, WIDTH, LAYERS, MICROBATCHES = 16, 128, 512, 2, 2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    rank, device = dist.get_rank(), torch.device("cpu")
    layers = [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()) for _ in range(2 * LAYERS)]
    part = torch.nn.Sequential(*layers[rank * LAYERS :][:LAYERS])
    stage = PipelineStage(part, rank, 2, device)
    schedule = ScheduleGPipe(stage, n_microbatches=MICROBATCHES, loss_fn=torch.nn.functional.mse_loss)
    optimizer = torch.optim.SGD(part.parameters(), lr=20.0)
    x = torch.randn(BATCH, TOKENS, WIDTH)
    y = torch.tanh(x)
    times = []
    for step in range(steps):
        begun = time.perf_counter()
        optimizer.zero_grad()
        losses: list[torch.Tensor] = []
        if rank == 0:
            schedule.step(x)
        else:
            schedule.step(target=y, losses=losses)
        optimizer.step()
        times.append(time.perf_counter() - begun)
        if losses and step % 10 == 0:
            print(f"step {step}: loss {torch.stack(losses).mean().item():.5f}", flush=True)
    if rank == 0:
        print(f"median step {1000 * statistics.median(times[3:] or times):.1f} ms")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
