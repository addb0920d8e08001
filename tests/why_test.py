#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless why` and `gapless diff`: the planted change of two recordings is named first, and the parts add up to the nanosecond.

usage: why_test.py PROGRAM [--ci] [--only PATTERN...]    with --ci every third pair, and no training

Real trainings need a Python that has PyTorch, as collect_test.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cases
from corpus import ROOT
from why_pairs import Pair, pairs

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
PYTHON = Path(os.environ.get("GAPLESS_TORCH", ROOT / "build/torch/bin/python"))
RANKS = ROOT / "tests/data/two_ranks"
WANTED = 0.95
LEDGER_BYTES = 4096
LIMIT = 300

# A small training whose figures the case gives: one of them is what differs.
TRAINING = """
import time, torch
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(1); torch.set_num_threads(1)
LOAD, THINK, DEPTH, EXTRA = {load}, {think}, {depth}, {extra}
class Data(Dataset):
    def __len__(self): return 480
    def __getitem__(self, index):
        time.sleep(LOAD)
        return torch.rand(256), index % 10
def think():
    time.sleep(THINK)
layers = [torch.nn.Linear(256, 256) for _ in range(DEPTH)]
model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for inputs, labels in DataLoader(Data(), batch_size=16):
    output = model(inputs)
    if EXTRA: output = output + torch.linalg.matrix_exp(torch.rand(180, 180)).mean()
    loss = torch.nn.functional.cross_entropy(output, labels)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    think()
"""
PLAIN = {"load": 0.0, "think": 0.0, "depth": 4, "extra": 0}


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.database = f"sqlite:{self.folder}/history.db"

    def gapless(self, *words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "XDG_DATA_HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [str(PROGRAM), *map(str, words)], cwd=self.folder, env=environment, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout[-300:]}{done.stderr[-500:]}")
        return done

    def why(self, *words: object) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.gapless("why", "--json", "--no-cache", *words).stdout)
        self.check_sums(document)
        return document

    def check_sums(self, document: dict[str, Any]) -> None:
        self.assertEqual(document["b"]["step_ns"] - document["a"]["step_ns"], document["difference_ns"])
        self.assertEqual(sum(cause["ns"] for cause in document["causes"]), document["difference_ns"])
        for cause in document["causes"]:
            self.assertEqual(sum(row["ns"] for row in cause["rows"]), cause["ns"], cause["id"])

    def written(self, pair: Pair, number: int = 0) -> tuple[Path, Path]:
        folders = self.folder / f"{number}a", self.folder / f"{number}b"
        for is_b, folder in enumerate(folders):
            pair.write(folder, f"{number} {pair.name}", bool(is_b))
        return folders

    def pair_of(self, name: str) -> Pair:
        (found,) = [pair for pair in pairs() if pair.name == name]
        return found


class Planted(Case):
    """The change that was planted comes first."""

    def judge(self, numbered: tuple[int, Pair]) -> str:
        """The problem of the answer; "": none."""
        number, pair = numbered
        document = self.why(*self.written(pair, number))
        first = document["causes"][0]
        grows = document["difference_ns"] > 0
        print(f"{pair.name:52} {document['difference_ns'] / 1e6:+8.3f} ms  {first['id']} {first['ns'] / 1e6:+.3f} ms")
        if first["id"] not in pair.first:
            return f"{pair.name}: first is {first['id']}: {document['sentence']}"
        return "" if grows == pair.grows == (first["ns"] > 0) else f"{pair.name}: wrong sign: {document['sentence']}"

    def judge_all(self, every: int) -> None:
        chosen = list(enumerate(pairs()))[::every]
        with ThreadPoolExecutor(2) as pool:
            wrong = [said for said in pool.map(self.judge, chosen) if said]
        self.assertLessEqual(len(wrong), (1 - WANTED) * len(chosen), "\n".join(wrong))

    @cases.in_ci
    def test_every_third(self) -> None:
        self.judge_all(3)

    def test_all(self) -> None:
        self.assertGreaterEqual(len(pairs()), 30)
        self.judge_all(1)


