# SPDX-License-Identifier: Apache-2.0
"""Finds out if there is a GPU, without touching it: a process that has asked CUDA can no longer fork children that use it."""

from __future__ import annotations

import glob
import os
from typing import Any

NO_CUDA = "there is no CUDA device"


def has_cuda(torch: Any) -> bool:
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        return False
    if torch.cuda.is_initialized():
        return True
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1", "NoDevFiles"):
        return False
    return bool(glob.glob("/dev/nvidia[0-9]*") or os.path.exists("/dev/kfd"))


def capability(torch: Any) -> tuple[int, int] | None:
    """Returns the compute capability of the current device, or None until the program itself uses CUDA."""
    return torch.cuda.get_device_capability() if torch.cuda.is_initialized() else None


def kind_of(module: Any) -> str:
    """Returns the type of the device that holds the parameters of a module: "cpu", "cuda"…"""
    parameter = next(iter(module.parameters()), None)
    return "cpu" if parameter is None else str(parameter.device.type)


def number(value: str, least: int = 1) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and least <= int(value) <= 1 << 20 else None
