#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless tune storage` on small trainings whose samples cost most in reading, in decoding, or in the rest.

usage: tune_storage_test.py PROGRAM [--ci] [--only PATTERN...]

Decoding is numpy's, which PyTorch's Python has. Images are tested where PIL can be imported there. The copies must be gone and the files
unchanged after each case, and after Ctrl-C.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import cases
from agent_test import find_python

PROGRAM = ""
PYTHON = ""
WAITS_S = 60  # a busy machine is no fault of the program
MEMORY = Path("/dev/shm")

# usage: train.py FOLDER KIND WORKERS
TRAIN = """
import os, sys
import numpy, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
folder, kind, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))

class Files(Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        path = paths[index % len(paths)]
        if kind == "text":
            return torch.from_numpy(numpy.loadtxt(path)).float().reshape(-1)[:16]
        if kind == "image":
            from PIL import Image
            with Image.open(path) as image:
                return torch.from_numpy(numpy.asarray(image.convert("RGB")).reshape(-1)[:16].astype("float32"))
        if kind == "array":
            return torch.from_numpy(numpy.load(path, mmap_mode="r")[index % 64][:16].copy()).float()
        if kind == "large":  # without a decoder
            with open(path, "rb") as file:
                return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8)[-16:].astype("float32"))
        values = torch.from_numpy(numpy.load(path).reshape(-1)[:16].copy()).float()
        if kind == "work":
            for _ in range(300):
                values = torch.sin(values)
        return values

class Made(Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        return torch.ones(16)

class Stream(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.ones(16)

data = {"made": Made, "stream": Stream}.get(kind, Files)()
net = torch.nn.Linear(16, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
for step, batch in enumerate(DataLoader(data, batch_size=4, num_workers=workers)):
    optimizer.zero_grad()
    net(batch).square().mean().backward()
    optimizer.step()
    if step == 400:
        break
"""

# usage: make.py FOLDER KIND
MAKE = """
import os, sys
import numpy
folder, kind = sys.argv[1], sys.argv[2]
random = numpy.random.default_rng(1)
for number in range(1 if kind == "array" else 16):
    path = os.path.join(folder, f"{number:03d}")
    if kind == "text":
        numpy.savetxt(path + ".txt", random.random((60, 16)))
    elif kind == "image":
        from PIL import Image
        pixels = numpy.kron(random.integers(0, 255, (40, 40, 3)), numpy.ones((8, 8, 1))).astype("uint8")
        Image.fromarray(pixels).save(path + (".jpg" if number % 2 else ".png"))
    else:
        numpy.save(path + ".npy", random.random({"large": (512, 512), "array": (64, 4096)}.get(kind, (4, 4))))
"""


def copies_in_memory() -> set[str]:
    return {path.name for path in MEMORY.glob("gapless-*")} if MEMORY.is_dir() else set()


