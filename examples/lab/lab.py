# SPDX-License-Identifier: Apache-2.0
"""The data, the network and the loop that the scripts of the labs share. A stage says in a few lines what it does differently.

The data are like CIFAR-10, in numbers and sizes: ten classes of 32×32 images, enlarged to 224×224 where they are loaded. They are made, not
downloaded. Every script takes the same options; `--small` finishes within seconds on a CPU.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

CLASSES, PIXELS = 10, 32
SMALL_STEPS, SMALL_BATCH, SMALL_SIZE = 14, 8, 32
WARM_UP = 4  # steps that do not count


@dataclass(frozen=True)
class Settings:
    """How a stage trains. The defaults are those of the script that the lab begins with."""

    batch: int = 32
    workers: int = 0
    pinned: bool = False
    prefetch: int = 2
    wait_for_copies: bool = True
    wait_for_device: bool = True  # before and after each step
    read_every_step: bool = True  # the loss and the number of right answers
    amp: bool = False
    accumulate: int = 1  # backward passes of an update


def arguments(description: str | None, **more: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="few small images, for a CPU: ends within seconds")
    parser.add_argument("--size", type=int, help="side of what the network sees (224; small: 32)")
    parser.add_argument("--batch", type=int, help="samples of a step (the stage's own; small: 8)")
    parser.add_argument("--steps", type=int, help="stop an epoch after this number of steps (small: 14)")
    parser.add_argument("--epochs", type=int, help="passes over the data (3; small: 1)")
    parser.add_argument(
        "--workers", type=int, help="worker processes of the loader (the stage's own; small: 2 at most)"
    )
    parser.add_argument("--amp", action="store_true", default=None, help="train with automatic mixed precision")
    parser.add_argument("--accumulate", type=int, help="backward passes of an update (the stage's own)")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def completed(given: argparse.Namespace) -> argparse.Namespace:
    """Returns the options with what `--small` means filled in."""
    given.size = given.size or (SMALL_SIZE if given.small else 224)
    given.epochs = given.epochs or (1 if given.small else 3)
    given.steps = given.steps or (SMALL_STEPS if given.small else None)
    return given


def adapted(settings: Settings, given: argparse.Namespace) -> Settings:
    """Returns the settings of a stage with the options that were given in their place."""
    if given.small:
        settings = replace(settings, batch=min(settings.batch, SMALL_BATCH), workers=min(settings.workers, 2))
    options = {name: getattr(given, name) for name in ("batch", "workers", "amp", "accumulate")}
    return replace(settings, **{name: value for name, value in options.items() if value is not None})


class Pictures(Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    """Ten classes that differ in the direction of their stripes. A sample follows from its number, whichever process loads it."""

    def __init__(self, size: int, count: int = 50_000, seed: int = 0) -> None:
        self.size, self.count, self.seed = size, count, seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        label = index % CLASSES
        generator = torch.Generator().manual_seed(self.seed * self.count + index)
        angle = torch.pi * label / CLASSES
        along = torch.linspace(0, 6, PIXELS)
        stripes = torch.sin(torch.cos(torch.tensor(angle)) * along[:, None] + torch.sin(torch.tensor(angle)) * along)
        image = stripes + 0.3 * torch.randn(3, PIXELS, PIXELS, generator=generator)
        large = nn.functional.interpolate(image[None], (self.size, self.size), mode="bilinear", align_corners=False)
        return large[0], label


class Net(nn.Module):  # type: ignore[misc,unused-ignore]
    """The network as the lab has it: three convolutions, two poolings, two linear layers."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 64, 3, padding=1), nn.Conv2d(64, 128, 3, padding=1)
        self.third = nn.Conv2d(128, 256, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.hidden, self.output = nn.Linear(256 * (size // 4) ** 2, 128), nn.Linear(128, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        images = self.pool(torch.relu(self.first(images)))
        images = self.pool(torch.relu(self.second(images)))
        images = torch.relu(self.third(images))
        found: torch.Tensor = self.output(torch.relu(self.hidden(images.flatten(1))))
        return found


def block(before: int, after: int, pools: bool) -> nn.Sequential:
    """A convolution without a bias, which the normalisation has, rectified in place."""
    layers: list[nn.Module] = [
        nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
    ]  # fmt: skip
    return nn.Sequential(*layers, *([nn.MaxPool2d(2)] if pools else []))


def sequential_net() -> nn.Sequential:
    """The network as blocks, with an average in front of the classifier in place of its largest layer."""
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, CLASSES))
    return nn.Sequential(block(3, 64, True), block(64, 128, True), block(128, 256, False), head)


class Checkpointed(nn.Module):  # type: ignore[misc,unused-ignore]
    """Blocks of which only the inputs are kept for the backward pass; what is inside is computed again there."""

    def __init__(self, blocks: nn.Sequential) -> None:
        super().__init__()
        self.blocks = blocks

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        for number, part in enumerate(self.blocks):
            is_last = number == len(self.blocks) - 1
            images = part(images) if is_last else checkpoint(part, images, use_reentrant=False)
        return images


def loader_of(data: Any, settings: Settings, device: torch.device, sampler: Any = None) -> DataLoader[Any]:
    ahead: dict[str, Any] = {}
    if settings.workers:
        ahead = {"persistent_workers": True, "prefetch_factor": settings.prefetch}
    return DataLoader(
        data, settings.batch, shuffle=sampler is None, sampler=sampler, drop_last=True, num_workers=settings.workers,
        pin_memory=settings.pinned and device.type == "cuda", **ahead,
    )  # fmt: skip


def device_here() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def peak_memory_mb(device: torch.device) -> float:
    """The peak of PyTorch's allocator on a GPU, else of this process's resident memory."""
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated()) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


