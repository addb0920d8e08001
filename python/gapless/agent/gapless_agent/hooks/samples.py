# SPDX-License-Identifier: Apache-2.0
"""Samples one by one, for `gapless tune storage`: the files that a sample opens, and how long it reads, decodes and does all else.

Only with the option `watch_samples`. A few samples of each batch are watched, in the process that loads them:

  files    Python's audit event `open`, and the paths that decoders written in C are given
  total    the time in the dataset
  decode   the time in the functions of the table below; of calls inside of calls the outermost counts
  read     the time that the same files take when they are read again, from the page cache, behind the batch and out of the processor's caches,
           which would make it several times faster. Where the system says that the thread had bytes come from storage, the time in which
           it neither computed nor waited for a processor is added.
  rest     what remains of the total: augmentations, labels, the dataset's own code

Most decoders read the file themselves, when they are given a path or an open file: what was read is then taken off the time to decode.
A sample that reads a small part of its files, as of one large array, is counted and not kept: it is not stored file by file.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from typing import Any, Callable, NamedTuple

from ..hook import Hook, Parts
from ..own_files import make_file
from ..patches import hide

MOST_SAMPLES, MOST_OF_A_BATCH, SKIPPED_BATCHES = 96, 8, 1  # of a process
MOST_BYTES = 64 << 20  # of a sample: more is not read again
CACHES_BYTES = 64 << 20  # more than the caches of most processors
PART = 0.5  # of the bytes of its files: a sample that reads less reads parts of them
NOT_DATA, NOT_STORED = (".py", ".pyc", ".so"), ("/proc/", "/sys/", "/dev/")


class Decoder(NamedTuple):
    library: str
    module: str
    name: str  # a function or "Class.method"


TABLE = (
    Decoder("PIL", "PIL.ImageFile", "ImageFile.load"),
    Decoder("PIL", "PIL.Image", "open"),
    Decoder("torchvision", "torchvision.io.image", "decode_image"),
    Decoder("torchvision", "torchvision.io.image", "decode_jpeg"),
    Decoder("torchvision", "torchvision.io.image", "decode_png"),
    Decoder("torchvision", "torchvision.io.image", "read_image"),
    Decoder("torchcodec", "torchcodec.decoders", "decode_image"),
    Decoder("torchcodec", "torchcodec.decoders", "decode_jpeg"),
    Decoder("torchcodec", "torchcodec.decoders", "decode_png"),
    Decoder("cv2", "cv2", "imread"),
    Decoder("cv2", "cv2", "imdecode"),
    Decoder("simplejpeg", "simplejpeg._jpeg", "decode_jpeg"),
    Decoder("kornia_rs", "kornia_rs", "read_image"),
    Decoder("imageio", "imageio.v2", "imread"),
    Decoder("imageio", "imageio.v3", "imread"),
    Decoder("skimage", "skimage.io", "imread"),
    Decoder("tifffile", "tifffile", "imread"),
    Decoder("pydicom", "pydicom.filereader", "dcmread"),
    Decoder("soundfile", "soundfile", "read"),
    Decoder("torchaudio", "torchaudio", "load"),
    Decoder("numpy", "numpy", "load"),
    Decoder("numpy", "numpy", "loadtxt"),
    Decoder("torch", "torch", "load"),
    Decoder("safetensors", "safetensors.torch", "load_file"),
    Decoder("pandas", "pandas", "read_csv"),
    Decoder("pandas", "pandas", "read_parquet"),
    Decoder("json", "json", "load"),
    Decoder("pickle", "pickle", "load"),
)
MAPS = ("torchvision", "safetensors")  # a file that they are given: they take all of it, and the system counts no read


class Usage(NamedTuple):
    """The use of the system by this thread; a figure that the system does not give is none."""

    read_chars: int | None  # bytes that it asked for
    storage_bytes: int | None  # that were fetched from storage
    queued_ns: int  # waited for a processor
    cpu_ns: int


class Sample:
    """One that is being loaded."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.paths: dict[str, None] = {}  # in the order in which they were opened
        self.decode_ns: dict[str, int] = {}  # by library
        self.inside = self.decoder_reads = self.is_mapped = False


