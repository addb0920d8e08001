# SPDX-License-Identifier: Apache-2.0
"""Recordings of our own, for samples/, and whether our collector agrees with PyTorch's profiler and with ncu."""

from __future__ import annotations

import gzip
import shutil
import statistics
from pathlib import Path
from typing import Any

from gpu_parts.session import Failed, OutOfTime, Session, Skipped
from gpu_parts.workloads import STAGES, images, recording, transformer

MAX_BYTES = 8 << 20
SAMPLE = "samples/resnet50_v100.pt.trace.json.gz"
KERNELS = """
SELECT name, count(*) AS launches, sum(dur_ns) AS total_ns FROM gpu_op WHERE kind = 'kernel' GROUP BY name
"""
STEPS = """
SELECT (SELECT count(*) FROM step WHERE complete) AS steps,
       (SELECT count(*) FROM gpu_op WHERE kind = 'kernel' AND step IS NOT NULL) AS in_steps
"""
MEASURED = """
SELECT kernel_name AS name, count(*) AS launches, sum(value) AS total_ns FROM kernel_metric
WHERE metric = 'gpu__time_duration.sum' GROUP BY kernel_name
"""


def wanted(session: Session) -> list[tuple[str, list[str], list[str], float]]:
    """Name, options of gapless profile, command and limit in seconds of each recording, in order of worth."""
    few = ["--steps", "3"]
    rows = [
        ("slow", [*few, "--memory"], images(session), 60.0),
        ("transformer", few, transformer(session), 60.0),
        ("transformer_cupti", [*few, "--cupti"], transformer(session), 60.0),
        ("transformer_ncu", ["--steps", "3", "--with", "ncu", "--launch-count", "1"], transformer(session, 20), 150.0),
        ("all", [*few, "--no-stacks"], images(session, "all"), 90.0),
        ("slow_cupti", [*few, "--cupti"], images(session), 60.0),
    ]
    rows += [
        (stage, [*few, "--no-stacks"], images(session, stage), 90.0) for stage in STAGES if stage not in ("slow", "all")
    ]
    return rows


def record(session: Session) -> dict[str, Any]:
    """The recordings, as many as there is time for, packed until the folder has 8 MiB."""
    figures: dict[str, Any] = {"recordings": {}, "failed": {}}
    taken = 0
    for name, options, command, limit_s in wanted(session):
        if (
            name.endswith("_ncu")
            and not session.plan
            and shutil.which("ncu", path=session.environment.get("PATH")) is None
        ):
            figures["failed"][name] = "ncu is not there"
            continue
        try:
            folder = recording(session, name, command, *options, limit_s=limit_s)
        except OutOfTime:
            session.left.append(name)
            continue
        except Failed as error:
            figures["failed"][name] = str(error)
            continue
        if session.plan:
            continue
        size = pack(Path(folder), session.work / "packed" / name)
        figures["recordings"][name] = {"bytes": size, "kept": taken + size <= MAX_BYTES}
        if taken + size <= MAX_BYTES:
            shutil.copytree(session.work / "packed" / name, session.out / "recordings" / name, dirs_exist_ok=True)
            taken += size
    figures["bytes"] = taken
    if not session.plan and not figures["recordings"]:
        raise Failed("; ".join(figures["failed"].values()) or "there was no time for a recording")
    return figures


def pack(run: Path, to: Path) -> int:
    """Copies a run folder without the tools in it, recordings compressed; returns its size in bytes."""
    size = 0
    for file in sorted(path for path in run.rglob("*") if path.is_file() and not path.is_symlink()):
        inside = file.relative_to(run)
        if inside.parts[0] == "tools" or file.suffix == ".ring":
            continue
        target = to / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".json" and file.stat().st_size > 1 << 16:
            target = target.with_name(target.name + ".gz")
            target.write_bytes(gzip.compress(file.read_bytes(), 9))
        else:
            shutil.copyfile(file, target)
        size += target.stat().st_size
    return size


def agree(session: Session) -> dict[str, Any]:
    """The same training recorded by PyTorch's profiler, by our collector and by ncu: launches a step and durations by kernel."""
    few = ["--steps", "3"]
    if not session.on_gpu and not session.plan:
        found = kernels_of(session, SAMPLE)
        return {"compared": "the sample with itself", "cupti": compare(found, found)}
    kineto = recording(session, "transformer", transformer(session), *few)
    cupti = recording(session, "transformer_cupti", transformer(session), *few, "--cupti")
    reference = kernels_of(session, kineto)
    figures = {"cupti": compare(reference, kernels_of(session, cupti))}
    measured = session.work / "transformer_ncu"
    if session.plan or measured.exists():
        figures["ncu"] = compare(reference, rows_of(session, str(measured), MEASURED), counts=False)
    return figures


Kernels = dict[str, tuple[float, float]]  # by name: launches a step, mean duration in ns


def rows_of(session: Session, path: str, query: str, steps: float = 1) -> Kernels:
    rows = session.ask("query", "--no-cache", path, query) or []
    return {row["name"]: (row["launches"] / steps, row["total_ns"] / row["launches"]) for row in rows}


def kernels_of(session: Session, path: str) -> Kernels:
    """Returns the kernels of complete steps where kernels belong to steps; else of the whole recording, as if it were one step."""
    about = session.ask("query", "--no-cache", path, STEPS) or [{"steps": 0, "in_steps": 0}]
    steps = about[0]["steps"] if about[0]["in_steps"] else 0
    query = KERNELS.replace("GROUP", "AND step IS NOT NULL GROUP") if steps else KERNELS
    found = rows_of(session, path, query, steps or 1)
    if not found and not session.plan:
        raise Skipped(f"{Path(path).name} holds no kernel")
    return found


def compare(reference: Kernels, other: Kernels, counts: bool = True) -> dict[str, Any]:
    """Returns how far two recordings of one training agree."""
    common = sorted(reference.keys() & other.keys())
    figures: dict[str, Any] = {"kernels": len(reference), "kernels_of_both": len(common)}
    if not common:
        return figures
    ratios = [other[name][1] / reference[name][1] for name in common]
    figures["duration_ratio_median"] = statistics.median(ratios)
    figures["duration_ratio_lowest"], figures["duration_ratio_highest"] = min(ratios), max(ratios)
    if counts:
        figures["same_launches_share"] = sum(abs(other[name][0] - reference[name][0]) < 0.5 for name in common) / len(
            common
        )
        figures["launches_a_step"] = [sum(launches for launches, _ in one.values()) for one in (reference, other)]
    return figures
