# SPDX-License-Identifier: Apache-2.0
"""The base of the fixes of DistributedDataParallel."""

from __future__ import annotations

from typing import Any

from ..constructors import Given, Plan, Transform
from ..fix import ProgramFix

NO_DDP = "the program uses no DistributedDataParallel"


def why_not(torch: Any) -> str:
    return "" if torch.distributed.is_available() else "this torch has no torch.distributed"


class DdpFix(ProgramFix):
    def why_not(self, value: str) -> str:
        return why_not(self.torch)

    def nothing(self) -> str:
        return NO_DDP

    def change(self, transform: Transform) -> None:
        self.change_arguments(self.torch.nn.parallel.DistributedDataParallel, transform)

    def flag(self, given: Given, name: str, value: Any) -> Plan | None:
        """One argument, where the program has not given it."""
        if not given.knows(name):
            self.report.pass_over(f"DistributedDataParallel of torch {self.torch.__version__} has no {name}=")
            return None
        before = given.get(name)
        if before == value:
            self.report.pass_over(f"DistributedDataParallel has {name}={value} already")
            return None
        given.set(**{name: value})
        shown = (
            f"{name} {before} → {value}" if before is not None and not isinstance(before, bool) else f"{name}={value}"
        )
        return Plan(shown, {name: str(value)})
