# SPDX-License-Identifier: Apache-2.0
"""Runs the rounds. The result:

  arms     each way with its `name`, `kind` (read or decode), `cold` (its files were dropped from the page cache before each pass),
           `why_not` (it was not measured) and, where known, `from_storage_share` and `largest_difference`
  rounds   of each: the ns of a file, by the number of the arm
  files, bytes, images   how many were measured, and their bytes

All arms that can be used are measured in each round, in random order. A cold one is measured once a round, a warm one for some
milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from typing import Any, Callable

from .arms import COPIES, Copies, Store, content, flush, forget, from_storage, timed
from .decoders import DECODERS, DecodeAll, Decoder, difference, is_image

LEAST_NS, MOST_PASSES = 20_000_000, 1000
MOST_IMAGES = 32
COLD_FROM = 0.5  # of the bytes have to come from storage, or a pass was not cold
SPARE = 64 << 20  # bytes that stay free beside a copy


class Arm:
    def __init__(self, name: str, kind: str, cold: bool = False, why_not: str = "") -> None:
        self.about: dict[str, Any] = {"name": name, "kind": kind, "cold": cold, "why_not": why_not}
        self.measure: Callable[[], float] = float  # returns the ns of a file

    def is_usable(self) -> bool:
        return not self.about["why_not"]


class Bench:
    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.random = random.Random(plan["seed"])
        self.paths, self.bytes = chosen(plan)
        self.order = list(range(len(self.paths)))
        self.arms: list[Arm] = []

    def prepare(self) -> None:
        flush(*self.paths)  # a file that was just written cannot be dropped yet
        for cold in (False, True):
            self._add(Store(self.paths), cold)
        memory, folder = self.plan["memory_folder"], self.plan["folder"]
        self._fill(Copies(self.paths), memory, self._no_room(memory) if memory else "there is no /dev/shm", [False])
        beside = os.stat(folder).st_dev == os.stat(self.paths[0]).st_dev
        for kind in COPIES:
            store = kind(self.paths)
            self._fill(store, folder, self._no_room(folder), [False, True] if beside else [False])
            if not beside:
                reason = "the temporary folder is on another file system than the files: set TMPDIR to one beside them"
                self.arms += [Arm(way.name, "read", True, reason) for way in store.ways()]
        self._decoders()

    def _no_room(self, folder: str) -> str:
        free = shutil.disk_usage(folder).free
        return f"{folder} has no room for a copy of {self.bytes} bytes" if free < 2 * self.bytes + SPARE else ""

    def _fill(self, store: Store, folder: str, why_not: str, cold: list[bool]) -> None:
        try:
            if not why_not:
                store.fill(folder)
        except ImportError:
            why_not = f"the package {store.needs} cannot be imported"
        except Exception as error:  # whatever a library raises
            why_not = f"{type(error).__name__}: {error}"
        for way in store.ways():
            for is_cold in cold:
                if why_not:
                    self.arms.append(Arm(way.name, "read", is_cold, why_not))
                else:
                    self._add(way, is_cold)

    def _add(self, store: Store, cold: bool) -> None:
        arm = Arm(store.name, "read", cold)
        arm.measure = (lambda: self._cold(store, arm)) if cold else self._warm(store)
        self.arms.append(arm)

    def _shuffled(self) -> list[int]:
        return self.random.sample(self.order, len(self.order))

    def _warm(self, store: Store) -> Callable[[], float]:
        def measure() -> float:
            store.start()
            try:
                first = timed(store, self._shuffled(), self.random, 1)
                passes = min(MOST_PASSES, 1 + int(LEAST_NS / max(1.0, first * len(self.order))))
                return timed(store, self._shuffled(), self.random, passes)
            finally:
                store.stop()

        return measure

    def _cold(self, store: Store, arm: Arm) -> float:
        forget(store.own)
        before = from_storage()
        store.start()
        try:
            took = timed(store, self._shuffled(), self.random, 1)
        finally:
            store.stop()
        after = from_storage()
        if before is not None and after is not None:
            share = min(1.0, (after - before) / self.bytes)
            arm.about["from_storage_share"] = min(share, arm.about.get("from_storage_share", 1.0))
            if share < COLD_FROM:
                arm.about["why_not"] = (
                    "its files cannot be dropped from the page cache here, as in tmpfs or over a network"
                )
        return took

    def _decoders(self) -> None:
        images = [data for data in map(content, self.paths) if is_image(data)][:MOST_IMAGES]
        self.images = len(images)
        base: list[
            Any
        ] = []  # the pixels of the first decoder that can be used, which is the program's own if it is known
        for decoder in sorted(DECODERS, key=lambda decoder: decoder.package != self.plan["decoder"]):
            arm = Arm(decoder.package, "decode")
            self.arms.append(arm)
            if not images:
                arm.about["why_not"] = "no sampled file is a JPEG or a PNG"
            elif not all(data.startswith(decoder.kinds) for data in images):
                arm.about["why_not"] = "it does not decode all of these files"
            else:
                pixels = self._decode(arm, decoder, images, base)
                base = base or pixels

    def _decode(self, arm: Arm, decoder: Decoder, images: list[bytes], base: list[Any]) -> list[Any]:
        """Makes the arm ready; returns the pixels, none where it cannot be used."""
        try:
            decode_all = decoder.make(images)
            pixels = decode_all()
            found = [difference(mine, other) for mine, other in zip(pixels, base or pixels)]
            known = [value for value in found if value is not None]
            if len(known) < len(images):
                raise ValueError("its images have another size")
        except ImportError:
            arm.about["why_not"] = f"the package {decoder.package} cannot be imported"
            return []
        except Exception as error:  # whatever a library raises
            arm.about["why_not"] = f"{type(error).__name__}: {error}"
            return []
        arm.about["largest_difference"] = max(known)
        arm.measure = decoding(decode_all, len(images))
        return pixels

    def run(self) -> list[dict[str, float]]:
        rounds: list[dict[str, float]] = []
        ends = time.monotonic() + self.plan["seconds"]
        longest = 0.0
        while len(rounds) < self.plan["rounds"] and (not rounds or time.monotonic() + longest < ends):
            began = time.monotonic()
            usable = [index for index, arm in enumerate(self.arms) if arm.is_usable()]
            self.random.shuffle(usable)
            measured: dict[str, float] = {}
            for index in usable:
                try:
                    measured[str(index)] = self.arms[index].measure()
                except Exception as error:  # whatever a library raises
                    self.arms[index].about["why_not"] = f"{type(error).__name__}: {error}"
            rounds.append(measured)
            longest = max(longest, time.monotonic() - began)
        return rounds


def chosen(plan: dict[str, Any]) -> tuple[list[str], int]:
    """As many of the files as the plan admits, and their bytes."""
    paths: list[str] = []
    total = 0
    for path in plan["files"]:
        try:
            size = os.path.getsize(path)
        except OSError:
            continue
        if len(paths) == plan["most_files"] or (paths and total + size > plan["most_bytes"]):
            break
        if os.access(path, os.R_OK):
            paths.append(path)
            total += size
    if not paths:
        raise SystemExit("none of the files of the samples can be read any more")
    return paths, total


def decoding(decode_all: DecodeAll, count: int) -> Callable[[], float]:
    def measure() -> float:
        passes, before = 0, time.perf_counter_ns()
        while True:
            decode_all()
            passes += 1
            took = time.perf_counter_ns() - before
            if took >= LEAST_NS or passes == MOST_PASSES:
                return took / (passes * count)

    return measure


def main() -> None:
    os.environ.pop("GAPLESS_RUN", None)  # nothing of this process is to be recorded
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with open(sys.argv[1], encoding="utf-8") as file:
        bench = Bench(json.load(file))
    bench.prepare()
    rounds = bench.run()
    result = {
        "arms": [arm.about for arm in bench.arms],
        "rounds": rounds,
        "files": len(bench.paths),
        "bytes": bench.bytes,
        "images": bench.images,
    }
    with open(sys.argv[2], "x", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
