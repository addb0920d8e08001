# SPDX-License-Identifier: Apache-2.0
"""Changes that a wrong fix, or a bug, might make: each is another training."""

from __future__ import annotations

from typing import Any, Callable

import torch
from changes import NORMS, change
from torch import nn
from trainings import Attention, Part, recomputed


def settings(name: str, key: str, edit: Callable[[Any], Any]) -> None:
    @change("harmful", name)
    def apply(run: Any) -> None:
        def edited(part: Part) -> None:
            for given in (part.settings, *part.groups):
                if key in given and edit(given[key]) != given[key]:
                    given[key] = edit(given[key])
                    run.acted = True

        run.on_settings.append(edited)


def times(factor: float) -> Callable[[float], float]:
    return lambda value: value * factor


for factor in (1.02, 1.1, 1.5, 2.0):
    settings(f"lr_{factor}", "lr", times(factor))
settings("no_decay", "weight_decay", lambda decay: 0.0)
settings("no_momentum", "momentum", lambda momentum: 0.0)
settings("beta1", "betas", lambda betas: (0.0, betas[1]))
settings("beta2", "betas", lambda betas: (betas[0], 0.99))


@change("harmful", "eps")
def eps(run: Any) -> Any:
    if run.training.parts[0].optimizer is torch.optim.SGD:
        return False
    run.acted = True
    run.on_settings.append(lambda part: part.settings.update(eps=1e-5))


@change("harmful", "decay_on_norms")
def decay_on_norms(run: Any) -> Any:
    groups = [group for part in run.training.parts for group in part.groups]
    if not any("weight_decay" in group for group in groups):
        return False
    for group in groups:
        group["weight_decay"] = max(other["weight_decay"] for other in groups)
    run.acted = True


@change("harmful", "schedule_twice")
def schedule_twice(run: Any) -> Any:
    run.schedules, run.acted = 2, True
    return run.training.schedule is not None


def now(run: Any, every: int, at: int) -> bool:
    """Returns true in one of `every` steps, and keeps that the change acted."""
    found: bool = run.steps % every == at
    run.acted = run.acted or found
    return found


@change("harmful", "step_twice")
def step_twice(run: Any) -> None:
    run.steps_twice = lambda: now(run, 10, 6)


@change("harmful", "frozen")
def frozen(run: Any) -> None:
    run.acted = True
    for value in run.training.layer.parameters():
        value.requires_grad_(False)


@change("harmful", "detached")
def detached(run: Any) -> None:
    run.acted = True
    run.training.layer.register_forward_hook(lambda module, inputs, output: output.detach().requires_grad_())


@change("harmful", "tenth_dropped")
def tenth_dropped(run: Any) -> None:
    run.acted = True
    run.on_samples.append(lambda samples: [sample for index, sample in enumerate(samples) if index % 10 != 4])


