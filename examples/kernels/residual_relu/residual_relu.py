# SPDX-License-Identifier: Apache-2.0
# residual_relu: one kernel for a chain of operators.
# aten::add > aten::clamp_min
# resnet50_profiler_api.py:46
"""One kernel, with its gradient, for the chain of operators

    aten::add > aten::clamp_min

`residual_relu` computes it, `reference` is the same in eager PyTorch."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch.autograd.function import once_differentiable

REDUCED = 0  # the last dimensions of the elements are a row; 0: elements stand alone
KEEPS = True  # a result of one element a row keeps these dimensions, with size 1
RESULT_BY_ROW = False
# For each input: is it one element a row, and how many dimensions of size 1 belong behind its own?
BY_ROW = (False, False)
MISSING = (0, 0)
# For each input, then for the result: the main type (T), the wide one beside it (W), or a mask (bool).
STORAGE = ("T", "T", "T")
MAIN = torch.float32  # the main type where no input shows it
# The inputs that have a gradient, in the order of the kernel's results.
GRADIENT_OF = [0, 1]
# As recorded, for the test and the benchmark.
SHAPES = ((32, 256, 56, 56), (32, 256, 56, 56))
TYPES = (torch.float32, torch.float32)
SCALARS: dict[str, float | None] = {"low1": None}

HERE = Path(__file__).resolve().parent
BACKEND = "extension"  # or "triton"
KINDS = {torch.float32: 0, torch.float64: 1, torch.float16: 2, torch.bfloat16: 3}


def cast(x: torch.Tensor, kind: str) -> torch.Tensor:
    """Casts as the chain did; in float64, in which the kernel is tested, nothing is cast."""
    kinds = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    return x if x.dtype == torch.float64 else x.to(kinds[kind])


def reference(x0: torch.Tensor, x1: torch.Tensor, *, low1: float) -> torch.Tensor:
    """The chain in eager PyTorch."""
    v0 = torch.add(x0, x1, alpha=1)
    return torch.clamp_min(v0, low1)


@lru_cache(maxsize=None)
def extension() -> Any:
    """Builds the extension, or loads the one that was built."""
    from torch.utils.cpp_extension import load

    sources, flags = [HERE / "residual_relu.cpp"], ["-O3", "-std=c++20", "-fopenmp", "-fno-math-errno", "-march=native"]
    if torch.version.cuda and torch.cuda.is_available():
        sources.append(HERE / "residual_relu.cu")
        flags.append("-DWITH_CUDA")
    load("residual_relu_extension", [str(source) for source in sources], extra_cflags=flags, is_python_module=False)
    return torch.ops.residual_relu


def run(which: str, inputs: list[torch.Tensor], places: list[int], rows: int, cols: int, scalars: list[float],
        outputs: list[torch.Tensor], kind: int, folded: list[int], parts: int) -> None:
    if BACKEND == "triton":
        import residual_relu_triton

        residual_relu_triton.run(which, inputs, places, rows, cols, scalars, outputs)
    else:
        getattr(extension(), which)(inputs, places, rows, cols, kind, scalars, outputs, folded, parts)


def place_of(shape: tuple[int, ...], sizes: tuple[int, ...], row_dims: int) -> tuple[int, int, int, int] | None:
    """Finds the element of a row and a column of `sizes` in a tensor of `shape`; None: it has to be copied out first."""
    outer, inner = shape[: len(shape) - row_dims], shape[len(shape) - row_dims :]
    if inner == sizes[len(sizes) - row_dims :]:
        width, col = math.prod(inner), 1
    elif all(size == 1 for size in inner):
        width, col = 1, 0
    else:
        return None
    held = [at for at, size in enumerate(outer) if size == sizes[at] and size != 1]
    if not held:
        return 1, 1, 0, col
    run_of = range(held[0], held[-1] + 1)
    if any(outer[at] != sizes[at] for at in run_of):
        return None
    behind = math.prod(sizes[held[-1] + 1 : len(outer)])
    return max(behind, 1), math.prod(outer[at] for at in run_of), width, col


@lru_cache(maxsize=4096)
def layout(shapes: tuple[tuple[int, ...], ...]) -> Any:
    """Sizes of the elements, how many dimensions a row has, and the place of each input or None."""
    full = [tuple(shape) + (1,) * missing for shape, missing in zip(shapes, MISSING)]
    sizes = tuple(torch.broadcast_shapes(*full))
    padded = [(1,) * (len(sizes) - len(shape)) + shape for shape in full]
    if REDUCED:
        return sizes, REDUCED, padded, [place_of(shape, sizes, REDUCED) for shape in padded]
    for dims in range(len(sizes), 0, -1):
        places = [place_of(shape, sizes, dims) for shape in padded]
        if None not in places:
            return sizes, dims, padded, places
    return sizes, min(1, len(sizes)), padded, [place_of(shape, sizes, min(1, len(sizes))) for shape in padded]


def row_shape(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return sizes[: len(sizes) - REDUCED] + (1,) * REDUCED


class Call:
    """One call: its sizes, and its inputs as the kernel reads them."""

    def __init__(self, inputs: tuple[torch.Tensor, ...]) -> None:
        self.sizes, dims, padded, self.places = layout(tuple(tuple(x.shape) for x in inputs))
        self.cols = math.prod(self.sizes[len(self.sizes) - dims :])
        self.rows = math.prod(self.sizes[: len(self.sizes) - dims])
        main = next((x.dtype for x, storage in zip(inputs, STORAGE) if storage == "T"), None)
        self.main = main or (torch.float64 if inputs[0].dtype == torch.float64 else MAIN)
        self.wide = torch.float64 if self.main == torch.float64 else torch.float32
        if self.main not in KINDS:
            raise TypeError(f"residual_relu works on float32, float64, float16 and bfloat16, not on {self.main}")
        for at, (x, storage) in enumerate(zip(inputs, STORAGE)):
            if x.dtype != self.type_of(storage):
                raise TypeError(f"input {at} of residual_relu is {x.dtype}, where the kernel takes {self.type_of(storage)}")
            if x.device != inputs[0].device:
                raise ValueError(f"input {at} of residual_relu is on {x.device}, the first one on {inputs[0].device}")
        self.inputs, flat = [], []
        for x, shape, place in zip(inputs, padded, self.places):
            if place is None:
                x, place = x.reshape(shape).expand(self.sizes), (1, max(self.rows, 1), self.cols, 1)
            self.inputs.append(x.contiguous())
            flat += place
        self.flat = flat

    def type_of(self, storage: str) -> torch.dtype:
        return torch.bool if storage == "bool" else self.main if storage == "T" else self.wide

    def is_folded(self, at: int) -> bool:
        """Is the gradient of an input the sum over rows, which the kernel adds up itself? Triton's does not."""
        place = self.places[at]
        return BACKEND != "triton" and self.rows > 1 and not BY_ROW[at] and place is not None and place[2:] == (0, 1)

    def parts(self) -> int:
        """Stretches of rows that are added up apart."""
        device = self.inputs[0].device
        most = 4 * torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 0
        return min(self.rows, most or torch.get_num_threads())

    def new(self, by_row: bool, storage: str) -> torch.Tensor:
        shape = row_shape(self.sizes) if by_row else self.sizes
        return torch.empty(shape, dtype=self.type_of(storage), device=self.inputs[0].device)


