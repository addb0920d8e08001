# SPDX-License-Identifier: Apache-2.0
"""The base of the fixes that work on the model."""

from __future__ import annotations

from ..fix import ProgramFix


class ModelFix(ProgramFix):
    unchanged = "the model is called unchanged"  # said when it is off

    def off(self) -> str:
        self.tools.models.remove(self.report.name)
        return self.unchanged

    def nothing(self) -> str:
        return self.tools.models.nothing()
