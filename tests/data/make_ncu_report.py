#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes kernels.ncu-rep: two kernels with metrics, sections, rules, and samples of lines in the container of Nsight Compute.

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
    "dram__bytes.sum.peak_sustained": (1280.0, 1280.0),
    "dram__cycles_elapsed.avg.per_second": (1.6e9, 1.6e9),
    "sm__cycles_elapsed.avg.per_second": (1.1e9, 1.1e9),
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": (14592.0, 14592.0),
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed": (410.0, 0.0),
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed": (0.0, 11200.0),
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": (14.5, 0.75),
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": (2.0, 1.5),
    "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": (1.0, 1.0),
    "launch__registers_per_thread": (40.0, 128.0),
    "launch__shared_mem_per_block_static": (1024.0, 0.0),
    "launch__func_cache_config": ("CachePreferNone", "CachePreferNone"),
    "device__attribute_compute_capability_major": (9, 9),
    "device__attribute_compute_capability_minor": (0, 0),
    "device__attribute_device_index": (0, 0),
}
KERNELS = ["void relu_kernel<float>(float *, int)", "void gemm_kernel<(int)128>(const float *, float *)"]
# Samples of each kernel: bytes from its beginning, number of samples, and their reason.
SAMPLED: list[list[tuple[int, int, str]]] = [
    [(0, 20, "wait"), (16, 700, "long_scoreboard"), (32, 80, "drain")],
    [(0, 90, "selected"), (16, 310, "wait"), (32, 200, "math_pipe_throttle")],
]
REASONS = ["selected", "wait", "long_scoreboard", "drain", "math_pipe_throttle"]
PROGRAM, BEGIN, BYTES = 77, 0x7F00_0000_1000, 48
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


def lines() -> bytes:
    """A program of lines, DWARF 2: lines 10, 15 and 21 of each kernel, one after the other, 16 bytes each."""
    head = bytes([1, 1, 251, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1]) + b"/home/user\0\0kernels.cu\0\x01\0\0\0"
    of_kernel = b"\0\x09\x02" + bytes(8) + b"\x03\x09\x01\x02\x10\x03\x05\x01\x02\x10\x03\x06\x01\x02\x10\0\x01\x01"
    body = struct.pack("<HI", 2, len(head)) + head + of_kernel * len(KERNELS)
    return struct.pack("<I", len(body)) + body


def code() -> bytes:
    """An ELF file without code: the kernels are symbols 1 and 2 of sections 4 and 5; a relocation places the lines of each."""
    names = b"\0.debug_line\0"
    symbols = bytes(24) + b"".join(struct.pack("<IHHQQ", 0, 0x12, 4 + i, 0, BYTES) for i in range(len(KERNELS)))
    starts = [at for at in range(len(lines())) if lines()[at : at + 3] == b"\0\x09\x02"]
    places = b"".join(struct.pack("<QQQ", at + 3, (i + 1) << 32 | 2, 0) for i, at in enumerate(starts))
    parts = [
        (b"", 0, 0, 0),
        (names, 0, 3, 0),
        (symbols, 0, 2, 0),
        (lines(), 1, 1, 0),
        (b"", 0, 1, 0),
        (b"", 0, 1, 0),
        (places, 0, 4, 3),
    ]
    table, body = b"", b""
    for content, name, kind, info in parts:
        table += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, 64 + len(body), len(content), 0, info, 0, 0)
        body += content
    head = (
        b"\x7fELF\x02\x01"
        + bytes(34)
        + struct.pack("<Q", 64 + len(body))
        + bytes(10)
        + struct.pack("<HHH", 64, len(parts), 1)
    )
    functions = [message((1, f"_Z{i}"), (2, BEGIN + i * BYTES), (3, i + 1)) for i in range(len(KERNELS))]
    return message((1, PROGRAM), (4, head + body + table), (9, message(*((1, function) for function in functions))))


def sampled(which: int) -> list[bytes]:
    """Metrics with values for addresses: all samples, then those of each reason."""
    base = len(METRICS)
    counts = [message((1, base), *((3, at(which, place, count)) for place, count, _ in SAMPLED[which]))]
    for i, reason in enumerate(REASONS):
        found = [at(which, place, count) for place, count, why in SAMPLED[which] if why == reason]
        counts.append(message((1, base + 1 + i), *((3, one) for one in found)))
    return counts


def at(which: int, place: int, count: int) -> bytes:
    return message((1, value(BEGIN + which * BYTES + place)), (2, value(count)))


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
        *((13, counts) for counts in sampled(which)),
        (15, message((1, PROGRAM))),
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
    reasons = ["smsp__pcsamp_sample_count", *(f"smsp__pcsamp_warps_issue_stalled_{reason}" for reason in REASONS)]
    parts = [block([code()], 1, []), block([launch(0)], 0, [*METRICS, *reasons]), block([launch(1)], 0, [])]
    return b"NVR\0" + sized(message((1, 7))) + b"".join(parts)


def main() -> None:
    pathlib.Path(sys.argv[1]).write_bytes(report())


if __name__ == "__main__":
    main()