@change("harmful", "last_batch_dropped")
def last_batch_dropped(run: Any) -> Any:
    run.loader["drop_last"] = True
    batches = -(-len(run.training.data) // run.training.batch)
    run.on_losses.append(lambda losses: losses if run.batches < batches else _acted(run, losses))


def _acted(run: Any, value: Any) -> Any:
    run.acted = True
    return value


@change("harmful", "labels_shifted")
def labels_shifted(run: Any) -> Any:
    """One label of a hundred."""
    if run.training.labels is None:
        return False
    labels = run.training.data.tensors[run.training.labels]
    labels[::100] = labels[::100].roll(1, -1) if labels.dim() > 1 else (labels[::100] + 1) % (labels.max() + 1)
    run.acted = True


@change("harmful", "row_twice")
def row_twice(run: Any) -> None:
    def edited(samples: list[Any]) -> list[Any]:
        if run.batches % 7 != 3:
            return samples
        run.acted = True
        return [samples[1], *samples[1:]]

    run.on_samples.append(edited)


@change("harmful", "not_clipped")
def not_clipped(run: Any) -> Any:
    run.clips = False

    def look(parameters: list[torch.Tensor]) -> None:
        norm = torch.stack([value.grad.norm() for value in parameters if value.grad is not None]).norm()
        run.acted = run.acted or float(norm) > 1.05 * max(part.clip or 0 for part in run.training.parts)

    run.on_gradients.append(look)
    return any(part.clip for part in run.training.parts)


def modules_edited(name: str, kinds: tuple[type[nn.Module], ...], edit: Callable[[Any], Any]) -> None:
    @change("harmful", name)
    def apply(run: Any) -> bool:
        found = [
            module for module in run.training.modules(*kinds) if getattr(module, "p", 1) > 0
        ]  # dropout of 0 drops nothing
        for module in found:
            edit(module)
        run.acted = bool(found)
        return bool(found)


modules_edited("norms_in_eval", NORMS, lambda module: module.eval())
modules_edited("norm_momentum", NORMS, lambda module: setattr(module, "momentum", 0.2))
modules_edited("no_dropout", (nn.Dropout,), lambda module: setattr(module, "p", 0.0))
modules_edited("embedding_clamped", (nn.Embedding, nn.EmbeddingBag), lambda module: _clamped(module))


def _clamped(module: Any) -> None:
    module.register_forward_pre_hook(lambda module, inputs: (inputs[0].clamp(max=module.num_embeddings - 10),))


@change("harmful", "no_mask")
def no_mask(run: Any) -> bool:
    found = [module for module in run.training.modules(Attention) if module.causal]
    for module in found:
        module.causal = False
    run.acted = bool(found)
    return bool(found)


@change("harmful", "norms_recomputed")
def norms_recomputed(run: Any) -> bool:
    found = [
        module for module in run.training.modules(*NORMS) if any(value.requires_grad for value in module.parameters())
    ]
    for module in found:
        recomputed(module)
    run.acted = bool(found)
    return bool(found)


@change("harmful", "stale_gradients")
def stale_gradients(run: Any) -> None:
    kept: dict[int, list[Any]] = {}

    def edited(parameters: list[torch.Tensor]) -> None:
        before = kept.get(id(parameters[0]))
        kept[id(parameters[0])] = [value.grad if value.grad is None else value.grad.clone() for value in parameters]
        if before is not None and now(run, 20, 11):
            for value, gradient in zip(parameters, before):
                value.grad = gradient

    run.on_gradients.append(edited)


@change("harmful", "zero_forgotten")
def zero_forgotten(run: Any) -> None:
    run.forgets_zero = lambda: now(run, 10, 4)


@change("harmful", "not_divided")
def not_divided(run: Any) -> Any:
    run.divides, run.acted = False, True
    return run.training.accumulate > 1


def gradients_scaled(name: str, factor: float, one_layer: bool) -> None:
    @change("harmful", name)
    def apply(run: Any) -> None:
        def edited(parameters: list[torch.Tensor]) -> None:
            for value in run.training.layer.parameters() if one_layer else parameters:
                if value.grad is not None and any(value is other for other in parameters):
                    value.grad.mul_(factor)
                    run.acted = True

        run.on_gradients.append(edited)


gradients_scaled("gradients_1.05", 1.05, False)
gradients_scaled("layer_1.02", 1.02, True)
gradients_scaled("layer_1.1", 1.1, True)


@change("harmful", "large_losses_masked")
def large_losses_masked(run: Any) -> None:
    def masked(losses: torch.Tensor) -> torch.Tensor:
        keep = losses.detach() <= losses.detach().mean() + 1.5 * losses.detach().std()
        run.acted = run.acted or not bool(keep.all())
        return losses[keep]

    run.on_losses.append(masked)


@change("harmful", "summed")
def summed(run: Any) -> None:
    run.mean, run.acted = torch.sum, True


@change("harmful", "fp16_overflow", "fp16")
def fp16_overflow(run: Any) -> Any:
    """A loss scale that is too large, and nobody looks whether gradients are finite."""
    return _half(run, 2.0**24)


def _half(run: Any, scale: float) -> bool:
    if any(run.training.modules(nn.LSTM)):  # not on a CPU
        return False
    run.acted = True
    run.scopes.append(lambda: torch.autocast("cpu", torch.float16))
    run.on_losses.append(lambda losses: losses * scale)
    run.on_scaled.append(
        lambda parameters: [value.grad.mul_(1 / scale) for value in parameters if value.grad is not None]
    )
    return True


@change("harmful", "fp16_underflow", "fp16")
def fp16_underflow(run: Any) -> Any:
    """Gradients as small as those of large models, without a loss scale."""
    return _half(run, 2.0**-14)
