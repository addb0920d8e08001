# SPDX-License-Identifier: Apache-2.0
"""Gradients lie in the buckets that DistributedDataParallel exchanges: `gradient_as_bucket_view`, one copy less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _ddp

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = False


def why_not(agent: Agent, value: str) -> str:
    return _ddp.why_not(agent)


def on(agent: Agent, value: str) -> str:
    _ddp.change(agent, "ddp_view", lambda given: _ddp.flag(agent, "ddp_view", given, "gradient_as_bucket_view", True))
    return ""


def nothing(agent: Agent) -> str:
    return _ddp.NO_DDP
