# SPDX-License-Identifier: Apache-2.0
"""The batches of indices of one epoch: each is drawn from the sampler once, and delivered once, whoever loads it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any


class IndexStream:
    """An iterator over batches of indices that takes back those whose samples were not delivered.

    `ahead`: the reader draws before it delivers, as workers do. An error of the sampler then waits until all batches before it are
    delivered, so that the program sees it at the same batch as without workers.
    """

    def __init__(self, sampler: Iterator[Any]) -> None:
        self.sampler = sampler
        self.ahead = False
        self.error: Exception | None = None
        self.returned: deque[Any] = deque()
        self.given: deque[Any] = deque()  # drawn, and not delivered yet; the oldest first

    def __iter__(self) -> IndexStream:
        return self

    def __next__(self) -> Any:
        indices = self.returned.popleft() if self.returned else self._draw()
        self.given.append(indices)
        return indices

    def _draw(self) -> Any:
        if self.error is not None:
            if self.ahead:
                raise StopIteration
            raise self.take_error()
        try:
            return next(self.sampler)
        except Exception as error:
            if isinstance(error, StopIteration) or not self.ahead:
                raise
            self.error = error
            raise StopIteration from None

    def take_error(self) -> Exception:
        """Returns the error of the sampler that waits; it is raised once."""
        error, self.error = self.error, None
        assert error is not None
        return error

    def delivered(self, count: int = 1) -> None:
        """Forgets the oldest `count` batches: their samples have reached the program."""
        for _ in range(min(count, len(self.given))):
            self.given.popleft()

    def take_back(self) -> None:
        """Puts the batches that were not delivered in front again, in their order."""
        self.returned.extendleft(reversed(self.given))
        self.given.clear()
