# SPDX-License-Identifier: Apache-2.0
"""fastai's Learner, whose optimisers are no classes of torch.optim; one cycle, with validation."""

from __future__ import annotations

import fastai.callback.progress
import fastai.callback.schedule  # noqa: F401  (adds fit_one_cycle)
import torch
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    data = TensorDataset(torch.randn(96, 8), torch.randn(96, 1))
    loaders = DataLoaders(DataLoader(data, batch_size=8), DataLoader(data, batch_size=8))
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    learner = Learner(loaders, net, loss_func=torch.nn.functional.mse_loss)
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(3)
    print("steps", 3 * 12)
