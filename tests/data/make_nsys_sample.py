#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes nsys_two_processes.sqlite: a small file in the layout of an nsys 2023.4 export, made up by hand.

Two processes use the same correlation ids, one call stands twice, one range never ends, and one kernel has no start.
Each process waits in a call of the system, off its processor; a thread of another program is switched in meanwhile.
Usage: make_nsys_sample.py FILE
"""

from __future__ import annotations

import pathlib
import sqlite3
import sys

SCHEMA = """
PRAGMA page_size = 1024;
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER, clockRate INTEGER,
  smCount INTEGER, uuid TEXT, computeMajor INTEGER, computeMinor INTEGER, maxWarpsPerSm INTEGER, threadsPerWarp INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
  staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  syncType INTEGER NOT NULL, eventId INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
  globalTid INTEGER, textId INTEGER);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
  nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT NULL);
CREATE TABLE SCHED_EVENTS (start INTEGER NOT NULL, cpu INTEGER NOT NULL, isSchedIn INTEGER NOT NULL, globalTid INTEGER);
CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY;
"""

TEXTS = [
    "",
    "cudaLaunchKernel_v7000",
    "cudaMemcpyAsync_v3020",
    "cudaDeviceSynchronize",
    "cudaDeviceSynchronize_v3020",
    "ampere_sgemm_128x64_nn",
    "sgemm",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_AllReduce",
    "ProfilerStep#1",
    "main thread",
    "pthread_cond_wait",
]
PIDS = [100, 200]
MS = 1_000_000


def global_pid(pid: int) -> int:
    return (1 << 48) | (pid << 24)


OTHER = global_pid(300) | 300  # a thread of another program


def write(path: str) -> None:
    pathlib.Path(path).unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)

    def add(table: str, *row: str | int | None) -> None:
        db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)

    for number, text in enumerate(TEXTS):
        add("StringIds", number, text)
    add("META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION", "2023.4.4.54")
    add("TARGET_INFO_SESSION_START_TIME", 1_700_000_000_000_000_000, "", "")
    add("TARGET_INFO_SYSTEM_ENV", "Hostname", "node1")
    for gpu in (0, 1):
        size = (80 << 30, 1_980_000_000, 132)
        add("TARGET_INFO_GPU", gpu, "Made-up GPU", f"0000:0{gpu}:00.0", *size, f"uuid-{gpu}", 9, 0, 64, 32)
        add("TARGET_INFO_CUDA_DEVICE", gpu, 0, PIDS[gpu])  # each process sees its GPU as device 0
    for which, pid in enumerate(PIDS):
        tid, late = global_pid(pid) | pid, which * 3 * MS
        add("PROCESSES", global_pid(pid), pid, "python3")
        add("ThreadNames", 10, 20, tid)
        add("NVTX_EVENTS", 10 * MS + late, 40 * MS + late, 59, None, tid, 9)
        operator = "aten::mm, op_id = 7, seq = 3, sizes = [[2, 3], [3, 4]]"
        add("NVTX_EVENTS", 11 * MS + late, 14 * MS + late, 59, operator, tid, None)
        add("NVTX_EVENTS", 12 * MS + late, 38 * MS + late, 60, "epoch", tid, None)
        add("NVTX_EVENTS", 13 * MS + late, None, 59, "never ends", tid, None)
        add("NVTX_EVENTS", 13 * MS + late, None, 34, "a mark", tid, None)
        runtime, kernel = "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"
        add(runtime, 12 * MS + late, 13 * MS + late, 0, tid, 1, 1, 0)
        add(runtime, 15 * MS + late, 16 * MS + late, 0, tid, 2, 2, 0)
        add(runtime, 17 * MS + late, 18 * MS + late, 0, tid, 3, 1, 0)
        add(runtime, 19 * MS + late, 39 * MS + late, 0, tid, 4, 3, 0)
        add(runtime, 19 * MS + late, 39 * MS + late, 0, tid, 4, 4, 0)
        launch = (4, 1, 1, 128, 1, 1, 1024, 2048)
        add(kernel, 14 * MS + late, 24 * MS + late, 0, 1, 7, 1, global_pid(pid), 5, 6, 90, *launch)
        add(kernel, 25 * MS + late, 35 * MS + late, 0, 1, 20, 3, global_pid(pid), 7, 8, 96, *launch)
        copy = (global_pid(pid), 4096, 1, 0, 2)
        add("CUPTI_ACTIVITY_KIND_MEMCPY", 24 * MS + late, 25 * MS + late, 0, 1, 7, 2, *copy)
        sync = (global_pid(pid), 4, 0xFFFFFFFF)
        add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 19 * MS + late, 38 * MS + late, 0, 1, 0xFFFFFFFF, 4, *sync)
        # The thread waits for 14 ms, and is off its processor for most of it.
        add("OSRT_API", 20 * MS + late, 34 * MS + late, 27, tid, 11, 0, None, 0)
        for moment, cpu, switched_in in ((5, 0, 0), (9, 2, 1), (21, 2, 0), (33, 0, 1), (41, 0, 0), (45, 1, 1)):
            add("SCHED_EVENTS", moment * MS + late, cpu, switched_in, tid)
    add("CUPTI_ACTIVITY_KIND_KERNEL", 0, 5 * MS, 0, 1, 7, 9, global_pid(100), 5, 6, 90, *launch)
    add("SCHED_EVENTS", 22 * MS, 2, 1, OTHER)
    db.commit()
    db.execute("VACUUM")
    db.close()


if __name__ == "__main__":
    write(sys.argv[1])
