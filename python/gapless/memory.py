# SPDX-License-Identifier: Apache-2.0
"""As large a batch as fits, and less memory for a batch."""

from __future__ import annotations

import gc
import math
from typing import Any

from .checkpointing import blocks_of, checkpoint_block
from .host import GB, available_gb, forget_peak, peak_resident_gb, resident_gb
from .training import Kept, Training, device_of

MARGIN = 0.9  # of the memory there is: the rest is for what one step does not show
SAFETY = 1.1  # of what is expected, where trying too much would end the process


class MemoryOptimizer:
    """The largest batch that fits, and less memory for activations.

    >>> MemoryOptimizer().find_optimal_batch_size(model, images[:1], max_batch_size=512)  # doctest: +SKIP
    384
    """

    def __init__(self, limit_gb: float | None = None) -> None:
        """`limit_gb`: not more than this may be used; otherwise the device's memory, or the host's where the model is on a CPU."""
        self.limit_gb = limit_gb
        self.tried: dict[int, float | None] = {}  # peak in GB by batch size; None: it did not fit

    def find_optimal_batch_size(self, model: Any, sample_input: Any, max_batch_size: int = 512) -> int:
        """The largest batch for which a step of training fits with a margin of 10 %; each size that is answered was tried.

        `sample_input` is an input with at least one row, whose rows are repeated. A step is forward, backward and an SGD step; an
        optimiser that keeps moments needs 8 bytes a weight more. The model is put back as it was. On a GPU sizes are doubled
        until one does not fit, then halved between. On a CPU a size is tried only when the sizes before say that it will fit. Answers
        0 where not even one row fits. Larger is not always faster: compare throughput.
        """
        if max_batch_size < 1:
            raise ValueError("the batch size must be 1 or more")
        self.tried = {}
        device = device_of(model)
        room = _Room.of(device, self.limit_gb)
        with Kept(model):
            fits, fails = 0, max_batch_size + 1
            size = 1
            while fails - fits > 1:
                expected = self._expected(size)
                if room.is_host and expected is not None and expected * SAFETY > room.gb * MARGIN:
                    self.tried.setdefault(size, None)
                    fails = size
                elif self._fits(model, sample_input, size, room):
                    fits = size
                else:
                    fails = size
                size = min(2 * size, max_batch_size) if fails > max_batch_size else (fits + fails) // 2
        return fits

    def enable_activation_checkpointing(self, model: Any, checkpoint_ratio: float = 0.5) -> Any:
        """That share of the model's blocks, evenly spread, keeps only its inputs for the backward pass. In place; gives the model back."""
        if not 0 <= checkpoint_ratio <= 1:
            raise ValueError("the ratio must be between 0 and 1")
        blocks = blocks_of(model) if checkpoint_ratio else []
        count = round(len(blocks) * checkpoint_ratio)
        for number in range(count):
            checkpoint_block(blocks[number * len(blocks) // count])
        return model

    def _expected(self, size: int) -> float | None:
        """GB, on the line through the two largest sizes that were tried; None before there are two."""
        known = sorted((at, peak) for at, peak in self.tried.items() if peak is not None)
        if len(known) < 2:
            return None
        (low, low_gb), (high, high_gb) = known[-2:]
        return high_gb + max(0.0, high_gb - low_gb) / (high - low) * (size - high)

    def _fits(self, model: Any, sample_input: Any, size: int, room: _Room) -> bool:
        peak: float | None = None
        try:
            peak = room.peak_of(lambda: Training(model).step(_rows(sample_input, size)))
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
        room.clear()
        self.tried[size] = peak
        return peak is not None and peak <= room.gb * MARGIN


class _Room:
    """Memory of a device, or of the host."""

    def __init__(self, device: Any, gb: float, is_host: bool) -> None:
        self.device, self.gb, self.is_host = device, gb, is_host

    @classmethod
    def of(cls, device: Any, limit_gb: float | None) -> _Room:
        if device is not None and device.type == "cuda":
            import torch

            free, _ = torch.cuda.mem_get_info(device)
            own = torch.cuda.memory_reserved(device)
            return cls(device, min(limit_gb or math.inf, (free + own) / GB), False)
        return cls(None, limit_gb or available_gb() + resident_gb(), True)

    def peak_of(self, step: Any) -> float:
        """GB in use at the most while the step runs, what was there before included."""
        if not self.is_host:
            import torch

            torch.cuda.reset_peak_memory_stats(self.device)
            step()
            return float(torch.cuda.max_memory_reserved(self.device)) / GB
        forget_peak()
        step()
        return peak_resident_gb()

    def clear(self) -> None:
        gc.collect()
        if not self.is_host:
            import torch

            torch.cuda.empty_cache()


def _rows(sample: Any, size: int) -> Any:
    if isinstance(sample, dict):
        return {name: _rows(part, size) for name, part in sample.items()}
    if isinstance(sample, (list, tuple)):
        return [_rows(item, size) for item in sample]
    if not hasattr(sample, "repeat_interleave"):
        return sample
    if sample.dim() == 0 or not sample.shape[0]:
        raise ValueError("the sample input must have at least one row")
    times = -(-size // sample.shape[0])
    return sample.repeat(times, *([1] * (sample.dim() - 1)))[:size]


def _is_out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return (
        isinstance(error, MemoryError)
        or "out of memory" in text
        or "can't allocate memory" in text
        or "not enough memory" in text
    )
