#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 5: the network on several ranks, each with its part of the data: torchrun --nproc-per-node 2 training_ddp.py.

gloo on a CPU, nccl on GPUs. The batch is that of a rank. Started without torchrun it is one rank.
"""

from __future__ import annotations

import ranks
import torch
import torch.distributed as dist
from lab import Outcome, Pictures, Settings, Trainer, adapted, arguments, completed, loader_of, say, sequential_net
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler


def main() -> None:
    given = completed(arguments(__doc__).parse_args())
    settings = adapted(Settings(batch=64, workers=2, pinned=True, wait_for_copies=False, wait_for_device=False), given)
    if given.small:
        torch.set_num_threads(1)
    with ranks.joined(given.seed) as device:
        model = sequential_net().to(device)
        wrapped = DistributedDataParallel(
            model, device_ids=[device] if device.type == "cuda" else None, gradient_as_bucket_view=True
        )
        data = Pictures(given.size, seed=given.seed)
        sampler: DistributedSampler[Pictures] = DistributedSampler(data, seed=given.seed)
        loader = loader_of(data, settings, device, sampler)
        trainer, outcome = Trainer(wrapped, settings, device), Outcome()
        for epoch in range(given.epochs):
            sampler.set_epoch(epoch)
            outcome = trainer.epoch(iter(loader), given.steps)
        rate = torch.tensor(outcome.samples_per_second, device=device)
        dist.all_reduce(rate)
        outcome.samples_per_second = float(rate)
        if dist.get_rank() == 0:
            print(f"ranks {dist.get_world_size()} over {dist.get_backend()}")
            say(outcome, device)


if __name__ == "__main__":
    main()
