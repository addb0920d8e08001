# SPDX-License-Identifier: Apache-2.0
"""Profiles of the Python code itself, on request: which of them runs, and when its files are written."""

from __future__ import annotations

from . import layout
from .agent import Agent


class PythonProfile:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def install(self) -> None:
        pass

    def start_in_worker(self) -> None:
        pass

    def in_dataset(self) -> dict[str, int]:
        return {}

    def sample_for(self, seconds: int) -> tuple[int, str]:
        return layout.ACK_NOT_APPLICABLE, ""
