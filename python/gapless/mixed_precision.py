# SPDX-License-Identifier: Apache-2.0
"""Training steps whose matrix work is done in 16 bits."""

from __future__ import annotations

import functools
import statistics
from typing import Any, Callable

from .step_timing import StepClock
from .training import Criterion, Kept, device_of, forward, forward_backward, inputs_and_target, moved

ROUNDS = 7  # of one measurement
# Speedup in 16 bits on a GPU with tensor cores, by kind of layer: matrix work 2–3×, normalisations 1.5×, others 1.2×.
MATRIX, NORM, OTHER = 2.5, 1.5, 1.2
NORMS = ("BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm", "LocalResponseNorm")
MATRIX_LAYERS = ("Linear", "Bilinear", "Conv", "MultiheadAttention", "LSTM", "GRU", "RNN")


class MixedPrecisionOptimizer:
    """bfloat16 where the device has it (a GPU from compute capability 8.0, a CPU), else float16 with a scaled loss.

    >>> step = MixedPrecisionOptimizer().wrap_training_step(model, criterion, optimizer)  # doctest: +SKIP
    >>> loss = step({"input": images, "target": labels})  # doctest: +SKIP
    """

    def __init__(self, dtype: Any = None) -> None:
        """`dtype`: torch.bfloat16 or torch.float16, instead of the one that the device has."""
        self.dtype = dtype
        self.estimate_source = ""  # of the last estimate: "operator mix" or "measured"
        self._scaler: Any = None

    @property
    def scaler(self) -> Any:
        """The GradScaler of wrapped steps. It scales where float16 trains on a GPU, and otherwise passes losses through."""
        if self._scaler is None:
            import torch

            self._use_scaler(torch.cuda.is_available() and self.dtype_on(torch.device("cuda")) == torch.float16)
        return self._scaler

    @scaler.setter
    def scaler(self, scaler: Any) -> None:
        self._scaler = scaler

    def wrap_training_step(self, model: Any, criterion: Criterion | None, optimizer: Any) -> Callable[..., float]:
        """Returns a function that takes a whole training step and returns the loss as a number.

        It is called with a batch: a mapping with `input` and `target` (or names like them), or (inputs, targets), as one tuple or as two
        arguments. Where the model computes the loss itself, `criterion` may be None. Forward and loss run in 16 bits; weights and the
        optimiser's state stay in 32. Raises ValueError for a batch without input or target.
        """
        import torch

        device = device_of(model)
        kind, dtype = _type_of(device), self.dtype_on(device)
        if self._scaler is None:
            self._use_scaler(kind == "cuda" and dtype == torch.float16)

        def training_step(*batch: Any) -> float:
            given = moved(batch[0] if len(batch) == 1 else tuple(batch), device)
            with torch.autocast(kind, dtype=dtype):
                loss = _loss(model, criterion, given)
            optimizer.zero_grad(set_to_none=True)
            self.scaler.scale(loss).backward()
            self.scaler.step(optimizer)
            self.scaler.update()
            return float(loss.detach())

        return training_step

    def estimate_speedup(self, model: Any, sample_input: Any = None) -> float:
        """Returns the speedup of forward and backward passes in 16 bits; `estimate_source` says how it is known.

        "operator mix", without `sample_input`: the mean over the layers, of which linear, convolutional, recurrent and attention layers
        count 2.5, normalisations 1.5 and others 1.2, weighted by their number. This is for a GPU with tensor cores, whatever device the
        model is on; 1.0 for a model without layers. "measured", with `sample_input`: the median of timed passes, here and now. It may be
        below 1: many processors have no unit for 16 bits. The optimiser and the loading of batches are not included.
        """
        if sample_input is not None:
            self.estimate_source = "measured"
            return self._measured(model, sample_input)
        self.estimate_source = "operator mix"
        weights = [_weight(layer) for layer in model.modules() if not list(layer.children())]
        known = [weight for weight in weights if weight is not None]
        return statistics.fmean(known) if known else 1.0

    def _measured(self, model: Any, sample_input: Any) -> float:
        import torch

        device = device_of(model)

        def run(enabled: bool) -> float:
            clock = StepClock(device)
            clock.start()
            with torch.autocast(_type_of(device), dtype=self.dtype_on(device), enabled=enabled):
                forward_backward(model, moved(sample_input, device))
            clock.step()
            return sum(clock.stop())

        with Kept(model):
            return statistics.median([run(False) / run(True) for _ in range(ROUNDS + 2)][2:])

    def _use_scaler(self, enabled: bool) -> None:
        self._scaler = _grad_scaler()(enabled=enabled)

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
        return type(output)((name, _widened(part, dtype)) for name, part in output.items())
    if isinstance(output, (list, tuple)) and type(output) in (list, tuple):
        return type(output)(_widened(part, dtype) for part in output)
    return output


def _weight(layer: Any) -> float | None:
    """Returns the expected speedup of a layer, or None if it computes nothing."""
    name = type(layer).__name__
    if name in (
        "Sequential",
        "ModuleList",
        "ModuleDict",
        "Identity",
        "Flatten",
        "Unflatten",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "Embedding",
    ):
        return None
    if name.startswith(NORMS):
        return NORM
    return MATRIX if any(kind in name for kind in MATRIX_LAYERS) else OTHER


def _loss(model: Any, criterion: Criterion | None, batch: Any) -> Any:
    _, target = inputs_and_target(batch)
    if criterion is not None and target is None:
        raise ValueError(
            "cannot train on this batch: it has no target; pass {'input', 'target'}, (inputs, targets), or two arguments"
        )
    loss, is_loss = forward(model, batch, criterion)
    if not is_loss:
        raise ValueError(
            "cannot train on this batch: the model returns no loss and there is no target; pass a criterion"
        )
    return loss