class Answers(Case):
    @cases.in_ci
    def test_a_recording_does_not_differ_from_itself(self) -> None:
        document = self.why(RANKS, RANKS)
        self.assertEqual((document["difference_ns"], document["causes"]), (0, []))

    @cases.in_ci
    def test_the_step_is_that_of_analyze(self) -> None:
        a, b = self.written(self.pair_of("dropout"))
        document = self.why(a, b)
        for side, folder in (("a", a), ("b", b)):
            run = json.loads(self.gapless("analyze", "--json", "--no-cache", folder).stdout)
            self.assertEqual(document[side]["median_step_ns"], run["run"]["step_ns"]["median"])
            walls = sum(device["wall_ns"] for device in run["breakdown"])
            self.assertEqual(document[side]["step_ns"], round(walls / document[side]["steps"]))

    @cases.in_ci
    def test_records_of_the_history_are_compared(self) -> None:
        """A ledger has at most 4 KiB, names the same cause, and an older record says that it has none."""
        a, b = self.written(self.pair_of("a kernel takes half as long again"))
        for folder in (a, b):
            self.gapless("history", "record", folder, "--db", self.database)
        self.gapless("history", "record", "--metric", "x=1", "--db", self.database)
        full, stored = self.why(a, b), self.why("1", "2", "--db", self.database)
        self.assertEqual(stored["difference_ns"], full["difference_ns"])
        self.assertEqual(stored["causes"][0]["id"], full["causes"][0]["id"])
        self.assertEqual(self.why("1", b, "--db", self.database)["difference_ns"], full["difference_ns"])
        done = self.gapless("why", "1", "3", "--db", self.database, status=3)
        self.assertIn("record 3 keeps no ledger", done.stderr)
        done = self.gapless("why", "1", "4", "--db", self.database, status=3)
        self.assertIn("no record 4", done.stderr)
        self.gapless("history", "export", "all.jsonl", "--db", self.database)
        lines = [json.loads(line) for line in (self.folder / "all.jsonl").read_text(encoding="utf-8").splitlines()]
        sizes = [len(line["ledger"].encode()) for line in lines if "ledger" in line]
        self.assertEqual(len(sizes), 2)
        self.assertLessEqual(max(sizes), LEDGER_BYTES)

    @cases.in_ci
    def test_every_form_has_the_sentence(self) -> None:
        a, b = self.written(self.pair_of("dropout"))
        sentence = self.why(a, b)["sentence"]
        self.assertIn("aten::native_dropout", sentence)
        text = self.gapless("why", a, b).stdout
        self.assertIn(sentence, " ".join(text.split()))
        self.assertLessEqual(max(len(line) for line in text.splitlines() if str(self.folder) not in line), 80)
        self.gapless("why", a, b, "-o", "why.html")
        page = (self.folder / "why.html").read_text(encoding="utf-8")
        self.assertIn("<svg", page)
        self.assertNotIn("http", page.replace("http://www.w3.org/2000/svg", ""))
        self.gapless("why", a, b, "-o", "why.md")
        self.assertTrue((self.folder / "why/why.svg").exists())
        self.assertIn("new operators", (self.folder / "why.md").read_text(encoding="utf-8"))
        self.gapless("why", a, b, "-o", "why.txt", status=2)

    @cases.in_ci
    def test_diff_lists_what_is_new(self) -> None:
        a, b = self.written(self.pair_of("dropout"))
        document = json.loads(self.gapless("diff", "--json", "--no-cache", a, b).stdout)
        (operator,) = [row for row in document["operators"] if row["name"] == "aten::native_dropout"]
        self.assertEqual((operator["presence"], operator["a_calls"], operator["b_calls"]), ("only_b", 0, 24))
        (kernel,) = [row for row in document["kernels"] if "dropout" in row["name"]]
        self.assertEqual((kernel["presence"], kernel["path"]), ("only_b", "aten::native_dropout"))
        self.assertIn("fused_dropout_kernel_vec", self.gapless("diff", a, b).stdout)

    @cases.in_ci
    def test_what_cannot_be_compared_says_why(self) -> None:
        a, _ = self.written(self.pair_of("dropout"))
        done = self.gapless("why", a, ROOT / "tests/data/cpu_only.json", status=3)
        self.assertIn("did work on a GPU", done.stderr)
        self.gapless("why", a, status=2)
        self.gapless("why", a, self.folder / "missing", status=3)

    @cases.in_ci
    def test_python_has_the_same(self) -> None:
        a, b = self.written(self.pair_of("dropout"))
        os.environ["GAPLESS_PROGRAM"] = str(PROGRAM)
        sys.path.insert(0, str(ROOT / "python"))
        import gapless

        found, document = gapless.why(a, b), self.why(a, b)
        self.assertEqual(found.document, document)
        self.assertEqual(sum(cause.ns for cause in found.causes), found.difference_ns)
        self.assertEqual(str(found), document["sentence"])
        self.assertTrue(gapless.diff(a, b)["kernels"])


@unittest.skipUnless(PYTHON.exists(), "no Python with PyTorch")
class Trainings(Case):
    """Real trainings on the processor with one change."""

    def record(self, name: str, **changes: object) -> str:
        script = self.folder / "train.py"
        script.write_text(TRAINING.format(**{**PLAIN, **changes}), encoding="utf-8")
        self.gapless("profile", "-q", "-o", name, "--", PYTHON, script)
        return name

    def check(self, first: str, row: str, **changes: object) -> None:
        document = self.why(self.record("a"), self.record("b", **changes))
        print(f"{first:16} {document['sentence']}")
        self.assertGreater(document["difference_ns"], 0)
        self.assertEqual(document["causes"][0]["id"], first, document["sentence"])
        self.assertIn(row, json.dumps(document["causes"][0]["rows"][:3]))

    def test_slower_loading(self) -> None:
        self.check("loader", "sleep", load=0.002)

    def test_python_that_waits(self) -> None:
        self.check("host", "sleep", think=0.02)

    def test_more_layers(self) -> None:
        self.check("operator_count", "aten::linear", depth=40)

    def test_a_new_operator(self) -> None:
        self.check("operators", "aten::linalg_matrix_exp", extra=1)


if __name__ == "__main__":
    sys.exit(cases.main(sys.argv[2:]))
