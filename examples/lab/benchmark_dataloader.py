#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lab A, part 2: loads batches of 32 to 256 with 0 to 8 workers, pinned or not, and names the fastest settings."""

from __future__ import annotations

import itertools
import time

from lab import Pictures, Settings, arguments, completed, device_here, loader_of


def rate(settings: Settings, size: int, warm_up: int, batches: int) -> float:
    """Samples a second, from a loader without a model behind it."""
    device = device_here()
    source = itertools.chain.from_iterable(itertools.repeat(loader_of(Pictures(size), settings, device)))
    for _ in itertools.islice(source, warm_up):
        pass
    started = time.perf_counter()
    for images, _ in itertools.islice(source, batches):
        images.to(device, non_blocking=settings.pinned)
    return batches * settings.batch / (time.perf_counter() - started)


def main() -> None:
    given = completed(arguments(__doc__).parse_args())
    sizes, workers = ((4, 8), (0, 2)) if given.small else ((32, 64, 128, 256), (0, 2, 4, 8))
    pinned = (False, True) if device_here().type == "cuda" else (False,)
    warm_up, batches = (1, 6) if given.small else (10, 100)
    found: dict[tuple[int, int, bool], float] = {}
    print(f"{'batch':>6}{'workers':>9}{'pinned':>8}{'samples/s':>12}")
    for batch, count, pins in itertools.product(sizes, workers, pinned):
        found[batch, count, pins] = rate(Settings(batch, count, pins), given.size, warm_up, batches)
        print(f"{batch:>6}{count:>9}{'yes' if pins else 'no':>8}{found[batch, count, pins]:>12.1f}", flush=True)
    batch, count, pins = max(found, key=lambda key: found[key])
    print(f"best: batch {batch}, {count} workers, {'pinned' if pins else 'not pinned'}")
    if len(pinned) == 1:
        print("pinned memory needs a GPU: without one it was left out")


if __name__ == "__main__":
    main()
