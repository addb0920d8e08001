# SPDX-License-Identifier: Apache-2.0
"""Describes what a training is, beside what it does: data, transforms, sampler, model, loss, schedule, clipping, code.

A few steps cannot show all that a program does: an augmentation that is gone, or a schedule that acts later. Two lists of facts show it at
once. Each fact is a list of texts under a kind ("transform") and a name ("loader 1, transform"); docs/parity.md lists the kinds. Texts have
no addresses, paths or line numbers, so that two runs of one program have equal lists. Nothing of the program is called but `extra_repr` of
its modules and `len` of its datasets.
"""

from __future__ import annotations

import gc
import inspect
import sys
import types
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Facts = dict[str, dict[str, list[str]]]  # by kind and name

MAX_DEPTH = 5
MAX_ITEMS = 2000  # of one list
MAX_TEXT = 200
MAX_NUMBERS = 16  # of a sequence or tensor that is written out
# Attributes that say how far an object is, or where its data lies, and not what it does.
PASSING = {
    "best", "cooldown_counter", "epoch", "generator", "last_epoch", "num_bad_epochs", "optimizer", "root", "seed", "training", "verbose",
}  # fmt: skip
# Nodes of the graph of autograd behind which the model begins, and those that only convert.
MODEL_BEGINS = ("Addmm", "Mm", "Bmm", "Convolution", "Compiled", "AccumulateGrad", "Embedding", "Cudnn", "Checkpoint")
CONVERTS = (
    "ToCopy",
    "View",
    "Reshape",
    "UnsafeView",
    "Alias",
    "Transpose",
    "TBackward",
    "Squeeze",
    "Unsqueeze",
    "Clone",
)
MAX_NODES = 24

DROPS = ("Dropout", "DropPath", "StochasticDepth")  # parts of the names of modules that leave out by chance


def short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}… ({zlib.crc32(text.encode()):08x})"


