# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel exchanges gradients in buckets of N MB instead of 25."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _ddp
from ._devices import number

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = False


def why_not(agent: Agent, value: str) -> str:
    return _ddp.why_not(agent) if number(value) else f"{value!r} is no number of megabytes"


def on(agent: Agent, value: str) -> str:
    size = int(value)
    _ddp.change(agent, "ddp_bucket", lambda given: _ddp.flag(agent, "ddp_bucket", given, "bucket_cap_mb", size))
    return ""


def nothing(agent: Agent) -> str:
    return _ddp.NO_DDP
