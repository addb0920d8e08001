# SPDX-License-Identifier: Apache-2.0
"""gapless for Python programs.

`open()` reads recordings: their tables, analyses, findings and predictions, without copies into pandas and Polars.

`step()` says where a step of the program ends. `profile()` records a region. The classes collect and measure from Python what the
command line does from outside; what they find out comes from the program `gapless`: the one that GAPLESS_PROGRAM names, that of the
PATH, or the one that was installed with this package.

Importing this package does not import torch.
"""

from __future__ import annotations

import sys

from .ab_test import ABTestResult, ABTestValidator
from .analyzer import BottleneckAnalyzer
from .analyzers import DataLoadingAnalyzer, KernelAnalyzer, MultiGPUAnalyzer
from .auto import AutoOptimizer, OptimizationResult
from .benchmark import PerformanceBenchmark
from .bottlenecks import Bottleneck, BottleneckType
from .checkpointing import GradientCheckpointingOptimizer
from .collect import PyTorchProfiler
from .collector import ProfileCollector
from .command_optimizer import CommandOptimization, optimize
from .data_loading import DataLoadingOptimizer
from .difference import Cause, CauseRow, StepDifference, diff, why
from .fusion import KernelFusionOptimizer
from .memory import MemoryOptimizer
from .metrics import PerformanceMetrics
from .mixed_precision import MixedPrecisionOptimizer
from .nsight import NsightComputeProfiler, NsightSystemsProfiler
from .parity import LossParity, TrainingParity, same
from .region import _active, profile
from .regression import Regression, RegressionDetector
from .results import ProfileResult, ProfilerType
from .run import Column, Prediction, Run, Table, TableInfo, open, tables
from .tracker import PerformanceTracker
from .validator import PerformanceValidator, ValidationResult

__version__ = "0.1.0"
__all__ = [
    "ABTestResult",
    "ABTestValidator",
    "AutoOptimizer",
    "Bottleneck",
    "BottleneckAnalyzer",
    "BottleneckType",
    "Cause",
    "CauseRow",
    "Column",
    "CommandOptimization",
    "DataLoadingAnalyzer",
    "DataLoadingOptimizer",
    "GradientCheckpointingOptimizer",
    "KernelAnalyzer",
    "KernelFusionOptimizer",
    "LossParity",
    "MemoryOptimizer",
    "MixedPrecisionOptimizer",
    "MultiGPUAnalyzer",
    "NsightComputeProfiler",
    "NsightSystemsProfiler",
    "OptimizationResult",
    "PerformanceBenchmark",
    "PerformanceMetrics",
    "PerformanceTracker",
    "PerformanceValidator",
    "Prediction",
    "ProfileCollector",
    "ProfileResult",
    "ProfilerType",
    "PyTorchProfiler",
    "Regression",
    "RegressionDetector",
    "Run",
    "StepDifference",
    "Table",
    "TableInfo",
    "TrainingParity",
    "ValidationResult",
    "diff",
    "open",
    "optimize",
    "profile",
    "same",
    "step",
    "tables",
    "why",
]


def load_ipython_extension(shell: object) -> None:
    """`%load_ext gapless`: the cell magic `%%gapless`."""
    from .magic import load

    load(shell)


def step() -> None:
    """A step of the program ended here. Does nothing unless an agent is active in this process, or `%%gapless` records the cell."""
    if _active:
        _active[-1].step()
    if "gapless_agent.install" in sys.modules:
        from gapless_agent import api

        api.step()
