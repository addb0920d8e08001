# SPDX-License-Identifier: Apache-2.0
"""The last linear layer of a model and the cross entropy of what it gives, by Liger in one: the logits, of which there is one for every token
and word, are never all in memory.

No script is edited, and no name in it means something else. The layer returns a tensor of a class of its own (`_kinds`), which knows the rows
that were multiplied, and keeps knowing them through views of rows and a change to float32. In the first WATCHED calls it holds the logits and
only notes what reads them. If that was one cross entropy each time and nothing else, and the kernel is as close to float64 as the program's
own operators, later calls compute nothing until the loss is asked for, and then both in one. Anything else that reads such logits gets them,
computed as the layer computes them, with the weights of that call; the fix ends there, and says so.
"""

from __future__ import annotations

import functools
import math
import types
import weakref
from typing import Any, Callable, NamedTuple

from ..context import Context
from ..reports import Report
from . import _numerics
from ._values import mapped

WATCHED = 2
MOST_LOGITS = 1 << 20  # of the rows with which the kernel is tried
# A tensor says these without its values.
TELLS = {"shape", "dtype", "device", "ndim", "layout", "size", "dim", "numel", "nelement", "is_floating_point", "is_complex", "is_cuda",
         "is_cpu", "is_sparse", "is_meta", "is_mkldnn", "is_quantized", "is_nested", "element_size", "itemsize", "get_device", "__len__",
         "__hash__"}  # fmt: skip


class Verdict(NamedTuple):
    problem: str  # of the kernel; "": it is right
    dtype: Any  # of the loss


