# SPDX-License-Identifier: Apache-2.0
"""Finds the rank of this process and its folder of the run."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from . import layout


class Place(NamedTuple):
    rank: int
    world_size: int
    local_rank: int

    @property
    def folder(self) -> str:
        return "main" if self.rank < 0 else f"rank{self.rank}"

    @property
    def worker(self) -> str:
        """The name in front of the profiler's files."""
        return f"main_{os.getpid()}" if self.rank < 0 else f"rank{self.rank}"


def _number(*names: str) -> int | None:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit() and len(text) < 9:
            return int(text)
    return None


def find_place() -> Place:
    """From the environment as the launchers of jobs set it, else from the process group, if the program has made one."""
    rank = _number("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
    if rank is None and (_number("SLURM_NTASKS") or 0) > 1:
        rank = _number("SLURM_PROCID")
    world = _number("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
    local = _number("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
    if local is None and rank is not None:
        local = _number("SLURM_LOCALID")
    if rank is None:
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            rank, world = distributed.get_rank(), distributed.get_world_size()
    none = layout.NONE
    return Place(none if rank is None else rank, none if world is None else world, none if local is None else local)
