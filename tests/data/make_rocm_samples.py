#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one small run of ROCm's profiler in three forms, and a recording of JAX's, all made up by hand.

The layouts are those that ROCm/rocprofiler-sdk (rocpd_tables.sql, generateJSON.cpp, generateCSV.cpp) and
tsl/profiler/protobuf/xplane.proto publish; no file of a real run is in here.
Usage: make_rocm_samples.py FOLDER
"""

from __future__ import annotations

import csv
import json
import pathlib
import sqlite3
import sys
from collections.abc import Sequence
from typing import Any

MS = 1_000_000
START = 5_000_000_000_000
PID = 4242
GEMM = "Cijk_Ailk_Bljk_HHS_BH_MT64x64x32_MI16x16x16x1_SN"
RING = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"
FILL = "__amd_rocclr_fillBufferAligned"
SYMBOLS = {1: (GEMM, 64), 2: (RING, 32), 3: (FILL, 8)}
KINDS = ["NONE", "HIP_RUNTIME_API", "MARKER_CORE_RANGE_API", "MEMORY_COPY", "KERNEL_DISPATCH"]
OPERATIONS = [
    [],
    ["hipLaunchKernel", "hipMemcpyAsync", "hipDeviceSynchronize"],
    ["roctxRangePushA"],
    ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE"],
    ["KERNEL_DISPATCH_COMPLETE"],
]

# Calls: (kind, operation, correlation, start, end, text of a mark); kernels: (kernel, correlation, start, end);
# copies: (correlation, start, end, bytes).
SpaceEvent = tuple[str, int, int, dict[str, Any]]
CALLS: list[tuple[int, int, int, int, int, str]] = []
KERNELS: list[tuple[int, int, int, int]] = []
COPIES: list[tuple[int, int, int, int]] = []


def make_run() -> None:
    """Three steps of 10 ms: a copy, a matrix product, an exchange, a fill, and a wait for them."""
    correlation = 1
    for step in range(3):
        at = START + step * 10 * MS
        CALLS.append((2, 0, correlation, at, at + 10 * MS, f"step {step}"))
        COPIES.append((correlation + 1, at + MS, at + 2 * MS, 1_048_576))
        CALLS.append((1, 1, correlation + 1, at + MS // 2, at + MS, ""))
        for i, (kernel, length) in enumerate(((1, 3), (2, 2), (3, 1))):
            number = correlation + 2 + i
            CALLS.append((1, 0, number, at + MS + i * 100_000, at + MS + i * 100_000 + 50_000, ""))
            begin = at + 2 * MS + sum((3, 2, 1)[:i]) * MS
            KERNELS.append((kernel, number, begin, begin + length * MS))
        CALLS.append((1, 2, correlation + 5, at + 2 * MS, at + 8 * MS, ""))
        correlation += 6


def write_database(path: pathlib.Path) -> None:
    """Writes the tables of rocpd, version 3, with the columns that matter here."""
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    end = "_01234567_89ab"
    database.executescript(f"""
