# SPDX-License-Identifier: Apache-2.0
"""What the campaign changes in a training: harmless changes, and those that only draw other random numbers; harmful.py has the others.

A change edits a `Run` of train.py; it returns False where it does not apply. `run.acted` is set where it has an effect: a fault that happens in
some steps only is not counted where it has not happened yet.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Callable

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from trainings import Attention, recomputed

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)


@dataclass
class Change:
    name: str
    kind: str  # harmless, harmful or other (random numbers)
    claim: str  # precision that it claims to compute in
    apply: Callable[[Any], Any]  # on a Run


CHANGES: dict[str, Change] = {}


def change(kind: str, name: str, claim: str = "fp32") -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    def keep(apply: Callable[[Any], Any]) -> Callable[[Any], Any]:
        CHANGES[name] = Change(name, kind, claim, apply)
        return apply

    return keep


# Harmless.


@change("harmless", "nothing")
def nothing(run: Any) -> None:
    pass


@change("harmless", "workers")
def workers(run: Any) -> None:
    run.loader["num_workers"] = 1


@change("harmless", "prefetch")
def prefetch(run: Any) -> None:
    run.loader.update(num_workers=1, prefetch_factor=4)


def implementation(name: str) -> None:
    @change("harmless", name)
    def apply(run: Any) -> Any:
        if any(part.optimizer is torch.optim.RMSprop for part in run.training.parts) and name == "fused":
            return False  # there is none
        run.on_settings.append(lambda part: part.settings.update({name: True}))


for each in ("fused", "foreach"):
    implementation(each)


@change("harmless", "channels_last")
def channels_last(run: Any) -> Any:
    if not any(run.training.modules(nn.Conv2d)):
        return False
    run.training.model.to(memory_format=torch.channels_last)


@change("harmless", "compile")
def compiled(run: Any) -> Any:
    if run.training.draws or any(run.training.modules(nn.LSTM, nn.EmbeddingBag, *NORMS)) or len(run.training.parts) > 1:
        return False
    run.training.model.compile()


@change("harmless", "sdpa")
def sdpa(run: Any) -> Any:
    found = list(run.training.modules(Attention))
    for attention in found:
        attention.fused = True
    return bool(found)


@change("harmless", "checkpoint")
def checkpointing(run: Any) -> Any:
    modules = [run.training.model.get_submodule(name) for name in run.training.trunk]
    modules = [module for module in modules if not isinstance(module, NORMS)]
    for module in modules:
        recomputed(module)
    return bool(modules)


@change("harmless", "kernels")
def kernels(run: Any) -> Any:
    """Convolutions and recurrent layers of another library; the process ends with the training."""
    if not any(run.training.modules(nn.Conv2d, nn.LSTM)):
        return False
    torch._C._set_mkldnn_enabled(False)


@change("harmless", "threads")
def threads(run: Any) -> None:
    torch.set_num_threads(2)


@change("harmless", "deterministic")
def deterministic(run: Any) -> None:
    torch.use_deterministic_algorithms(True)


def replace_linear(run: Any, linear: Callable[..., torch.Tensor]) -> None:
    for module in run.training.modules(nn.Linear):
        module.forward = functools.partial(_linear_of, linear, module)


def _linear_of(linear: Callable[..., torch.Tensor], module: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    y = linear(x, module.weight)
    return y if module.bias is None else y + module.bias


@change("harmless", "matmul")
def matmul(run: Any) -> None:
    replace_linear(run, lambda x, weight: x @ weight.t())


@change("harmless", "split_sums")
def split_sums(run: Any) -> None:
    """Each product of matrices is the sum of two halves."""

    def halves(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        middle = weight.shape[1] // 2
        return F.linear(x[..., :middle], weight[:, :middle]) + F.linear(x[..., middle:], weight[:, middle:])

    replace_linear(run, halves)


@change("harmless", "transposed")
def transposed(run: Any) -> Any:
    if run.training.draws:  # a mask is drawn in the order of memory, so this would be another one
        return False
    replace_linear(run, lambda x, weight: (weight @ x.transpose(-1, -2)).transpose(-1, -2))


@change("harmless", "rows")
def rows(run: Any) -> Any:
    if run.training.draws:
        return False
    run.on_samples.append(lambda samples: samples[::-1])


@change("harmless", "accumulate")
def accumulate(run: Any) -> Any:
    if run.training.draws or any(run.training.modules(*NORMS)):
        return False
    run.pieces = 2


@change("harmless", "zeroed")
def zeroed(run: Any) -> None:
    run.zero["set_to_none"] = False


@change("harmless", "loss_sum")
def loss_sum(run: Any) -> None:
    run.mean = lambda losses: losses.sum() / losses.numel()


@change("harmless", "loss_double")
def loss_double(run: Any) -> None:
    run.on_losses.append(lambda losses: losses.double())


class Tf32(TorchDispatchMode):  # type: ignore[misc]
    """Rounds the inputs of products of matrices and of convolutions to 10 bits, forward and backward."""

    PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "convolution", "convolution_backward")

    @staticmethod
    def rounded(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
            return value
        return ((value.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in self.PRODUCTS:
            added = func.overloadpacket.__name__ in ("addmm", "baddbmm")  # the first is added, not multiplied
            args = tuple(value if added and not index else self.rounded(value) for index, value in enumerate(args))
        return func(*args, **(kwargs or {}))


@change("harmless", "tf32", "tf32")
def tf32(run: Any) -> None:
    torch._C._set_mkldnn_enabled(False)  # recurrent layers as products of matrices
    Tf32().__enter__()  # the process ends with the training


@change("harmless", "fp16", "fp16")
def fp16(run: Any) -> Any:
    if any(run.training.modules(nn.LSTM)):  # not on a CPU
        return False
    run.scaler = torch.amp.GradScaler("cpu")
    run.scopes.append(lambda: torch.autocast("cpu", torch.float16))


@change("harmless", "bf16", "bf16")
def bf16(run: Any) -> None:
    run.scopes.append(lambda: torch.autocast("cpu", torch.bfloat16))


# Other random numbers.


@change("other", "other_seed")
def other_seed(run: Any) -> Any:
    torch.manual_seed(torch.initial_seed() + 1000)


@change("other", "other_order")
def other_order(run: Any) -> None:
    run.loader["generator"] = torch.Generator().manual_seed(torch.initial_seed() + 1000)


@change("other", "other_start")
def other_start(run: Any) -> None:
    generator = torch.Generator().manual_seed(5)
    for value in run.training.model.parameters():
        value.data.mul_(1 + 0.05 * torch.randn(value.shape, generator=generator))
