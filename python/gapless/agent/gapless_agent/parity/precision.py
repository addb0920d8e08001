# SPDX-License-Identifier: Apache-2.0
"""The precisions that a program computes in by itself: of its parameters, of autocast, of matrix products."""

from __future__ import annotations

from typing import Any

PRECISIONS = {"torch.bfloat16": "bf16", "torch.float16": "fp16"}
COARSEST = ("bf16", "fp16", "tf32", "fp32")  # first


def coarsest(torch: Any, parameters: list[Any], autocast: set[str]) -> str:
    """Returns the coarsest of them; `autocast` holds those that autocast was entered with."""
    found = {PRECISIONS.get(str(parameter.dtype), "fp32") for parameter in parameters} | autocast
    if torch.cuda.is_initialized() and torch.backends.cuda.matmul.allow_tf32:
        found.add("tf32")
    return min(found, key=COARSEST.index)
