# SPDX-License-Identifier: Apache-2.0
"""The program as it runs while PyTorch's profiler records it: the recorder works on the thread whose work it records.

Half of what an event costs lies before its beginning, half before its end. The figures are those of src/analyses/recording_overhead.h,
which a prediction takes out again; what it is held against is the program that nobody records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simulator.program import Action, Await, Backward, Close, Copy, Launch, Open, Program, Record, Synchronize, Work

RANGE_NS = 200  # an operator without shapes and stacks, or an annotation
CALL_NS = 2_000  # a call of CUDA


def slowed(actions: Iterable[Action]) -> Iterator[Action]:
    for action in actions:
        if isinstance(action, (Open, Close)):
            yield Work(RANGE_NS // 2)
        elif isinstance(action, (Launch, Copy, Record, Await, Synchronize)):
            yield Work(CALL_NS // 2)
            action = action._replace(after_ns=action.after_ns + CALL_NS // 2)
        elif isinstance(action, Backward):
            action = action._replace(actions=tuple(slowed(action.actions)))
        yield action


def recorded(program: Program) -> Program:
    return program._replace(steps=tuple(tuple(slowed(step)) for step in program.steps))
