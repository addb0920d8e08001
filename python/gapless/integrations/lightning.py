# SPDX-License-Identifier: Apache-2.0
"""A callback for Lightning's Trainer (package lightning, or pytorch-lightning).

from gapless.integrations.lightning import GaplessCallback
Trainer(..., callbacks=[GaplessCallback(record="runs/gapless")]).fit(module, loader)
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from .extras import need
from .trackers import Trackers
from .watch import Watch

if TYPE_CHECKING:
    from lightning.pytorch import Callback
else:
    _OLDER = importlib.util.find_spec("lightning") is None and importlib.util.find_spec("pytorch_lightning") is not None
    Callback = need("pytorch_lightning" if _OLDER else "lightning.pytorch", "lightning").Callback


class GaplessCallback(Callback):  # type: ignore[misc]
    """Marks each update as a step (with manual optimisation, each batch in which the module updated).

    `record="FOLDER"` records `steps` updates after `skip` of them. `log` is "wandb", "mlflow", "tensorboard=FOLDER" or several; without
    it, the run that is active in W&B or MLflow. Step times and losses are logged every `every` updates. `callback.watch.run` is the
    recording, read.
    """

    def __init__(
        self, record: str | None = None, *, skip: int = 10, steps: int = 6, log: Trackers = None, every: int = 10
    ) -> None:
        super().__init__()
        self.watch = Watch(record, skip=skip, steps=steps, log=log, every=every)
        self._updates = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._updates = trainer.global_step
        self.watch.begin(bool(trainer.is_global_zero))

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if trainer.global_step == self._updates:
            return  # gradients were accumulated
        self._updates = trainer.global_step
        self.watch.step(_loss_of(outputs) if self.watch.wants_loss else None)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self.watch.end()


def _loss_of(outputs: Any) -> float | None:
    """The loss that training_step returned, alone or under the key "loss"; reading it waits for the GPU."""
    loss: Any = outputs.get("loss") if isinstance(outputs, dict) else outputs
    return float(loss.detach()) if hasattr(loss, "detach") and loss.numel() == 1 else None
