# SPDX-License-Identifier: Apache-2.0
"""The agent of a process, from its beginning to its end: the context of all hooks, and what is done last. Hooks see its context only.

A process has one `Agent`, which install.py makes; after a fork it starts anew in the child.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from . import layout
from .context import Context
from .guard import describe
from .options import read_options


class Agent(Context):
    def reset(self) -> None:
        super().reset()
        self.ended = False

    def at_end(self) -> None:
        """The process ends in an orderly way. Every part is guarded by itself: the last words of one must not cost the others'."""
        if self.ended:
            return
        self.ended = True
        for end in list(self.ends):
            if self.on:
                try:
                    end()
                except Exception as error:
                    self.complain(f"What was to be done when the process ends failed: {describe(error)}.")
        if self.unsaid and (self.backwards or self.samples):
            self.say_unsaid()
        with contextlib.suppress(Exception):  # nobody is left to tell
            if self.held:
                self.write_held()
            self.emit_loss()
        if self.on and self.ring is not None:
            self.ring.progress(self.step, self.all_cost_ns(), self.all_hook_calls())
            self.ring.set_state(layout.STATE_ENDED)


def make_agent(torch: Any) -> Agent | None:
    run = os.environ.get("GAPLESS_RUN", "")
    options = read_options()
    if options.mode == "off" or not os.path.isabs(run) or sys.byteorder != "little":
        return None
    return Agent(torch, run, options)
