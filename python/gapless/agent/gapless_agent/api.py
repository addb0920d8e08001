# SPDX-License-Identifier: Apache-2.0
"""Functions that a program may call. Each does nothing when no agent is active."""

from __future__ import annotations

import time

from . import install


def step() -> None:
    """A step of the program ended here. From the first call on, only these calls end steps; none where --step-function was given."""
    running = install.running
    if running is None or not running.agent.counts_steps or running.agent.options.step_function:
        return
    entered = time.perf_counter_ns()
    try:
        running.steps.program_says()
    except Exception as error:
        running.steps.guard.failed(error)
    running.agent.hook_calls += 1
    running.agent.cost_ns += time.perf_counter_ns() - entered
