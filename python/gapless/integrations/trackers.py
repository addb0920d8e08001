# SPDX-License-Identifier: Apache-2.0
"""Trackers keep the numbers of a training: W&B, MLflow, TensorBoard. Each is imported when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Union

from .extras import need

FINDINGS = "gapless/findings"
DEFAULT_FOLDER = "runs"


class Tracker(Protocol):
    """A tracker keeps numbers and texts; an object of your own may stand in for one."""

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        """Keeps the values of a step."""

    def text(self, name: str, markdown: str, step: int) -> None:
        """Keeps a text."""

    def close(self) -> None:
        """Nothing more comes."""


class WandB:
    """Into the run of W&B that is active when the first value comes; one is started where there is none."""

    def __init__(self) -> None:
        self._package = need("wandb", "wandb")
        self._own = False
        self._run: Any = None

    def _active(self) -> Any:
        if self._run is None:
            self._run = self._package.run
            if self._run is None:
                self._run, self._own = self._package.init(), True
            # The training may log with steps of its own, which must not go back.
            self._run.define_metric("gapless/step")
            self._run.define_metric("gapless/*", step_metric="gapless/step")
        return self._run

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        self._active().log({**values, "gapless/step": step})

    def text(self, name: str, markdown: str, step: int) -> None:
        self._active().summary[name] = markdown

    def close(self) -> None:
        if self._own:
            self._run.finish()


class MLflow:
    """Into the active run of MLflow; MLflow starts one where there is none."""

    def __init__(self) -> None:
        self._package = need("mlflow", "mlflow")
        self._own = False

    def _begin(self) -> None:
        if self._package.active_run() is None:
            self._package.start_run()
            self._own = True

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        self._begin()
        self._package.log_metrics(dict(values), step=step)

    def text(self, name: str, markdown: str, step: int) -> None:
        self._begin()
        self._package.log_text(markdown, f"{name}.md")

    def close(self) -> None:
        if self._own:
            self._package.end_run()


class TensorBoard:
    """Into files below a folder, which `tensorboard --logdir` shows."""

    def __init__(self, folder: str = DEFAULT_FOLDER) -> None:
        need("tensorboard", "tensorboard")
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(folder)

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def text(self, name: str, markdown: str, step: int) -> None:
        self._writer.add_text(name, markdown, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


Trackers = Union[None, str, Tracker, Sequence[Union[str, Tracker]]]


def trackers_of(wanted: Trackers) -> list[Tracker]:
    """ "wandb", "mlflow", "tensorboard", "tensorboard=FOLDER", objects, or several of these. None: those in which a run is active.

    Raises MissingPackage for one that is not installed, ValueError for a name that there is not.
    """
    if wanted is None:
        return _active()
    given = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Sequence) else wanted
    return [_named(one) if isinstance(one, str) else one for one in given]


def _named(name: str) -> Tracker:
    kind, _, folder = name.partition("=")
    if kind == "wandb":
        return WandB()
    if kind == "mlflow":
        return MLflow()
    if kind == "tensorboard":
        return TensorBoard(folder or DEFAULT_FOLDER)
    raise ValueError(f"there is no tracker {name!r}: wandb, mlflow, tensorboard or tensorboard=FOLDER")


def _active() -> list[Tracker]:
    """Only what the program has imported and begun itself."""
    found: list[Tracker] = []
    if getattr(sys.modules.get("wandb"), "run", None) is not None:
        found.append(WandB())
    mlflow = sys.modules.get("mlflow")
    if mlflow is not None and mlflow.active_run() is not None:
        found.append(MLflow())
    return found
