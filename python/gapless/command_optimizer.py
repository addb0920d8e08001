# SPDX-License-Identifier: Apache-2.0
"""`gapless optimize` from Python: makes a training command faster without editing it, with proof."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .metrics import fields_of
from .program import Command, ask, command_words
from .record import Record, hidden

NOT_PROVED = 1  # the exit status of `gapless optimize` where no fix is proved


@dataclass
class CommandOptimization(Record):
    """The answer of `gapless optimize`.

    `applied` and `refused` have an entry for each decision, with `fix`, `outcome`, `safety`, `measured` and `reason`. `speedup` has low,
    expected and high of all applied fixes together; None where none is proved or no time was left. `recipe`, `candidate` and `patch` are
    paths; None where the file was not written. `answer` is the whole JSON.
    """

    proved: bool
    speedup: dict[str, Any] | None
    applied: list[dict[str, Any]]
    refused: list[dict[str, Any]]
    recipe: str | None = None
    candidate: str | None = None
    patch: str | None = None
    answer: dict[str, Any] = hidden(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return fields_of(self)


def optimize(
    command: Command,
    folder: str | os.PathLike[str] = "optimized",
    *,
    budget_s: float | None = None,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    allow: str | None = None,
    exact: bool = False,
    options: Sequence[str] = (),
) -> CommandOptimization:
    """Tries fixes on a training command; each stays only if it is significantly faster and trains what its safety says.

    >>> optimize("python train.py", budget_s=1200).speedup  # doctest: +SKIP
    {'low': 1.31, 'expected': 1.42, 'high': 1.53}

    `only` and `without` name fixes ("workers=4"); `allow` is the most that a fix may change ("exact", "rounding", "stochastic", "training").
    `options` are further options of `gapless optimize`. Raises ProgramError if the command fails.
    """
    words = ["--output", os.fspath(folder), "--quiet", *options]
    words += [] if budget_s is None else ["--budget", f"{budget_s}s"]
    words += [word for name in only for word in ("--only", name)]
    words += [word for name in without for word in ("--without", name)]
    words += [] if allow is None else ["--allow", allow]
    words += ["--exact"] if exact else []
    answer = ask("optimize", *words, "--", *command_words(command), accept=(0, NOT_PROVED))
    return CommandOptimization(
        proved=answer["proved"],
        speedup=answer.get("speedup"),
        applied=answer["applied"],
        refused=answer["refused"],
        recipe=answer.get("recipe"),
        candidate=answer.get("candidate"),
        patch=answer.get("patch"),
        answer=answer,
    )
