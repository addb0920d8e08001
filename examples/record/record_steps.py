#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a few training steps with torch.profiler so that `gapless analyze` can say the most about them.

    python record_steps.py                                # one process, GPU if there is one: traces/rank0.json.gz
    torchrun --nproc-per-node 8 record_steps.py           # one file per rank: traces/rank0.json.gz … rank7.json.gz
    gapless analyze traces

The model and the data are stand-ins. `recorder` and the loop in `train` are what to take over: docs/PROFILING_GUIDE.md says
what each option costs and brings. Tried with PyTorch 2.15.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

try:
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.profiler import ProfilerActivity, profile, schedule
except ImportError:
    sys.exit("this needs PyTorch: pip install torch")

RANK = int(os.environ.get("RANK", "0"))  # torchrun sets these
WORLD_SIZE = int(os.environ.get("WORLD_SIZE", "1"))
LOCAL_RANK = int(os.environ.get("LOCAL_RANK", "0"))


def recorder(options: argparse.Namespace) -> Any:
    """The profiler: idle for `wait` steps, on but discarded for `warmup`, kept for `steps`, then one file for this rank."""
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():  # ROCm, too
        activities.append(ProfilerActivity.CUDA)
    config: dict[str, Any] = {}
    if options.sync_events:
        from torch._C._profiler import _ExperimentalConfig

        config["experimental_config"] = _ExperimentalConfig(enable_cuda_sync_events=True)

    def write(profiler: Any) -> None:
        options.folder.mkdir(parents=True, exist_ok=True)
        profiler.export_chrome_trace(str(options.folder / f"rank{RANK}.json.gz"))

    return profile(
        activities=activities,
        schedule=schedule(wait=options.wait, warmup=options.warmup, active=options.steps, repeat=1),
        on_trace_ready=write,
        record_shapes=options.shapes,
        with_stack=options.stacks,
        profile_memory=options.memory,
        **config,
    )


class Pictures:
    """Random pictures with a label each, as slow to make as real ones are to decode."""

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return torch.rand(3, 64, 64), index % 10


def training(options: argparse.Namespace, device: Any) -> tuple[Any, Any, Any]:
    """Model, optimiser and loader: replace them by yours."""
    layers = [nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU()]
    model: Any = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).to(device)
    if WORLD_SIZE > 1:
        model = nn.parallel.DistributedDataParallel(model, device_ids=[LOCAL_RANK] if device.type == "cuda" else None)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(
        Pictures(),  # type: ignore[arg-type,unused-ignore]  # anything with these two methods is a data set
        batch_size=options.batch,
        num_workers=options.workers,
        pin_memory=device.type == "cuda",
    )
    return model, optimizer, loader


def train(options: argparse.Namespace) -> None:
    device = torch.device("cuda", LOCAL_RANK) if torch.cuda.is_available() else torch.device("cpu")
    if WORLD_SIZE > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    model, optimizer, loader = training(options, device)
    loss_of = nn.CrossEntropyLoss()
    total = options.wait + options.warmup + options.steps
    with recorder(options) as profiler:
        for number, (pictures, labels) in enumerate(loader):
            if number == total:
                break
            loss = loss_of(model(pictures.to(device, non_blocking=True)), labels.to(device, non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()  # the end of a step: last thing in the loop
    if RANK == 0:
        print(f"{options.steps} steps in {options.folder}; now: gapless analyze {options.folder}")
    if WORLD_SIZE > 1:
        dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description="Record a few training steps for gapless.")
    parser.add_argument("--folder", type=Path, default=Path("traces"))
    parser.add_argument("--wait", type=int, default=5, help="steps before the recorder starts")
    parser.add_argument("--warmup", type=int, default=3, help="steps recorded and thrown away")
    parser.add_argument("--steps", type=int, default=6, help="steps kept")
    parser.add_argument("--no-shapes", dest="shapes", action="store_false")
    parser.add_argument("--no-stacks", dest="stacks", action="store_false")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--sync-events", action="store_true", help="the recorder's own rows of waits (NVIDIA)")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2, help="processes that load data")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