class Function(torch.autograd.Function):
    """The kernel with its gradient, which computes anew what the forward pass did not keep: that keeps its inputs alone."""

    @staticmethod
    def forward(ctx: Any, scalars: list[float], *inputs: torch.Tensor) -> torch.Tensor:
        call = Call(inputs)
        result = call.new(RESULT_BY_ROW, STORAGE[-1])
        run("forward", call.inputs, call.flat, call.rows, call.cols, scalars, [result], KINDS[call.main], [], 0)
        ctx.save_for_backward(*inputs)
        ctx.scalars = scalars
        return result.reshape(call.sizes[: len(call.sizes) - REDUCED]) if RESULT_BY_ROW and not KEEPS else result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:  # type: ignore[override]
        inputs = ctx.saved_tensors
        call = Call(tuple(inputs))
        wanted = [ctx.needs_input_grad[1 + at] for at in GRADIENT_OF]
        empty = torch.empty(0, device=gradient.device)
        parts, folded = call.parts(), [at for at in GRADIENT_OF if call.is_folded(at)]
        sums = {"dtype": call.wide, "device": gradient.device}
        results = [empty.to(call.type_of(STORAGE[at])) if not want
                   else torch.zeros((parts, call.cols), **sums) if at in folded else call.new(BY_ROW[at], STORAGE[at])
                   for at, want in zip(GRADIENT_OF, wanted)]
        whole = (1, max(call.rows, 1), 1, 0) if RESULT_BY_ROW else (1, max(call.rows, 1), call.cols, 1)
        run("backward", [*call.inputs, gradient.contiguous()], [*call.flat, *whole], call.rows, call.cols, ctx.scalars,
            results, KINDS[call.main], [GRADIENT_OF.index(at) for at in folded], parts)
        gradients: list[torch.Tensor | None] = [None] * len(inputs)
        for at, want, result in zip(GRADIENT_OF, wanted, results):
            if want and at in folded:
                gradients[at] = result.sum(0).to(inputs[at].dtype).reshape(inputs[at].shape)
            elif want:
                gradients[at] = result.sum_to_size(*inputs[at].shape, *[1] * MISSING[at]).reshape(inputs[at].shape)
        for at, x in enumerate(inputs):
            if ctx.needs_input_grad[1 + at] and gradients[at] is None:
                gradients[at] = torch.zeros_like(x)
        return None, *gradients


def residual_relu(x0: torch.Tensor, x1: torch.Tensor, *, low1: float) -> torch.Tensor:
    """The chain in one kernel. Differentiable once."""
    result: torch.Tensor = Function.apply([low1], x0, x1)
    return result
