# SPDX-License-Identifier: Apache-2.0
"""Ten small trainings of ten kinds, each a few ms a step on one thread of a CPU. train.py runs them, changes.py changes them.

A training is its modules, its data, and for each optimiser a function from a batch to the losses of its samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import TensorDataset

Loss = Callable[..., torch.Tensor]
SEQUENCE, WORDS = 24, 40


@dataclass
class Part:
    """What one optimiser minimises: it steps once for each batch (or for `accumulate` batches)."""

    optimizer: type[torch.optim.Optimizer]
    groups: list[dict[str, Any]]
    settings: dict[str, Any]
    loss: Loss  # of a batch's tensors: one loss for each sample
    clip: float | None = None


@dataclass
class Training:
    model: nn.Module
    data: TensorDataset
    batch: int
    parts: list[Part]
    layer: nn.Module  # that changes of one layer change
    accumulate: int = 1
    schedule: Callable[[int], float] | None = None  # factor of the learning rate, by step
    draws: bool = False  # random numbers, beside the order of the samples
    labels: int | None = None  # index of the tensor of class numbers or targets in the data
    trunk: list[str] = field(default_factory=list)  # names of modules that checkpointing recomputes

    def modules(self, *kinds: type[nn.Module]) -> Iterator[nn.Module]:
        return (module for module in self.model.modules() if isinstance(module, kinds))


def warm_up(step: int) -> float:
    return min(1.0, (step + 1) / 10)


def fade(step: int) -> float:
    return float(0.97**step)


def groups_of(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Two groups, as trainings with AdamW have them: norms and biases have no weight decay."""
    matrices = [value for value in model.parameters() if value.requires_grad and value.dim() > 1]
    vectors = [value for value in model.parameters() if value.requires_grad and value.dim() <= 1]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]


def all_of(model: nn.Module) -> list[dict[str, Any]]:
    return [{"params": [value for value in model.parameters() if value.requires_grad]}]


def images(count: int, classes: int, size: int = 12) -> TensorDataset:
    kinds = torch.randint(0, classes, (count,))
    return TensorDataset(torch.randn(classes, 3, size, size)[kinds] + torch.randn(count, 3, size, size), kinds)


def texts(count: int) -> TensorDataset:
    """Words of which each makes a few others likely."""
    likely = torch.softmax(3 * torch.randn(WORDS, WORDS), 1)
    words = [torch.randint(0, WORDS, (count,))]
    for _ in range(SEQUENCE):
        words.append(torch.multinomial(likely[words[-1]], 1)[:, 0])
    return TensorDataset(torch.stack(words, 1))


def table(count: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.randn(count, width)
    return rows, torch.tanh(rows @ torch.randn(width, 4)).sum(1) + 0.3 * torch.randn(count)


def cross_entropy(scores: torch.Tensor, kinds: torch.Tensor, **more: Any) -> torch.Tensor:
    return F.cross_entropy(scores.float(), kinds, reduction="none", **more)


def words_loss(model: nn.Module) -> Loss:
    def loss(words: torch.Tensor) -> torch.Tensor:
        scores = model(words[:, :-1])
        return cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten()).view(len(words), -1).mean(1)

    return loss


def conv() -> Training:
    data = images(500, 6)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 6),
    )  # fmt: skip
    settings = {"lr": 0.05, "momentum": 0.9, "weight_decay": 5e-3}
    part = Part(torch.optim.SGD, all_of(model), settings, lambda x, y: cross_entropy(model(x), y))
    return Training(model, data, 32, [part], model[4], schedule=fade, labels=1, trunk=["0", "1"])


def mlp() -> Training:
    rows, targets = table(500, 20)
    data = TensorDataset(rows, (targets > 0).long())
    model = nn.Sequential(
        nn.Linear(20, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 2)
    )
    settings = {"lr": 2e-3, "betas": (0.9, 0.999)}
    part = Part(torch.optim.AdamW, groups_of(model, 0.05), settings, lambda x, y: cross_entropy(model(x), y))
    return Training(model, data, 32, [part], model[3], schedule=warm_up, labels=1, trunk=["3", "4"])


