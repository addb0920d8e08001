# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the scripts in this folder: images on disk, made at first use, and a small convolutional network.

The images are 256×256, `NAME.ppm.gz`, and any viewer opens them. Ten classes differ in the angle and the width of their stripes.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import Dataset

SIDE, CLASSES, FILES = 256, 10, 200
HEADER = f"P6\n{SIDE} {SIDE}\n255\n".encode()
MEAN, SPREAD = torch.tensor([0.5, 0.5, 0.5]).view(3, 1, 1), torch.tensor([0.25, 0.25, 0.25]).view(3, 1, 1)


def arguments(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "gapless-lab-images", metavar="DIR")
    parser.add_argument("--size", type=int, default=224, help="side of what the network sees (224)")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, help="stop after this number of steps")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


class Images(Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    """Every file in `variants` crops. Crop, side and brightness come from the sample's number alone: a sample is the same in
    every run, whichever process loads it."""

    def __init__(self, folder: Path, size: int, seed: int, variants: int = 16) -> None:
        make_files(folder)
        self.files = [folder / file_name(number) for number in range(FILES)]
        self.size, self.seed, self.variants = size, seed, variants

    def __len__(self) -> int:
        return len(self.files) * self.variants

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        number = index % len(self.files)
        draw = torch.rand(4, generator=torch.Generator().manual_seed(self.seed * len(self) + index)).tolist()
        image = decode(self.files[number])
        side = int(SIDE * (0.6 + 0.4 * draw[0]))
        top, left = int((SIDE - side) * draw[1]), int((SIDE - side) * draw[2])
        crop = image[:, top : top + side, left : left + side].float().div(255)
        crop = nn.functional.interpolate(
            crop[None], (self.size, self.size), mode="bilinear", align_corners=False, antialias=True
        )[0]
        if draw[3] < 0.5:
            crop = crop.flip(2)
        return (crop * (0.8 + 0.4 * draw[3]) - MEAN) / SPREAD, number % CLASSES


def decode(path: Path) -> torch.Tensor:
    pixels = bytearray(gzip.decompress(path.read_bytes())[len(HEADER) :])
    return torch.frombuffer(pixels, dtype=torch.uint8).view(SIDE, SIDE, 3).permute(2, 0, 1)


def file_name(number: int) -> str:
    return f"{number:04d}.ppm.gz"


def make_files(folder: Path) -> None:
    """Writes the images that are not there yet. Two processes may do it at once: a file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [number for number in range(FILES) if not (folder / file_name(number)).exists()]
    for number in missing:
        beside = folder / f".{number}.{os.getpid()}"
        beside.write_bytes(gzip.compress(HEADER + draw_stripes(number), compresslevel=1, mtime=0))
        beside.replace(folder / file_name(number))


def draw_stripes(number: int) -> bytes:
    generator = torch.Generator().manual_seed(number)
    kind, phase = number % CLASSES, torch.rand(3, generator=generator) * 2 * math.pi
    angle, waves = math.pi * kind / CLASSES, 4 + 2 * kind
    across = torch.linspace(0, 1, SIDE)
    along = math.cos(angle) * across[:, None] + math.sin(angle) * across[None, :]
    stripes = torch.sin(2 * math.pi * waves * along[:, :, None] + phase)
    noise = torch.randn(SIDE, SIDE, 3, generator=generator)
    pixels = (128 + 70 * stripes + 12 * noise).clamp(0, 255).to(torch.uint8)
    return bytes(pixels.flatten().tolist())


def network() -> nn.Sequential:
    """Four convolutions, each with normalisation, rectification and pooling, and a classifier."""
    layers: list[nn.Module] = []
    for before, after in ((3, 64), (64, 128), (128, 256), (256, 256)):
        layers += [
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, CLASSES))