@dataclass
class Outcome:
    samples_per_second: float = 0.0
    step_ms: float = 0.0
    final_loss: float = 0.0
    accuracy: float = 0.0


class Trainer:
    """One training: the model on its device, and what its settings ask for."""

    def __init__(self, model: nn.Module, settings: Settings, device: torch.device) -> None:
        self.model, self.settings, self.device = model.to(device), settings, device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        self.scaler = torch.amp.GradScaler(device.type, enabled=settings.amp and device.type == "cuda")
        self.precision = torch.float16 if device.type == "cuda" else torch.bfloat16  # a CPU has no fast half precision
        self.passes = 0

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """A forward and backward pass; every `accumulate` of them an update. Returns the loss and the number of right answers."""
        later = not self.settings.wait_for_copies
        images, labels = images.to(self.device, non_blocking=later), labels.to(self.device, non_blocking=later)
        if self.settings.wait_for_device:
            wait_for(self.device)
        self.passes += 1
        updates = self.passes % self.settings.accumulate == 0
        with torch.autocast(self.device.type, self.precision, enabled=self.settings.amp):
            output = self.model(images)
            loss = nn.functional.cross_entropy(output, labels)
        with contextlib.nullcontext() if updates else without_exchange(self.model):
            self.scaler.scale(loss / self.settings.accumulate).backward()
        if updates:
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
        if self.settings.wait_for_device:
            wait_for(self.device)
        return loss.detach(), (output.argmax(1) == labels).sum()

    def epoch(self, batches: Iterator[Any], most: int | None) -> Outcome:
        """Trains on the batches. The first steps are left out of the throughput."""
        losses, right, seen, started = [], [], 0, time.perf_counter()
        for number, (images, labels) in enumerate(batches):
            if number == most:
                break
            if number == WARM_UP:
                wait_for(self.device)
                started = time.perf_counter()
            loss, correct = self.step(images, labels)
            losses.append(loss.item() if self.settings.read_every_step else loss)
            right.append(correct.item() if self.settings.read_every_step else correct)
            seen += len(labels)
        wait_for(self.device)
        counted = max(1, len(losses) - WARM_UP)
        seconds = (time.perf_counter() - started) / counted
        last = [float(loss) for loss in losses[-10:]]
        return Outcome(
            seen / max(1, len(losses)) / seconds, seconds * 1e3, sum(last) / len(last), float(sum(right)) / max(1, seen)
        )


def without_exchange(model: nn.Module) -> Any:
    """Ranks exchange gradients in the pass before an update only."""
    return model.no_sync() if hasattr(model, "no_sync") else contextlib.nullcontext()


def train(description: str | None, settings: Settings, make_model: Any = Net) -> None:
    """Runs a stage from its options to the lines at its end. `make_model` takes the side of the pictures, or nothing."""
    given = completed(arguments(description).parse_args())
    settings = adapted(settings, given)
    torch.manual_seed(given.seed)
    device = device_here()
    model = make_model(given.size) if make_model is Net else make_model()
    trainer = Trainer(model, settings, device)
    loader = loader_of(Pictures(given.size, seed=given.seed), settings, device)
    outcome = Outcome()
    for epoch in range(given.epochs):
        outcome = trainer.epoch(iter(loader), given.steps)
        print(f"epoch {epoch + 1}: {outcome.samples_per_second:.1f} samples a second", flush=True)
    say(outcome, device)


def say(outcome: Outcome, device: torch.device) -> None:
    print(f"samples_per_second {outcome.samples_per_second:.1f}")
    print(f"step_ms {outcome.step_ms:.2f}")
    print(f"memory_mb {peak_memory_mb(device):.0f}")
    print(f"accuracy {outcome.accuracy:.4f}")
    print(f"final_loss {outcome.final_loss:.6f}")
