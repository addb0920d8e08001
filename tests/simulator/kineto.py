# SPDX-License-Identifier: Apache-2.0
"""Writes what PyTorch's profiler would have written of a run.

Only what it knows: operators and calls by thread, operations of the device by stream, arrows from calls to operations, and, when it
was asked for them, the rows of `cuda_sync`. Streams and events that a call names are in no other place. Recorders of old ages
wrote whole microseconds: operators from and to the microsecond below, calls and device work with the duration cut off.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from simulator.machine import AUTOGRAD, MAIN, Run

PROCESS = 4711
THREADS = {MAIN: PROCESS, AUTOGRAD: PROCESS + 73}
CBIDS = {
    "cudaLaunchKernel": 211, "cudaMemcpyAsync": 41, "cudaEventRecord": 135, "cudaStreamWaitEvent": 147,
    "cudaDeviceSynchronize": 165, "cudaStreamSynchronize": 131, "cudaEventSynchronize": 137,
}  # fmt: skip
CATEGORIES = {"kernel": "kernel", "to_device": "gpu_memcpy", "to_host": "gpu_memcpy"}
DEVICE = {
    "id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_000_000_000, "computeMajor": 8, "computeMinor": 0,
    "maxThreadsPerBlock": 1024, "warpSize": 32, "numSms": 108,
}  # fmt: skip
START_NS = 5_000_000_000  # the clock's reading when the simulation begins
BASE_NS = 1_700_000_000_000_000_000


class Recorder(NamedTuple):
    """Settings of the profiler, and its age."""

    sync_events: bool = False
    whole_microseconds: bool = False
    blocks: int = 27  # of a kernel, 256 threads each; this device runs 864 at once


def times(recorder: Recorder, start_ns: int, end_ns: int, *, operator: bool = False) -> str:
    start_ns += START_NS
    end_ns += START_NS
    if recorder.whole_microseconds:
        dur_us = end_ns // 1000 - start_ns // 1000 if operator else (end_ns - start_ns) // 1000
        return f'"ts": {(BASE_NS + start_ns) // 1000}, "dur": {dur_us}'
    dur_ns = end_ns - start_ns
    return f'"ts": {start_ns // 1000}.{start_ns % 1000:03}, "dur": {dur_ns // 1000}.{dur_ns % 1000:03}'


def host_events(run: Run, recorder: Recorder, first_step: int) -> Iterator[str]:
    for number, (start, end) in enumerate(run.steps, first_step):
        yield (
            f'{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{number}", "pid": {PROCESS}, "tid": {PROCESS}, '
            f'{times(recorder, start, end, operator=True)}, "args": {{"External id": {number}}}}}'
        )
    for index, one in enumerate(run.slices):
        sequence = f', "Sequence number": {one.sequence}, "Fwd thread id": {one.thread}' if one.sequence >= 0 else ""
        yield (
            f'{{"ph": "X", "cat": "{one.category}", "name": "{one.name}", "pid": {PROCESS}, "tid": {THREADS[one.thread]}, '
            f"{times(recorder, one.start_ns, one.end_ns, operator=True)}, "
            f'"args": {{"External id": {1000 + index}{sequence}, "Ev Idx": {index}}}}}'
        )


def call_events(run: Run, recorder: Recorder) -> Iterator[str]:
    for call in run.calls:
        where = f'"pid": {PROCESS}, "tid": {THREADS[call.thread]}'
        when = times(recorder, call.start_ns, call.end_ns)
        yield (
            f'{{"ph": "X", "cat": "cuda_runtime", "name": "{call.name}", {where}, {when}, '
            f'"args": {{"cbid": {CBIDS[call.name]}, "correlation": {call.correlation}}}}}'
        )
        if call.submits:
            ts = when[: when.index(", ")]
            yield f'{{"ph": "s", "id": {call.correlation}, {where}, {ts}, "cat": "ac2g", "name": "ac2g"}}'


def device_events(run: Run, recorder: Recorder) -> Iterator[str]:
    for one in run.device:
        where = f'"pid": 0, "tid": {one.stream}'
        when = times(recorder, one.start_ns, one.end_ns)
        if one.engine == "kernel":
            more = f'"grid": [{recorder.blocks}, 1, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0'
        else:
            gbps = one.nbytes / max(one.end_ns - one.start_ns, 1)
            more = f'"bytes": {one.nbytes}, "memory bandwidth (GB/s)": {gbps:.6f}'
        yield (
            f'{{"ph": "X", "cat": "{CATEGORIES[one.engine]}", "name": "{one.name}", {where}, {when}, "args": '
            f'{{"device": 0, "context": 1, "stream": {one.stream}, "correlation": {one.correlation}, {more}}}}}'
        )
        ts = when[: when.index(", ")]
        yield f'{{"ph": "f", "id": {one.correlation}, {where}, {ts}, "cat": "ac2g", "name": "ac2g", "bp": "e"}}'


def sync_events(run: Run, recorder: Recorder) -> Iterator[str]:
    for wait in run.waits:
        event = ""
        if wait.kind in ("Stream Wait Event", "Event Sync"):
            event = (
                f'"wait_on_stream": {wait.event_stream}, "wait_on_cuda_event_record_corr_id": {wait.event_correlation}, '
                f'"wait_on_cuda_event_id": {wait.event}, '
            )
        yield (
            f'{{"ph": "X", "cat": "cuda_sync", "name": "{wait.kind}", "pid": 0, "tid": {wait.stream}, '
            f'{times(recorder, wait.start_ns, wait.end_ns)}, "args": {{"cuda_sync_kind": "{wait.kind}", {event}'
            f'"stream": {wait.stream}, "correlation": {wait.correlation}, "device": 0, "context": 1}}}}'
        )


def autograd_arrows(run: Run, recorder: Recorder) -> Iterator[str]:
    """From a forward operator to its backward."""
    forward = {one.sequence: one for one in run.slices if one.sequence >= 0 and one.thread == MAIN}
    for one in run.slices:
        if one.thread == AUTOGRAD and one.sequence in forward:
            for end, phase in ((forward[one.sequence], '"ph": "s"'), (one, '"ph": "f", "bp": "e"')):
                ts = times(recorder, end.start_ns, end.start_ns).split(", ")[0]
                where = f'"pid": {PROCESS}, "tid": {THREADS[end.thread]}, {ts}'
                yield f'{{{phase}, "id": {one.sequence}, {where}, "cat": "fwdbwd", "name": "fwdbwd"}}'


def written(run: Run, recorder: Recorder, first_step: int) -> str:
    """The whole file."""
    events = [
        *host_events(run, recorder, first_step),
        *call_events(run, recorder),
        *device_events(run, recorder),
        *(sync_events(run, recorder) if recorder.sync_events else ()),
        *autograd_arrows(run, recorder),
        *(
            f'{{"ph": "M", "name": "thread_name", "ts": 0, "pid": {PROCESS}, "tid": {tid}, "args": {{"name": "thread {tid}"}}}}'
            for tid in THREADS.values()
        ),
    ]
    head = {"schemaVersion": 1, "deviceProperties": [DEVICE]}
    if not recorder.whole_microseconds:
        head = {**head, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}
    return json.dumps(head)[:-1] + ', "traceEvents": [\n' + ",\n".join(events) + "\n]}\n"
