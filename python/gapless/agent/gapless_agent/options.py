# SPDX-License-Identifier: Apache-2.0
"""GAPLESS_OPTIONS, a JSON object. What is missing or of the wrong type has its default; what is unknown is ignored.

Every process that imports torch pays for these classes: each function that `dataclass` writes is compiled anew, so only the one that is used is.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar


@dataclass(repr=False, eq=False)
class Record:
    on: bool = True
    wait: int = 5
    warmup: int = 3
    active: int = 6
    repeat: int = 1
    shapes: bool = True
    stacks: bool = True
    memory: bool = False
    sync_events: bool = True


@dataclass(repr=False, eq=False)
class Parity:
    """A recording for docs/parity.md; none without a role."""

    role: str = ""  # baseline, probe, repeat, reseeded or candidate
    folder: str = ""  # of the recording
    baseline: str = ""  # folder of the baseline's
    steps: int = 20  # optimiser steps that the baseline records
    seconds: float = 0.0  # after which it records no more; 0: no limit
    noise: float = 0.0  # of a probe
    wide: bool = False  # also on the state of recurrent layers
    reseed: int = 0  # added to the seed


@dataclass(repr=False, eq=False)
class Options:
    mode: str = "step"  # light, step or off
    step: str = "auto"  # or explicit: only gapless.step() ends steps
    step_function: str = ""  # "FILE.py:FUNCTION" or "package.module:Class.method": its returns alone end steps
    record: Record = field(default_factory=Record)
    parity: Parity = field(default_factory=Parity)
    memory_history: bool = False
    python: str = ""  # sample, cprofile, lines or tracemalloc
    python_hz: int = 100
    every_loss: bool = False  # also of steps that are short, see step_writer.py
    calls: bool = False  # a record of each call of the model that a program infers with
    ring_records: int = 65536
    fixes: list[str] = field(default_factory=list)  # "workers=4", "tf32": on from the start, in this order
    own_fixes: list[str] = field(default_factory=list)  # files of fixes of the user's own
    switch_loaders: bool = False  # workers of DataLoaders can be exchanged between two steps, see loader_switch.py
    fix_environment: list[str] = field(default_factory=list)  # variables that fixes have set for this process
    watch_samples: bool = False  # the files of samples, and how long these take, see hooks/samples.py
    digest_step: int = 0  # number of steps before a digest of all parameters is taken; 0: no digest

    @property
    def full(self) -> bool:
        return self.mode == "step"


_T = TypeVar("_T")


def _fill(target: _T, given: Any) -> _T:
    if not isinstance(given, dict):
        return target
    for entry in fields(target):  # type: ignore[arg-type]
        default, value = getattr(target, entry.name), given.get(entry.name)
        if isinstance(default, (Record, Parity)):
            _fill(default, value)
        elif isinstance(default, list):
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                setattr(target, entry.name, value)
        elif type(value) is type(default) or (isinstance(default, float) and type(value) is int):
            setattr(target, entry.name, value)
    return target


def read_options() -> Options:
    try:
        given = json.loads(os.environ.get("GAPLESS_OPTIONS") or "{}")
    except ValueError:
        given = {}
    options = _fill(Options(), given)
    if options.step_function:
        options.step = "explicit"
    record = options.record
    record.wait, record.warmup = max(0, record.wait), max(0, record.warmup)
    record.active, record.repeat = max(1, record.active), max(0, record.repeat)
    options.python_hz = min(max(1, options.python_hz), 1000)
    options.ring_records = min(max(16, options.ring_records), 1 << 20)
    return options
