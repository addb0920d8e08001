# SPDX-License-Identifier: Apache-2.0
"""Is a training the same as another one, up to rounding? Recordings are made here, the program decides (docs/parity.md)."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Callable

from .agent_path import find_agent
from .metrics import fields_of
from .program import ask
from .record import Record

NO_AND_CANNOT_TELL = (0, 1, 5)  # exit statuses of `gapless same` that are answers
MAX_RUNS = 8  # runs of the baseline for one decision


@dataclass
class TrainingParity(Record):
    """The answer of `gapless same`.

    `verdict` is "exact", "rounding" (to `unit`), "same_distribution", "other_training" or "cannot_tell"; `reason` says in a sentence why,
    `step`, `tensor`, `value` and `limit` where and by how much, as far as one of them decided. `steps` were compared; a difference of
    `seen_from` (a share of the gradients, or of the loss) or more would have been seen. `differences` has what the two programs are, where
    that differs: transforms, sampler, dropout, loss, clipping, schedule, code.
    """

    verdict: str
    reason: str
    steps: int = 0
    unit: str | None = None
    test: str | None = None
    step: int | None = None
    tensor: str | None = None
    value: float | None = None
    limit: float | None = None
    seen_from: float | None = None
    differences: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        return self.verdict in ("exact", "rounding", "same_distribution")

    def to_dict(self) -> dict[str, Any]:
        return fields_of(self)

    @classmethod
    def of(cls, answer: dict[str, Any]) -> TrainingParity:
        return cls(**{name: answer[name] for name in cls.__dataclass_fields__ if name in answer})


def same(a: Sequence[str], b: Sequence[str], *, claim: str | None = None, steps: int | None = None) -> TrainingParity:
    """Asks whether the command `b` is the same training as the command `a`.

    >>> same(["python", "train.py"], ["python", "train.py", "--fused"]).same  # doctest: +SKIP
    True

    `claim` is the precision to which it may round ("fp32", "tf32", "fp16", "bf16"); without it the finest is found. A command that fails is a
    `ProgramError`.
    """
    options = [] if claim is None else ["--claim", claim]
    options += [] if steps is None else ["--steps", str(steps)]
    return TrainingParity.of(ask("same", *options, "--", *a, "--", *b, accept=NO_AND_CANNOT_TELL))


class Recordings:
    """Recordings of trainings in this process: of one baseline, and of one candidate."""

    def __init__(self, train_baseline: Callable[[], Any]) -> None:
        """`train_baseline` trains from the beginning, the same way each time."""
        self.train_baseline = train_baseline
        self.folder = tempfile.TemporaryDirectory(prefix="gapless-parity-")

    def record(self, role: str, name: str, train: Callable[[], Any], **options: Any) -> Any:
        """Trains under the recorder of the agent; returns what `train` does."""
        find_agent()
        from gapless_agent.options import Parity
        from gapless_agent.parity.watch import Watch

        baseline = "" if role == "baseline" else os.path.join(self.folder.name, "baseline")
        parts = _standing_in()
        watch = Watch(**parts)
        watch.begin(Parity(role=role, folder=os.path.join(self.folder.name, name), baseline=baseline, **options))
        try:
            return train()
        finally:
            if watch.active:
                watch._end()
            parts["context"].patches.undo()
            if parts["context"].complaints:
                raise RuntimeError(parts["context"].complaints[0])

    def decide(self) -> TrainingParity:
        """Asks the program, and has the baseline trained again for what it still needs."""
        for _ in range(MAX_RUNS):
            answer = ask("same", "--recordings", self.folder.name, accept=NO_AND_CANNOT_TELL)
            if not answer.get("needs"):
                break
            for run in answer["needs"]:
                options = {name: run[name] for name in ("noise", "wide", "reseed") if name in run}
                self.record(run["role"], run["name"], self.train_baseline, **options)
        return TrainingParity.of(answer)

    def close(self) -> None:
        self.folder.cleanup()


def _standing_in() -> dict[str, Any]:
    """Returns stand-ins for the parts of the agent that the recorder uses, for a process without an agent."""
    import torch
    from gapless_agent.guard import Guard
    from gapless_agent.patches import Patches

    context: Any = SimpleNamespace(
        torch=torch, on=True, step=0, main_thread=threading.get_ident(), complaints=[], ends=[], patches=Patches(),
        emit=lambda *_args, **_more: None,
    )  # fmt: skip
    context.complain = context.complaints.append
    context.guard = lambda what, lost, flag="": Guard(context, what, lost, flag)
    followers: list[Callable[[Any], None]] = []

    def around(original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(*args: Any, **kwargs: Any) -> Any:
            roots = args[0] if args else kwargs.get("tensors")
            roots = roots[0] if isinstance(roots, (list, tuple)) and len(roots) == 1 else roots
            if isinstance(roots, torch.Tensor) and roots.numel() == 1:
                for follower in followers:
                    follower(roots)
            return original(*args, **kwargs)

        return backward

    context.patches.wrap(sys.modules["torch.autograd"], "backward", around)
    return {
        "context": context,
        "optimizers": SimpleNamespace(alive={}),
        "backward": SimpleNamespace(followers=followers),
        "by_hand": SimpleNamespace(when_written=[]),  # an optimiser takes the steps
        "scalers": SimpleNamespace(when_skipped=[]),
    }


@dataclass
class LossParity(Record):
    """The answer to: does the optimised model train as the baseline does, over the same batches?

    `parity` is the decision of `training`; None if no decision was possible. `max_difference` is that of losses of the same step, each from
    the baseline's parameters; infinite if only one of the two is a number.
    """

    parity: bool | None
    max_difference: float
    steps: int
    training: TrainingParity

    def to_dict(self) -> dict[str, Any]:
        return {**fields_of(self), "training": self.training.to_dict()}