class Samples(Hook):
    full = False

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.guard = self.context.guard("single samples", "The files of further samples are not known.")
        self.audits = False
        self.modules = 0  # that were loaded at the last look
        self.wrapped: set[Decoder] = set()
        self.reset()

    def reset(self) -> None:
        self.sample: Sample | None = None
        self.batches = self.seen = self.parts = self.without_files = self.too_large = 0
        self.kept: list[Callable[[], None]] = []  # what writes the samples of this batch
        self.file: Any = None
        self.said = ""  # as the last line of the file has it

    def install(self) -> None:
        if not self.context.options.watch_samples:
            return
        from torch.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher

        self.guard.patches.wrap(_MapDatasetFetcher, "fetch", self._around)
        self.guard.patches.wrap(_IterableDatasetFetcher, "fetch", self._around_stream)
        self.guard.at_end(self._say)

    def _around_stream(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def fetch(self_: Any, index: Any) -> Any:
            if self.guard.on and self.file is None:
                try:
                    self._say({"dataset": type(self_.dataset).__name__, "iterable": True})
                except Exception as error:
                    self.guard.failed(error)
            try:
                return original(self_, index)
            except BaseException as error:
                hide(error)
                raise

        return fetch

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def fetch(self_: Any, index: Any) -> Any:
            watched = self._begin(self_) if self.guard.on and self.seen < MOST_SAMPLES else None
            try:
                return original(self_, index)
            except BaseException as error:
                hide(error)
                raise
            finally:
                if watched is not None:
                    self_.dataset = watched.dataset
                    self._end()

        return fetch

    def _begin(self, fetcher: Any) -> Watched | None:
        """A batch begins. Its first samples are watched."""
        try:
            self.batches += 1
            if self.batches <= SKIPPED_BATCHES:  # imports, first calls
                return None
            self._look()
            if not self.audits:
                self.audits = True
                sys.addaudithook(self._audit)
            kind = WatchedBatches if takes_lists(fetcher.dataset) else Watched
            fetcher.dataset = watched = kind(self, fetcher.dataset)
            return watched
        except Exception as error:
            self.guard.failed(error)
            return None

    def _end(self) -> None:
        try:
            _ = b"\1" * (CACHES_BYTES if self.kept else 0)  # drives the files out of the processor's caches
            for write in self.kept:
                write()
            self.kept.clear()
            self._say()
        except Exception as error:
            self.guard.failed(error)

    # A sample is being loaded.

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        sample = self.sample
        if event == "open" and sample is not None and sample.thread == threading.get_ident():
            path, _, flags = arguments
            if isinstance(flags, int) and flags & os.O_ACCMODE == os.O_RDONLY:
                note(sample, path)

    def _look(self) -> None:
        """Wraps the decoders that have been imported by now, also under the names that other modules have for them."""
        if len(sys.modules) == self.modules:
            return
        self.modules = len(sys.modules)
        functions: dict[int, tuple[Any, Any]] = {}  # original and wrapper
        for entry in TABLE:
            owner, name = sys.modules.get(entry.module), entry.name
            if owner is not None and "." in name:
                kind, _, name = name.partition(".")
                owner = vars(owner).get(kind)
            original = None if owner is None else vars(owner).get(name)
            if not callable(original) or entry in self.wrapped:
                continue
            self.wrapped.add(entry)
            wrapper = self.guard.patches.wrap(owner, name, lambda real: self._timed(entry.library, real))  # noqa: B023
            if "." not in entry.name:
                functions[id(original)] = (original, wrapper)
        for module in list(sys.modules.values()) if functions else ():
            for name, value in list(getattr(module, "__dict__", {}).items()):
                original, wrapper = functions.get(id(value), (None, None))
                if value is original and wrapper is not None:
                    self.guard.patches.put(module, name, wrapper)

    def _timed(self, library: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def decode(*args: Any, **kwargs: Any) -> Any:
            sample = self.sample
            if sample is None or sample.inside or sample.thread != threading.get_ident():
                return original(*args, **kwargs)
            sample.inside = True
            source = args[0] if args else None
            sample.decoder_reads |= reads_itself(source)
            sample.is_mapped |= library in MAPS and isinstance(source, (str, os.PathLike))
            note(sample, source)
            before = time.perf_counter_ns()
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            finally:
                took = time.perf_counter_ns() - before
                sample.decode_ns[library] = sample.decode_ns.get(library, 0) + took
                sample.inside = False

        return decode

    def load(self, get: Callable[[], Any], count: int) -> Any:
        """Returns the `count` samples that `get` returns, and watches them."""
        sample, usage = Sample(), usage_of_thread()
        self.sample = sample
        before = time.perf_counter_ns()
        try:
            result = get()
            took = time.perf_counter_ns() - before
        except BaseException as error:
            hide(error)
            raise
        finally:
            self.sample = None
        try:
            self._keep(sample, took, usage, usage_of_thread(), count)
        except Exception as error:
            self.guard.failed(error)
        return result

    def _keep(self, sample: Sample, total_ns: int, before: Usage, after: Usage, count: int) -> None:
        self.seen += count
        files = [file for file in map(file_at, sample.paths) if file is not None]
        size = sum(file["bytes"] for file in files)
        asked = difference(after.read_chars, before.read_chars)
        if not files:
            self.without_files += count
        elif size > MOST_BYTES:
            self.too_large += count
        elif asked is not None and asked < PART * size and not sample.is_mapped:
            self.parts += count
        else:
            stored = difference(after.storage_bytes, before.storage_bytes)
            waited = total_ns - (after.cpu_ns - before.cpu_ns) - (after.queued_ns - before.queued_ns) if stored else 0
            about: dict[str, Any] = {
                "samples": count,
                "total_ns": total_ns,
                "decoders": sample.decode_ns,
                "files": files,
            }
            if stored is not None:
                about["storage_bytes"] = stored
            self.kept.append(lambda: self._write({**about, **parts_of(about, max(0, waited), sample.decoder_reads)}))

    def _say(self, about: dict[str, Any] | None = None) -> None:
        """Writes how many samples there were, and how many of them are not kept."""
        counts = {
            "python": sys.executable, "seen": self.seen, "parts": self.parts, "without_files": self.without_files, "too_large": self.too_large,
            **(about or {}),
        }  # fmt: skip
        said = json.dumps(counts)
        if (self.seen or about) and said != self.said:
            self._write(counts)
            self.said = said

    def _write(self, line: dict[str, Any]) -> None:
        if self.file is None:
            path = os.path.join(self.context.folder(), f"samples-{os.getpid()}.jsonl")
            self.file = os.fdopen(make_file(path), "w", encoding="utf-8")
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


class Watched:
    """A dataset, some of whose samples are watched."""

    def __init__(self, samples: Samples, dataset: Any) -> None:
        self.samples, self.dataset, self.count = samples, dataset, 0

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":  # single samples are to be asked for
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        self.count += 1
        samples = self.samples
        try:
            if self.count > MOST_OF_A_BATCH or not samples.guard.on or samples.sample is not None:
                return self.dataset[index]
            return samples.load(lambda: self.dataset[index], len(index) if isinstance(index, (list, tuple)) else 1)
        except BaseException as error:
            hide(error)
            raise


class WatchedBatches(Watched):
    """One that is asked for all samples of a batch at once."""

    def __getitems__(self, indices: Any) -> Any:
        try:
            return self.samples.load(lambda: self.dataset.__getitems__(indices), len(indices))
        except BaseException as error:
            hide(error)
            raise


def takes_lists(dataset: Any) -> bool:
    """Is a batch one call of it? A Subset asks for single samples then."""
    from torch.utils.data import Subset

    return not isinstance(dataset, Subset) and callable(getattr(dataset, "__getitems__", None))


def note(sample: Sample, path: Any) -> None:
    try:
        text = os.path.abspath(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else ""
    except (ValueError, TypeError):
        return
    if text and not text.endswith(NOT_DATA) and not text.startswith(NOT_STORED):
        sample.paths[text] = None


def reads_itself(source: Any) -> bool:
    """Does a decoder with this argument read a file? Bytes and tensors were read before."""
    if isinstance(source, (str, os.PathLike)):
        return True
    file = getattr(source, "fp", source)  # an image of PIL has its file
    try:
        return isinstance(file.fileno(), int)
    except Exception:
        return False


def file_at(path: str) -> dict[str, Any] | None:
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return {"path": path, "bytes": about.st_size} if stat.S_ISREG(about.st_mode) and about.st_size > 0 else None


def read_again(path: str) -> int:
    """The processor's time: a file in the page cache costs no other, and where workers share processors, others run in between."""
    before = time.thread_time_ns()
    with open(path, "rb") as file:
        file.read()
    return time.thread_time_ns() - before


def parts_of(about: dict[str, Any], waited_ns: int, decoder_reads: bool) -> dict[str, int]:
    """The three parts of a sample, which add up to its total. Its files are read again."""
    total_ns, in_decoders_ns = about["total_ns"], sum(about["decoders"].values())
    read_ns = min(total_ns, waited_ns + sum(read_again(file["path"]) for file in about["files"]))
    decode_ns = max(0, in_decoders_ns - read_ns) if decoder_reads else min(in_decoders_ns, total_ns - read_ns)
    return {"read_ns": read_ns, "decode_ns": decode_ns, "rest_ns": max(0, total_ns - read_ns - decode_ns)}


def difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before


def usage_of_thread() -> Usage:
    chars = stored = None
    queued = 0
    try:
        with open("/proc/thread-self/io", encoding="ascii") as file:
            counts = dict(line.split(": ", 1) for line in file)
        chars, stored = int(counts["rchar"]), int(counts["read_bytes"])
    except (OSError, ValueError, KeyError):  # some systems do not count for each thread
        pass
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            queued = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return Usage(chars, stored, queued, time.thread_time_ns())


HOOK = Samples
