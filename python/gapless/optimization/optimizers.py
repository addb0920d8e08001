# SPDX-License-Identifier: Apache-2.0
"""The optimisers by the names of their kinds; run as a program, it is auto_optimizer.py."""

from __future__ import annotations

import sys

if not __package__:  # started as a file: the folder of the package takes the place of this one in the path
    import pathlib

    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2])

from gapless.auto import AutoOptimizer, OptimizationResult
from gapless.checkpointing import GradientCheckpointingOptimizer
from gapless.command_line import run
from gapless.data_loading import DataLoadingOptimizer
from gapless.fusion import KernelFusionOptimizer
from gapless.memory import MemoryOptimizer
from gapless.mixed_precision import MixedPrecisionOptimizer

__all__ = [
    "AutoOptimizer",
    "DataLoadingOptimizer",
    "GradientCheckpointingOptimizer",
    "KernelFusionOptimizer",
    "MemoryOptimizer",
    "MixedPrecisionOptimizer",
    "OptimizationResult",
]

if __name__ == "__main__":
    from gapless.optimization import auto_optimizer

    sys.exit(run(auto_optimizer.main, auto_optimizer.NAME))
