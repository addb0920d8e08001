# SPDX-License-Identifier: Apache-2.0
"""autograd's search for the origin of NaNs, which someone forgot, is off: `torch.autograd.set_detect_anomaly`, `detect_anomaly`."""

from __future__ import annotations

from typing import Any, Callable

from .. import edits
from ..fix import ProgramFix
from ..patches import hide


class Anomaly(ProgramFix):
    live = True
    wrapped = False
    asked: bool | None = None  # the check that the program asked for, when it was taken away

    def why_not(self, value: str) -> str:
        return (
            ""
            if not self.context.step or self.torch.is_anomaly_enabled()
            else "the program does not search for anomalies"
        )

    def on(self, value: str) -> str:
        mode = self.torch.autograd.anomaly_mode
        if not self.wrapped:
            self.wrapped = True
            self.context.patches.wrap(
                mode.set_detect_anomaly, "__init__", lambda original: self._around(original, "set_detect_anomaly")
            )
            self.context.patches.wrap(
                mode.detect_anomaly, "__enter__", lambda original: self._around(original, "detect_anomaly")
            )
        if self.torch.is_anomaly_enabled():
            self._take_away("anomaly detection is off", None)
        return ""

    def off(self) -> str:
        asked, self.asked = self.asked, None
        if asked is not None:
            self.torch.set_anomaly_enabled(True, asked)
        return "anomaly detection is as the program asks"

    def nothing(self) -> str:
        return "the program does not search for anomalies"

    def _take_away(self, what: str, edit: dict[str, Any] | None) -> None:
        asks = getattr(self.torch, "is_anomaly_check_nan_enabled", lambda: True)
        self.asked = bool(asks())
        self.torch.set_anomaly_enabled(False)
        self.report.changed(what, edit)

    def _around(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        def wrapper(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                result = original(self_, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            if self.context.on and self.report.is_on() and self.torch.is_anomaly_enabled():
                place = edits.place_of(edits.caller(self_))
                edit = None
                if place is not None and name == "set_detect_anomaly":
                    edit = {"kind": "keywords", **place._asdict(), "call": name, "set": {"mode": "False"}}
                self._take_away(f"{name} has no effect", edit)
            return result

        return wrapper


FIX = Anomaly