def scalar(torch: Any, value: Any) -> str | None:
    """Returns a number, switch, word or short sequence of numbers as text; None for anything else."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 and "/" not in value and "\\" not in value else None
    if isinstance(value, (tuple, list)) and len(value) <= MAX_NUMBERS:
        parts = [scalar(torch, item) for item in value]
        return None if any(part is None for part in parts) else f"({', '.join(part for part in parts if part)})"
    if isinstance(value, torch.Tensor) and value.numel() <= MAX_NUMBERS and value.device.type == "cpu":
        return repr(tuple(round(float(item), 6) for item in value.detach().flatten()))
    if type(value).__module__.startswith("torch") and isinstance(value, (torch.dtype, torch.device)):
        return str(value)
    name = getattr(value, "name", None)  # an enumeration, such as an interpolation mode
    return name if isinstance(name, str) and hasattr(type(value), "__members__") else None


def code_of(function: Any) -> str:
    """Returns a checksum of what a function does: its instructions, names and constants, without its lines."""
    code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    return "" if code is None else f"{_checksum(code):08x}"


def _checksum(code: types.CodeType) -> int:
    found = zlib.crc32(code.co_code + repr(code.co_names).encode() + repr(code.co_varnames).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found = zlib.crc32(_checksum(constant).to_bytes(4, "little"), found)
        elif not isinstance(constant, frozenset):  # whose order is that of hashes
            found = zlib.crc32(repr(constant).encode(), found)
    return found


def attributes(torch: Any, value: Any) -> list[str]:
    """Returns the settings of an object, `name=value`, in the order of their names."""
    own = getattr(value, "__dict__", {})
    found = []
    for name in sorted(own, key=str):
        text = None if str(name).startswith("_") or name in PASSING else scalar(torch, own[name])
        if text is not None:
            found.append(f"{name}={text}")
    return found


class Program:
    """The facts of this process, as far as they were met."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.facts: Facts = {"clipping": {"gradients": []}}
        self.loaders: list[Any] = []  # their datasets, in the order in which they are read first
        self.roots: list[Any] = []  # models that optimisers step
        self.has_loss = False

    def put(self, kind: str, name: str, texts: Iterable[str]) -> None:
        self.facts.setdefault(kind, {})[name] = [short(text) for text in texts][:MAX_ITEMS]

    # Data.

    def reads(self, iterator: Any) -> None:
        """A DataLoader gave a batch: this is its iterator."""
        dataset = getattr(iterator, "_dataset", None)
        if dataset is None or any(dataset is known for known in self.loaders):
            return
        self.loaders.append(dataset)
        name = f"loader {len(self.loaders)}"
        self._dataset(name, dataset, MAX_DEPTH)
        batches = getattr(iterator, "_index_sampler", None)
        sampler = getattr(batches, "sampler", batches)
        self.put("sampler", name, [self._settings(sampler)])
        settings = [
            f"{what}={getattr(batches, what)}" for what in ("batch_size", "drop_last") if hasattr(batches, what)
        ]
        self.put("loader", name, [*settings, *self._length(dataset)])
        collate = getattr(iterator, "_collate_fn", None)
        if getattr(collate, "__name__", "").startswith("default_") is False:
            self.put("transform", f"{name}, collate_fn", self._steps(collate, MAX_DEPTH))

    @staticmethod
    def _length(dataset: Any) -> list[str]:
        try:
            return [f"samples={len(dataset)}"]
        except Exception:  # a stream
            return []

    def _dataset(self, name: str, dataset: Any, depth: int) -> None:
        kind = type(dataset)
        self.put("dataset", name, [self._settings(dataset)])
        self._code(kind, ("__getitem__", "__getitems__", "__iter__"))
        if depth == 0:
            return
        inner = 0
        for key, value in sorted(getattr(dataset, "__dict__", {}).items(), key=lambda item: str(item[0])):
            if self._is_dataset(value):
                inner += 1
                self._dataset(f"{name}, {key}", value, depth - 1)
            elif isinstance(value, (list, tuple)) and value and all(map(self._is_dataset, value[:4])):
                for index, one in enumerate(value[:8]):
                    self._dataset(f"{name}, {key} {index}", one, depth - 1)
            elif callable(value) or "transform" in str(key):
                self.put("transform", f"{name}, {key}", self._steps(value, MAX_DEPTH))

    def _is_dataset(self, value: Any) -> bool:
        return isinstance(value, self.torch.utils.data.Dataset)

    def _steps(self, value: Any, depth: int) -> list[str]:
        """Returns what a transform does, a step a text: `transforms` of a composition, else the object itself."""
        if value is None or depth == 0:
            return []
        parts = getattr(value, "transforms", None)
        if isinstance(parts, (list, tuple, self.torch.nn.ModuleList)):
            own = [] if type(value).__name__ in ("Compose", "Sequential") else [self._settings(value)]
            return [*own, *(text for part in parts for text in self._steps(part, depth - 1))]
        if isinstance(value, self.torch.nn.Sequential):
            return [text for part in value for text in self._steps(part, depth - 1)]
        if type(value).__name__ == "StandardTransform":  # torchvision's pair of transforms
            pair = (getattr(value, "transform", None), getattr(value, "target_transform", None))
            return [text for part in pair for text in self._steps(part, depth - 1)]
        code = code_of(value)
        if code:
            return [f"{getattr(value, '__name__', 'function')} (code {code})", *self._inside(value)]
        self._code(type(value), ("__call__", "forward"))
        return [self._settings(value)] if callable(value) else []

    def _inside(self, function: Any) -> Iterator[str]:
        """Yields the scalars that a function was closed over."""
        for cell in getattr(function, "__closure__", None) or ():
            try:
                text = scalar(self.torch, cell.cell_contents)
            except ValueError:  # not filled yet
                continue
            if text is not None:
                yield f"with {text}"

    def _settings(self, value: Any) -> str:
        return f"{type(value).__name__}({', '.join(attributes(self.torch, value))})"

    def _code(self, kind: type, names: tuple[str, ...]) -> None:
        """The code of a class that the program itself wrote: libraries are the same in both."""
        if "site-packages" in str(getattr(sys.modules.get(kind.__module__), "__file__", "")):
            return
        for name in names:
            code = code_of(getattr(kind, name, None))
            if code:
                self.put("code", f"{kind.__qualname__}.{name}", [code])

    # Model, loss, schedule.

    def trains(self, roots: list[Any]) -> None:
        """An optimiser steps these models."""
        for root in roots:
            if any(root is known for known in self.roots):
                continue
            self.roots.append(root)
            of = f"model {len(self.roots)} " if len(self.roots) > 1 else ""
            drops = []
            for name, module in root.named_modules():
                if type(module).__name__ == "OptimizedModule":
                    continue
                evaluates = "" if module.training or not root.training else " in eval"
                text = f"{type(module).__name__}({module.extra_repr()}){evaluates}"
                if any(part in type(module).__name__ for part in DROPS):
                    drops.append(text)
                else:
                    self.put("module", f"{of}{_plain(name) or 'model'}", [text])
                self._code(type(module), ("forward",))
            self.put("dropout", f"{of}modules", drops)
            frozen = [_plain(name) for name, one in root.named_parameters() if not one.requires_grad]
            self.put("frozen", f"{of}parameters", frozen)
        self._others()

    def _others(self) -> None:
        """Modules outside of the models that are losses, and schedules of learning rates."""
        nn, schedule = self.torch.nn, self.torch.optim.lr_scheduler
        scheduler = getattr(schedule, "LRScheduler", None) or schedule._LRScheduler
        inside = {id(module) for root in self.roots for module in root.modules()}
        losses, schedules = [], []
        for item in gc.get_objects():
            kind = type(item)
            if issubclass(kind, nn.modules.loss._Loss) and id(item) not in inside and "_modules" in vars(item):
                weight = scalar(self.torch, getattr(item, "weight", None))
                losses.append(self._settings(item) + (f" weight={weight}" if weight not in (None, "None") else ""))
            elif issubclass(kind, (scheduler, schedule.ReduceLROnPlateau)) and hasattr(item, "optimizer"):
                schedules.append(self._settings(item))
        known = self.facts.get("loss") is not None  # at the end of a program they are gone
        if losses or not known:
            self.put("loss", "modules", sorted(losses))
        if schedules or not known:
            self.put("schedule", "learning rate", sorted(schedules))

    def begins_backward(self, loss: Any) -> None:
        """The graph from the loss to where the model begins: functions and their settings."""
        if self.has_loss or getattr(loss, "grad_fn", None) is None:
            return
        self.has_loss = True
        texts: list[str] = []
        queue, seen = [loss.grad_fn], set()
        while queue and len(texts) < MAX_NODES:
            node = queue.pop(0)
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            name = type(node).__name__
            if not any(part in name for part in CONVERTS):
                texts.append(f"{name}({', '.join(self._saved(node))})")
            if not name.startswith(MODEL_BEGINS):
                queue += [following for following, _ in node.next_functions]
        if not any("Compiled" in text for text in texts):
            self.put("graph", "loss", texts)

    def _saved(self, node: Any) -> Iterator[str]:
        """Yields the settings of a function, and the numbers of the program in it: those are of 64 bits, without dimensions."""
        for name in sorted(dir(node)):
            if not name.startswith("_saved_"):
                continue
            try:
                value = getattr(node, name)
            except Exception:  # freed, or of a kind that Python does not see
                continue
            if isinstance(value, self.torch.Tensor) and value.dim() == 0 and value.dtype is self.torch.float64:
                value = float(value)
            if isinstance(value, (bool, int, float)):
                yield f"{name[7:]}={value:.6g}" if isinstance(value, float) else f"{name[7:]}={value}"

    def clips(self, how: str, limit: Any, norm: Any = 2.0) -> None:
        text = f"{how} at most {float(limit):.6g}" + ("" if float(norm) == 2 else f" (norm {norm})")
        known = self.facts["clipping"]["gradients"]
        if text not in known and len(known) < MAX_NUMBERS:
            known.append(text)

    def finish(self) -> Facts:
        """Returns the facts, and lets go of the program's datasets and models."""
        self._others()
        self.loaders.clear()
        self.roots.clear()
        return self.facts


def _plain(name: str) -> str:
    """Returns the name of a module or parameter without what torch.compile puts in front of it."""
    return ".".join(part for part in name.split(".") if part != "_orig_mod")
