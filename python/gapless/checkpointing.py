# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing: what the backward pass needs is computed again instead of kept.

Random numbers are those of the first time, and batch normalisation counts its statistics once: losses and weights stay bit for bit what
they were. A step takes up to a third longer, which pays where memory limits the batch.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Sequence
from typing import Any, Callable

MARK = "gapless_checkpointed"


class GradientCheckpointingOptimizer:
    """Less memory for activations, for a longer backward pass.

    >>> model = GradientCheckpointingOptimizer().apply_checkpointing(model, checkpoint_segments=4)  # doctest: +SKIP
    """

    def apply_checkpointing(self, model: Any, checkpoint_segments: int = 4) -> Any:
        """Keeps only the activations at the borders of `checkpoint_segments` segments. Changes the model in place and returns it.

        A model with `gradient_checkpointing_enable()` (Hugging Face) switches it on itself, for each of its blocks. Otherwise the segments are stretches of the model's chain: of an `nn.Sequential` its children, else of the longest list of blocks
        (`nn.ModuleList`, `nn.Sequential`) in it. Blocks of a list are called by the model's own code: of those each is a segment.
        ValueError where there is no chain.
        """
        from torch import nn

        if checkpoint_segments < 1:
            raise ValueError("the number of segments must be 1 or more")
        if callable(getattr(model, "gradient_checkpointing_enable", None)):
            _enable_own(model)
            return model
        chain = chain_of(model)
        if isinstance(chain, nn.Sequential):
            _checkpoint_chain(chain, checkpoint_segments)
        else:
            for block in chain:
                checkpoint_block(block)
        return model


def _enable_own(model: Any) -> None:
    takes = inspect.signature(model.gradient_checkpointing_enable).parameters
    keep = {"use_reentrant": False}  # the kind that works where the inputs need no gradients
    model.gradient_checkpointing_enable(
        **({"gradient_checkpointing_kwargs": keep} if "gradient_checkpointing_kwargs" in takes else {})
    )


def chain_of(model: Any) -> Any:
    """The module that holds the chain of blocks which make up most of the model."""
    from torch import nn

    if isinstance(model, nn.Sequential) and len(model) > 1:
        return model
    chains = [
        module for module in model.modules() if isinstance(module, (nn.Sequential, nn.ModuleList)) and len(module) > 1
    ]
    if not chains:
        raise ValueError(f"{type(model).__name__} has no nn.Sequential or nn.ModuleList of blocks to checkpoint")
    return max(chains, key=lambda chain: sum(weight.numel() for weight in chain.parameters()))


def blocks_of(model: Any) -> list[Any]:
    return list(chain_of(model))


def checkpoint_block(block: Any) -> None:
    """The block's forward keeps only its inputs. Twice is once."""
    if hasattr(block, MARK):
        return
    setattr(block, MARK, True)
    block.forward = recomputed(block.forward, [block])


def _checkpoint_chain(chain: Any, segments: int) -> None:
    if hasattr(chain, MARK):
        return
    setattr(chain, MARK, True)
    children = list(chain)
    size = math.ceil(len(children) / min(segments, len(children)))
    parts = [children[at : at + size] for at in range(0, len(children), size)]
    runs = [recomputed(functools.partial(_through, part), part) for part in parts]
    chain.forward = functools.partial(_through, runs)


def _through(functions: Sequence[Callable[[Any], Any]], value: Any) -> Any:
    for function in functions:
        value = function(value)
    return value


def recomputed(function: Callable[..., Any], modules: list[Any]) -> Callable[..., Any]:
    """The function, which runs again in the backward pass; in training only."""
    import torch
    from torch.utils.checkpoint import checkpoint

    norms = [norm for module in modules for norm in module.modules() if hasattr(norm, "num_batches_tracked")]

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return function(*args, **kwargs)
        first = True

        def counted(*inner: Any, **named: Any) -> Any:
            nonlocal first
            if first:
                first = False
                return function(*inner, **named)
            with _Uncounted(norms):
                return function(*inner, **named)

        return checkpoint(counted, *args, use_reentrant=False, **kwargs)

    return run


class _Uncounted:
    """A block in which batch normalisation leaves its running statistics as they are."""

    def __init__(self, norms: list[Any]) -> None:
        self.norms = norms

    def __enter__(self) -> None:
        self.before = [(norm.momentum, norm.num_batches_tracked) for norm in self.norms]
        for norm in self.norms:
            norm.momentum = 0.0
            if norm.num_batches_tracked is not None:
                norm.num_batches_tracked = norm.num_batches_tracked.clone()

    def __exit__(self, *_: object) -> None:
        for norm, (momentum, batches) in zip(self.norms, self.before):
            norm.momentum, norm.num_batches_tracked = momentum, batches
