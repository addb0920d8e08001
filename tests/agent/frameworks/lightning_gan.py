# SPDX-License-Identifier: Apache-2.0
"""Lightning with manual optimisation: a GAN whose two optimisers step once in each iteration."""

from __future__ import annotations

import logging
import warnings

import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Gan(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.critic = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
        self.iterations = 0

    def training_step(self, batch, _index):
        first, second = self.optimizers()
        fake = self.generator(torch.randn(8, 4))
        first.zero_grad()
        self.manual_backward(self.critic(fake.detach()).mean() - self.critic(batch[0]).mean())
        first.step()
        second.zero_grad()
        self.manual_backward(-self.critic(fake).mean())
        second.step()
        self.iterations += 1

    def configure_optimizers(self):
        return torch.optim.Adam(self.critic.parameters()), torch.optim.Adam(self.generator.parameters())


if __name__ == "__main__":
    data = DataLoader(TensorDataset(torch.randn(160, 8)), batch_size=8)
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    gan = Gan()
    Trainer(accelerator="cpu", devices=1, max_epochs=2, **quiet).fit(gan, data)
    print("steps", gan.iterations)
