# SPDX-License-Identifier: Apache-2.0
"""How often is the decision of docs/parity.md wrong? Ten trainings, harmless and harmful changes, by seed.

usage: campaign.py PROBE [--seeds 0 1 2] [--steps 20] [--trainings NAME...] [--changes NAME...] [--jobs 2] [--out FILE]
       campaign.py --table FILE...

PROBE is parity_probe; the Python that runs this needs PyTorch. torch is imported once and each run is a fork, so the 3,000 runs of three
seeds take about half an hour on two cores. FILE has one line of JSON for each case; the table counts them.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
AGENT = HERE.parents[1] / "python" / "gapless" / "agent"
NOISES = {"near": 2.0**-20, "fine": 2.0**-11, "coarse": 2.0**-9}
BF16_ALSO = (
    "fused",
    "foreach",
    "checkpoint",
    "accumulate",
    "rows",
    "sdpa",
    "channels_last",
    "workers",
)  # with bf16 too
SLOWEST_FIRST = ("gpt", "vit", "lstm", "conv", "finetune", "dlrm", "mlp", "vae", "gan", "regression")
COMPILED = ("mlp", "vit")  # compiling takes 20 s and more


class Unit:
    """The runs of one training with one seed."""

    def __init__(self, name: str, seed: int, steps: int, folder: Path) -> None:
        self.name, self.seed, self.steps, self.folder = name, seed, steps, folder

    def parity(self, role: str, place: str, **more: Any) -> dict[str, Any]:
        given = {"role": role, "folder": str(self.folder / place), "steps": self.steps, **more}
        return {**given, "baseline": str(self.folder / "baseline")} if role != "baseline" else given

    def run(self, changes: tuple[str, ...], parity: dict[str, Any] | None) -> dict[str, Any] | None:
        """Runs the training in a child. Returns None if a change does not apply, and the error where it fails."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._in_child(changes, parity, writer)
        os.close(writer)
        with os.fdopen(reader) as file:
            said = file.read()
        os.waitpid(child, 0)
        result: dict[str, Any] | None = json.loads(said) if said else {"error": "the process died"}
        return result

    def _in_child(self, changes: tuple[str, ...], parity: dict[str, Any] | None, writer: int) -> None:
        try:
            import torch
            import train

            with contextlib.redirect_stderr(sys.stdout if os.environ.get("SHOW") else open(os.devnull, "w")):
                if parity is not None:
                    os.environ["GAPLESS_RUN"] = str(self.folder)
                    options = {"record": {"on": False}, "every_loss": True, "parity": parity}
                    os.environ["GAPLESS_OPTIONS"] = json.dumps(options)
                    from gapless_agent import install

                    install.install(torch)
                began = time.perf_counter()
                run = train.train(self.name, self.seed, self.steps, changes)
                seconds = time.perf_counter() - began
            found: dict[str, Any] | None = (
                None if run is None else {"acted": run.acted, "seconds": seconds, "steps": run.steps}
            )
        except BaseException:  # noqa: BLE001  # the parent says so
            found = {"error": traceback.format_exc(limit=-3)}
        os.write(writer, json.dumps(found).encode())
        os._exit(0)

    def baselines(self) -> list[str]:
        """Runs the training unchanged in all roles; returns what PROBE is to know of the runs beside the baseline."""
        words = []

        def record(role: str, place: str, known_as: str, **more: Any) -> None:
            done = self.run((), self.parity(role, place, **more))
            assert done is not None and "error" not in done, done
            assert (self.folder / place / "main" / "events.jsonl").exists(), "nothing was recorded"
            words.append(known_as + str(self.folder / place / "main"))

        record("baseline", "baseline", "")
        for kind, noise in NOISES.items():
            record("probe", f"probe-{kind}", f"probe={noise}:", noise=noise)
            if self.name == "lstm" and kind != "near":
                record("probe", f"wide-{kind}", f"wide={noise}:", noise=noise, wide=True)
        for number in (1, 2, 3):
            record("reseeded", f"reseeded-{number}", "reseeded=", reseed=number)
        return words[1:]


