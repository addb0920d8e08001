# SPDX-License-Identifier: Apache-2.0
"""Finds the recordings, and those of them that hold events."""

from __future__ import annotations

import atexit
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("GAPLESS_CORPUS", ROOT.parent / "shared" / "data"))


KINETO = FOLDER / "kineto"
SAMPLES = KINETO / "pytorch__kineto/tb_plugin/samples"
HTA = KINETO / "facebookresearch__HolisticTraceAnalysis/tests/data"
LENS = KINETO / "AMD-AGI__TraceLens/tests/traces"
# Recordings of every kind, in which each surface is held against the others.
WALKED = [
    SAMPLES / "resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
    SAMPLES / "resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
    HTA / "ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
    HTA / "nccl_parser_config/nccl_data.json.gz",
    HTA / "timeline_analysis/sampled_rank-0.json.gz",
    HTA / "trace_diff/test/test.json.gz",
    HTA / "triton_example/triton_example.json.gz",
    LENS / "mi300/resnet_act_checkpoint.json.gz",
    LENS / "mi300/Falconsai_nsfw_image_detection__1016002.json.gz",
    HTA / "cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
]


def pages(program: Path) -> Path:
    """A folder with what `gapless docs` writes: reference, schemas, man page, completions. It goes when the script ends."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([str(program), "docs", str(folder)], check=True, capture_output=True)
    return folder


def require() -> None:
    """Ends the script as skipped when there are no recordings here."""
    if not (FOLDER / "oracle" / "kineto").is_dir():
        print(f"skipped: no recordings in {FOLDER} (set GAPLESS_CORPUS)")
        sys.exit(77)


def counts() -> Iterator[tuple[str, dict[str, Any]]]:
    """(path of the recording, "archive!/member" for one in an archive; its count) for every recording with a count."""
    oracle = FOLDER / "oracle" / "kineto"
    for path in sorted([*oracle.rglob("*.count.json"), *oracle.rglob("*.count.json.gz")]):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            count = json.load(file)
        if "file" in count:
            yield str(FOLDER / count["file"]), count


def hta(path: str) -> dict[str, Any] | None:
    """HolisticTraceAnalysis 0.6.1's answers about the recording at `path` (as counts() gives it), unrounded where there
    are such; None: none recorded."""
    stem = FOLDER / "oracle" / "kineto" / Path(path).relative_to(FOLDER / "kineto")
    for ending in (".hta-0.6.1-norounding.json", ".hta-0.6.1.json"):
        answers = stem.with_name(stem.name + ending)
        if answers.exists():
            found: dict[str, Any] = json.loads(answers.read_text(encoding="utf-8"))
            return found
    return None
