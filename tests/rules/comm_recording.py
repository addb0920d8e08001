# SPDX-License-Identifier: Apache-2.0
"""Recordings of communication: dumps of PyTorch's Flight Recorder, Inspector's files, results of nccl-tests.

Dumps are made by hand, by what torch/csrc/distributed/c10d/FlightRecorder.hpp writes."""

from __future__ import annotations

import json
import pickle
from typing import Any

START_NS = 1_700_000_000_000_000_000


def call(
    seq: int,
    op: str = "all_reduce",
    state: str = "completed",
    *,
    shape: tuple[int, ...] = (4,),
    dtype: str = "Float",
    line: int = 41,
) -> dict[str, Any]:
    """A call of a collective, number `seq` of its group, in line `line` of the program."""
    start = START_NS + seq * 1_000_000
    sizes = [list(shape)]
    return {
        "frames": [
            {
                "name": op,
                "filename": "/opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
                "line": 4174,
            },
            {"name": "train", "filename": "train.py", "line": line},
        ],
        "record_id": seq - 1,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": seq,
        "p2p_seq_id": 0,
        "op_id": seq,
        "profiling_name": f"nccl:{op}",
        "time_created_ns": start,
        "input_sizes": sizes,
        "input_dtypes": [dtype],
        "output_sizes": sizes,
        "output_dtypes": [dtype],
        "state": state,
        "time_discovered_started_ns": None if state == "scheduled" else start + 1000,
        "time_discovered_completed_ns": start + 90_000_000 if state == "completed" else None,
        "retired": state == "completed",
        "timeout_ms": 600_000,
        "is_p2p": False,
    }


def dump(calls: list[dict[str, Any]], ranks: int = 2) -> bytes:
    document = {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}},
        "comm_lib_version": "2.27.5",
        "pg_status": {},
        "entries": calls,
    }
    return pickle.dumps(document, protocol=2)


def inspected(rank: int, durations_us: list[float], size: int = 16_777_216, ranks: int = 4) -> bytes:
    """Returns what Inspector writes of a rank's all_reduces."""
    lines = []
    for number, us in enumerate(durations_us):
        gbps = size / us / 1e3
        lines.append(
            {
                "header": {"id": "0x7f8c496ae9f661", "rank": rank, "n_ranks": ranks, "nnodes": 1},
                "metadata": {
                    "inspector_output_format_version": "v4.0",
                    "dump_timestamp_us": START_NS // 1000 + number * 1000,
                    "hostname": "node1",
                    "pid": 100 + rank,
                },
                "coll_perf": {
                    "coll": "AllReduce",
                    "coll_sn": number + 1,
                    "coll_msg_size_bytes": size,
                    "coll_exec_time_us": us,
                    "coll_timing_source": "kernel_gpu",
                    "coll_algobw_gbs": gbps,
                    "coll_busbw_gbs": gbps * 2 * (ranks - 1) / ranks,
                },
            }
        )
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def benchmark(rows: list[tuple[int, float, float, int]], log: str = "") -> bytes:
    """Output of all_reduce_perf on two ranks: size, time in microseconds, bandwidth and wrong values of each row."""
    text = (
        "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 2 minBytes 8\n# Using devices\n"
        "#  Rank  0 Group  0 Pid   4711 on      node1 device  0 [0000:17:00] NVIDIA H100 80GB HBM3\n"
        "#  Rank  1 Group  0 Pid   4711 on      node1 device  1 [0000:65:00] NVIDIA H100 80GB HBM3\n"
        + log
        + "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    )
    for size, us, gbps, wrong in rows:
        body = f"{us:.2f} {gbps:.2f} {gbps:.2f} {wrong}"
        text += f"  {size}  {size // 4}  float  sum  -1  {body}  {body}\n"
    return (text + "# Avg bus bandwidth    : 1\n").encode()


def log(*lines: str, device: int = 0) -> str:
    return "".join(f"node1:4711:472{device} [{device}] NCCL INFO {line}\n" for line in lines)
