# SPDX-License-Identifier: Apache-2.0
"""ignite's supervised trainer, with an evaluator that runs after each epoch."""

from __future__ import annotations

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    data = DataLoader(TensorDataset(torch.randn(96, 8), torch.randn(96, 1)), batch_size=8)
    net = torch.nn.Linear(8, 1)
    trainer = create_supervised_trainer(net, torch.optim.SGD(net.parameters(), lr=0.01), torch.nn.functional.mse_loss)
    evaluator = create_supervised_evaluator(net)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(data))
    print("steps", trainer.run(data, max_epochs=2).iteration)