def cases(name: str, wanted: list[str] | None) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yields changes, kind and claim."""
    from changes import CHANGES

    for change in CHANGES.values():
        if wanted is not None and change.name not in wanted or change.name == "compile" and name not in COMPILED:
            continue
        yield (change.name,), change.kind, change.claim
        if change.claim == "fp32" and (change.kind == "harmful" or change.name in BF16_ALSO):
            yield (change.name, "bf16"), change.kind, "bf16"


def judge(probe: str, unit: Unit, wanted: list[str] | None, plain_s: float) -> list[dict[str, Any]]:
    known = unit.baselines()
    found, questions = {}, []
    for number, (changes, kind, claim) in enumerate(cases(unit.name, wanted)):
        place = f"case-{number}"
        done = unit.run(changes, unit.parity("candidate", place))
        if done is None:
            continue
        row = {
            "training": unit.name,
            "seed": unit.seed,
            "steps": unit.steps,
            "changes": changes,
            "kind": kind,
            "claim": claim,
        }
        row.update(done, plain_s=plain_s)
        folder = unit.folder / place / "main"
        found[str(folder)] = row
        if folder.exists():
            questions.append(
                (str(folder), " ".join([claim, str(unit.folder / "baseline" / "main"), str(folder), *known]))
            )
    asked = "".join(question + "\n" for _, question in questions)
    answers = subprocess.run([probe], input=asked, check=True, capture_output=True, text=True).stdout.splitlines()
    for (folder_name, _), answer in zip(questions, answers):
        found[folder_name].update(json.loads(answer))
    return list(found.values())


def work(given: argparse.Namespace, units: list[tuple[str, int]], out: Path) -> None:
    """Does its share of the units; each is written when it is complete."""
    import torch
    import torch._dynamo  # children find it here: the first optimiser imports it, which takes 1.5 s
    import train  # noqa: F401

    sys.path.insert(0, str(AGENT))
    from gapless_agent import install  # noqa: F401
    from gapless_agent.parity import watch  # noqa: F401

    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()  # what is there already is not searched for models
    for name, seed in units:
        folder = Path(tempfile.mkdtemp(prefix=f"parity-{name}-"))
        try:
            unit = Unit(name, seed, given.steps, folder)
            plain = unit.run((), None)
            assert plain is not None and "error" not in plain, plain
            rows = judge(given.probe, unit, given.changes, plain["seconds"])
            with out.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
            print(name, seed, len(rows), flush=True)
        finally:
            if not given.keep:
                shutil.rmtree(folder)
            else:
                print("kept", folder)


def accepted(row: dict[str, Any]) -> bool:
    return row.get("verdict") in ("exact", "rounding")


def counts(row: dict[str, Any]) -> bool:
    """Returns true for a case that the error rates count: what acted, and ran."""
    return "verdict" in row and (row["kind"] == "harmless" or (row["kind"] == "harmful" and row.get("acted", False)))


def keys_of(row: dict[str, Any]) -> list[str]:
    """Returns the lines of the table that count the case."""
    kind, under = row["kind"], "bf16" if row["claim"] == "bf16" else "fp32, tf32, fp16"
    return [
        kind,
        f"{kind}, seed {row['seed']}",
        f"{kind}, {under}",
        f"{kind}, {row['training']}",
        f"{kind}, {row['changes'][0]}",
    ]


def table(files: list[str]) -> None:
    rows = [json.loads(line) for file in files for line in Path(file).read_text().splitlines()]
    cells: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        for key in keys_of(row) if counts(row) or "verdict" in row and row["kind"] == "other" else []:
            cells[key][row["verdict"]] += 1
    for key in sorted(cells):
        cell, count = cells[key], sum(cells[key].values())
        yes = cell["exact"] + cell["rounding"]
        words = ", ".join(f"{verdict} {number}" for verdict, number in sorted(cell.items()))
        print(f"{key:32s} accepted {yes:4d} of {count:4d} ({yes / count:6.1%})   {words}")
    print()
    for row in rows:
        wrong = counts(row) and accepted(row) != (row["kind"] == "harmless")
        if wrong or "verdict" not in row:
            why = row.get("reason") or row.get("error", "nothing was recorded").strip().splitlines()[-1]
            print(f"{row['training']:10s} {row['seed']} {'+'.join(row['changes']):24s} {row.get('test', ''):10s} {why}")
    extra = sorted(
        (row["seconds"] - row["plain_s"]) / row["steps"] * 1e3 for row in rows if row["changes"] == ["nothing"]
    )
    if extra:
        print(
            f"\nrecording takes {extra[len(extra) // 2]:.1f} ms a step ({extra[0]:.1f} to {extra[-1]:.1f}, {len(extra)} runs)"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("probe", nargs="?")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--trainings", nargs="*")
    parser.add_argument("--changes", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="parity.jsonl")
    parser.add_argument("--keep", action="store_true", help="keep the recordings")
    parser.add_argument("--table", nargs="+", metavar="FILE")
    given = parser.parse_args()
    if given.table:
        table(given.table)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, str(HERE))
    names = given.trainings or SLOWEST_FIRST
    units = [(name, seed) for seed in given.seeds for name in names]
    workers = []
    for number in range(given.jobs):
        child = os.fork()
        if child == 0:
            try:
                work(given, units[number :: given.jobs], Path(given.out))
                os._exit(0)
            except BaseException:  # noqa: BLE001  # and the child ends
                traceback.print_exc()
                os._exit(1)
        workers.append(child)
    failed = [child for child in workers if os.waitpid(child, 0)[1] != 0]
    table([given.out])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
