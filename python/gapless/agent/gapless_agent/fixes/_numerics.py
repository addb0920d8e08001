# SPDX-License-Identifier: Apache-2.0
"""Does a kernel compute what the module computes? Results and gradients of both are held against the module in float64.

A kernel may round differently. An error is the largest difference from float64, as a share of the largest value. That of the kernel may be
FACTOR times that of the module as it is, or UNITS units of the type's precision where that is more. What is not finite, or has no gradient
where the module has one, is wrong. The gradients are those of a random weighting of the results, so that no error can cancel another.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, NamedTuple

FACTOR, UNITS = 4.0, 16.0
MOST_ELEMENTS = 1 << 22  # of one argument; of more the first rows are taken

Forward = Callable[..., Any]


class Sample(NamedTuple):
    """The arguments of one call, as the training passed them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def sample_of(torch: Any, args: Any, kwargs: Any) -> Sample:
    return Sample(
        tuple(_copied(torch, value) for value in args), {key: _copied(torch, value) for key, value in kwargs.items()}
    )


def shapes_of(torch: Any, sample: Sample) -> tuple[Any, ...]:
    """Returns what tells calls of one module apart: shapes and types of the tensors."""
    return tuple(
        (tuple(value.shape), value.dtype) if isinstance(value, torch.Tensor) else type(value)
        for value in (*sample.args, *sample.kwargs.values())
    )


def difference(
    torch: Any, module: Any, kernel: Forward, sample: Sample, loosest: float = 0.0, forward: Forward | None = None
) -> str:
    """Returns how `kernel(module, …)` differs from `module(…)`; "" where it is as close to float64 as the module, or closer than `loosest`.
    `forward`: what the module computes by, where that is not the method of its class."""
    exact, usual = copy.deepcopy(module).double(), forward or type(module).forward
    weights: list[Any] = []
    with torch.autocast(_device_of(torch, module, sample), enabled=False):
        wanted = _results(torch, exact, usual, _as_double(torch, sample), weights)
    own = _results(torch, module, usual, sample, weights)
    other = _results(torch, module, kernel, sample, weights)
    for what, exact_values in wanted.items():
        problem = _compared(torch, exact_values, own.get(what), other.get(what), loosest)
        if problem:
            return f"{what} {problem}"
    return ""


def difference_or_error(
    torch: Any, module: Any, kernel: Forward, sample: Sample, loosest: float = 0.0, forward: Forward | None = None
) -> str:
    """The same; what is raised is a difference, too."""
    try:
        return difference(torch, module, kernel, sample, loosest, forward)
    except Exception as error:
        return f"{type(error).__name__}: {error}".strip()[:300]


def mean_of_some(torch: Any, loss: Any, target: Any, settings: dict[str, Any]) -> Any:
    """Returns a cross entropy of Liger as torch has it: the mean over no target at all is not a number, and has no gradient."""
    if settings.get("reduction", "mean") != "mean":
        return loss
    return torch.where((target != settings.get("ignore_index", -100)).any(), loss, torch.nan)


def compiling(torch: Any) -> Callable[[], bool]:
    """Returns the function that says if the compiler traces its caller."""
    found: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    return found


def _compared(torch: Any, exact: Any, own: Any, other: Any, loosest: float) -> str:
    if other is None or own is None:
        return "" if own is None else "is missing"
    if other.shape != own.shape:
        return f"has the shape {tuple(other.shape)}, not {tuple(own.shape)}"
    if not bool(torch.isfinite(other).all()):
        return "is not finite" if bool(torch.isfinite(own).all()) else ""
    scale = float(exact.abs().max()) or 1.0
    error, own_error = (float((value.double() - exact).abs().max()) / scale for value in (other, own))
    if error <= max(FACTOR * own_error, UNITS * torch.finfo(own.dtype).eps, loosest):
        return ""
    return (
        f"differs from float64 by {error:.1e} of the largest value, where the module itself differs by {own_error:.1e}"
    )


def _results(torch: Any, module: Any, forward: Forward, sample: Sample, weights: list[Any]) -> dict[str, Any]:
    """Returns results and gradients by name. The first call fills `weights`, those of the sum that is differentiated."""
    leaves: dict[str, Any] = {}

    def leaf(name: str, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
            if value.is_floating_point():
                leaves[f"the gradient of {name}"] = value.requires_grad_()
        return value

    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    # Hooks on what is saved for the backward pass are the model's: a checkpoint that counts would count this, too.
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda value: value, lambda value: value)
    with torch.enable_grad(), torch.random.fork_rng(devices=devices), hooks:
        torch.manual_seed(0)  # for a dropout within the module, which must draw the same
        args = [leaf(f"argument {number}", value) for number, value in enumerate(sample.args, 1)]
        kwargs = {key: leaf(f"argument {key!r}", value) for key, value in sample.kwargs.items()}
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                leaves[f"the gradient of {name}"] = parameter
        results = _floats(torch, forward(module, *args, **kwargs))
        if not weights:
            weights.extend(torch.randn_like(result) for result in results)
        gradients = torch.autograd.grad(
            results,
            list(leaves.values()),
            [weight.to(result) for weight, result in zip(weights, results)],
            allow_unused=True,
        )
    found = {f"result {number}": result.detach() for number, result in enumerate(results, 1)}
    found.update({name: gradient for name, gradient in zip(leaves, gradients) if gradient is not None})
    return found


def _floats(torch: Any, result: Any) -> list[Any]:
    values = result if isinstance(result, (tuple, list)) else [result]
    return [value for value in values if isinstance(value, torch.Tensor) and value.requires_grad]


def _copied(torch: Any, value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    rows = max(1, MOST_ELEMENTS * value.shape[0] // value.numel()) if value.dim() > 1 and value.numel() else 0
    return (value[:rows] if value.numel() > MOST_ELEMENTS else value).detach().clone()


def _as_double(torch: Any, sample: Sample) -> Sample:
    def double(value: Any) -> Any:
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    return Sample(tuple(map(double, sample.args)), {key: double(value) for key, value in sample.kwargs.items()})


def _device_of(torch: Any, module: Any, sample: Sample) -> str:
    tensors = (value for value in (*module.parameters(), *sample.args, *sample.kwargs.values()))
    return next((value.device.type for value in tensors if isinstance(value, torch.Tensor)), "cpu")
