#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes kernels.ncu-rep: two kernels with metrics, sections and rules in the container of Nsight Compute.

It is made up by hand from docs/formats/ncu_rep.md.
Usage: make_ncu_report.py FILE
"""

from __future__ import annotations

import pathlib
import struct
import sys
from typing import Union

from make_nsys_report import varint

Value = Union[int, float, bytes, str]
METRICS: dict[str, tuple[Value, Value]] = {
    "gpu__time_duration.sum": (48_000.0, 12_500.0),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": (21.5, 78.25),
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": (88.0, 31.0),
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": (88.0, 12.0),
    "sm__warps_active.avg.pct_of_peak_sustained_active": (24.0, 91.0),
    "smsp__thread_inst_executed_per_inst_executed.ratio": (32.0, 30.5),
    "dram__bytes.sum.per_second": (1.8e12, 2.5e11),
    "launch__registers_per_thread": (40.0, 128.0),
    "launch__shared_mem_per_block_static": (1024.0, 0.0),
    "launch__func_cache_config": ("CachePreferNone", "CachePreferNone"),
    "device__attribute_compute_capability_major": (9, 9),
    "device__attribute_compute_capability_minor": (0, 0),
    "device__attribute_device_index": (0, 0),
}
KERNELS = ["void relu_kernel<float>(float *, int)", "void gemm_kernel<(int)128>(const float *, float *)"]
SECTIONS = [("SpeedOfLight", "GPU Speed Of Light Throughput", 10), ("Occupancy", "Occupancy", 80)]
SAID: list[list[tuple[str, str, str, float | None]]] = [
    [("Occupancy", "AchievedOccupancy", "Few warps are active. See the @url:Guide:https://host/guide@.", 75.0)],
    [("SpeedOfLight", "SOLBottleneck", "Look at @section:Occupancy:Occupancy@ first.", None)],
]


def message(*fields: tuple[int, Value]) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def sized(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def value(of: Value) -> bytes:
    return message((1 if isinstance(of, str) else 5 if isinstance(of, int) else 3, of))


def rule(section: str, name: str, text: str, speedup: float | None) -> bytes:
    item = message((1, message((1, text), (2, 2))))
    if speedup is not None:
        item += message((10, message((1, 1), (2, speedup))))
    return message((1, name), (2, name), (3, message((1, item))), (4, section))


def launch(index: int) -> bytes:
    which = index % 2
    return message(
        (1, 4711),
        (5, f"_Z{which}"),
        (6, KERNELS[which].split("<")[0].split()[-1]),
        (7, KERNELS[which]),
        (10, message((1, 2048), (2, 1 + which), (3, 1))),
        (11, message((1, 256), (2, 1), (3, 1))),
        *((13, message((1, i), (2, value(both[which])))) for i, both in enumerate(METRICS.values())),
        (13, message((1, 0), (3, message((1, value(4096)), (2, value(7)))))),
        *((17, message((1, name), (2, shown), (3, order))) for name, shown, order in SECTIONS),
        *((19, rule(*said)) for said in SAID[which]),
        (22, 1),
        (23, 7),
    )


def block(payload: list[bytes], sources: int, names: list[str]) -> bytes:
    content = b"".join(sized(part) for part in payload)
    strings = message(*((1, name) for name in names))
    process = message((1, 4711), (2, "127.0.0.1"), (3, "/home/user/train.py"))
    counts = ((1, sources), (2, len(payload) - sources))
    return sized(message(*counts, (4, strings), (5, len(content)), (6, process))) + content


def report() -> bytes:
    parts = [block([b"\x7fELF made up"], 1, []), block([launch(0)], 0, list(METRICS)), block([launch(1)], 0, [])]
    return b"NVR\0" + sized(message((1, 7))) + b"".join(parts)


def main() -> None:
    pathlib.Path(sys.argv[1]).write_bytes(report())


if __name__ == "__main__":
    main()
