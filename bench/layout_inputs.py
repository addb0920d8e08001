# SPDX-License-Identifier: Apache-2.0
"""Makes large recordings and many ranks from the small recordings of the corpus."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import pathlib
import re
import sys
from typing import Any, Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("GAPLESS_CORPUS", ROOT.parent / "shared/data")) / "kineto"
KINETO = "pytorch__kineto/tb_plugin/samples"
HTA = "facebookresearch__HolisticTraceAnalysis/tests/data"
LAYOUTS = {
    "CPU-heavy with stacks": f"{HTA}/trace_diff/control/control.json.gz",
    "kernels without stacks": f"{KINETO}/resnet50_num_workers_0/worker0.pt.trace.json.gz",
    "NCCL-heavy": f"{HTA}/df_index_resolver/df_index_resolver.json.gz",
    "inference with graphs": "AMD-AGI__TraceLens/tests/traces/inference/vllm_decode_full/graph_execution.json.gz",
    "a CPU without steps": "Gabriellanaro__dtu_mlops/trace.json",
    "a replay that is refused": f"{HTA}/negative_queue_length_values_check/rank0.json.gz",
}
RANKS = "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto"
BETWEEN = "\n  },\n  {\n"  # the separator that bench/yardstick.cc cuts files at
MAX_ID = 2**40  # larger numbers are addresses or fixed marks, not counted ids
NUMBER = re.compile(
    r'("ts": |"correlation": |"[Ee]xternal id": |"id": |"Python (?:parent )?id": |ProfilerStep#)(\d+(?:\.\d+)?)'
)


def text_of(event: dict[str, Any]) -> str:
    """Returns the event's fields, a line each, without the braces around them."""
    return ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in event.items())


class Copies:
    """The events of one recording as text that is cut at the numbers which differ from copy to copy."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        pieces = NUMBER.split(BETWEEN.join(text_of(event) for event in events))
        self._texts, self._keys, self._numbers = pieces[::3], pieces[1::3], pieces[2::3]
        starts = [float(event["ts"]) for event in events if event.get("ph") == "X"]
        ends = [float(event["ts"]) + float(event.get("dur", 0)) for event in events if event.get("ph") == "X"]
        self._span_us = int(max(ends) - min(starts)) + 1000
        self._first_us = min(starts)
        counted = [int(n) for k, n in zip(self._keys, self._numbers) if k != '"ts": ' and "." not in n]
        self._ids = max((n for n in counted if n < MAX_ID), default=0) + 1
        steps = {int(n) for k, n in zip(self._keys, self._numbers) if k == "ProfilerStep#"}
        self._steps = max(steps) - min(steps) + 1 if steps else 0

    def _moved(self, key: str, number: str, copy: int) -> str:
        if key == '"ts": ':
            whole, dot, fraction = number.partition(".")
            return f"{int(whole) + copy * self._span_us}{dot}{fraction}" if float(number) >= self._first_us else number
        if key == "ProfilerStep#":
            return str(int(number) + copy * self._steps)
        return str(int(number) + copy * self._ids) if "." not in number and int(number) < MAX_ID else number

    def text(self, copy: int) -> str:
        out = [self._texts[0]]
        for key, number, text in zip(self._keys, self._numbers, self._texts[1:]):
            out += (key, self._moved(key, number, copy), text)
        return "".join(out)


def make_layout(recording: str, path: pathlib.Path, size: int) -> None:
    """Repeats the events of the recording until the file has `size` bytes or more, and waits until the disk has them."""
    file = CORPUS / recording
    whole = json.loads(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
    copies = Copies(whole.pop("traceEvents"))
    head = json.dumps(whole)[:-1]
    with path.open("w") as out:
        out.write(head + (", " if whole else "") + '"traceEvents": [\n  {\n')
        copy = 0
        while out.tell() < size:
            out.write((BETWEEN if copy else "") + copies.text(copy))
            copy += 1
        out.write("\n  }\n]}\n")
        out.flush()
        os.fsync(out.fileno())  # else the system writes the file while it is measured


def make_ranks(folder: pathlib.Path, count: int, size: int = 0) -> None:
    """Writes `count` ranks: the recorded ranks of one job again and again, with their number and the size of the job.

    A rank has `size` bytes or more, by repeated events; 0: as recorded.
    """
    folder.mkdir()
    recorded = []
    for path in sorted((CORPUS / RANKS).glob("worker*.json")):
        longer = folder / path.name
        make_layout(str(path.relative_to(CORPUS)), longer, size) if size else longer.write_text(path.read_text())
        recorded.append(longer.read_text())
        longer.unlink()
    for rank in range(count):
        text = re.sub(
            r'"rank": ?\d+, "world_size": ?\d+',
            f'"rank": {rank}, "world_size": {count}',
            recorded[rank % len(recorded)],
        )
        (folder / f"rank{rank}.json").write_text(text)
    os.sync()


def in_own_process(make: Callable[..., None], *arguments: object) -> None:
    """Runs `make` in a process of its own: the memory it takes would otherwise count as that of each process timed later."""
    process = multiprocessing.Process(target=make, args=arguments)
    process.start()
    process.join()
    if process.exitcode != 0:
        sys.exit(f"cannot make the input: the process ended with {process.exitcode}")
