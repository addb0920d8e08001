# SPDX-License-Identifier: Apache-2.0
"""One step of training, as everything here that runs a model takes it; and the model as it was before.

A batch is the model's input, or a sequence that begins with it (then the target follows). A mapping is given by keywords where `forward`
takes all of them but the target, else as one argument. Tensors on another device than the model are moved to it.

The loss is what `criterion(output, target)` says. Without a criterion it is the output when that is one number, else the output's own
`loss`, else the mean of the (first) output, which costs as much as a loss but is none.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Callable

Criterion = Callable[..., Any]
MakeOptimizer = Callable[[Any], Any]

TARGETS = ("labels", "label", "targets", "target", "y")
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


def device_of(model: Any) -> Any:
    """Where the model's first parameter or buffer is; None for a model that has neither."""
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
        return {name: moved(one, device) for name, one in batch.items()}
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, (list, tuple)):
        return [moved(one, device) for one in batch]
    return batch


def samples_of(batch: Any) -> int | None:
    """The length of the first tensor in a batch; None where there is none."""
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


def forward(model: Any, batch: Any, criterion: Criterion | None = None) -> tuple[Any, bool]:
    """The loss of a batch, and whether it is one (or only the mean of what the model answered)."""
    if isinstance(batch, (list, tuple)):
        output, target = model(batch[0]), batch[1] if len(batch) > 1 else None
    elif isinstance(batch, Mapping):
        output, target = _call(model, batch), next((batch[name] for name in TARGETS if name in batch), None)
    else:
        output, target = model(batch), None
    if criterion is not None:
        return (criterion(output) if target is None else criterion(output, target)), True
    return _loss_of(output)


def forward_backward(model: Any, batch: Any, criterion: Criterion | None = None) -> tuple[Any, bool]:
    """A pass in both directions; what it leaves are gradients. The loss and what it is, as `forward` says them."""
    loss, is_loss = forward(model, batch, criterion)
    if loss.requires_grad:
        loss.backward()
    return loss.detach(), is_loss


class Training:
    """A model with what trains it. Without an optimiser, SGD with a learning rate of 0: it does its work and leaves the weights."""

    def __init__(self, model: Any, optimizer: Any = None, criterion: Criterion | None = None) -> None:
        self.model = model
        self.criterion = criterion
        self.device = device_of(model)
        self.has_loss = True
        self.optimizer = optimizer
        if optimizer is None:
            weights = [one for one in getattr(model, "parameters", list)() if one.requires_grad]
            if weights:
                import torch

                self.optimizer = torch.optim.SGD(weights, lr=0.0)

    def step(self, batch: Any) -> Any:
        """Forward, loss, backward, an optimiser step, gradients cleared; gives the loss, still on its device."""
        loss, is_loss = forward_backward(self.model, moved(batch, self.device), self.criterion)
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
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
        return model(**batch)
    named = {name: part for name, part in batch.items() if name in takes}
    if named and all(name in named or name in TARGETS for name in batch):
        return model(**named)
    return model(batch)


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
        return {name: _on_host(one) for name, one in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(_on_host(one) for one in state)
    return state.detach().to("cpu", copy=True) if hasattr(state, "detach") else state
