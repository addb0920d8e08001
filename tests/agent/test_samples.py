# SPDX-License-Identifier: Apache-2.0
"""Samples one by one: their files, their decoder and the parts of their time, in the process itself and in workers."""

from __future__ import annotations

import json
from typing import Any

from cases import in_ci
from harness import AgentTest

# `tifffile` stands for any decoder: a module of that name, whose function reads the file that it is given.
START = """
    import os, sys, time, types
    import torch
    from torch.utils.data import DataLoader, Dataset
    library = types.ModuleType("tifffile")
    def imread(source):
        if isinstance(source, str):
            with open(source, "rb") as file:
                source = file.read()
        time.sleep(0.02)
        return len(source)
    library.imread = imread
    sys.modules["tifffile"] = library
    from tifffile import imread as decoder
    folder = os.getcwd() + "/data"
    os.mkdir(folder)
    for number in range(4):
        with open(f"{folder}/{number}.bin", "wb") as file:
            file.write(bytes(5000 + number))
    def train(dataset, workers=0, steps=6):
        net = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step, batch in enumerate(DataLoader(dataset, batch_size=2, num_workers=workers)):
            optimizer.zero_grad()
            net(batch).square().mean().backward()
            optimizer.step()
            if step == steps - 1:
                break
    class Data(Dataset):
        def __len__(self): return 1000
        def __getitem__(self, index):
            self.load(f"{folder}/{index % 4}.bin")
            return torch.rand(4)
"""


class Samples(AgentTest):
    def notes(self, text: str, files: int = 1) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The samples, and the last counts of each process."""
        done = self.succeed(START + text, options={"record": {"on": False}, "watch_samples": True})
        for ring in done.rings():
            self.assertEqual([ring.text(message.a) for message in ring.of("message")], [])
        samples, counts = [], []
        paths = done.files("*/samples-*.jsonl")
        self.assertEqual(len(paths), files)
        for path in paths:
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            samples += [line for line in lines if "files" in line]
            counts.append([line for line in lines if "seen" in line][-1])
        for sample in samples:
            self.assertEqual(sample["read_ns"] + sample["decode_ns"] + sample["rest_ns"], sample["total_ns"])
        return samples, counts

    def names(self, samples: list[dict[str, Any]]) -> set[tuple[str, int]]:
        return {(file["path"].rpartition("/")[2], file["bytes"]) for sample in samples for file in sample["files"]}

    @in_ci
    def test_a_decoder_that_reads(self) -> None:
        """Its name was imported before. It takes 20 ms, all else little."""
        samples, counts = self.notes(
            """
    class Own(Data):
        def load(self, path):
            decoder(path)
            open(__file__).close()  # no data
    train(Own())
"""
        )
        self.assertEqual(len(samples), 10, "the first batch is not watched")
        self.assertEqual(self.names(samples), {(f"{number}.bin", 5000 + number) for number in range(4)})
        for sample in samples:
            self.assertEqual(list(sample["decoders"]), ["tifffile"])
            self.assertGreaterEqual(sample["decoders"]["tifffile"], 20e6)
            self.assertGreaterEqual(sample["decode_ns"] + sample["read_ns"], 20e6)
            self.assertGreater(sample["decode_ns"], sample["rest_ns"])
        self.assertEqual(
            {name: counts[0][name] for name in ("seen", "parts", "without_files", "too_large")},
            {"seen": 10, "parts": 0, "without_files": 0, "too_large": 0},
        )

    def test_bytes_and_work_beside(self) -> None:
        """The program reads, the decoder gets bytes; 20 ms of work beside."""
        samples, _ = self.notes(
            """
    class Own(Data):
        def load(self, path):
            with open(path, "rb") as file:
                library.imread(file.read())
            time.sleep(0.02)
    train(Own())
"""
        )
        for sample in samples:
            self.assertGreaterEqual(sample["decode_ns"], 19.9e6)
            self.assertGreaterEqual(sample["rest_ns"] + sample["read_ns"], 19.9e6)
            self.assertGreaterEqual(sample["total_ns"], 40e6)

    def test_a_decoder_that_maps(self) -> None:
        """The system counts no bytes that were read; the file is the sample's all the same."""
        samples, _ = self.notes(
            """
    import mmap
    maps = types.ModuleType("torchvision.io.image")
    def read_image(path):
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as bytes_:
            return len(bytes(bytes_))
    maps.read_image = read_image
    sys.modules["torchvision.io.image"] = maps
    class Own(Data):
        def load(self, path):
            maps.read_image(path)
    train(Own())
"""
        )
        self.assertEqual(len(samples), 10)
        self.assertEqual(self.names(samples), {(f"{number}.bin", 5000 + number) for number in range(4)})

    def test_workers(self) -> None:
        samples, counts = self.notes(
            """
    class Own(Data):
        def load(self, path): decoder(path)
    train(Own(), workers=2, steps=8)
""",
            files=2,
        )
        self.assertEqual(sum(count["seen"] for count in counts), len(samples))
        self.assertGreaterEqual(len(samples), 8)

    def test_what_is_not_kept(self) -> None:
        for load, name in (("pass", "without_files"), ("open(path, 'rb', 0).read(100)", "parts")):
            with self.subTest(name):
                self.setUp()
                samples, counts = self.notes(
                    f"""
    class Own(Data):
        def load(self, path): {load}
    train(Own())
"""
                )
                self.assertEqual(samples, [])
                self.assertEqual(counts[0][name], counts[0]["seen"])
                self.assertGreater(counts[0]["seen"], 0)

    def test_whole_batches(self) -> None:
        """A dataset that is asked for all samples of a batch at once is one call."""
        samples, _ = self.notes(
            """
    class Own(Data):
        def load(self, path): open(path, "rb").read()
        def __getitems__(self, indices): return [self[index] for index in indices]
    train(Own())
"""
        )
        self.assertEqual({sample["samples"] for sample in samples}, {2})
        self.assertEqual({len(sample["files"]) for sample in samples}, {2})

    def test_errors_are_the_programs_own(self) -> None:
        """The traceback has no line of ours, and the dataset is no longer watched."""
        done = self.execute(
            self.script(
                START
                + """
    import traceback
    class Own(Data):
        def load(self, path):
            if path.endswith("3.bin"): raise ValueError("planted")
    data = Own()
    loader = iter(DataLoader(data, batch_size=2))
    next(loader)
    try:
        next(loader)
    except ValueError:
        print("gapless_agent" in traceback.format_exc(), type(loader._dataset_fetcher.dataset).__name__.startswith("Watched"))
"""
            ),
            options={"record": {"on": False}, "watch_samples": True},
        )
        self.assertEqual((done.code, done.out.split()), (0, ["False", "False"]), done.err)

    def test_off_unless_asked_for(self) -> None:
        done = self.succeed(
            START
            + """
    class Own(Data):
        def load(self, path): decoder(path)
    train(Own())
""",
            options={"record": {"on": False}},
        )
        self.assertEqual(done.files("*/samples-*"), [])
