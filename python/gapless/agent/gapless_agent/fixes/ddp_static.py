# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel takes the first iteration as the pattern of all: `static_graph`, instead of looking for unused parameters.

After the first iterations it says whether that held; where it did not, training ends with its error.
"""

from __future__ import annotations

from ..constructors import Given, Plan
from ._ddp import DdpFix


class DdpStatic(DdpFix):
    def on(self, value: str) -> str:
        self.change(self._static)
        return ""

    def _static(self, given: Given) -> Plan | None:
        plan = self.flag(given, "static_graph", True)
        if plan is None or not given.get("find_unused_parameters"):
            return plan
        given.set(find_unused_parameters=False)
        return plan._replace(
            what=plan.what + ", find_unused_parameters=False",
            values={**(plan.values or {}), "find_unused_parameters": "False"},
        )


FIX = DdpStatic
