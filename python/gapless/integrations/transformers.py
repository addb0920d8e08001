# SPDX-License-Identifier: Apache-2.0
"""A callback for the Trainer of Transformers (and of TRL, which builds on it).

from gapless.integrations.transformers import GaplessCallback
Trainer(..., callbacks=[GaplessCallback(record="runs/gapless")]).train()
"""

from __future__ import annotations

from typing import Any

from .extras import need
from .trackers import Trackers
from .watch import Watch

need("transformers", "transformers")

from transformers import TrainerCallback


class GaplessCallback(TrainerCallback):  # type: ignore[misc]
    """Marks each update as a step, so that `gapless profile` counts what the Trainer counts (`global_step`).

    `record="FOLDER"` records `steps` updates after `skip` of them. `log` is "wandb", "mlflow", "tensorboard=FOLDER" or several; without
    it, the run that is active in W&B or MLflow. Step times are logged every `every` updates, the loss when the Trainer logs it.
    `callback.watch.run` is the recording, read.
    """

    def __init__(
        self, record: str | None = None, *, skip: int = 10, steps: int = 6, log: Trackers = None, every: int = 10
    ) -> None:
        self.watch = Watch(record, skip=skip, steps=steps, log=log, every=every)
        self._loss: float | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._loss = None
        self.watch.begin(bool(state.is_world_process_zero))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        loss, self._loss = self._loss, None
        self.watch.step(loss)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """The Trainer has read the loss itself, so that it costs nothing here; it is that of the updates before."""
        loss = (logs or {}).get("loss")
        self._loss = self._loss if loss is None else float(loss)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.watch.end()
