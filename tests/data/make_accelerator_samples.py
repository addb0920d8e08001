#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes xpu.pt.trace.json and hpu.pt.trace.json: small traces of torch.profiler, made up by hand.

Nobody recorded them. That of Intel's GPUs follows what Kineto's plugin for PTI writes (categories, names, arguments); that of
Gaudi has only what Kineto itself names: work in the category hpu_op, on the device's number.
Usage: make_accelerator_samples.py FOLDER
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

HOST = 4711
QUEUE = 64
STEP_US = 1000.0
Event = dict[str, Any]


def span(category: str, name: str, pid: int, tid: int, start: float, length: float, **args: object) -> Event:
    text = {key.replace("_", " ") if key.startswith("sycl") else key: value for key, value in args.items()}
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, "args": text}


def host(category: str, name: str, start: float, length: float, **args: object) -> Event:
    return span(category, name, HOST, HOST, start, length, **args)


def xpu_work(category: str, name: str, start: float, length: float, number: int, **args: object) -> Event:
    queue = {"sycl queue": QUEUE, "l0 queue": "0x000055d08b8fc138", "context": "0x000055d08918fc78"}
    event = span(category, name, 0, QUEUE, start, length, device=0, correlation=number, **args)
    event["args"] |= {"External id": number, **queue}
    return event


def arrow(number: int, launched: float, started: float) -> list[Event]:
    common = {"id": number, "cat": "ac2g", "name": "ac2g"}
    return [
        {"ph": "s", "pid": HOST, "tid": HOST, "ts": launched, **common},
        {"ph": "f", "pid": 0, "tid": QUEUE, "ts": started, "bp": "e", **common},
    ]


def xpu_step(step: int) -> list[Event]:
    at, number = 10_000.0 + step * STEP_US, 100 * step
    events = [host("user_annotation", f"ProfilerStep#{step}", at, STEP_US - 20)]
    for place, (operator, call, category, kernel, length) in enumerate(
        (
            ("aten::to", "urEnqueueUSMMemcpy", "gpu_memcpy", "Memcpy M2D (Memory -> Device)", 60.0),
            ("aten::addmm", "urEnqueueKernelLaunch", "kernel", "gemm_kernel", 200.0),
            (
                "aten::relu",
                "urEnqueueKernelLaunchWithArgsExp",
                "kernel",
                "at::native::xpu::VectorizedElementwiseKernel<4, at::native::xpu::ReluFunctor<float> >",
                40.0,
            ),
            ("c10d::allreduce_", "urEnqueueKernelLaunch", "kernel", "oneccl_allreduce_ring", 120.0),
            ("aten::zero_", "urEnqueueUSMFill", "gpu_memset", "Memset (0 -> Device)", 5.0),
        )
    ):
        start, correlation = at + 20 + 130 * place, number + place + 1
        work = start + 60
        more: dict[str, object] = {"bytes": 4096, "memory bandwidth (GB/s)": 0.07} if category != "kernel" else {}
        events.append(host("cpu_op", operator, start, 50, **{"External id": correlation}))
        events.append(
            host("xpu_runtime", call, start + 10, 20, **{"External id": correlation, "correlation": correlation})
        )
        events.append(xpu_work(category, kernel, work, length, correlation, **more))
        events += arrow(correlation, start + 10, work)
    waited: dict[str, object] = {"correlation": number + 9, "Type": "HOST_COMMAND_QUEUE", "Return_code": 0}
    events.append(span("xpu_sync", "zeCommandQueueSynchronize", -1, HOST, at + 720, 100, **waited))
    events.append(host("xpu_runtime", "urQueueFinish", at + 715, 110, correlation=number + 9))
    return events


def hpu_step(step: int) -> list[Event]:
    at, number = 10_000.0 + step * STEP_US, 100 * step
    events = [host("user_annotation", f"ProfilerStep#{step}", at, STEP_US - 20)]
    for place, (operator, kernel, length) in enumerate(
        (
            ("aten::addmm", "gemm", 200.0),
            ("aten::relu", "relu_fwd_f32", 40.0),
            ("c10d::allreduce_", "hccl_allreduce", 90.0),
        )
    ):
        start, correlation = at + 20 + 200 * place, number + place + 1
        events.append(host("cpu_op", operator, start, 50, **{"External id": correlation}))
        events.append(span("hpu_op", kernel, 0, 0, start + 60, length, device=0, **{"External id": correlation}))
    return events


def document(events: list[Event]) -> str:
    head: Event = {"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms"}
    head["baseTimeNanoseconds"] = 1_790_000_000_000_000_000
    head["traceEvents"] = [
        {"ph": "M", "name": "process_name", "pid": HOST, "tid": 0, "args": {"name": "python"}},
        *events,
    ]
    return json.dumps(head, separators=(",", ":")) + "\n"


def main(folder: pathlib.Path) -> None:
    for name, step in (("xpu", xpu_step), ("hpu", hpu_step)):
        events = [event for number in range(1, 6) for event in step(number)]
        (folder / f"{name}.pt.trace.json").write_text(document(events))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