PRAGMA page_size = 1024;
CREATE TABLE rocpd_metadata{end} (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string{end} (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_node{end} (id INTEGER PRIMARY KEY, hostname TEXT);
CREATE TABLE rocpd_info_process{end} (id INTEGER PRIMARY KEY, pid INTEGER, command TEXT);
CREATE TABLE rocpd_info_thread{end} (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, name TEXT);
CREATE TABLE rocpd_info_agent{end} (id INTEGER PRIMARY KEY, type TEXT, type_index INTEGER, name TEXT,
  product_name TEXT, extdata TEXT);
CREATE TABLE rocpd_info_kernel_symbol{end} (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT,
  arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);
CREATE TABLE rocpd_info_pmc{end} (id INTEGER PRIMARY KEY, name TEXT, agent_id INTEGER);
CREATE TABLE rocpd_event{end} (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, correlation_id INTEGER,
  extdata TEXT);
CREATE TABLE rocpd_pmc_event{end} (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL);
CREATE TABLE rocpd_region{end} (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT,
  name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_sample{end} (id INTEGER PRIMARY KEY, track_id INTEGER, timestamp BIGINT, event_id INTEGER);
CREATE TABLE rocpd_kernel_dispatch{end} (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, agent_id INTEGER,
  kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT,
  group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER,
  grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
CREATE TABLE rocpd_memory_copy{end} (id INTEGER PRIMARY KEY, start BIGINT, end BIGINT, name_id INTEGER,
  dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_memory_allocate{end} (id INTEGER PRIMARY KEY, start BIGINT, type TEXT, level TEXT,
  agent_id INTEGER, address INTEGER, size INTEGER);
CREATE VIEW kernels AS SELECT * FROM rocpd_kernel_dispatch{end};
""")
    texts = sorted({*KINDS, *(name for names in OPERATIONS for name in names)})
    number_of = {text: i + 1 for i, text in enumerate(texts)}

    def insert(table: str, *rows: tuple[object, ...]) -> None:
        for row in rows:
            database.execute(f"INSERT INTO {table}{end} VALUES ({','.join('?' * len(row))})", row)

    insert("rocpd_metadata", (1, "schema_version", "3"))
    insert("rocpd_string", *((number, "g", text) for text, number in number_of.items()))
    insert("rocpd_info_node", (1, "node-1"))
    insert("rocpd_info_process", (1, PID, "python train.py"))
    insert("rocpd_info_thread", (1, 1, PID, "main"))
    more = json.dumps({"cu_count": 304, "max_engine_clk_fcompute": 2100})
    insert(
        "rocpd_info_agent",
        (0, "CPU", 0, "EPYC", "AMD EPYC", "{}"),
        (1, "GPU", 0, "gfx942", "AMD Instinct MI300X", more),
    )
    insert("rocpd_info_kernel_symbol", *((i, f"{n}.kd", n, v, 0) for i, (n, v) in SYMBOLS.items()))
    insert("rocpd_info_pmc", (1, "SQ_WAVES", 1))
    event = 0
    for kind, operation, correlation, start, stop, mark in CALLS:
        event += 1
        said = json.dumps({"message": mark}) if mark else "{}"
        insert("rocpd_event", (event, number_of[KINDS[kind]], correlation, 0, said))
        insert("rocpd_region", (correlation, 1, 1, start, stop, number_of[OPERATIONS[kind][operation]], event))
    for i, (kernel, correlation, start, stop) in enumerate(KERNELS):
        event += 1
        insert("rocpd_event", (event, number_of[KINDS[4]], correlation, 0, "{}"))
        grid = (1024, 1, 1, 65536, 2, 1) if kernel == 1 else (256, 1, 1, 1024, 1, 1)
        insert(
            "rocpd_kernel_dispatch",
            (i + 1, 1, 1, 1, kernel, i + 1, 2, 1, start, stop, 1024 if kernel == 1 else 0, *grid, event),
        )
        if i == 0:  # two instances of one counter
            insert("rocpd_pmc_event", (1, event, 1, 100.0), (2, event, 1, 28.0))
    for i, (correlation, start, stop, size) in enumerate(COPIES):
        event += 1
        insert("rocpd_event", (event, number_of[KINDS[3]], correlation, 0, "{}"))
        insert("rocpd_memory_copy", (i + 1, start, stop, number_of[OPERATIONS[3][2]], 1, 0, size, None, 1, event))
    insert(
        "rocpd_memory_allocate",
        (1, START + MS, "ALLOC", "REAL", 1, 4096, 1_000_000),
        (2, START + 2 * MS, "ALLOC", "REAL", 1, 8192, 500_000),
        (3, START + 3 * MS, "FREE", "REAL", 1, 4096, 0),
    )
    database.commit()
    database.close()


def write_json(path: pathlib.Path) -> None:
    """Writes what generateJSON.cpp writes of the same run, but for counters and memory."""

    def record(kind: int, operation: int, correlation: int, start: int, stop: int) -> dict[str, object]:
        return {
            "size": 1,
            "kind": kind,
            "operation": operation,
            "correlation_id": {"internal": correlation, "external": 0},
            "start_timestamp": start,
            "end_timestamp": stop,
            "thread_id": PID,
        }

    calls = [(record(*call[:5]), call[0]) for call in CALLS]
    kernels = []
    for i, (kernel, correlation, start, stop) in enumerate(KERNELS):
        sides = ((1024, 1, 1), (65536, 2, 1)) if kernel == 1 else ((256, 1, 1), (1024, 1, 1))
        kernels.append(
            record(4, 0, correlation, start, stop)
            | {
                "dispatch_info": {
                    "agent_id": {"handle": 77},
                    "queue_id": {"handle": 2},
                    "kernel_id": kernel,
                    "dispatch_id": i + 1,
                    "group_segment_size": 1024 if kernel == 1 else 0,
                    "workgroup_size": dict(zip("xyz", sides[0])),
                    "grid_size": dict(zip("xyz", sides[1])),
                },
                "stream_id": {"handle": 1},
            }
        )
    copies = [
        record(3, 2, correlation, start, stop)
        | {"dst_agent_id": {"handle": 77}, "src_agent_id": {"handle": 5}, "bytes": size, "stream_id": {"handle": 1}}
        for correlation, start, stop, size in COPIES
    ]
    process = {
        "metadata": {"node": {"hostname": "node-1"}, "pid": PID, "command": ["python", "train.py"]},
        "agents": [
            {"id": {"handle": 5}, "type": 1, "name": "EPYC", "product_name": "AMD EPYC", "node_id": 0},
            {
                "id": {"handle": 77},
                "type": 2,
                "name": "gfx942",
                "product_name": "AMD Instinct MI300X",
                "logical_node_type_id": 0,
                "cu_count": 304,
                "max_engine_clk_fcompute": 2100,
            },
        ],
        "counters": [],
        "strings": {
            "buffer_records": [{"kind": k, "operations": o} for k, o in zip(KINDS, OPERATIONS)],
            "marker_api": [{"key": call[2], "value": call[5]} for call in CALLS if call[5]],
        },
        "kernel_symbols": [
            {"kernel_id": i, "kernel_name": f"{n}.kd", "formatted_kernel_name": n, "arch_vgpr_count": v}
            for i, (n, v) in SYMBOLS.items()
        ],
        "callback_records": {"counter_collection": []},
        "buffer_records": {
            "hip_api": [row for row, kind in calls if kind == 1],
            "marker_api": [row for row, kind in calls if kind == 2],
            "kernel_dispatch": kernels,
            "memory_copy": copies,
        },
    }
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [process]}, separators=(",", ":")))


def write_tables(stem: pathlib.Path) -> None:
    """Writes what generateCSV.cpp writes of the same run. It has no sizes of copies."""

    def table(ending: str, head: str, rows: Sequence[tuple[object, ...]]) -> None:
        with open(f"{stem}_{ending}.csv", "w", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
            writer.writerow(head.split())
            writer.writerows(rows)

    table(
        "agent_info",
        "Node_Id Logical_Node_Id Agent_Type Cu_Count Max_Engine_Clk_Fcompute Name Vendor_Name Product_Name",
        [
            (0, 0, "CPU", 128, 0, "EPYC", "CPU", "AMD EPYC"),
            (1, 1, "GPU", 304, 2100, "gfx942", "AMD", "AMD Instinct MI300X"),
        ],
    )
    head = "Domain Function Process_Id Thread_Id Correlation_Id Start_Timestamp End_Timestamp"
    for ending, kind in (("hip_api_trace", 1), ("marker_api_trace", 2)):
        rows = [(KINDS[k], mark or OPERATIONS[k][o], PID, PID, c, a, b) for k, o, c, a, b, mark in CALLS if k == kind]
        table(ending, head, rows)
    table(
        "memory_copy_trace",
        "Kind Direction Stream_Id Source_Agent_Id Destination_Agent_Id Correlation_Id Start_Timestamp End_Timestamp",
        [("MEMORY_COPY", OPERATIONS[3][2], 1, "Agent 0", "Agent 1", c, a, b) for c, a, b, _ in COPIES],
    )
    kernels: list[tuple[object, ...]] = []
    for i, (kernel, correlation, start, stop) in enumerate(KERNELS):
        sides = (1024, 1, 1, 65536, 2, 1) if kernel == 1 else (256, 1, 1, 1024, 1, 1)
        name, registers = SYMBOLS[kernel]
        before = ("KERNEL_DISPATCH", "Agent 1", 2, 1, PID, i + 1, kernel, name, correlation, start, stop)
        kernels.append((*before, 1024 if kernel == 1 else 0, 0, registers, 0, 16, *sides))
    table(
        "kernel_trace",
        "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id Start_Timestamp "
        "End_Timestamp LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count Workgroup_Size_X "
        "Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z",
        kernels,
    )


def varint(value: int) -> bytes:
    """Returns a number in 7 bits a byte."""
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def whole(field: int, value: int) -> bytes:
    """Returns a field that is a number."""
    return varint(field << 3) + varint(value)


def part(field: int, value: bytes | str) -> bytes:
    """Returns a field that is a text or a message."""
    stored = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(stored)) + stored


def plane(number: int, name: str, lines: list[tuple[int, str, list[SpaceEvent]]]) -> bytes:
    """Returns a plane; an event is (name, offset in µs, duration in µs, stats)."""
    names = sorted({event[0] for line in lines for event in line[2]})
    stats = sorted({stat for line in lines for event in line[2] for stat in event[3]})
    out = whole(1, number) + part(2, name)
    for line, title, events in lines:
        body = whole(1, line) + part(2, title) + whole(3, 1_700_000_000_000_000_000)
        for event, offset, duration, values in events:
            inner = whole(1, names.index(event) + 1) + whole(2, offset * 1_000_000) + whole(3, duration * 1_000_000)
            for stat, value in values.items():
                kept = whole(4, value) if isinstance(value, int) else part(5, value)
                inner += part(4, whole(1, stats.index(stat) + 1) + kept)
            body += part(4, inner)
        out += part(3, body)
    for i, text in enumerate(names):
        out += part(4, whole(1, i + 1) + part(2, whole(1, i + 1) + part(2, text)))
    for i, text in enumerate(stats):
        out += part(5, whole(1, i + 1) + part(2, whole(1, i + 1) + part(2, text)))
    return part(1, out)


def write_space(path: pathlib.Path) -> None:
    """Writes two steps of a program on a GPU, as JAX records them."""
    stream: list[SpaceEvent] = []
    host: list[SpaceEvent] = []
    for step in range(2):
        at = step * 10_000
        host.append(("train", at, 10_000, {"step_num": step}))
        host.append(("cuLaunchKernel", at + 100, 50, {"correlation_id": 10 + step}))
        details = "regs:64 static_shared:1024 dynamic_shared:0 grid:128,2,1 block:256,1,1 occ_pct:50"
        copied = "kind_src:pageable size:1048576 dest:0 async:1"
        stream.append(("MemcpyH2D", at + 200, 1_000, {"memcpy_details": copied}))
        stream.append(
            ("gemm_fusion_dot_1", at + 1_500, 6_000, {"correlation_id": 10 + step, "kernel_details": details})
        )
    space = plane(2, "/device:GPU:0", [(13, "Stream #13(Compute)", stream), (99, "XLA Modules", [])])
    space += plane(7, "/host:CPU", [(501, "python", host)]) + part(4, "node-1")
    path.write_bytes(space)


def main() -> int:
    """Writes all files into the folder."""
    folder = pathlib.Path(sys.argv[1])
    make_run()
    write_database(folder / "run.db")
    write_json(folder / "run_results.json")
    write_tables(folder / "run")
    write_space(folder / "jax_gpu.xplane.pb")
    return 0


if __name__ == "__main__":
    sys.exit(main())
