# SPDX-License-Identifier: Apache-2.0
"""Writes and reads the files of a recording (python/gapless/agent/README.md): events.jsonl, numbers.f64, program.json and handed-N.bin."""

from __future__ import annotations

import array
import json
import os
from typing import Any

from ..own_files import make_file, make_folder
from .prints import bytes_of, dense

MAX_HANDED_BYTES = 4 << 30
SHARE_OF_DISK = 0.25  # of the free bytes, for all handed-over parameters together
BLOCK_BYTES = 1 << 24


class Writer:
    def __init__(self, folder: str) -> None:
        self.folder = make_folder(folder)
        self.events = os.fdopen(make_file(os.path.join(folder, "events.jsonl")), "w", encoding="utf-8")
        self.numbers = os.fdopen(make_file(os.path.join(folder, "numbers.f64")), "wb")
        disk = os.statvfs(folder)
        self.left_bytes = int(min(MAX_HANDED_BYTES, SHARE_OF_DISK * disk.f_bavail * disk.f_frsize))

    def write(self, event: dict[str, Any], numbers: list[float]) -> None:
        """Writes the numbers first, so that an event that can be read has all of them."""
        array.array("d", numbers).tofile(self.numbers)
        self.numbers.flush()
        self.events.write(json.dumps(event, separators=(",", ":"), allow_nan=False) + "\n")
        self.events.flush()

    def hand_over(self, torch: Any, number: int, tensors: list[Any]) -> bool:
        """Keeps the tensors for the other runs; returns False, now and from then on, if they do not fit."""
        size = sum(dense(torch, tensor).numel() * tensor.element_size() for tensor in tensors)
        if size > self.left_bytes:
            self.left_bytes = 0
            return False
        self.left_bytes -= size
        with os.fdopen(make_file(os.path.join(self.folder, f"handed-{number}.bin")), "wb") as file:
            for tensor in tensors:
                data = memoryview(bytes_of(torch, tensor))
                for start in range(0, len(data), BLOCK_BYTES):
                    file.write(data[start : start + BLOCK_BYTES])
        return True

    def describe(self, facts: dict[str, dict[str, list[str]]]) -> None:
        with os.fdopen(make_file(os.path.join(self.folder, "program.json")), "w", encoding="utf-8") as file:
            json.dump(facts, file, separators=(",", ":"), ensure_ascii=True)

    def close(self) -> None:
        self.events.close()
        self.numbers.close()


class Baseline:
    """The recording that an earlier run wrote."""

    def __init__(self, torch: Any, folder: str) -> None:
        self.torch, self.folder = torch, folder
        with open(os.path.join(folder, "events.jsonl"), encoding="utf-8") as file:
            self.events: list[dict[str, Any]] = [json.loads(line) for line in file]

    def take_over(self, number: int, tensors: list[Any]) -> bool:
        """Overwrites the tensors with those of the baseline; returns False if it kept none, or others."""
        torch, path = self.torch, os.path.join(self.folder, f"handed-{number}.bin")
        tensors = [dense(torch, tensor) for tensor in tensors]
        size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        if not size or not os.path.exists(path) or os.path.getsize(path) != size:
            return False
        with open(path, "rb") as file, torch.no_grad():
            for tensor in tensors:
                if tensor.numel():
                    data = bytearray(tensor.numel() * tensor.element_size())
                    file.readinto(data)
                    values = torch.frombuffer(data, dtype=tensor.dtype)
                    tensor.data.copy_(values.view(tensor.shape))
        return True
