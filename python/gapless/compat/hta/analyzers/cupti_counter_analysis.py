# SPDX-License-Identifier: Apache-2.0
"""The floating-point operations that one instruction of each of CUPTI's counters does, under HTA's name."""

from ..cupti import CUDA_SASS_INSTRUCTION_COUNTER_FLOPS

__all__ = ["CUDA_SASS_INSTRUCTION_COUNTER_FLOPS"]
