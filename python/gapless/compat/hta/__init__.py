# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis's interface over gapless: a notebook runs after `hta` in its imports becomes `gapless.compat.hta`.

Frames have HTA's columns, types and roundings; times are microseconds. Where HTA is known to be wrong the right number stands
(docs/hta.md lists these places); the environment variable GAPLESS_HTA_BUGS=1 brings HTA's own.
"""

from __future__ import annotations

from ...run import _need

_need("pandas")

from .trace import Trace
from .trace_analysis import TimeSeriesTypes, TraceAnalysis
from .trace_diff import DeviceType, LabeledTrace, TraceDiff

__all__ = ["DeviceType", "LabeledTrace", "TimeSeriesTypes", "Trace", "TraceAnalysis", "TraceDiff"]