class TuneStorage(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gapless-storage-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("data", "temporary", "home"):
            (self.folder / name).mkdir()
        (self.folder / "train.py").write_text(TRAIN)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GAPLESS")}
        self.environment |= {"TMPDIR": str(self.folder / "temporary"), "HOME": str(self.folder / "home")}
        self.before = copies_in_memory()

    def make(self, kind: str) -> None:
        subprocess.run([PYTHON, "-c", MAKE, str(self.folder / "data"), kind], check=True)
        self.known = self.files()

    def files(self) -> dict[str, tuple[str, int]]:
        return {
            path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
            for path in (self.folder / "data").iterdir()
        }

    def words(self, kind: str, workers: int, *options: str) -> list[str]:
        train = [PYTHON, "train.py", str(self.folder / "data"), kind, str(workers)]
        return [PROGRAM, "tune", "storage", "--steps", "20", *options, "--", *train]

    def run_it(self, kind: str, workers: int, *options: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.words(kind, workers, *options), cwd=self.folder, env=self.environment, text=True, capture_output=True,
            timeout=300, check=False,
        )  # fmt: skip
        self.assert_nothing_left()
        return done

    def tune(self, kind: str, workers: int = 0) -> dict[str, Any]:
        self.make(kind)
        done = self.run_it(kind, workers, "--rounds", "7", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), self.known, "the files of the program are only read")
        answer: dict[str, Any] = json.loads(done.stdout)
        sample = answer["sample"]
        self.assertAlmostEqual(
            sample["read_us"] + sample["decode_us"] + sample["rest_us"], sample["total_us"], delta=0.01
        )
        self.assertEqual(answer["workers"], workers)
        self.assertEqual(answer["rounds"], 7)
        return answer

    def assert_nothing_left(self) -> None:
        self.assertEqual(copies_in_memory() - self.before, set())
        left = list((self.folder / "temporary").glob("gapless-*"))  # PyTorch leaves something of its own there
        self.assertEqual(left, [])

    def share(self, answer: dict[str, Any], part: str) -> float:
        return float(answer["sample"][part] / answer["sample"]["total_us"])

    def way(self, answer: dict[str, Any], name: str, cold: bool = False) -> dict[str, Any]:
        found: list[dict[str, Any]] = [way for way in answer["ways"] if way["name"] == name and way["cold"] is cold]
        self.assertEqual(len(found), 1, answer["ways"])
        return found[0]

    def test_large_files(self) -> None:
        answer = self.tune("large")
        self.assertGreater(self.share(answer, "read_us"), 0.3, answer["sample"])
        self.assertNotIn("decoder", answer["sample"])
        self.assertEqual(answer["sample"]["file_bytes"], 512 * 512 * 8 + 128)
        self.assertEqual((answer["files"], answer["images"]), (16, 0))
        self.assertEqual(answer["bytes"], 16 * (512 * 512 * 8 + 128))
        for name in ("files", "tar in order", "tar shuffled"):
            self.assertGreater(self.way(answer, name)["samples_per_second"], 0)
        cold = self.way(answer, "files", cold=True)
        self.assertTrue(cold.get("reason") or cold["from_storage_share"] >= 0.5, cold)
        for name, package in (("lmdb", "lmdb"), ("hdf5", "h5py")):
            way = self.way(answer, name)
            self.assertTrue("samples_per_second" in way or package in way["reason"], way)
        self.assertIn("no sampled file is a JPEG or a PNG", self.way(answer, "PIL")["reason"])
        self.assertIn("reading is ", answer["conclusion"])
        self.assertIn("no call of a decoder that is known was seen", answer["conclusion"])

    def test_decoding_in_workers(self) -> None:
        answer = self.tune("text", workers=2)
        self.assertGreater(self.share(answer, "decode_us"), 0.6, answer["sample"])
        self.assertLess(self.share(answer, "read_us"), 0.4)
        self.assertIn("decoding (numpy) is ", answer["conclusion"])
        self.assertIn("no other decoder of such files is known", answer["conclusion"])

    def test_work_beside(self) -> None:
        answer = self.tune("work")
        self.assertGreater(self.share(answer, "rest_us"), 0.5, answer["sample"])

    def test_images(self) -> None:
        if subprocess.run([PYTHON, "-c", "import PIL"], check=False, capture_output=True).returncode != 0:
            self.skipTest("PIL cannot be imported")
        answer = self.tune("image")
        self.assertEqual(answer["sample"]["decoder"], "PIL")
        self.assertGreater(self.share(answer, "decode_us"), 0.5, answer["sample"])
        self.assertEqual(answer["images"], 16)
        own = self.way(answer, "PIL")
        self.assertEqual(own["largest_pixel_difference"], 0)
        self.assertIn("it does not decode all", self.way(answer, "simplejpeg").get("reason", ""))

    def test_prints_tables(self) -> None:
        self.make("text")
        done = self.run_it("text", 0, "--rounds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("a sample now", "tar in order", "steps wait", "copies are gone", "not measured"):
            self.assertIn(words, done.stdout)

    def test_nothing_to_tune(self) -> None:
        cases_: dict[str, str] = {"made": "none opened a file", "stream": "Stream is a stream", "array": "small parts"}
        for kind, words in cases_.items():
            with self.subTest(kind):
                shutil.rmtree(self.folder / "data")
                (self.folder / "data").mkdir()
                self.make(kind)
                done = self.run_it(kind, 0)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("there is no storage of samples to tune", done.stderr)
                self.assertIn(words, done.stderr)
                self.assertIn("hint: ", done.stderr)

    @cases.in_ci
    def test_nothing_is_left_after_a_signal(self) -> None:
        self.make("large")
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                process = subprocess.Popen(
                    self.words("large", 1, "--rounds", "1000"), cwd=self.folder, env=self.environment, text=True, start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                )  # fmt: skip
                self.addCleanup(process.kill)
                until = time.monotonic() + WAITS_S
                while not self.copied() and time.monotonic() < until and process.poll() is None:
                    time.sleep(0.01)
                self.assertTrue(self.copied(), "no copy was made")
                process.send_signal(number)
                process.communicate(timeout=WAITS_S)
                self.assertEqual(process.returncode, 128 + number)
                self.assert_nothing_left()
                self.assertEqual(self.files(), self.known)

    def copied(self) -> bool:
        """Are copies being measured?"""
        return any((self.folder / "temporary").glob("gapless-*/copies/*"))


def main() -> int:
    global PROGRAM, PYTHON
    PROGRAM = str(Path(sys.argv[1]).resolve())
    PYTHON, problem = find_python("newest")
    if problem:
        print("skipped:", problem)
        return 77
    return cases.main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
