#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often is the decision of docs/parity.md wrong? Ten trainings, harmless and harmful changes, several seeds.

usage: run.py PROBE [--seeds 0,1,2] [--steps 20] [--only TRAINING,...] [--changes WORDS;...] [--jobs 2] [--folder DIR] [--details]

PROBE is build/release/parity_probe. Runs with the Python that has PyTorch: torch and the agent are loaded once, and each case is a child
that is forked, trains, and records itself. A harmful change counts where it acts within the steps. Prints a table and a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
AGENT = HERE.parents[1] / "python" / "gapless" / "agent"
FINE, COARSE = 2.0**-11, 2.0**-9
OF_ONE_MODEL = ("detached", "checkpoint_norm", "undivided")  # changes that the loop of a GAN has no place for
RECORDED = ("baseline", "fine", "coarse", "wide-fine", "wide-coarse", "repeat", "reseeded1", "reseeded2", "reseeded3")


def begin(folder: Path) -> None:
    """Loads torch under the agent, without a recording."""
    os.environ.update(
        GAPLESS_RUN=str(folder / "run"), GAPLESS_OPTIONS=json.dumps({"record": {"on": False}, "every_loss": True})
    )
    (folder / "run").mkdir(mode=0o700, parents=True, exist_ok=True)
    sys.path.insert(0, str(AGENT))
    import gapless_agent.bootstrap

    gapless_agent.bootstrap.arm()
    import torch

    torch.set_num_threads(1)
    torch._dynamo  # noqa: B018  # what is loaded now is not loaded by every child
    import torch.utils.checkpoint  # noqa: F401


def record(folder: Path, name: str, seed: int, words: str, steps: int, role: str, **more: Any) -> float:
    """In a child: trains once and leaves the recording in `folder`; returns the seconds a step takes."""
    import torch
    from changes import train
    from gapless_agent import install
    from gapless_agent.options import Parity
    from gapless_agent.parity.watch import Watch
    from trainings import build

    torch.manual_seed(1000 + seed)
    training = build(name)
    assert install.running is not None
    watch = Watch(install.running)
    baseline = "" if role == "baseline" else str(folder.parent / "baseline")
    events = steps * (2 if training.judge is not None else 1)
    watch.begin(Parity(role=role, folder=str(folder), baseline=baseline, steps=events, **more))
    began = time.perf_counter()
    train(training, words, steps)
    took = time.perf_counter() - began
    if watch.active:
        watch._end()
    return took / steps


class Children:
    """At most `jobs` cases at once."""

    def __init__(self, jobs: int) -> None:
        self.jobs, self.running = jobs, {}  # type: ignore[var-annotated]
        self.failed: dict[Path, str] = {}

    def start(self, folder: Path, *args: Any, **more: Any) -> None:
        if folder.exists() or folder in self.failed:
            return
        while len(self.running) >= self.jobs:
            self.wait()
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                sys.stderr.flush()
                (folder.parent / (folder.name + ".s")).write_text(str(record(folder, *args, **more)))
                status = 0
            except BaseException as error:
                (folder.parent / (folder.name + ".error")).write_text(f"{type(error).__name__}: {error}")
            finally:
                os._exit(status)
        self.running[child] = folder

    def wait(self) -> None:
        child, status = os.wait()
        folder = self.running.pop(child)
        if status:
            note = folder.parent / (folder.name + ".error")
            self.failed[folder] = note.read_text() if note.exists() else f"status {status}"

    def finish(self) -> None:
        while self.running:
            self.wait()


class Case:
    def __init__(self, folder: Path, name: str, seed: int, words: str, claim: str, harmful: bool) -> None:
        self.group = folder / f"{name}-{seed}"
        self.name, self.seed, self.words, self.claim, self.harmful = name, seed, words, claim, harmful
        self.folder = self.group / words.replace(" ", "+")
        self.answer: dict[str, Any] = {}


class Probe:
    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, case: Case, other: str = "") -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        base = case.group / other if other else case.group / "baseline"
        words = [case.claim, str(base / "main"), str(case.folder / "main")]
        for recorded in RECORDED[1:]:
            path = case.group / recorded / "main"
            if path.exists():
                kind = recorded.rstrip("123")
                noise = COARSE if kind.endswith("coarse") else FINE
                prefix = (
                    kind
                    if kind in ("repeat", "reseeded")
                    else f"{'wide' if kind.startswith('wide') else 'probe'}={noise}:"
                )
                words.append(f"{prefix}={path}" if kind in ("repeat", "reseeded") else f"{prefix}{path}")
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


