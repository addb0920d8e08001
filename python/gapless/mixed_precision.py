# SPDX-License-Identifier: Apache-2.0
"""Training steps whose matrix work is done in 16 bits."""

from __future__ import annotations

import functools
import statistics
from typing import Any, Callable

from .benchmark import StepClock
from .training import Criterion, device_of, forward_backward, moved

ROUNDS, ROWS, SIDE = 7, 64, 32  # of one measurement; of the batch where no sample is given; of its images


class MixedPrecisionOptimizer:
    """bfloat16 where the device has it (a GPU from compute capability 8.0, a CPU), else float16 with a scaled loss."""

    def __init__(self, dtype: Any = None) -> None:
        """`dtype`: torch.bfloat16 or torch.float16, instead of the one that the device has."""
        self.dtype = dtype

    def wrap_training_step(self, model: Any, criterion: Criterion, optimizer: Any) -> Callable[[Any, Any], Any]:
        """A function of (inputs, targets) that takes a whole step and gives the loss: forward and loss in 16 bits, backward, optimiser
        step, gradients cleared. Weights and the optimiser's state stay in 32 bits."""
        import torch

        device = device_of(model)
        kind = _type_of(device)
        dtype = self.dtype_on(device)
        scaled = kind == "cuda" and dtype == torch.float16
        scaler = _grad_scaler()(enabled=scaled)

        def step(inputs: Any, targets: Any) -> Any:
            inputs, targets = moved(inputs, device), moved(targets, device)
            with torch.autocast(kind, dtype=dtype):
                loss = criterion(model(inputs), targets)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            return loss.detach()

        return step

    def estimate_speedup(self, model: Any, sample_input: Any = None) -> float:
        """How much faster forward and backward passes are in 16 bits, measured here and now.

        With `sample_input` of the whole model. Without, of its linear and convolutional layers by themselves, on rows and images of
        a usual size; 1.0 where it has none. The optimiser and the loading of batches are not in it.
        """
        import torch

        device = device_of(model)
        if sample_input is not None:
            passes = [(model, sample_input)]
        else:
            passes = [(one, _input_of(one, device)) for one in model.modules() if _input_of(one, device) is not None]
        if not passes:
            return 1.0

        def run(enabled: bool) -> float:
            clock = StepClock(device)
            clock.start()
            with torch.autocast(_type_of(device), dtype=self.dtype_on(device), enabled=enabled):
                for one, given in passes:
                    forward_backward(one, moved(given, device))
            clock.step()
            return sum(clock.stop())

        before = [(weight, weight.grad) for weight in model.parameters()]
        try:
            ratios = [run(False) / run(True) for _ in range(ROUNDS + 2)][2:]
        finally:
            for weight, gradient in before:
                weight.grad = gradient
        return statistics.median(ratios)

    def autocast_forward(self, model: Any) -> Any:
        """The model with its forward in 16 bits and answers in 32, in place. Without scaling: not for float16 in training."""
        import torch

        kind, dtype, inner = _type_of(device_of(model)), self.dtype_on(device_of(model)), model.forward

        @functools.wraps(inner)
        def forward(*args: Any, **kwargs: Any) -> Any:
            with torch.autocast(kind, dtype=dtype):
                output = inner(*args, **kwargs)
            return _widened(output, dtype)

        model.forward = forward
        return model

    def dtype_on(self, device: Any) -> Any:
        import torch

        if self.dtype is not None:
            return self.dtype
        if _type_of(device) == "cuda" and torch.cuda.get_device_capability(device)[0] < 8:
            return torch.float16
        return torch.bfloat16


def _type_of(device: Any) -> str:
    return "cpu" if device is None else str(device.type)


def _grad_scaler() -> Any:
    import torch

    return getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler  # the former since 2.3


def _widened(output: Any, dtype: Any) -> Any:
    if hasattr(output, "dtype"):
        return output.float() if output.dtype == dtype else output
    if isinstance(output, dict):
        return type(output)((name, _widened(one, dtype)) for name, one in output.items())
    if isinstance(output, (list, tuple)) and type(output) in (list, tuple):
        return type(output)(_widened(one, dtype) for one in output)
    return output


def _input_of(layer: Any, device: Any) -> Any:
    """For a layer of matrix work; None for another one."""
    import torch
    from torch import nn

    if isinstance(layer, nn.Linear):
        return torch.randn(ROWS, layer.in_features, device=device)
    if isinstance(layer, nn.Conv2d):
        return torch.randn(ROWS // 8, layer.in_channels, SIDE, SIDE, device=device)
    return None
