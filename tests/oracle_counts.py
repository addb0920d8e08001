#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `gapless query` against a count made in plain Python with exact decimals, for every recording of the corpus: the number
of kernels and the sum of their durations must be equal. And the ledger of every recording must add up to the nanosecond.

usage: oracle_counts.py PROGRAM
"""

from __future__ import annotations

import sys
from typing import Any

import corpus
from oracle import ask

KERNELS = """SELECT path,
 (SELECT count(*) FROM all_gpu_op g WHERE g.trace = t.trace AND kind = 'kernel') AS kernels,
 (SELECT coalesce(sum(dur_ns), 0) FROM all_gpu_op g WHERE g.trace = t.trace AND kind = 'kernel') AS ns
FROM all_trace t"""
LEDGER = """SELECT trace, device, step FROM ledger
WHERE wall_ns <> compute_ns + exposed_comm_ns + exposed_copy_ns + idle_ns
 OR idle_ns <> idle_data_ns + idle_launch_ns + idle_sync_ns + idle_host_ns + idle_unknown_ns"""


def main() -> int:
    corpus.require()
    program, checked = sys.argv[1], 0
    failures: list[str] = []
    archives: dict[str, tuple[list[dict[str, Any]] | None, str]] = {}
    for path, count in corpus.counts():
        kernels = count.get("kernels")
        container = path.split("!/")[0]
        if container not in archives:
            archives[container] = ask(program, container, KERNELS)
            if archives[container][0] is not None:
                wrong, problem = ask(program, container, LEDGER)
                if wrong is None or wrong:
                    failures.append(f"{container}: the ledger does not add up: {wrong[:3] if wrong else problem}")
        rows, problem = archives[container]
        if kernels is None or not kernels.get("count"):
            continue  # no trace, or nothing on a GPU: there is nothing to compare, but it must have been an orderly end
        if rows is None:
            failures.append(f"{path}: {problem}")
            continue
        row = rows[0] if len(rows) == 1 and "!/" not in path else next((r for r in rows if r["path"] == path), None)
        checked += 1
        expected = (kernels["count"], kernels["total_ns"])
        actual = (row["kernels"], row["ns"]) if row else None
        if actual != expected:
            failures.append(f"{path}: kernels and ns {actual}, counted {expected}")
    print(*failures[:20], sep="\n")
    print(f"{checked} recordings with kernels compared, {len(archives)} inputs read, {len(failures)} differences")
    return 1 if failures or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
