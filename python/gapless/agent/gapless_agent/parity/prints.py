# SPDX-License-Identifier: Apache-2.0
"""Reduces a tensor to what a recording keeps: its norm, a sketch of 64 numbers, sampled elements, or the CRC-32 of its bytes."""

from __future__ import annotations

import ctypes
import zlib
from typing import Any

WIDTH = 64
PERIOD = (
    WIDTH * 16381
)  # elements after which the signs repeat; 16381 is prime, so no regular pattern of a tensor coincides with it
SAMPLES = 64
MAX_DOUBLE = 1 << 20  # elements; larger tensors are multiplied in float32 and summed in float64


class Sketcher:
    """Makes sketches: each of 64 sums takes every 64th element with a random sign, and the signs are the same in every run.

    The norm of the difference of two sketches is about the norm of the difference of the tensors.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.signs: dict[Any, Any] = {}

    def _signs_on(self, device: Any) -> Any:
        if device not in self.signs:
            torch = self.torch
            drawn = torch.randint(0, 2, (PERIOD,), generator=torch.Generator().manual_seed(99))
            self.signs[device] = drawn.mul_(2).sub_(1).to(device=device, dtype=torch.float32)
        return self.signs[device]

    def print_of(self, tensor: Any) -> list[float]:
        """Returns the norm, then the 64 sums; zeros for a tensor without elements."""
        torch = self.torch
        flat = dense(torch, tensor).reshape(-1)
        count = flat.numel()
        if not count:
            return [0.0] * (1 + WIDTH)
        flat = flat.double() if count <= MAX_DOUBLE else flat.float()
        signs = self._signs_on(flat.device)[:count].to(flat.dtype)
        if count > PERIOD:
            flat = torch.nn.functional.pad(flat, (0, -count % PERIOD)).view(-1, PERIOD)
            signed = (flat * signs).view(-1, WIDTH)
        else:
            signed = torch.nn.functional.pad(flat * signs, (0, -count % WIDTH)).view(-1, WIDTH)
        norm = float(torch.linalg.vector_norm(flat, dtype=torch.float64))
        return [norm, *signed.sum(0, dtype=torch.float64).tolist()]


def dense(torch: Any, tensor: Any) -> Any:
    """Returns the elements that this process holds, as a plain real tensor that shares their memory where it can."""
    tensor = tensor.detach()
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if tensor.layout is not torch.strided:
        tensor = (tensor.coalesce() if tensor.layout is torch.sparse_coo else tensor).to_dense()
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def sample_indices(torch: Any, count: int, number: int) -> Any:
    """Returns which of `count` elements of tensor `number` are sampled: the same ones in every run."""
    return torch.randint(0, count, (min(SAMPLES, count),), generator=torch.Generator().manual_seed(number))


def sampled(torch: Any, tensor: Any, indices: Any) -> Any:
    flat = dense(torch, tensor).reshape(-1)
    return flat[indices.to(flat.device)].clone()


def bytes_of(torch: Any, tensor: Any) -> Any:
    """Returns the elements in logical order, whatever the memory format, as an object with the buffer protocol."""
    plain = dense(torch, tensor).cpu().contiguous()
    size = plain.numel() * plain.element_size()
    if not size:
        return b""
    view = (ctypes.c_char * size).from_address(plain.data_ptr())
    view._tensor = plain  # the memory stays while the view does
    return view


def crc(data: Any, start: int = 0) -> int:
    return zlib.crc32(data, start)
