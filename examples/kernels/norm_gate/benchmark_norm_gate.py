# SPDX-License-Identifier: Apache-2.0
# Measures norm_gate: python benchmark_norm_gate.py [--elements N] [--seconds S] [--no-compile] [--triton] [--json]
"""Times the forward pass, and forward and backward, of the chain in eager PyTorch, compiled by torch.compile, and of the
kernel, at the recorded sizes. On the host the first dimension is cut so that no tensor has more than N elements."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import torch

import norm_gate as kernel

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def recorded_inputs(most: int) -> list[torch.Tensor]:
    """Tensors of the recorded shapes; with `most` the first dimension of the largest is cut in all that have it."""
    largest = max(kernel.SHAPES, key=lambda shape: (torch.Size(shape).numel(), len(shape)))
    lead, rest = largest[0], max(1, torch.Size(largest[1:]).numel())
    cut = max(1, min(lead, most // rest)) if most else lead
    inputs = []
    for shape, kind in zip(kernel.SHAPES, kernel.TYPES):
        if len(shape) == len(largest) and shape[0] == lead:
            shape = (cut, *shape[1:])
        x = torch.rand(shape, device=DEVICE) + 0.5
        inputs.append(x > 1 if kind == torch.bool else x.to(kind).requires_grad_())
    return inputs


def seconds_of(calls: dict[str, Callable[[], object]], budget: float) -> dict[str, float]:
    """The median time of each call, in `budget` seconds for each, five calls at least, after two that warm up. They take
    turns, so that whatever else the machine does meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call(), call()
    begin, rounds = time.perf_counter(), 0
    while rounds < 5 or time.perf_counter() - begin < budget * len(calls):
        for name, call in calls.items():
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            start = time.perf_counter()
            call()
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            times[name].append(time.perf_counter() - start)
        rounds += 1
    return {name: statistics.median(of) for name, of in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=0 if DEVICE == "cuda" else 2_000_000, help="0: as recorded")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each measurement")
    parser.add_argument("--no-compile", action="store_true", help="leave out torch.compile")
    parser.add_argument("--triton", action="store_true", help="measure the Triton kernel")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    kernel.BACKEND = "triton" if given.triton else "extension"
    inputs = recorded_inputs(given.elements)
    numbers = {name: 0.75 if value is None else value for name, value in kernel.SCALARS.items()}
    ways = {"eager": kernel.reference, "kernel": getattr(kernel, "norm_gate")}
    if not given.no_compile:
        ways["compiled"] = torch.compile(kernel.reference)
    floats = [x for x in inputs if x.dtype != torch.bool]
    weights = torch.ones_like(kernel.reference(*inputs, **numbers))

    def forward(way: Callable[..., torch.Tensor]) -> torch.Tensor:
        with torch.no_grad():
            return way(*inputs, **numbers)

    def both(way: Callable[..., torch.Tensor]) -> object:
        return torch.autograd.grad(way(*inputs, **numbers), floats, weights, allow_unused=True)

    alone = seconds_of({name: partial(forward, way) for name, way in ways.items()}, given.seconds)
    with_backward = seconds_of({name: partial(both, way) for name, way in ways.items()}, given.seconds)
    measured = {name: {"forward_s": alone[name], "both_s": with_backward[name]} for name in ways}
    if given.json:
        print(json.dumps({"device": DEVICE, "shapes": [list(x.shape) for x in inputs], "times": measured}))
        return 0
    print(f"norm_gate on {DEVICE}: {', '.join(str(tuple(x.shape)) for x in inputs)}")
    for name, times in measured.items():
        parts = [f"{label} {times[key] * 1e6:10.1f} µs ({measured['eager'][key] / times[key]:.2f}× eager)"
                 for label, key in (("forward", "forward_s"), ("forward + backward", "both_s"))]
        print(f"  {name:9s} {'   '.join(parts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