class Reader(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.words, self.cells, self.out = (
            nn.Embedding(WORDS, 32),
            nn.LSTM(32, 48, batch_first=True),
            nn.Linear(48, WORDS),
        )

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.out(self.cells(self.words(words))[0])
        return result


def lstm() -> Training:
    data, model = texts(250), Reader()
    part = Part(torch.optim.Adam, all_of(model), {"lr": 3e-3}, words_loss(model), clip=0.25)
    return Training(model, data, 16, [part], model.out, labels=0, trunk=["out"])


class Attention(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal, self.fused = heads, causal, False
        self.inputs, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count, length, width = x.shape
        q, k, v = self.inputs(x).view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = q @ k.transpose(-2, -1) / float(q.shape[-1]) ** 0.5
            if self.causal:
                scores = scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -torch.inf)
            mixed = scores.softmax(-1).to(v.dtype) @ v
        result: torch.Tensor = self.out(mixed.transpose(1, 2).reshape(count, length, width))
        return result


class Block(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int, causal: bool, dropout: float) -> None:
        super().__init__()
        self.norm, self.attention, self.dropout = (
            nn.LayerNorm(width),
            Attention(width, heads, causal),
            nn.Dropout(dropout),
        )
        self.mlp = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 2 * width),
            nn.GELU(),
            nn.Linear(2 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.dropout(self.attention(self.norm(x)))
        result: torch.Tensor = x + self.mlp(x)
        return result


class Writer(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(SEQUENCE, width)
        self.dropout = nn.Dropout(0.1)
        self.blocks = nn.ModuleList(Block(width, 4, True, 0.1) for _ in range(2))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, WORDS, bias=False)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.dropout(self.words(words) + self.places(torch.arange(words.shape[1])))
        for block in self.blocks:
            x = block(x)
        result: torch.Tensor = self.out(self.norm(x))
        return result


def gpt() -> Training:
    data, model = texts(250), Writer()
    part = Part(
        torch.optim.AdamW, groups_of(model, 0.1), {"lr": 3e-3, "betas": (0.9, 0.95)}, words_loss(model), clip=1.0
    )
    return Training(
        model, data, 8, [part], model.blocks[1].mlp[1], 2, warm_up, draws=True, labels=0, trunk=["blocks.0", "blocks.1"]
    )


class Looker(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.patches, self.places = nn.Conv2d(3, width, 4, 4), nn.Parameter(0.02 * torch.randn(1, 9, width))
        self.blocks = nn.Sequential(Block(width, 4, False, 0.0), Block(width, 4, False, 0.0))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2) + self.places
        result: torch.Tensor = self.out(self.norm(self.blocks(x)).mean(1))
        return result


def vit() -> Training:
    data, model = images(250, 6), Looker()

    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return cross_entropy(model(x), y, label_smoothing=0.1)

    part = Part(torch.optim.AdamW, groups_of(model, 0.05), {"lr": 1e-3}, loss, clip=1.0)
    return Training(
        model, data, 16, [part], model.blocks[0].mlp[1], schedule=warm_up, labels=1, trunk=["blocks.0", "blocks.1"]
    )


class Squeezer(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(48, 64), nn.SiLU(), nn.Linear(64, 16))
        self.outer = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 48))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean, spread = self.inner(x).float().chunk(2, 1)
        made = self.outer(mean + torch.randn_like(mean) * (spread / 2).exp())
        distance = (spread.exp() + mean.square() - 1 - spread).sum(1) / 2
        return F.mse_loss(made.float(), x, reduction="none").sum(1) + distance


def vae() -> Training:
    model = Squeezer()
    data = TensorDataset(torch.randn(500, 6) @ torch.randn(6, 48) + 0.1 * torch.randn(500, 48))
    part = Part(torch.optim.Adam, all_of(model), {"lr": 2e-3}, model)
    return Training(model, data, 32, [part], model.outer[0], draws=True, trunk=["inner", "outer"])


