# SPDX-License-Identifier: Apache-2.0
"""What a change does to a training: harmless ones, which a fix might be, and harmful ones, which a wrong fix might be.

A change is a set of words; `train` looks for each at the place where it takes hold. HARMLESS and HARMFUL say which trainings each is for
(by tag; "" is all) and under which precision the harmless one may be claimed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from trainings import SAMPLES, Attention, Training, loader_of

# name, tag that a training must have, tag that it must not have, precision of the claim
HARMLESS = [
    ("nothing", "", "", "fp32"), ("workers", "", "", "fp32"), ("fused", "", "", "fp32"), ("foreach", "", "", "fp32"),
    ("single", "", "", "fp32"), ("channels_last", "image", "", "fp32"), ("zeroed", "", "", "fp32"),
    ("sdpa", "attention", "", "fp32"), ("checkpoint", "blocks", "", "fp32"), ("threads", "", "", "fp32"),
    ("no_mkldnn", "", "", "fp32"), ("halves", "", "random norm", "fp32"), ("rows", "", "random", "fp32"),
    ("double_sum", "", "", "fp32"), ("split_matmul", "", "", "fp32"), ("fused channels_last", "image", "", "fp32"),
    ("tf32", "", "", "tf32"), ("tf32 fused", "", "", "tf32"), ("fp16", "", "", "fp16"),
    ("bf16", "", "", "bf16"), ("bf16 fused", "", "", "bf16"), ("bf16 channels_last", "image", "", "bf16"),
    ("bf16 halves", "", "random norm", "bf16"), ("bf16 foreach", "", "", "bf16"),
]  # fmt: skip
HARMFUL = [
    ("lr1.02", "", ""), ("lr1.1", "", ""), ("lr1.5", "", ""), ("lr2", "", ""), ("no_decay", "", ""), ("decay_all", "", ""),
    ("no_momentum", "", ""), ("eps", "", ""), ("beta2", "", ""), ("schedule_twice", "", ""), ("step_twice", "", ""),
    ("frozen", "", ""), ("detached", "", ""), ("tenth_sample", "", ""), ("drop_last", "", ""), ("labels", "", ""),
    ("row_twice", "", ""), ("no_clip", "", ""), ("norm_eval", "norm", ""), ("no_mask", "causal", ""), ("no_dropout", "random", ""),
    ("norm_momentum", "norm", ""), ("checkpoint_norm", "norm", ""), ("stale", "", ""), ("zero_forgotten", "", ""),
    ("undivided", "", ""), ("gradient1.05", "", ""), ("layer1.02", "", ""), ("clamped", "embedding", ""), ("masked", "", ""),
    ("summed", "", ""), ("overflow", "", ""), ("fp16_unscaled", "", ""),
]  # fmt: skip


def prepare(training: Training, change: set[str]) -> None:
    """What a change does before the first step."""
    models = [training.model] + ([training.judge] if training.judge is not None else [])
    modules = [module for model in models for module in model.modules()]
    if "channels_last" in change:
        training.model = training.model.to(memory_format=torch.channels_last)
    if "threads" in change:
        torch.set_num_threads(2)
    for module in modules:
        if isinstance(module, Attention):
            module.fused = "sdpa" in change
            module.causal = module.causal and "no_mask" not in change
        if "no_dropout" in change and isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)) and "norm_momentum" in change:
            module.momentum = 0.2
    if "frozen" in change:
        next(parameter for parameter in training.model.parameters() if parameter.requires_grad).requires_grad_(False)


def groups_of(training: Training, parameters: list[Any], change: set[str]) -> list[Any]:
    decay = 0.0 if "no_decay" in change else training.decay
    if not training.decay:
        return [{"params": parameters}]
    plain = [parameter for parameter in parameters if parameter.dim() < 2]
    return [
        {"params": [parameter for parameter in parameters if parameter.dim() >= 2], "weight_decay": decay},
        {"params": plain, "weight_decay": decay if "decay_all" in change else 0.0},
    ]


def tune(optimizer: Any, change: set[str]) -> None:
    for word in change:
        if word.startswith("lr"):
            for group in optimizer.param_groups:
                group["lr"] *= float(word[2:])
    for group in optimizer.param_groups:
        if "fused" in change and "fused" in group:
            group["fused"] = True
        if "foreach" in change or "single" in change:
            group["foreach"] = "foreach" in change
        if "eps" in change and "eps" in group:
            group["eps"] *= 1e4
        if "no_momentum" in change and "momentum" in group:
            group["momentum"] = 0.0
        if "betas" in group:
            first, second = group["betas"]
            group["betas"] = (0.0 if "no_momentum" in change else first, 0.99 if "beta2" in change else second)


def _rounded(tensor: Any) -> Any:
    """10 bits of mantissa, as TF32 has; its gradient passes."""
    bits = (tensor.detach().contiguous().view(torch.int32) + 0x1000) & ~0x1FFF
    return tensor + (bits.view(torch.float32) - tensor).detach()


class _InPieces(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any) -> Any:
        ctx.save_for_backward(x, weight)
        half = x.shape[-1] // 2
        return x[..., :half] @ weight[:, :half].t() + x[..., half:] @ weight[:, half:].t()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, weight = ctx.saved_tensors
        flat = grads[0].flatten(0, -2)
        return grads[0] @ weight, flat.t() @ x.flatten(0, -2)


@contextlib.contextmanager
def kernels(change: set[str]) -> Iterator[None]:
    """Other ways to compute matrix products, for the whole training."""
    linear, conv = functional.linear, functional.conv2d
    if "tf32" in change:
        functional.linear = lambda x, w, b=None: linear(_rounded(x), _rounded(w), b)  # type: ignore[assignment]
        functional.conv2d = lambda x, w, b=None, *more: conv(_rounded(x), _rounded(w), b, *more)  # type: ignore[assignment]
        nn.Conv2d._conv_forward = lambda self, x, w, b: functional.conv2d(x, w, b, self.stride, self.padding)  # type: ignore[assignment,method-assign]
    if "split_matmul" in change:
        functional.linear = lambda x, w, b=None: _InPieces.apply(x, w) + (0 if b is None else b)  # type: ignore[assignment]
    context = torch.backends.mkldnn.flags(enabled=False) if "no_mkldnn" in change else contextlib.nullcontext()
    with context:
        yield
    functional.linear, functional.conv2d = linear, conv


def autocast(change: set[str]) -> Any:
    kind = torch.bfloat16 if "bf16" in change else torch.float16
    return torch.autocast("cpu", kind, enabled=bool(change & {"bf16", "fp16", "fp16_unscaled"}))


def batch_of(batch: list[Any], step: int, change: set[str]) -> list[Any]:
    batch = list(batch)
    if "rows" in change:
        batch = [part.flip(0) for part in batch]
    if "tenth_sample" in change:
        kept = [row for row in range(len(batch[0])) if (step * 16 + row) % 10]
        batch = [part[kept] for part in batch]
    if "labels" in change and step % 6 == 0:  # of one sample in 100
        batch[1] = torch.cat([batch[1][1:2], batch[1][1:]])
    if "row_twice" in change and step % 7 == 0:
        batch = [torch.cat([part[:-1], part[:1]]) for part in batch]
    return batch


def forward(training: Training, batch: list[Any], change: set[str]) -> Any:
    model = training.model
    if "clamped" in change:
        for module in model.modules():
            if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
                module.weight.data.clamp_(-1.5, 1.5)
    if "norm_eval" in change:
        for module in model.modules():
            if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
                module.eval()
    if change & {"checkpoint", "checkpoint_norm"} and isinstance(model, nn.Sequential):
        half = len(model) // 2
        middle = torch.utils.checkpoint.checkpoint(model[:half], batch[0].requires_grad_(), use_reentrant=False)
        return model[half:](middle)
    if "detached" in change and isinstance(model, nn.Sequential):
        return model[1:](model[0](batch[0]).detach())
    return training.forward(model, batch)


def loss_of(losses: Any, change: set[str]) -> Any:
    if "masked" in change:
        losses = losses.masked_fill(losses > losses.detach().mean() + 1.5 * losses.detach().std(), 0)
    if "summed" in change:
        return losses.sum()
    return losses.double().mean().float() if "double_sum" in change else losses.mean()


def backward(training: Training, batch: list[Any], step: int, change: set[str], scaler: Any) -> None:
    """One backward pass, or two over halves of the batch."""
    halves = bool(change & {"halves", "undivided"})
    parts = [[part[:8] for part in batch], [part[8:] for part in batch]] if halves and len(batch[0]) > 8 else [batch]
    for part in parts:
        with autocast(change):
            losses = training.loss(forward(training, part, change).float(), part[1])
        loss = loss_of(losses, change)
        if len(parts) > 1 and "undivided" not in change:
            loss = loss * (len(part[0]) / len(batch[0]))
        if "overflow" in change and step == 4:
            loss = loss * 1e38 * 1e38
        (loss if scaler is None else scaler.scale(loss)).backward()


def spoil(parameters: list[Any], change: set[str]) -> None:
    """What a change does to the gradients."""
    with_gradient = [parameter for parameter in parameters if parameter.grad is not None]
    for index, parameter in enumerate(with_gradient):
        if "gradient1.05" in change:
            parameter.grad.mul_(1.05)
        if "layer1.02" in change and index == 0:
            parameter.grad.mul_(1.02)


def train(training: Training, words: str, steps: int) -> None:
    change = set(words.split()) - {"nothing"}
    prepare(training, change)
    parameters = [parameter for parameter in training.model.parameters() if parameter.requires_grad]
    optimizer = training.optimizer(groups_of(training, parameters, change))
    tune(optimizer, change)
    others: list[Any] = []
    if training.judge is not None:
        others = list(training.judge.parameters())
        judging = training.optimizer([{"params": others}])
        tune(judging, change)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 60) if training.scheduled else None
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if "fp16" in change else None  # type: ignore[attr-defined]
    settings: dict[str, Any] = {"drop_last": "drop_last" in change}
    if "workers" in change:
        settings.update(num_workers=1)
    step = 0
    with kernels(change):
        while step < steps:
            for batch in loader_of(training, **settings):
                batch = batch_of(batch, step, change)
                if training.judge is not None:
                    judge_step(training, batch, judging, change, scaler)
                forgets = ("stale" in change and step % 20 == 3) or ("zero_forgotten" in change and step % 10 == 3)
                if not forgets:
                    optimizer.zero_grad(set_to_none="zeroed" not in change)
                backward(training, batch, step, change, scaler)
                take(optimizer, training, parameters, change, scaler, twice="step_twice" in change and step % 10 == 3)
                if scheduler is not None:
                    scheduler.step()
                    if "schedule_twice" in change:
                        scheduler.step()
                step += 1
                if step == steps:
                    break


def take(optimizer: Any, training: Training, parameters: list[Any], change: set[str], scaler: Any, twice: bool) -> None:
    if scaler is not None:
        scaler.unscale_(optimizer)
    if training.clip and "no_clip" not in change:
        nn.utils.clip_grad_norm_(parameters, training.clip)
    spoil(parameters, change)
    if scaler is not None:
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()
    if twice:
        optimizer.step()


def judge_step(training: Training, batch: list[Any], judging: Any, change: set[str], scaler: Any) -> None:
    """A GAN: its loss asks the judge what it thinks of what was made."""
    judge, inner = training.judge, training.model
    noise = torch.randn(len(batch[0]), 16)
    with autocast(change):
        made = inner(noise)
        real, fake = judge(batch[0]).float(), judge(made.detach()).float()
    ones = torch.ones_like(real)
    cross = functional.binary_cross_entropy_with_logits
    loss = cross(real, ones) + cross(fake, 0 * ones)
    judging.zero_grad()
    (loss if scaler is None else scaler.scale(loss)).backward()
    if scaler is not None:
        scaler.step(judging)
    else:
        judging.step()
    training.forward = lambda model, part: judge(made)
    training.loss = lambda output, target: cross(output, torch.ones_like(output), reduction="none")


assert SAMPLES % 16, "the last batch of an epoch is smaller, so that drop_last acts"
