# SPDX-License-Identifier: Apache-2.0
"""Rank 2 does something else before every step: torchrun --nproc-per-node 4 straggler_rank.py"""

from __future__ import annotations

import os
import time

import planted
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    on_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    device = planted.device()
    model = DistributedDataParallel(planted.mlp(256, 2).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(planted.steps(40)):
        if dist.get_rank() == 2:
            time.sleep(0.02)  # the problem
        planted.train(model, optimizer, torch.rand(32, 256, device=device), torch.randint(10, (32,), device=device))
    dist.barrier()
    dist.destroy_process_group()
    # Let gloo's threads let go of the last work: a Python that ends under them aborts (pytorch/pytorch#179291).
    time.sleep(0.5)


if __name__ == "__main__":
    main()