def cases_of(folder: Path, names: list[str], seeds: list[int], only: list[str]) -> list[Case]:
    from changes import HARMFUL, HARMLESS
    from trainings import build

    found = []
    for name in names:
        tags = build(name).tags
        for seed in seeds:
            for words, needs, lacks, claim in HARMLESS:
                if (not needs or needs in tags or (needs == "blocks" and name == "mlp")) and not tags & set(
                    lacks.split()
                ):
                    found.append(Case(folder, name, seed, words, claim, False))
            for words, needs, _ in HARMFUL:
                if (not needs or needs in tags) and not (name == "gan" and words in OF_ONE_MODEL):
                    found.append(Case(folder, name, seed, words, "fp32", True))
                    found.append(Case(folder, name, seed, "bf16 " + words, "bf16", True))
    return [case for case in found if not only or case.words in only]


def run_needs(children: Children, cases: list[Case], steps: int) -> None:
    """The runs of the baseline that the answers ask for."""
    for case in cases:
        need, noise = case.answer.get("need"), case.answer.get("need_noise", 0)
        size = "coarse" if noise == COARSE else "fine"
        if need == 1:
            children.start(case.group / size, case.name, case.seed, "nothing", steps, "probe", noise=noise)
        elif need == 2:
            children.start(
                case.group / f"wide-{size}", case.name, case.seed, "nothing", steps, "probe", noise=noise, wide=True
            )
        elif need == 3:
            children.start(case.group / "repeat", case.name, case.seed, "nothing", steps, "repeat")
        elif need == 4:
            for number in (1, 2, 3):
                children.start(
                    case.group / f"reseeded{number}", case.name, case.seed, "nothing", steps, "reseeded", reseed=number
                )
    children.finish()


def decide(probe: Probe, children: Children, cases: list[Case], steps: int) -> None:
    for case in cases:
        case.answer = probe.ask(case)
    for _ in range(4):
        open_cases = [case for case in cases if case.answer.get("need")]
        if not open_cases:
            return
        run_needs(children, open_cases, steps)
        for case in open_cases:
            case.answer = probe.ask(case)


def acts(probe: Probe, case: Case) -> bool:
    """A harmful change that leaves every number as it is has not begun to act."""
    answer = probe.ask(case, "bf16" if case.words.startswith("bf16 ") else "")
    return answer["verdict"] != "exact"


ACCEPTED = ("exact", "rounding")


def table(cases: list[Case], details: bool) -> dict[str, Any]:
    rates: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    wrong = []
    for case in cases:
        accepted = case.answer["verdict"] in ACCEPTED
        kind = "harmful" if case.harmful else "harmless"
        for key in (kind, f"{kind}, seed {case.seed}", f"{kind}, {case.claim}", f"{kind}, {case.name}"):
            rates[key][0] += accepted
            rates[key][1] += 1
        if accepted == case.harmful or details:
            wrong.append(
                f"  {kind:9} {case.name:11} seed {case.seed}  {case.words:22} {case.answer['verdict']}: {case.answer['reason']}"
            )
    for key in sorted(rates):
        accepted, of = rates[key]
        print(f"{key:24} accepted {accepted:4} of {of:4}  {100 * accepted / of:5.1f} %")
    print("\n".join(wrong))
    return {key: value for key, value in rates.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probe")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--changes", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", default="")
    parser.add_argument("--details", action="store_true")
    given = parser.parse_args()
    folder = Path(given.folder or tempfile.mkdtemp(prefix="gapless-parity-"))
    folder.mkdir(parents=True, exist_ok=True)
    begin(folder)
    sys.path.insert(0, str(HERE))
    from trainings import NAMES

    names = given.only.split(",") if given.only else list(NAMES)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    only = given.changes.split(";") if given.changes else []
    cases = cases_of(folder, names, seeds, only)
    children = Children(given.jobs)
    for name in names:
        for seed in seeds:
            children.start(folder / f"{name}-{seed}" / "baseline", name, seed, "nothing", given.steps, "baseline")
    children.finish()
    for index, case in enumerate(cases):
        children.start(case.folder, case.name, case.seed, case.words, given.steps, "candidate")
        if case.harmful and only and case.words.startswith("bf16 "):
            children.start(case.group / "bf16", case.name, case.seed, "bf16", given.steps, "candidate")
        if index % 100 == 0:
            print(f"{index} of {len(cases)}", file=sys.stderr, flush=True)
    children.finish()
    for path, why in children.failed.items():
        print(f"  failed: {path.parent.name} {path.name}: {why}")
    probe = Probe(given.probe)
    cases = [case for case in cases if case.folder not in children.failed]
    cases = [case for case in cases if not case.harmful or acts(probe, case)]
    decide(probe, children, cases, given.steps)
    rates = table(cases, given.details)
    print(json.dumps({"steps": given.steps, "seeds": seeds, "rates": rates}))
    if not given.folder:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
