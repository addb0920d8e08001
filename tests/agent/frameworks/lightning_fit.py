# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer, which hands forward and backward to the optimiser as a closure; with validation in between."""

from __future__ import annotations

import logging
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Regression(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))

    def training_step(self, batch, _index):
        return (self.net(batch[0]) - batch[1]).square().mean()

    def validation_step(self, batch, _index):
        self.net(batch[0])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def train(batches: int, **settings) -> int:
    data = DataLoader(TensorDataset(torch.randn(8 * batches, 8), torch.randn(8 * batches, 1)), batch_size=8)
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = Trainer(accelerator="cpu", devices=1, max_epochs=3, **quiet, **settings)
    trainer.fit(Regression(), data, data)
    return trainer.global_step


if __name__ == "__main__":
    print("steps", train(15))
