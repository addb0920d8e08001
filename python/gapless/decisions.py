# SPDX-License-Identifier: Apache-2.0
"""The decision tree: from bottlenecks to changes of a model, a loader or a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .bottlenecks import FIXES, Bottleneck, BottleneckType

# Changes by the fix of `gapless optimize` that they are.
CHANGES = {
    "amp": "mixed_precision",
    "channels_last": "channels_last",
    "compile": "torch_compile",
    "checkpoint": "gradient_checkpointing",
    "workers": "data_loading",
    "pin": "data_loading",
    "prefetch_factor": "data_loading",
    "batch": "batch_size",
    "accumulate": "gradient_accumulation",
    "nosync": "gradient_accumulation",
    "ddp_view": "gradient_as_bucket_view",
}
EVERYTHING = ("mixed_precision", "channels_last", "torch_compile", "data_loading")
ELSEWHERE = "needs the training script: gapless optimize --only {fix} -- COMMAND"
UNCURED = {
    BottleneckType.CPU_GPU_SYNC: "the training loop waits for the GPU itself: remove .item(), print and synchronize from each step",
    BottleneckType.RECOMPILATION: "shapes that change make the compiled model compile again: keep shapes fixed, or mark them dynamic",
    BottleneckType.STEP_VARIATION: "single steps are slow for reasons outside the model: see the evidence of the bottleneck",
    BottleneckType.RECORDING: "it is about the recording, not the training: record more steps",
}
UNKNOWN = "no change of a model or loader cures it: gapless optimize -- COMMAND tries every fix"


class Decision:
    """The changes to try, in order, and for the other cures the reason why they are not tried here."""

    def __init__(self, changes: Iterable[str] = ()) -> None:
        self.changes = list(changes)
        self.reasons: dict[str, str] = {}
        self.memory_is_short = False

    def wants(self, change: str) -> bool:
        return change in self.changes

    def add(self, change: str) -> None:
        if change not in self.changes:
            self.changes.append(change)


def decide(bottlenecks: Sequence[Any] | None) -> Decision:
    """Returns what cures the bottlenecks: their own fixes and those of their kinds. None stands for everything.

    >>> decide([{"type": "kernel_efficiency", "severity": 0.9}]).changes
    ['mixed_precision', 'channels_last', 'torch_compile']
    >>> decide([{"type": "cpu_gpu_sync", "severity": 0.9}]).reasons["cpu_gpu_sync"]
    'the training loop waits for the GPU itself: remove .item(), print and synchronize from each step'
    """
    if bottlenecks is None:
        return Decision(EVERYTHING)
    decision = Decision()
    for bottleneck in map(Bottleneck.of, bottlenecks):
        before = len(decision.changes) + len(decision.reasons)
        for fix in dict.fromkeys([*bottleneck.fixes(), *FIXES.get(bottleneck.type, ())]):
            name = fix.partition("=")[0]
            if name in CHANGES:
                decision.add(CHANGES[name])
            else:
                decision.reasons.setdefault(name, ELSEWHERE.format(fix=fix))
        if bottleneck.type is BottleneckType.MEMORY_ALLOCATION:
            decision.memory_is_short = True
        cured = set(FIXES.get(bottleneck.type, ()))
        if not cured and len(decision.changes) + len(decision.reasons) == before:
            decision.reasons[bottleneck.type.value] = UNCURED.get(bottleneck.type, UNKNOWN)
    return decision
