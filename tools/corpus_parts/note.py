# SPDX-License-Identifier: Apache-2.0
"""Writes into a truth what was found out about its recording: the full commit, checksum, size and licence."""

from __future__ import annotations

from pathlib import Path

from .recording import Recording, checksum


def note(truth: Path, recording: Recording, file: Path, commit: str, licence: str) -> None:
    """`file` is the recording, which came from `commit`. Keys that are there stay, but for the commit."""
    found = {"commit": f'"{commit}"', "sha256": f'"{checksum(file)}"', "bytes": str(file.stat().st_size)}
    if licence:
        found["licence"] = f'"{licence}"'
    if recording.sha256:
        del found["sha256"]
    start, truth_key, rest = truth.read_text(encoding="utf-8").partition("truth =")
    lines = start.splitlines()
    for key, value in found.items():
        line = f"{key} = {value}"
        at = next((at for at, other in enumerate(lines) if other.startswith(f"{key} =")), None)
        if at is None:
            at = next((at for at, other in enumerate(lines) if other.startswith("corpus =")), len(lines))
            lines.insert(at, line)
        else:
            lines[at] = line
    truth.write_text("\n".join(lines) + "\n" + truth_key + rest, encoding="utf-8")
