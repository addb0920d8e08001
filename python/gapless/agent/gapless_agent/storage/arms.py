# SPDX-License-Identifier: Apache-2.0
"""The ways to store files: each makes a copy in its folder, and reads all of them in some order.

Reading ends with the bytes of each file in memory, as a decoder takes them: LMDB's are copied out of its map, HDF5's come as an array, and
shards of tar are read from end to end, as WebDataset reads them: in order, or the shards in random order and the samples out of a buffer.
"""

from __future__ import annotations

import os
import random
import tarfile
import time
from importlib import import_module
from typing import Any

SHARDS, SHUFFLE_BUFFER = 4, 64


class Store:
    """The files where they lie."""

    name = "files"
    needs = ""  # the package without which it cannot be used

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        self.own: list[str] = list(paths)  # what is to leave the page cache for a cold pass

    def fill(self, folder: str) -> None:
        """Makes the copy."""

    def start(self) -> None:
        """Opens what a program opens once."""

    def read(self, order: list[int], random_: random.Random) -> int:
        """Reads the files of `order`, and returns their bytes in all."""
        total = 0
        for index in order:
            with open(self.paths[index], "rb") as file:
                total += len(file.read())
        return total

    def stop(self) -> None:
        """Closes it, so that it can leave the page cache."""

    def ways(self) -> list[Store]:
        """The ways to read this one copy."""
        return [self]


class Copies(Store):
    name = "tmpfs"

    def fill(self, folder: str) -> None:
        copies = [os.path.join(folder, str(index)) for index in range(len(self.paths))]
        for path, copy in zip(self.paths, copies):
            write(copy, content(path))
        self.paths = self.own = copies


class Lmdb(Store):
    name, needs = "lmdb", "lmdb"

    def fill(self, folder: str) -> None:
        self.library: Any = import_module("lmdb")
        self.file = os.path.join(folder, "samples.lmdb")
        room = 2 * sum(map(os.path.getsize, self.paths)) + (16 << 20)
        with self.library.open(self.file, subdir=False, map_size=room, lock=False) as environment:
            with environment.begin(write=True) as transaction:
                for index, path in enumerate(self.paths):
                    transaction.put(b"%08d" % index, content(path))
            environment.sync(True)
        self.own = [self.file]

    def start(self) -> None:
        self.open: Any = self.library.open(self.file, subdir=False, readonly=True, lock=False, readahead=False)

    def read(self, order: list[int], random_: random.Random) -> int:
        total = 0
        with self.open.begin() as transaction:
            for index in order:
                total += len(transaction.get(b"%08d" % index))
        return total

    def stop(self) -> None:
        self.open.close()


class Hdf5(Store):
    name, needs = "hdf5", "h5py"

    def fill(self, folder: str) -> None:
        self.library: Any = import_module("h5py")
        numpy: Any = import_module("numpy")
        self.file = os.path.join(folder, "samples.h5")
        with self.library.File(self.file, "w") as file:
            kind = self.library.vlen_dtype(numpy.uint8)
            samples = file.create_dataset("samples", (len(self.paths),), dtype=kind)
            for index, path in enumerate(self.paths):
                samples[index] = numpy.frombuffer(content(path), numpy.uint8)
        flush(self.file)
        self.own = [self.file]

    def start(self) -> None:
        self.open: Any = self.library.File(self.file, "r")
        self.samples: Any = self.open["samples"]

    def read(self, order: list[int], random_: random.Random) -> int:
        return sum(int(self.samples[index].nbytes) for index in order)

    def stop(self) -> None:
        self.open.close()


class Tar(Store):
    """Shards are read whole, so each pass reads all files, whatever the order."""

    name = "tar in order"
    buffer = 0  # samples that wait to be drawn

    def fill(self, folder: str) -> None:
        count = min(SHARDS, len(self.paths))
        self.own = [os.path.join(folder, f"shard-{shard}.tar") for shard in range(count)]
        for shard, path in enumerate(self.own):
            with tarfile.open(path, "w") as archive:
                for index in range(shard, len(self.paths), count):
                    archive.add(os.path.realpath(self.paths[index]), f"{index:08d}", recursive=False)
            flush(path)

    def read(self, order: list[int], random_: random.Random) -> int:
        total = 0
        waiting: list[bytes] = []
        for shard in random_.sample(self.own, len(self.own)) if self.buffer else self.own:
            with open(shard, "rb", 1 << 16) as file, tarfile.open(fileobj=file, mode="r|") as archive:
                for member in archive:
                    found = archive.extractfile(member)
                    waiting.append(found.read() if found is not None else b"")
                    if len(waiting) > self.buffer:
                        total += len(waiting.pop(random_.randrange(len(waiting))))
        return total + sum(map(len, waiting))

    def ways(self) -> list[Store]:
        return [self, TarShuffled(self)]


class TarShuffled(Tar):
    """The same shards in random order, and out of a buffer."""

    name = "tar shuffled"
    buffer = SHUFFLE_BUFFER

    def __init__(self, shards: Tar) -> None:
        super().__init__(shards.paths)
        self.own = shards.own

    def ways(self) -> list[Store]:
        return [self]


COPIES: tuple[type[Store], ...] = (Lmdb, Hdf5, Tar)


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def flush(*paths: str) -> None:
    """Puts them onto the disk: pages that were not written yet stay in the page cache."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError:  # some file systems have no use for it
            pass
        finally:
            os.close(handle)


def forget(paths: list[str]) -> None:
    """Asks the system to drop these files from the page cache, and no others."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


def from_storage() -> int | None:
    """Bytes that this process had fetched from storage; none where the system does not count them."""
    try:
        with open("/proc/self/io", encoding="ascii") as file:
            return int(dict(line.split(": ", 1) for line in file)["read_bytes"])
    except (OSError, KeyError, ValueError):
        return None


def timed(store: Store, order: list[int], random_: random.Random, passes: int) -> float:
    """Returns the ns of a file."""
    before = time.perf_counter_ns()
    for _ in range(passes):
        store.read(order, random_)
    return (time.perf_counter_ns() - before) / (passes * len(order))
