# SPDX-License-Identifier: Apache-2.0
"""Snapshots of PyTorch's allocator for the rules, as torch.cuda.memory._dump_snapshot writes them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

Event = dict[str, Any]

FRAMES: dict[str, list[tuple[str, str, int]]] = {  # innermost first, as PyTorch writes them
    "forward": [
        ("forward", "/srv/app/model.py", 12),
        ("_call_impl", "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1750),
        ("train", "/srv/app/train.py", 30),
    ],
    "backward": [
        ("_engine_run_backward", "/usr/lib/python3/dist-packages/torch/autograd/graph.py", 824),
        ("backward", "/usr/lib/python3/dist-packages/torch/_tensor.py", 630),
        ("train", "/srv/app/train.py", 31),
    ],
    "optimizer": [
        ("_init_group", "/usr/lib/python3/dist-packages/torch/optim/adamw.py", 100),
        ("step", "/usr/lib/python3/dist-packages/torch/optim/adamw.py", 200),
        ("train", "/srv/app/train.py", 32),
    ],
    "module": [
        ("_apply", "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 900),
        ("<module>", "/srv/app/train.py", 8),
    ],
    "nothing": [],
}


class MemorySnapshot:
    """A MemorySnapshot is what PyTorch's allocator dumps. Everything is on device 0; a microsecond passes with each event."""

    def __init__(self, name: str) -> None:
        self.name, self.ts_us, self.next = name, 1_700_000_000_000_000, 1 << 30
        self.events: list[Event] = []
        self.segments: list[Event] = []

    def _event(self, action: str, address: int, size: int, where: str) -> None:
        frames = [{"name": name, "filename": file, "line": line} for name, file, line in FRAMES[where]]
        self.ts_us += 1
        self.events.append(
            {"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.ts_us, "frames": frames}
        )

    def segment(self, *blocks: tuple[int, str]) -> list[int]:
        """A segment with blocks of these sizes and states as the snapshot has them; gives their addresses."""
        address, addresses, rows = self.next, [], []
        for size, state in blocks:
            rows.append({"address": address, "size": size, "requested_size": size, "state": state, "frames": []})
            addresses.append(address)
            address += size
        total = sum(size for size, _ in blocks)
        self.segments.append(
            {
                "device": 0,
                "address": self.next,
                "total_size": total,
                "stream": 0,
                "segment_type": "large",
                "blocks": rows,
            }
        )
        self.next = address + (1 << 20)
        self._event("segment_alloc", addresses[0], total, "nothing")
        return addresses

    def alloc(self, address: int, size: int, where: str) -> None:
        self._event("alloc", address, size, where)

    def free(self, address: int, size: int) -> None:
        self._event("free_requested", address, size, "nothing")
        self._event("free_completed", address, size, "nothing")

    def out_of_memory(self, size: int) -> None:
        self._event("oom", 0, size, "forward")

    def write(self, path: Path) -> None:
        document = {
            "segments": self.segments,
            "device_traces": [self.events],
            "allocator_settings": {"expandable_segments": False, "max_split_size": -1},
        }
        path.write_bytes(pickle.dumps(document))
