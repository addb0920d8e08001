# SPDX-License-Identifier: Apache-2.0
"""One step of training, as everything here that runs a model takes it; and the model as it was before.

A batch is the model's input, or a sequence that begins with it (then the target follows). Of a mapping, `forward` gets by keyword the
entries that it has parameters for, if these are all it needs. Otherwise it gets the entry `input` (or another of INPUTS), else the whole mapping;
always the whole one where its parameter is named `batch` or `sample`. Tensors on another device than the model are moved to it.

The loss is `criterion(output, target)`. Without a criterion it is the output when that is one number, else the output's own `loss`, else
cross entropy for a target of class numbers, mean squared error for a target like the output, and else the mean of the (first) output, which
costs as much as a loss without being a loss.
"""

from __future__ import annotations

import collections.abc
import inspect
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, Callable

Criterion = Callable[..., Any]
MakeOptimizer = Callable[[Any], Any]

TARGETS = ("labels", "label", "targets", "target", "y")
INPUTS = ("input", "inputs", "x", "image", "images", "data", "features", "pixel_values", "input_ids")
WHOLE = ("batch", "sample", "samples", "data", "item")  # parameters of a forward that takes the mapping itself
IGNORED = -100  # class number that cross entropy leaves out
WRAPPERS = {"DistributedDataParallel": "module", "DataParallel": "module", "OptimizedModule": "_orig_mod"}


class Batches:
    """Batches without end: a loader that is through is begun again."""

    def __init__(self, loader: Iterable[Any]) -> None:
        self._loader = loader
        self._batches = iter(loader)
        self._given = 0

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Any:
        for batch in self._batches:
            self._given += 1
            return batch
        self._batches = iter(self._loader)
        for batch in self._batches:
            self._given += 1
            return batch
        if self._given:
            raise ValueError(f"the loader ended after {self._given} batches and cannot be iterated again")
        raise ValueError("the loader has no batch")


_optimized_loaders: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def remember_loader(model: Any, loader: Any, optimized: Any) -> None:
    """The optimised model was measured with another loader in place of `loader`: whoever validates it later has to use that, too."""
    _optimized_loaders[model] = (weakref.ref(loader), optimized)


def loader_of(model: Any, loader: Any) -> Any:
    """Returns the loader that takes the place of `loader` for this model; `loader` itself if there is none."""
    known = _optimized_loaders.get(model) if isinstance(model, collections.abc.Hashable) else None
    return known[1] if known is not None and known[0]() is loader else loader


def device_of(model: Any) -> Any:
    """Returns the device of the model's first parameter or buffer, or None if it has neither."""
    for tensors in ("parameters", "buffers"):
        for tensor in getattr(model, tensors, list)():
            return tensor.device
    return None


def moved(batch: Any, device: Any) -> Any:
    """The batch with its tensors on the device."""
    if device is None:
        return batch
    if hasattr(batch, "to") and hasattr(batch, "device"):
        return batch if batch.device == device else batch.to(device, non_blocking=True)
    if isinstance(batch, Mapping):
        return {name: moved(part, device) for name, part in batch.items()}
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, (list, tuple)):
        return [moved(item, device) for item in batch]
    return batch


def samples_of(batch: Any) -> int | None:
    """Returns the length of the first tensor in a batch, or None without a tensor."""
    if hasattr(batch, "dim") and hasattr(batch, "shape"):
        return int(batch.shape[0]) if batch.dim() > 0 else None
    parts: Iterable[Any] = ()
    if isinstance(batch, Mapping):
        parts = batch.values()
    elif isinstance(batch, (list, tuple)):
        parts = batch
    for part in parts:
        found = samples_of(part)
        if found is not None:
            return found
    return None


def forward(
    model: Any, batch: Any, criterion: Criterion | None = None, inferred: InferredLoss | None = None
) -> tuple[Any, bool]:
    """Returns the loss of a batch, and True if it is one (False: the mean of the output)."""
    if isinstance(batch, (list, tuple)):
        output, target = model(batch[0]), batch[1] if len(batch) > 1 else None
    elif isinstance(batch, Mapping):
        output, target = _call(model, batch), target_of(batch)
    else:
        output, target = model(batch), None
    if criterion is not None:
        return (criterion(output) if target is None else criterion(output, target)), True
    own = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    if own is None and target is not None:
        loss = (inferred or InferredLoss())(output, target)
        if loss is not None:
            return loss, True
    return _loss_of(output)


def inputs_and_target(batch: Any) -> tuple[Any, Any]:
    """Returns the input of a batch (None for a mapping without a known one) and its target (None without one)."""
    if isinstance(batch, Mapping):
        return next((batch[name] for name in INPUTS if name in batch), None), target_of(batch)
    if isinstance(batch, (list, tuple)):
        return batch[0], batch[1] if len(batch) > 1 else None
    return batch, None


def target_of(batch: Mapping[str, Any]) -> Any:
    """Returns the target of a mapping, None without one."""
    return next((batch[name] for name in TARGETS if name in batch), None)


def forward_backward(
    model: Any, batch: Any, criterion: Criterion | None = None, inferred: InferredLoss | None = None
) -> tuple[Any, bool]:
    """Takes a pass in both directions, which leaves gradients. Returns the loss as `forward` does."""
    loss, is_loss = forward(model, batch, criterion, inferred)
    if loss.requires_grad:
        loss.backward()
    return loss.detach(), is_loss


class InferredLoss:
    """The loss that fits output and target of the first batch: cross entropy, mean squared error, or None."""

    def __init__(self) -> None:
        self._loss: Callable[[Any, Any], Any] | None = None
        self._decided = False

    def __call__(self, output: Any, target: Any) -> Any:
        answer = _answer(output)
        if not self._decided:
            self._loss, self._decided = _fitting_loss(answer, target), True
        return None if self._loss is None else self._loss(answer, target)