class FusedLoss:
    """One model's last layer: `put_in` before its first call, `take_out` when the fix is off."""

    def __init__(self, context: Context, report: Report, shown: str) -> None:
        self.context, self.report, self.torch, self.shown = context, report, context.torch, shown
        self.is_compiling = _numerics.compiling(context.torch)
        self.linear: Any = None
        self.calls = self.losses = 0
        self.types: dict[Any, Any] = {}  # the type of the logits, by that of the rows and the autocast
        self.verdicts: dict[Any, Verdict] = {}
        self.products: weakref.WeakSet[Product] = weakref.WeakSet()  # of which something may still be asked
        self.off = True
        self.says_so = False
        self.handle: Any = None

    def put_in(self, module: Any) -> str:
        """Returns why the model has no such layer."""
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        *_, linear = (child for child in module.modules() if not any(child.children()))
        reason = self._why_not(module, linear)
        if not reason:
            self.linear, self.off, self.calls, self.losses = linear, False, 0, 0
            linear.forward = types.MethodType(self._forward_of(linear), linear)
            self.handle = register_optimizer_step_pre_hook(lambda *_: self._keep_weights())
        return reason

    def take_out(self) -> None:
        self.off = True
        if self.linear is not None:
            vars(self.linear).pop("forward", None)
            self.handle.remove()
        self.linear = None

    def _why_not(self, module: Any, linear: Any) -> str:
        name, torch = type(module).__name__, self.torch
        plain = type(linear) is torch.nn.Linear and type(linear.weight) is torch.nn.Parameter
        if not plain or "forward" in vars(linear) or linear.out_features <= linear.in_features:
            return f"the last module of {name} is no linear layer that gives more than it takes"
        if any(getattr(linear, hooks, None) for hooks in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")):
            return f"the last layer of {name} has hooks"
        for child in module.modules():
            if getattr(child, "find_unused_parameters", False) or getattr(child, "static_graph", False):
                return f"{type(child).__name__} follows the gradients of what the model returns"
            if type(child).__name__.startswith(("FSDP", "FullySharded")):
                return f"{type(child).__name__} takes the weights away after each call"
        return ""

    def _forward_of(self, linear: Any) -> Callable[..., Any]:
        plain = type(linear).forward

        def forward(module: Any, input: Any) -> Any:
            if self.is_compiling() or not self._takes(module, input):
                return plain(module, input)
            product = Product(self, input)
            key = input.dtype, product.autocast
            self._judge()
            if self.off:
                return plain(module, input)
            self.calls += 1
            if self.calls <= WATCHED or key not in self.types:
                logits = plain(module, input)
                self.types[key] = logits.dtype
                return _watched(self.torch, product, input, logits)
            self.products.add(product)
            return _unmade(self.torch, product, input, self.types[key], product.real)

        return forward

    def _takes(self, module: Any, input: Any) -> bool:
        if self.off or module is not self.linear or not self.context.on or not self.report.is_on():
            return False
        plain = type(input) is self.torch.Tensor and input.dim() > 1 and input.numel() > 0
        return plain and input.requires_grad and self.torch.is_grad_enabled() and not self.torch.jit.is_tracing()

    def _judge(self) -> None:
        """Before the first call that would not be watched: was each product read by one loss?"""
        if self.calls == WATCHED and self.losses != WATCHED:
            self.end("the output of the model's last layer does not go to one cross entropy that Liger has")

    def end(self, reason: str) -> None:
        """The layer computes as the program has it from here on."""
        if not self.off:
            self.off = True
            self.report.pass_over(reason)
            if self.says_so:
                self.report.changed(f"the last layer and the loss are the program's own again: {reason}")

    def read_by(self, name: str) -> None:
        self.end(f"the logits are needed: `{name.strip('_')}` reads them, too")

    def _keep_weights(self) -> None:
        """An optimiser changes the weights: what is asked of older logits needs those of their time."""
        for product in list(self.products):
            product.keep()

    # The loss.

    def loss(self, original: Callable[..., Any], logits: Any, target: Any, **settings: Any) -> Any:
        """Called with the functions of the class of `logits` disabled."""
        if self.off or not self._takes_loss(logits, target, settings):
            self.end("the cross entropy has weights, targets or a reduction that Liger's does not take here")
            return original(_real(self.torch, logits), target, **settings)
        self.losses += 1
        kept = {key: settings[key] for key in ("ignore_index", "reduction", "label_smoothing") if key in settings}
        problem, dtype = self._verdict(logits, target, kept, original)
        product = logits.product
        if problem or product.is_real or not isinstance(logits, _kinds(self.torch).unmade):
            return original(_real(self.torch, logits), target, **settings)
        if not self.says_so:
            self.says_so = True
            sizes = f"{self.linear.in_features} → {self.linear.out_features}"
            self.report.changed(f"Linear ({sizes}) and cross entropy by {self.shown} in one, without the logits")
        return _fused(self.torch)(logits.rows, product.weight, product.bias, target, kept).to(dtype)

    def _takes_loss(self, logits: Any, target: Any, settings: dict[str, Any]) -> bool:
        torch = self.torch
        if type(target) is not torch.Tensor or target.dtype is not torch.int64 or target.dim() != 1:
            return False
        rows = logits.rows
        sizes = rows.dim() == 2 and 0 < rows.shape[0] == target.shape[0] and target.device == rows.device
        others = [settings.get(name) for name in ("weight", "size_average", "reduce")]
        usual = all(other is None for other in others) and settings.get("reduction", "mean") in ("mean", "sum")
        known = {torch.float32, torch.bfloat16}  # a loss that is scaled is scaled too late for float16
        types = rows.dtype in known and logits.dtype in known and logits.product.autocast[1] in (None, *known)
        return sizes and usual and types and torch.is_grad_enabled()

    def _verdict(self, logits: Any, target: Any, settings: dict[str, Any], original: Callable[..., Any]) -> Verdict:
        torch, rows, widened = self.torch, logits.rows, logits.dtype is self.torch.float32
        key = rows.dtype, logits.dtype, logits.product.autocast, *settings.values()
        if key in self.verdicts:
            return self.verdicts[key]
        types = [torch.float32]

        def own(module: Any, rows: Any, target: Any) -> Any:
            logits = torch.nn.functional.linear(rows, module.weight, module.bias)
            loss = original(
                logits.float() if widened and logits.dtype is torch.bfloat16 else logits, target, **settings
            )
            types.append(loss.dtype)
            return loss

        def kernel(module: Any, rows: Any, target: Any) -> Any:
            return _fused(torch)(rows, module.weight, module.bias, target, settings).to(types[-1])

        every = max(1, rows.shape[0] * self.linear.out_features // MOST_LOGITS)
        sample = _numerics.Sample((rows.detach()[::every].clone(), target[::every].clone()), {})
        problem = _numerics.difference_or_error(torch, self.linear, kernel, sample, forward=own)
        self.verdicts[key] = Verdict(problem, types[-1])
        if problem:
            self.end(f"{self.shown}'s fused linear cross entropy is wrong here: {problem}")
        return self.verdicts[key]


class Product:
    """One call of the layer: what it multiplies, with the weights as they are then."""

    def __init__(self, of: FusedLoss, rows: Any) -> None:
        linear = of.linear
        self.of, self.torch, self.rows = of, of.torch, rows
        self.weight, self.bias, self.words = linear.weight, linear.bias, linear.out_features
        self.autocast = _autocast(of.torch, rows.device.type)
        self.result: Any = None
        self.is_kept = False

    @property
    def is_real(self) -> bool:
        return self.result is not None

    def keep(self) -> None:
        if not self.is_real and not self.is_kept:
            self.is_kept = True
            self.weight = self.weight.detach().clone()
            self.bias = None if self.bias is None else self.bias.detach().clone()

    def real(self) -> Any:
        if self.result is None:
            with self.torch.enable_grad(), _under(self.torch, self.rows.device.type, self.autocast):
                self.result = self.torch.nn.functional.linear(self.rows, self.weight, self.bias)
        return self.result


# Logits that know their rows.


class Kinds(NamedTuple):
    """Classes of tensors, which are made when torch is there."""

    watched: Any  # has its values
    unmade: Any  # has none before something asks for them


@functools.lru_cache(maxsize=1)
def _kinds(torch: Any) -> Kinds:
    class Watched(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with torch._C.DisableTorchFunctionSubclass():
                return _called(torch, func, args, kwargs or {})

    class Unmade(torch.Tensor):  # type: ignore[misc]
        __torch_function__ = Watched.__torch_function__

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise RuntimeError(f"{func} reads the logits below the functions of torch: train without the fix `liger`")

    return Kinds(Watched, Unmade)


def _watched(torch: Any, product: Product, rows: Any, values: Any) -> Any:
    logits = values.as_subclass(_kinds(torch).watched)
    logits.product, logits.rows = product, rows
    return logits


def _unmade(torch: Any, product: Product, rows: Any, dtype: Any, make: Callable[[], Any]) -> Any:
    """Returns logits without values; `make` computes them if they are asked for."""
    shape = (*rows.shape[:-1], product.words)
    kind = _kinds(torch).unmade
    logits = torch.Tensor._make_wrapper_subclass(kind, shape, dtype=dtype, device=rows.device)
    logits.product, logits.rows, logits.make, logits.made = product, rows, make, None
    return logits


def _real(torch: Any, logits: Any) -> Any:
    """Returns the values, for functions that are called with those of the classes disabled."""
    if not isinstance(logits, _kinds(torch).unmade):
        return logits
    if logits.made is None:
        with torch.enable_grad():
            logits.made = logits.make()
    return logits.made


def _called(torch: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """A function of torch meets logits."""
    kinds, name = _kinds(torch), _name_of(func)
    first: Any = args[0] if args else None
    known = isinstance(first, tuple(kinds))
    if known and name in TELLS:
        return func(*args, **kwargs)
    if known and name == "requires_grad":
        return True
    is_loss = name == "cross_entropy" and getattr(func, "__module__", "") == torch.nn.functional.__name__
    if known and is_loss and len(args) == 2 and not isinstance(args[1], tuple(kinds)):
        return first.product.of.loss(func, *args, **kwargs)
    after = _after(torch, name, first, args[1:], kwargs) if known and torch.is_grad_enabled() else None
    if after is None:
        product = first.product if known else _first_of(torch, (args, kwargs)).product
        product.of.read_by(name)
        args, kwargs = (mapped(value, lambda item: _read(torch, item)) for value in (args, kwargs))
        return func(*args, **kwargs)
    if isinstance(first, kinds.watched):
        return _watched(torch, first.product, after.rows, func(*args, **kwargs))
    make = functools.partial(lambda: func(_real(torch, first), *args[1:], **kwargs))
    return _unmade(torch, first.product, after.rows, after.dtype, make)


def _read(torch: Any, item: Any) -> Any:
    return _real(torch, item) if isinstance(item, torch.Tensor) else item


def _first_of(torch: Any, value: Any) -> Any:
    """Returns the first logits among arguments."""
    found: list[Any] = []
    mapped(value, lambda item: found.append(item) if isinstance(item, tuple(_kinds(torch))) else None)
    return found[0]


def _name_of(func: Any) -> str:
    """Returns the name of a function of torch, or of the attribute that is read."""
    name = str(getattr(func, "__name__", func))
    return str(func.__self__.__name__) if name == "__get__" else name


# Views of logits, as views of their rows.


class After(NamedTuple):
    rows: Any
    dtype: Any


def _after(torch: Any, name: str, logits: Any, args: Any, kwargs: Any) -> After | None:
    """Returns the rows of what the function gives; None where that is no longer logits, each as it was."""
    rows, dtype = logits.rows, logits.dtype
    if name == "contiguous" and not args and not kwargs:
        return After(rows, dtype)
    if name == "float" and not args and not kwargs or name == "to" and (args, kwargs) == ((torch.float32,), {}):
        return After(rows, torch.float32)
    if kwargs:
        return None
    if name in ("view", "reshape"):
        rows = _viewed(rows, logits.product.words, args)
    elif name == "flatten":
        rows = _flattened(rows, args)
    elif name == "__getitem__":
        rows = _taken(torch, rows, args[0])
    else:
        rows = None
    return None if rows is None else After(rows, dtype)


def _viewed(rows: Any, words: int, args: Any) -> Any:
    shape = list(args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args)
    if not shape or not all(type(size) is int for size in shape):
        return None
    if -1 in shape:
        others = -math.prod(shape)
        shape[shape.index(-1)] = math.prod(rows.shape[:-1]) * words // max(1, others)
    is_whole = shape[-1] == words and math.prod(shape) == math.prod(rows.shape[:-1]) * words
    return rows.reshape(*shape[:-1], rows.shape[-1]) if is_whole else None


def _flattened(rows: Any, args: Any) -> Any:
    if not all(type(dim) is int for dim in args) or len(args) != 2:
        return None
    first, last = (dim % rows.dim() for dim in args)
    return rows.flatten(first, last) if first <= last < rows.dim() - 1 else None


def _taken(torch: Any, rows: Any, key: Any) -> Any:
    """Rows by slices and numbers, or by a mask of them."""
    if isinstance(key, torch.Tensor):
        is_mask = type(key) is torch.Tensor and key.dtype is torch.bool and 0 < key.dim() < rows.dim()
        return rows[key] if is_mask else None
    keys = list(key) if isinstance(key, tuple) else [key]
    if not all(item is None or item is Ellipsis or type(item) in (int, slice) for item in keys):
        return None
    count = sum(item is not None and item is not Ellipsis for item in keys)
    missing = [slice(None)] * (rows.dim() - count)
    if Ellipsis in keys:
        place = keys.index(Ellipsis)
        keys[place : place + 1] = missing
    else:
        keys += missing
    return rows[tuple(keys)] if type(keys[-1]) is slice and keys[-1] == slice(None) else None


# The kernel.


@functools.lru_cache(maxsize=1)
def _fused(torch: Any) -> Callable[..., Any]:
    """Returns loss(rows, weight, bias, target, settings). Liger computes the gradients together with the loss, as those of 1, and would
    scale them in place: a second backward pass would scale them twice. Here they are scaled as they are handed on."""
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy

    class Fused(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, rows: Any, weight: Any, bias: Any, target: Any, settings: Any) -> Any:
            needs = dict(zip((0, 1, 2), ctx.needs_input_grad))
            given = [None if value is None else value.detach() for value in (rows, weight, bias)]
            wanted = [value.requires_grad_() for place, value in enumerate(given) if value is not None and needs[place]]
            with torch.enable_grad():
                loss = liger_fused_linear_cross_entropy(*given[:2], target, bias=given[2], **settings)
                gradients = iter(torch.autograd.grad(loss, wanted))
            ctx.save_for_backward(*(next(gradients) if needs[place] else None for place in needs))
            return loss.detach()

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[misc,untyped-decorator,unused-ignore]
        def backward(ctx: Any, gradient: Any) -> Any:
            return *(None if own is None else own * gradient for own in ctx.saved_tensors), None, None

    def loss(rows: Any, weight: Any, bias: Any, target: Any, settings: Any) -> Any:
        return _numerics.mean_of_some(torch, Fused.apply(rows, weight, bias, target, settings), target, settings)

    return loss


# The types that autocast chooses.


def _autocast(torch: Any, device: str) -> tuple[bool, Any]:
    """Returns if autocast is on for such a device, and its type if so."""
    if hasattr(torch, "get_autocast_dtype"):
        is_on = bool(torch.is_autocast_enabled(device))
        return is_on, torch.get_autocast_dtype(device) if is_on else None
    if device == "cpu":
        return (True, torch.get_autocast_cpu_dtype()) if torch.is_autocast_cpu_enabled() else (False, None)
    return (True, torch.get_autocast_gpu_dtype()) if torch.is_autocast_enabled() else (False, None)


def _under(torch: Any, device: str, autocast: tuple[bool, Any]) -> Any:
    is_on, dtype = autocast
    return torch.autocast(device, dtype=dtype, enabled=is_on)
