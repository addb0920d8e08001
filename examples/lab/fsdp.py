#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several ranks with a part of every weight each: torchrun --nproc-per-node 2 fsdp.py (gloo on a CPU, nccl on GPUs)."""

from __future__ import annotations

import ranks
import torch
import torch.distributed as dist
from torch import nn

try:
    from torch.distributed.fsdp import fully_shard  # since 2.6
except ImportError:
    fully_shard = None


def sharded(model: nn.Sequential, device: torch.device) -> nn.Module:
    """A shard unit for each block: its weights are gathered before it computes and let go after."""
    if fully_shard is not None:
        for block in model[:-1]:
            fully_shard(block)
        fully_shard(model)
        return model
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    return FullyShardedDataParallel(
        model, auto_wrap_policy=ModuleWrapPolicy({ranks.Block}), device_id=device, use_orig_params=True
    )


def main() -> None:
    given = ranks.arguments(__doc__)
    with ranks.joined(given.seed) as device:
        if fully_shard is None and device.type == "cpu":
            ranks.say(f"sharding on a CPU needs PyTorch 2.6, this is {torch.__version__}; on a GPU it works")
            return
        model = sharded(ranks.network(given.layers).to(device), device)
        loss = ranks.train(model, given, device)
        held = sum(getattr(p, "to_local", lambda p=p: p)().numel() for p in model.parameters())
        ranks.say(f"ranks {dist.get_world_size()} over {dist.get_backend()}, rank 0 holds {held} numbers")
        ranks.say(f"final_loss {loss:.9g}")


if __name__ == "__main__":
    main()