class Training:
    """A model with what trains it. Without an optimiser, SGD with a learning rate of 0: it does its work and leaves the weights."""

    def __init__(self, model: Any, optimizer: Any = None, criterion: Criterion | None = None) -> None:
        self.model = model
        self.criterion = criterion
        self.device = device_of(model)
        self.has_loss = True
        self._inferred = InferredLoss()
        self.optimizer = optimizer
        if optimizer is None:
            weights = [parameter for parameter in getattr(model, "parameters", list)() if parameter.requires_grad]
            if weights:
                import torch

                self.optimizer = torch.optim.SGD(weights, lr=0.0)

    def step(self, batch: Any) -> Any:
        """Forward, loss, backward, an optimiser step, gradients cleared; gives the loss, still on its device."""
        loss, is_loss = forward_backward(self.model, moved(batch, self.device), self.criterion, self._inferred)
        self.has_loss = self.has_loss and is_loss
        if self.optimizer is not None:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        return loss


class Kept:
    """A block after which a model (and an optimiser) are as before it: weights, buffers, gradients, the optimiser's state.

    The copies lie in host memory, so that what is measured inside is not larger for them. Modes (`train`, `eval`) and the states of
    random generators are not touched.
    """

    def __init__(self, model: Any, optimizer: Any = None) -> None:
        self._model = model
        self._optimizer = optimizer

    def __enter__(self) -> None:
        from torch.nn.parameter import is_lazy

        self._tensors = []
        self._gradients = []
        for module in getattr(self._model, "modules", list)():
            for held in (module._parameters, module._buffers):
                for name, tensor in held.items():
                    if tensor is not None and not is_lazy(tensor):
                        self._tensors.append((held, name, tensor, tensor.detach().to("cpu", copy=True)))
        for weight in getattr(self._model, "parameters", list)():
            self._gradients.append((weight, None if is_lazy(weight) else weight.grad))
            weight.grad = None
        self._state = None if self._optimizer is None else _on_host(self._optimizer.state_dict())

    def __exit__(self, *_: object) -> None:
        import torch

        with torch.no_grad():
            for held, name, tensor, copy in self._tensors:
                tensor.copy_(copy)
                held[name] = tensor
        for weight, gradient in self._gradients:
            weight.grad = gradient
        if self._optimizer is not None:
            self._optimizer.load_state_dict(self._state)


def _call(model: Any, batch: Mapping[str, Any]) -> Any:
    inner = model
    while type(inner).__name__ in WRAPPERS:
        inner = getattr(inner, WRAPPERS[type(inner).__name__])
    try:
        takes = inspect.signature(getattr(inner, "forward", inner)).parameters
    except (TypeError, ValueError):
        return model(batch)
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in takes.values()):
        return model(**batch)
    named = {name: part for name, part in batch.items() if name in takes}
    needed = {name for name, parameter in takes.items() if parameter.default is inspect.Parameter.empty}
    if named and needed <= named.keys():
        return model(**named)
    if next(iter(takes), "") not in WHOLE:
        given = next((batch[name] for name in INPUTS if name in batch), None)
        if given is not None:
            return model(given)
    return model(batch)


def _answer(output: Any) -> Any:
    """Returns the tensor of an output that a target is compared with, or None without one."""
    if isinstance(output, Mapping):
        output = output.get("logits", next(iter(output.values()), None))
    elif isinstance(output, (list, tuple)):
        output = output[0] if output else None
    output = getattr(output, "logits", output)
    return output if hasattr(output, "dim") else None


def _fitting_loss(answer: Any, target: Any) -> Callable[[Any, Any], Any] | None:
    from torch.nn import functional

    if answer is None or not hasattr(target, "dim") or answer.dim() == 0:
        return None
    if target.is_floating_point():
        if answer.shape == target.shape:
            return lambda output, wanted: functional.mse_loss(output.float(), wanted.float())
        if answer.shape == (*target.shape, 1):
            return lambda output, wanted: functional.mse_loss(output.float().squeeze(-1), wanted.float())
        return None
    if answer.dim() != target.dim() + 1 or not answer.is_floating_point() or not target.numel():
        return None
    last = answer.shape[:-1] == target.shape  # as models of language answer: a distribution for each place
    if not last and (answer.shape[0], *answer.shape[2:]) != tuple(target.shape):
        return None
    classes, kept = answer.shape[-1 if last else 1], target[target != IGNORED]
    if not kept.numel() or not 0 <= int(kept.min()) <= int(kept.max()) < classes:
        return None
    if last:
        return lambda output, wanted: functional.cross_entropy(output.flatten(0, -2).float(), wanted.flatten().long())
    return lambda output, wanted: functional.cross_entropy(output.float(), wanted.long())


def _loss_of(output: Any) -> tuple[Any, bool]:
    own = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    loss = output if own is None else own
    if isinstance(loss, Mapping):
        loss = [part for part in loss.values() if part is not None]
    if isinstance(loss, (list, tuple)) and loss:
        loss = loss[0]
    if not hasattr(loss, "dim"):
        loss = getattr(loss, "logits", loss)
    if not hasattr(loss, "dim"):
        raise TypeError(f"cannot find the loss in the output of the model, {type(output).__name__}: pass a criterion")
    is_loss = own is not None or loss.dim() == 0
    return (loss.float().mean() if loss.dim() > 0 else loss), is_loss


def _on_host(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _on_host(part) for name, part in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(_on_host(part) for part in state)
    return state.detach().to("cpu", copy=True) if hasattr(state, "detach") else state
