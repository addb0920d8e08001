#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each fix brought where it was measured, as `gapless optimize` proves it, and writes the ledger bench/results/fixes.csv.

usage, with a Python that has torch and nothing else running:
  fix_gains.py PROGRAM [--budget TIME] [NAME...]     measures these fixes, or all that this machine can show

One row per fix, script and kind of machine: a row that is measured again replaces the one before. Ratios are speedups, 2 is twice as
fast; the three of `measured` are the 95 % interval and its middle. `losses` says how those of the training agreed: exact, within (the
spread of two runs), other. A fix that does not apply here has its reason, and no figures. The page reference/fixes.md quotes the ledger.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEDGER = ROOT / "bench" / "results" / "fixes.csv"
SMALL = "--size 64 --batch 8 --steps 30"
RANKS = "-m torch.distributed.run --nproc-per-node 2"
GPT = "examples/lab/transformer.py --width 128 --layers 2 --length 64 --batch 8 --steps 60"
ANSWERS = "examples/lab/inference.py --size 64 --batch 8 --requests 200"

# Fix → scripts on which it should show, on a CPU too unless it only exists on a GPU.
CASES: dict[str, tuple[str, ...]] = {
    "workers=2": ("examples/planted/slow_loader.py", f"examples/lab/slow_train.py {SMALL}"),
    "prefetch_factor=4": ("examples/pairs/loading.py files --fix workers=1 --steps 150",),
    "pin": (f"examples/lab/slow_train.py {SMALL}",),
    "amp": (f"examples/lab/slow_train.py {SMALL}", "examples/planted/no_amp.py"),
    "channels_last": (f"examples/lab/slow_train.py {SMALL}",),
    "compile": (GPT,),
    "conv_bn": (ANSWERS,),
    "inference_mode": (ANSWERS,),
    "cast=bf16": (ANSWERS,),
    "quantize=int8": (ANSWERS,),
    "sdpa": (GPT,),
    "checkpoint": (GPT,),
    "checkpoint_batch=2": (GPT,),
    "fused_optimizer": ("examples/planted/looping_optimizer.py", "examples/planted/plain_adamw.py"),
    "zero_grad": ("examples/planted/kept_gradients.py",),
    "threads=2": ("examples/planted/one_thread.py",),
    "affinity": (f"{RANKS} examples/lab/ddp.py --layers 2 --steps 100",),
    "gc_freeze": ("examples/planted/garbage.py",),
    "vmap": ("examples/planted/row_loop.py",),
    "anomaly": ("examples/planted/anomaly.py",),
    "batch=2": (f"examples/lab/slow_train.py {SMALL}", "examples/pairs/loading.py tiny --steps 300"),
    "cache": ("examples/lab/training_baseline.py --small",),
    "drop_last": (f"examples/lab/slow_train.py {SMALL}",),
    "accumulate=4": ("examples/pairs/loading.py tiny --steps 600",),
    "nosync": (f"{RANKS} examples/lab/ddp.py --layers 8 --steps 60 --accumulate 4",),
    "ddp_bucket=100": (f"{RANKS} examples/lab/ddp.py --layers 8 --steps 100",),
    "ddp_view": (f"{RANKS} examples/lab/ddp.py --layers 8 --steps 100",),
    "ddp_static": (f"{RANKS} examples/lab/ddp.py --layers 8 --steps 100",),
    "ddp_compress": (f"{RANKS} examples/lab/ddp.py --layers 8 --steps 100",),
    "tf32": ("examples/planted/no_amp.py",),
    "cudnn_benchmark": (f"examples/lab/slow_train.py {SMALL}",),
    "cudagraph": (GPT,),
    "offload": (GPT,),
    "allocator": ("examples/planted/fragmenting_allocator.py",),
    "liger": (GPT,),
    "quack": (GPT,),
    "apex": (GPT,),
    "hub_kernels": (GPT,),
    "float8": (GPT,),
    "transformer_engine": (GPT,),
    "attention=cudnn": (GPT,),
    "fsdp=prefetch": (f"{RANKS} examples/lab/fsdp.py --layers 4 --steps 100",),
    "pipeline=4": (f"{RANKS} examples/lab/pipeline.py --batch 1024 --steps 100",),
    "nccl=few_blocks": (f"{RANKS} examples/lab/ddp.py --layers 8 --steps 100",),
}


