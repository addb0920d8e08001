# SPDX-License-Identifier: Apache-2.0
"""Steps of a loop that Accelerate runs.

from gapless.integrations.accelerate import watch
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
with watch(accelerator, record="runs/gapless"):
    for batch in loader: ...
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from .extras import need
from .trackers import Trackers
from .watch import Watch

need("accelerate", "accelerate")


@contextlib.contextmanager
def watch(
    accelerator: Any,
    optimizer: Any = None,
    record: str | None = None,
    *,
    skip: int = 10,
    steps: int = 6,
    log: Trackers = None,
    every: int = 10,
) -> Iterator[Watch]:
    """Marks a step each time that the prepared optimiser updates: not while gradients are accumulated; an update that the loss scaler
    skips counts.

    `record="FOLDER"` records `steps` updates after `skip` of them. `log` is "wandb", "mlflow", "tensorboard=FOLDER" or several; without
    it, the run that is active in W&B or MLflow. Raises ValueError where several optimisers were prepared and none is named.
    """
    prepared = [optimizer] if optimizer is not None else list(accelerator._optimizers)
    if len(prepared) != 1:
        raise ValueError(
            f"name the optimiser whose updates end steps, watch(accelerator, optimizer): {len(prepared)} were prepared"
        )
    watched, made = prepared[0], Watch(record, skip=skip, steps=steps, log=log, every=every)
    original = watched.step

    @functools.wraps(original)
    def step(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if accelerator.sync_gradients:
            made.step()
        return result

    made.begin(bool(accelerator.is_main_process))
    watched.step = step
    try:
        yield made
    finally:
        del watched.step
        made.end()
