# SPDX-License-Identifier: Apache-2.0
"""Collecting from Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .program import ask, find_program
from .region import profile
from .results import ProfileResult, ProfilerType
from .training import device_of, forward_backward, moved


class PyTorchProfiler:
    """PyTorch's own profiler around training steps."""

    def profile_training_step(
        self, model: Any, data_loader: Iterable[Any], num_steps: int = 10, output_path: str = "run"
    ) -> ProfileResult:
        """Records `num_steps` forward and backward passes of the model over batches of the loader, after one that is not recorded.

        Batches and the loss are as `gapless.training` has them. No optimiser steps; gradients are cleared. The summary has the number of
        steps, and what `gapless analyze` says where the program is there.
        """
        batches = iter(data_loader)
        first = next(batches, None)
        if first is None:
            raise ValueError("the loader has no batch")
        _pass(model, first)
        steps = 0
        with profile(output_path) as region:
            for batch in batches:
                _pass(model, batch)
                region.step()
                steps += 1
                if steps == num_steps:
                    break
        path = region.path or output_path
        result = ProfileResult(ProfilerType.PYTORCH_PROFILER, path, {"steps": steps})
        if find_program() is not None:
            found = ask("analyze", path, "--no-cache")
            result.summary.update(found["run"], bottlenecks=found["bottlenecks"])
            result.summary["steps"] = steps
            result.recommendations = [
                one["text"] for bottleneck in found["bottlenecks"] for one in bottleneck["recommendations"]
            ]
        return result

    def analyze_operator_breakdown(self, profile_path: str) -> list[dict[str, Any]]:
        """The operators of a recording, the longest first: the rows of the analysis `operators`."""
        rows: list[dict[str, Any]] = ask("query", profile_path, "SELECT * FROM operators", "--no-cache")
        return rows


def _pass(model: Any, batch: Any) -> None:
    forward_backward(model, moved(batch, device_of(model)))
    model.zero_grad(set_to_none=True)
