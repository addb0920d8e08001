# SPDX-License-Identifier: Apache-2.0
"""Ten small trainings, each an ordinary loop over a DataLoader, with the places at which a change (changes.py) takes hold.

Each takes 5 to 30 ms a step on one processor. Their data is generated, and depends on the seed alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

BATCH = 16
SAMPLES = 15 * BATCH + 8  # the last batch of an epoch is smaller


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.causal, self.fused = heads, causal, False

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if self.fused:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            if self.causal:
                scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), -math.inf)
            mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool, dropout: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(64, 48), nn.Embedding(24, 48)
        self.blocks = nn.ModuleList(Block(48, 4, True, 0.1) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(48), nn.Linear(48, 64)

    def forward(self, x: Any) -> Any:
        h = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h)).flatten(0, 1)


class Vit(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.places = nn.Conv2d(3, 48, 4, 4), nn.Parameter(torch.zeros(1, 16, 48))
        self.blocks = nn.ModuleList(Block(48, 4, False, 0.0) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(48), nn.Linear(48, 10)

    def forward(self, x: Any) -> Any:
        h = self.patches(x).flatten(2).transpose(1, 2) + self.places
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h).mean(1))


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.cells, self.head = nn.Embedding(64, 32), nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 64)

    def forward(self, x: Any) -> Any:
        return self.head(self.cells(self.tokens(x))[0]).flatten(0, 1)


class Vae(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 16))
        self.decode = nn.Sequential(nn.Linear(8, 96), nn.ReLU(), nn.Linear(96, 64))

    def forward(self, x: Any) -> Any:
        mean, log = self.encode(x).float().chunk(2, -1)
        self.regular = -0.5 * (1 + log - mean.square() - log.exp()).sum(-1)
        return self.decode(mean + torch.randn_like(mean) * (0.5 * log).exp())


class Dlrm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(200, 16, mode="sum") for _ in range(4))
        self.bottom = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(80, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x: Any, ids: Any) -> Any:
        parts = [self.bottom(x), *(table(ids[:, index]) for index, table in enumerate(self.tables))]
        return self.top(torch.cat(parts, -1)).squeeze(-1)


def conv_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


@dataclass
class Training:
    """What a script would have as its globals; the loop is `train`."""

    model: Any
    loss: Callable[..., Any]  # of an output and a target, by sample
    data: TensorDataset
    optimizer: Callable[[list[Any]], Any]  # of parameter groups
    forward: Callable[..., Any] = lambda model, batch: model(batch[0])
    clip: float = 0.0
    decay: float = 0.0  # of weights, but not of norms and biases
    scheduled: bool = False
    judge: Any = None  # of a GAN
    tags: set[str] = field(default_factory=set)


def _images(classes: int = 10) -> TensorDataset:
    labels = torch.randint(0, classes, (SAMPLES,))
    pattern = torch.randn(classes, 3, 16, 16)
    return TensorDataset(pattern[labels] + torch.randn(SAMPLES, 3, 16, 16), labels)


def _texts() -> TensorDataset:
    steps = torch.randint(1, 4, (SAMPLES, 25)).cumsum(1) % 64
    return TensorDataset(steps[:, :-1].contiguous(), steps[:, 1:].contiguous())


def _cross(output: Any, target: Any) -> Any:
    return functional.cross_entropy(output, target.flatten(), reduction="none")


def _square(output: Any, target: Any) -> Any:
    return (output - target).square().flatten(1).mean(1)


def build(name: str) -> Training:
    """Returns a training; torch's seed decides its data and where it starts."""
    adamw = lambda groups: torch.optim.AdamW(groups, lr=2e-3)  # noqa: E731
    if name == "conv":
        sgd = lambda groups: torch.optim.SGD(groups, lr=0.05, momentum=0.9)  # noqa: E731
        return Training(conv_net(), _cross, _images(), sgd, decay=5e-4, scheduled=True, tags={"image", "norm"})
    if name == "mlp":
        net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
        images = _images()
        flat = TensorDataset(images.tensors[0].flatten(1)[:, :64].contiguous(), images.tensors[1])
        return Training(net, _cross, flat, adamw, clip=2.0, decay=0.05, tags={"blocks"})
    if name == "lstm":
        adam = lambda groups: torch.optim.Adam(groups, lr=5e-3)  # noqa: E731
        return Training(Lstm(), _cross, _texts(), adam, clip=0.5, tags={"embedding"})
    if name == "gpt":
        return Training(
            Gpt(),
            _cross,
            _texts(),
            adamw,
            clip=1.0,
            decay=0.1,
            scheduled=True,
            tags={"attention", "causal", "random", "embedding"},
        )
    if name == "vit":
        return Training(Vit(), _cross, _images(), adamw, decay=0.05, scheduled=True, tags={"attention", "image"})
    if name == "vae":
        net = Vae()
        data = torch.sigmoid(torch.randn(SAMPLES, 6) @ torch.randn(6, 64))
        loss = lambda output, target: _square(output, target) + 0.01 * net.regular  # noqa: E731
        return Training(net, loss, TensorDataset(data, data), adamw, tags={"random"})
    if name == "gan":
        make = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))
        judge = nn.Sequential(nn.Linear(32, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
        adam = lambda groups: torch.optim.Adam(groups, lr=1e-3, betas=(0.5, 0.999))  # noqa: E731
        data = torch.randn(SAMPLES, 4) @ torch.randn(4, 32)
        return Training(make, _square, TensorDataset(data, data), adam, judge=judge, tags={"random", "norm"})
    if name == "dlrm":
        labels, ids, dense = torch.rand(SAMPLES), torch.randint(0, 200, (SAMPLES, 4, 3)), torch.randn(SAMPLES, 8)
        adagrad = lambda groups: torch.optim.Adagrad(groups, lr=0.02)  # noqa: E731
        loss = lambda output, target: functional.binary_cross_entropy_with_logits(
            output.float(), target, reduction="none"
        )  # noqa: E731
        forward = lambda model, batch: model(batch[0], batch[2])  # noqa: E731
        return Training(
            Dlrm(), loss, TensorDataset(dense, (labels > 0.5).float(), ids), adagrad, forward, tags={"embedding"}
        )
    if name == "regression":
        net = nn.Sequential(
            nn.Linear(16, 64),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(64, 1),
        )
        inputs = torch.randn(SAMPLES, 16)
        targets = (inputs[:, :1] * inputs[:, 1:2]).sin() + 0.1 * torch.randn(SAMPLES, 1)
        rmsprop = lambda groups: torch.optim.RMSprop(groups, lr=1e-3, momentum=0.5)  # noqa: E731
        return Training(net, _square, TensorDataset(inputs, targets), rmsprop, tags={"random"})
    if name == "finetune":
        net = conv_net()
        for layer in list(net)[:5]:
            for parameter in layer.parameters():
                parameter.requires_grad_(False)
        adam = lambda groups: torch.optim.Adam(groups, lr=1e-3)  # noqa: E731
        return Training(net, _cross, _images(), adam, tags={"image", "norm"})
    raise ValueError(name)


NAMES = ("conv", "mlp", "lstm", "gpt", "vit", "vae", "gan", "dlrm", "regression", "finetune")


def loader_of(training: Training, **settings: Any) -> DataLoader[Any]:
    return DataLoader(training.data, batch_size=BATCH, shuffle=True, **settings)
