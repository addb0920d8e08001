# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis's interface over gapless: a notebook runs after `hta` in its imports becomes `gapless.compat.hta`.

Frames have HTA's columns, types and roundings; times are microseconds. Where HTA is known to be wrong the right number stands
(docs/hta.md lists these places); the environment variable GAPLESS_HTA_BUGS=1 brings HTA's own.
"""

from __future__ import annotations

import importlib.util

from ...program import ProgramError


class PandasMissing(ProgramError, ImportError):
    """Something that the import of this package needs is not installed."""


if importlib.util.find_spec("pandas") is None:
    raise PandasMissing('gapless.compat.hta needs pandas: pip install "gapless[hta]"')

from .trace import Trace
from .trace_analysis import TimeSeriesTypes, TraceAnalysis
from .trace_diff import DeviceType, LabeledTrace, TraceDiff

__all__ = ["DeviceType", "LabeledTrace", "TimeSeriesTypes", "Trace", "TraceAnalysis", "TraceDiff"]
