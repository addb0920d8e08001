# SPDX-License-Identifier: Apache-2.0
"""The trainings that the parts run: as large as a GPU deserves, or small for the stand-ins on a CPU."""

from __future__ import annotations

from gpu_parts.session import Session

LAB = "examples/lab"
STAGES = {
    "slow": "slow_train.py",
    "loader": "stage1_loader.py",
    "precision": "stage2_precision.py",
    "layout": "stage3_layout.py",
    "compile": "stage4_compile.py",
    "all": "stage5_all.py",
}
SMALL_IMAGES = ["--size", "32", "--batch", "8"]
SMALL_GPT = ["--width", "64", "--layers", "2", "--length", "32", "--batch", "4"]


def images(session: Session, stage: str = "slow", steps: int = 40) -> list[str]:
    """The slow script of the lab, or one of its stages."""
    size = [] if session.on_gpu else SMALL_IMAGES
    return [
        session.python,
        f"{LAB}/{STAGES[stage]}",
        *size,
        "--steps",
        str(steps if session.on_gpu else min(steps, 60)),
    ]


def transformer(session: Session, steps: int = 120) -> list[str]:
    size = [] if session.on_gpu else SMALL_GPT
    return [session.python, f"{LAB}/transformer.py", *size, "--steps", str(steps if session.on_gpu else min(steps, 30))]


def recording(session: Session, name: str, command: list[str], *options: str, limit_s: float = 90) -> str:
    """Records a command with gapless profile, once in a call; returns the run folder."""
    key = (*options, *command)
    if key not in session.recorded:
        folder = session.work / name
        session.ask("profile", "-o", str(folder), *options, "--", *command, limit_s=limit_s, least_s=5)
        session.recorded[key] = folder
    return str(session.recorded[key])
