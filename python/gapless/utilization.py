# SPDX-License-Identifier: Apache-2.0
"""Utilization of a GPU while something runs, sampled by nvidia-smi."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from typing import Any

from .host import Processors

EVERY_MS = 200


class Utilization:
    """A block in which a CUDA device is sampled; `percent` is the mean afterwards, and `source` names what measured it.

    nvidia-smi averages over up to a second: of a shorter block it says little. Without a CUDA device (`device` is None) it is the share of
    the processors that this process and its children use. Both are None where nothing could be measured.
    """

    def __init__(self, device: Any) -> None:
        self.percent: float | None = None
        self.source: str | None = None
        self._device = device
        self._processors = Processors() if device is None else None
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Utilization:  # noqa: PYI034 -- typing.Self is newer than Python 3.9
        if self._processors is not None:
            self._processors.__enter__()
        program = shutil.which("nvidia-smi")
        if self._device is not None and program is not None:
            query = ["--query-gpu=uuid,utilization.gpu", "--format=csv,noheader,nounits", f"--loop-ms={EVERY_MS}"]
            self._process = subprocess.Popen(
                [program, *query],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._processors is not None:
            self._processors.__exit__()
            self.percent = self._processors.percent
            self.source = None if self.percent is None else "cpu"
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)  # of its session: what it started holds the pipe as well
        text, _unused = self._process.communicate()
        self.percent = mean_of(text, uuid_of(self._device))
        self.source = None if self.percent is None else "nvml"


def uuid_of(device: Any) -> str | None:
    """Returns the utilisation of a CUDA device, or None if PyTorch does not report it (before 2.3)."""
    import torch

    found = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    return None if found is None else str(found)


def mean_of(text: str, uuid: str | None) -> float | None:
    """The mean over the rows of the device. Without its uuid, of the only one there is: of several none is taken for it."""
    rows = [row.split(",") for row in text.splitlines()]
    values: dict[str, list[float]] = {}
    for row in rows:
        if len(row) == 2 and row[1].strip().isdigit():
            values.setdefault(row[0].strip().replace("GPU-", ""), []).append(float(row[1]))
    if uuid is None and len(values) == 1:
        uuid = next(iter(values))
    found = values.get((uuid or "").replace("GPU-", ""), [])
    return sum(found) / len(found) if found else None
