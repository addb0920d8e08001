# SPDX-License-Identifier: Apache-2.0
"""Collecting from Python."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any

from .operators import breakdown, top_operators
from .program import ask, find_program
from .region import profile
from .results import ProfileResult, ProfilerType
from .training import Criterion, Kept, Training


class PyTorchProfiler:
    """PyTorch's own profiler around training steps.

    >>> result = PyTorchProfiler().profile_training_step(model, loader, num_steps=10)  # doctest: +SKIP
    >>> [operator["name"] for operator in result.summary["top_operators"]][:2]  # doctest: +SKIP
    ['aten::mkldnn_convolution', 'aten::native_batch_norm']
    """

    def profile_training_step(
        self,
        model: Any,
        data_loader: Iterable[Any],
        num_steps: int = 10,
        output_path: str = "./pytorch_profile",
        *,
        optimizer: Any = None,
        criterion: Criterion | None = None,
    ) -> ProfileResult:
        """Records `num_steps` training steps (fewer if the loader ends before), after one that is not recorded.

        A step is forward, loss, backward and optimiser step; batches and the loss are as `gapless.training` has them. Afterwards the model is as
        before. The path of the result is a Chrome trace, which `gapless analyze` opens. The summary has `steps`, `step_time_ms`,
        `data_loading` {`wait_ms`, `share`}, and what the program finds: `top_operators`, `memory`, `bottlenecks`. Raises ValueError for
        an empty loader, and what the step raises.
        """
        if num_steps < 1:
            raise ValueError("cannot record fewer than one step: num_steps must be 1 or more")
        batches = iter(data_loader)
        first = next(batches, None)
        if first is None:
            raise ValueError("cannot record steps: the loader has no batch")
        with Kept(model, optimizer):
            training = Training(model, optimizer, criterion)
            training.step(first)
            waits, times, path = _recorded(training, itertools.chain([first], batches), num_steps, output_path)
        total = sum(times) or 1.0
        summary: dict[str, Any] = {
            "steps": len(times), "step_time_ms": sum(times) / len(times) * 1e3,
            "data_loading": {"wait_ms": sum(waits) * 1e3, "share": sum(waits) / total},
        }  # fmt: skip
        result = ProfileResult(ProfilerType.PYTORCH_PROFILER, path, summary)
        if find_program() is not None:
            result.recommendations = add_findings(summary, path)
        return result

    def analyze_operator_breakdown(self, profile_path: str) -> dict[str, Any]:
        """Returns where the time of the operators goes.

        `by_type`: by type of work (conv, matmul, norm, activation, copy, …) `time_ms`, `calls`, `share` (0–1) and `percent`;
        `measured_on`: gpu, or cpu where the recording has no GPU work; `fusion_opportunities`; `copies` {`share`, `calls`}; `autocast`: True
        if matrix work runs in 16 bits (no key where types were not recorded); `recommendations`.
        """
        return breakdown(profile_path)


def add_findings(summary: dict[str, Any], path: str) -> list[str]:
    """Adds what the program finds in a recording to a summary; returns the recommendations."""
    found = ask("analyze", path, "--no-cache")
    steps = summary.get("steps")
    summary.update(found["run"], bottlenecks=found["bottlenecks"], top_operators=top_operators(path))
    if steps is not None:
        summary["steps"] = steps
    memory = ask("query", path, "SELECT * FROM memory", "--no-cache")
    if memory:
        summary["memory"] = [{name: value for name, value in row.items() if value is not None} for row in memory]
    return [advice["text"] for bottleneck in found["bottlenecks"] for advice in bottleneck["recommendations"]]


def _recorded(
    training: Training, batches: Iterator[Any], num_steps: int, folder: str
) -> tuple[list[float], list[float], str]:
    """Returns the seconds of waiting for each batch and of each whole step, and the file."""
    waits: list[float] = []
    times: list[float] = []
    with profile(folder, memory=True) as region:
        for _ in range(num_steps):
            begun = time.perf_counter()
            batch = next(batches, None)
            if batch is None:
                break
            waits.append(time.perf_counter() - begun)
            training.step(batch)
            times.append(time.perf_counter() - begun)
            region.step()
    return waits, times, region.path or folder
