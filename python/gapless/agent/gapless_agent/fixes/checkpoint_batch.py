# SPDX-License-Identifier: Apache-2.0
"""Memory for time: activations are computed again in the backward pass, and batches are K times as large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _loader, batch, checkpoint

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = False
NAME = "checkpoint_batch"


def why_not(agent: Agent, value: str) -> str:
    return batch.why_not(agent, value) or checkpoint.why_not(agent, "block")


def on(agent: Agent, value: str) -> str:
    agent.models.add(checkpoint.Blocks(agent, NAME, 1.0))
    factor = batch.factor_of(value) or 1
    _loader.change(agent, NAME, lambda given: batch.larger(agent, given, factor, NAME))
    return ""


def nothing(agent: Agent) -> str:
    return agent.models.nothing()