@dataclass
class Row:
    fix: str
    script: str
    machine: str
    outcome: str
    measured_low: str = ""
    measured_expected: str = ""
    measured_high: str = ""
    predicted: str = ""
    pairs: str = ""
    losses: str = ""
    torch: str = ""
    date: str = ""
    reason: str = ""


COLUMNS = [field.name for field in fields(Row)]


def read() -> list[Row]:
    if not LEDGER.exists():
        return []
    with LEDGER.open(newline="", encoding="utf-8") as file:
        return [Row(**record) for record in csv.DictReader(file)]


def write(rows: list[Row]) -> None:
    rows = sorted(rows, key=lambda row: (row.fix, row.script, row.machine))
    with LEDGER.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def machine() -> tuple[str, str]:
    """The kind of machine, and the version of torch."""
    import torch

    version = torch.__version__.partition("+")[0]
    if torch.cuda.is_available():
        return torch.cuda.get_device_name(0), version
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    return f"{names[0].replace('(R)', '').removesuffix(' Processor')}, {len(names)} cores", version


def losses_of(found: dict[str, Any]) -> str:
    loss = found.get("loss")
    if loss is None:
        return ""
    return "exact" if loss["exact"] else "within" if loss["parity"] else "other"


def measure(program: str, item: str, script: str, budget: str) -> dict[str, Any]:
    """What optimize says of this fix; no outcome where it could not even begin."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            program,
            "optimize",
            "--json",
            "--allow",
            "quantized",
            "--budget",
            budget,
            "--only",
            item,
            "-o",
            folder + "/out",
        ]
        if script == ANSWERS:
            words.append("--inference")
        done = subprocess.run(
            [*words, "--", sys.executable, *script.split()], check=False, cwd=ROOT, capture_output=True, text=True
        )
    if done.returncode not in (0, 1):
        return {"outcome": "fault", "reason": (done.stderr.strip().splitlines() or ["no answer"])[-1]}
    answer = json.loads(done.stdout)
    found: list[dict[str, Any]] = answer["applied"] + answer["refused"]
    return found[0] if found else {"outcome": "absent", "reason": " ".join(answer["warnings"])}


def row_of(found: dict[str, Any], item: str, script: str) -> Row:
    name, version = machine()
    row = Row(item, script, name, found["outcome"], torch=version, date=datetime.date.today().isoformat())
    if "measured" in found:
        ratios = found["measured"]
        row.measured_low, row.measured_expected, row.measured_high = (
            f"{ratios[end]:.3f}" if end in ratios else "" for end in ("low", "expected", "high")
        )
        row.pairs = str(found["pairs"])
    if "predicted" in found:
        row.predicted = f"{found['predicted']['expected']:.3f}"
    row.losses = losses_of(found)
    if found["outcome"] != "accepted":
        row.reason = found.get("reason", "")
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*", help="fixes, without their values")
    parser.add_argument("--budget", default="3m")
    given = parser.parse_intermixed_args()
    program = str(Path(given.program).resolve())
    machine()  # without torch nothing is worth its minutes
    for item, scripts in CASES.items():
        if given.names and item.partition("=")[0] not in given.names:
            continue
        for script in scripts:
            row = row_of(measure(program, item, script, given.budget), item, script)
            key = (row.fix, row.script, row.machine)
            write([other for other in read() if (other.fix, other.script, other.machine) != key] + [row])
            figures = f"{row.measured_expected} ({row.measured_low} to {row.measured_high})".replace("( to )", "")
            figures = f"{figures} {row.reason}" if row.pairs else row.reason
            print(f"{item:18} {script.split()[0 if script[0] != '-' else 4]:40} {row.outcome:12} {figures}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
