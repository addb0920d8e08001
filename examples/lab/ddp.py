#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several ranks with a copy of the model each: torchrun --nproc-per-node 2 ddp.py (gloo on a CPU, nccl on GPUs)."""

from __future__ import annotations

import ranks
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    given = ranks.arguments(__doc__)
    with ranks.joined(given.seed) as device:
        model = ranks.network(given.layers).to(device)
        wrapped = DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)
        loss = ranks.train(wrapped, given, device)
        ranks.say(f"ranks {dist.get_world_size()} over {dist.get_backend()}")
        ranks.say(f"final_loss {loss:.9g}")


if __name__ == "__main__":
    main()