def gan() -> Training:
    maker = nn.Sequential(
        nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 24)
    )
    critic = nn.Sequential(nn.Linear(24, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
    model = nn.ModuleDict({"maker": maker, "critic": critic})
    data = TensorDataset(torch.tanh(torch.randn(250, 6) @ torch.randn(6, 24)))

    def judged(rows: torch.Tensor, real: float) -> torch.Tensor:
        scores = critic(rows).float()[:, 0]
        return F.binary_cross_entropy_with_logits(scores, torch.full_like(scores, real), reduction="none")

    def of_critic(rows: torch.Tensor) -> torch.Tensor:
        return judged(rows, 1.0) + judged(maker(torch.randn(len(rows), 8)).detach(), 0.0)

    def of_maker(rows: torch.Tensor) -> torch.Tensor:
        return judged(maker(torch.randn(len(rows), 8)), 1.0)

    settings = {"lr": 1e-3, "betas": (0.5, 0.999)}
    parts = [
        Part(torch.optim.Adam, all_of(critic), settings, of_critic),
        Part(torch.optim.Adam, all_of(maker), settings, of_maker),
    ]
    return Training(model, data, 32, parts, maker[3], draws=True, trunk=["critic"])


class Clicks(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(50, 8, mode="sum") for _ in range(3))
        self.bottom = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))
        self.top = nn.Sequential(nn.Linear(8 + 6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, dense: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        found = [self.bottom(dense), *(bag(part) for bag, part in zip(self.bags, ids.unbind(1)))]
        vectors = torch.stack([part.float() for part in found], 1)
        above, below = torch.triu_indices(4, 4, 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))[:, above, below]
        result: torch.Tensor = self.top(torch.cat([found[0].float(), products.float()], 1))[:, 0].float()
        return result


def dlrm() -> Training:
    rows, targets = table(1000, 10)
    data, model = TensorDataset(rows, torch.randint(0, 50, (1000, 3, 4)), (targets > 0).float()), Clicks()

    def loss(dense: torch.Tensor, ids: torch.Tensor, clicked: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(model(dense, ids), clicked, reduction="none")

    part = Part(torch.optim.Adagrad, all_of(model), {"lr": 0.02}, loss)
    return Training(model, data, 64, [part], model.top[0], labels=2, trunk=["bottom"])


def regression() -> Training:
    data, model = (
        TensorDataset(*table(500, 16)),
        nn.Sequential(
            nn.Linear(16, 64),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Linear(64, 1),
        ),
    )
    settings = {"lr": 1e-3, "momentum": 0.9, "weight_decay": 1e-2}
    part = Part(torch.optim.RMSprop, all_of(model), settings, lambda x, y: (model(x)[:, 0].float() - y).square())
    return Training(model, data, 32, [part], model[3], schedule=fade, draws=True, labels=1, trunk=["3", "4", "5"])


def finetune() -> Training:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(144, 6),
    )  # fmt: skip
    for value in model[:2].parameters():
        value.requires_grad_(False)
    body, head = list(model[4:9].parameters()), list(model[9].parameters())
    groups = [{"params": body, "lr": 2e-4}, {"params": head, "lr": 2e-3}]
    part = Part(
        torch.optim.AdamW, groups, {"lr": 1e-3, "weight_decay": 0.02}, lambda x, y: cross_entropy(model(x), y), clip=1.0
    )
    return Training(model, images(500, 6), 32, [part], model[4], schedule=warm_up, labels=1, trunk=["4", "5"])


def recomputed(module: nn.Module) -> None:
    """Lets the backward pass recompute the module instead of keeping what is inside it."""
    forward = module.forward
    module.forward = lambda *args: checkpoint(forward, *args, use_reentrant=False)


TRAININGS: dict[str, Callable[[], Training]] = {
    make.__name__: make for make in (conv, mlp, lstm, gpt, vit, vae, gan, dlrm, regression, finetune)
}
