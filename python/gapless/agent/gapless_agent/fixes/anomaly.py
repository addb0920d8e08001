# SPDX-License-Identifier: Apache-2.0
"""autograd's search for the origin of NaNs, which someone forgot, is off: `torch.autograd.set_detect_anomaly`, `detect_anomaly`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from .. import edits
from ..patches import hide

if TYPE_CHECKING:
    from ..agent import Agent

LIVE = True
_state: dict[str, Any] = {
    "wrapped": False,
    "asked": None,
}  # the check that the program asked for, when it was taken away


def why_not(agent: Agent, value: str) -> str:
    return "" if not agent.step or agent.torch.is_anomaly_enabled() else "the program does not search for anomalies"


def on(agent: Agent, value: str) -> str:
    mode = agent.torch.autograd.anomaly_mode
    if not _state["wrapped"]:
        _state["wrapped"] = True
        agent.patches.wrap(
            mode.set_detect_anomaly, "__init__", lambda original: _around(agent, original, "set_detect_anomaly")
        )
        agent.patches.wrap(
            mode.detect_anomaly, "__enter__", lambda original: _around(agent, original, "detect_anomaly")
        )
    if agent.torch.is_anomaly_enabled():
        _take_away(agent, "anomaly detection is off", None)
    return ""


def off(agent: Agent) -> str:
    asked, _state["asked"] = _state["asked"], None
    if asked is not None:
        agent.torch.set_anomaly_enabled(True, asked)
    return "anomaly detection is as the program asks"


def nothing(agent: Agent) -> str:
    return "the program does not search for anomalies"


def _take_away(agent: Agent, what: str, edit: dict[str, Any] | None) -> None:
    asks = getattr(agent.torch, "is_anomaly_check_nan_enabled", lambda: True)
    _state["asked"] = bool(asks())
    agent.torch.set_anomaly_enabled(False)
    agent.fixes.changed("anomaly", what, edit)


def _around(agent: Agent, original: Callable[..., Any], name: str) -> Callable[..., Any]:
    def wrapper(self_: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = original(self_, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise
        if agent.on and agent.fixes.is_on("anomaly") and agent.torch.is_anomaly_enabled():
            place = edits.place_of(edits.caller(self_))
            edit = None
            if place is not None and name == "set_detect_anomaly":
                edit = {"kind": "keywords", **place._asdict(), "call": name, "set": {"mode": "False"}}
            _take_away(agent, f"{name} has no effect", edit)
        return result

    return wrapper
