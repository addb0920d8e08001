# SPDX-License-Identifier: Apache-2.0
"""The fix `cache`: what a dataset loads comes from memory the next time, if it is the same each time, and the training stays bit by bit."""

from __future__ import annotations

from cases import in_ci
from harness import AGENT, Ring
from test_fixes import REFUSED, FixTest, latest, losses, of

SAMPLES = """
    import os, random, sys, time
    import numpy, torch
    from torch.utils.data import DataLoader, Dataset
    class Images(Dataset):
        def __len__(self):
            return 40
        def __getitem__(self, index):
            with open("loaded", "a") as file:
                file.write(f"{index}\\n")
            image = torch.from_numpy(numpy.random.default_rng(index).integers(0, 255, (8, 6, 3)).astype(numpy.float32))
            SAMPLE
            return image.permute(2, 0, 1), {"label": index % 3, "name": f"image {index}"}
    random.seed(1); numpy.random.seed(1); torch.manual_seed(1)
    net = torch.nn.Conv2d(3, 2, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
    loader = DataLoader(Images(), batch_size=4, shuffle=True, num_workers=WORKERS)
    for epoch in range(EPOCHS):
        for images, about in loader:
            optimizer.zero_grad()
            loss = net(images).square().mean() + images.stride(1) + about["label"].sum() + len(about["name"][0])
            loss.backward()
            optimizer.step()
"""


class Samples(FixTest):
    """`cache`: what a dataset loads comes from memory the next time, if it is the same each time."""

    def both(self, sample: str = "", workers: int = 0, epochs: int = 3) -> tuple[Ring, Ring, list[int]]:
        """Returns the rings without and with the fix, and how often samples were loaded in each run."""
        text = (
            SAMPLES.replace("SAMPLE", sample or "pass").replace("WORKERS", str(workers)).replace("EPOCHS", str(epochs))
        )
        rings, loads = [], []
        for fixes in ((), ("cache",)):
            self.again()
            (self.folder / "loaded").unlink(missing_ok=True)
            rings.append(latest(self.train(*fixes, text=text)))
            loads.append(len((self.folder / "loaded").read_text().split()))
        self.assertEqual(losses(rings[1]), losses(rings[0]), "another training")
        return rings[0], rings[1], loads

    def test_are_loaded_once(self) -> None:
        self.loaded_once(workers=2)

    @in_ci
    def test_are_loaded_once_without_workers(self) -> None:
        self.loaded_once(workers=0)

    def loaded_once(self, workers: int) -> None:
        _, ring, loads = self.both(workers=workers)
        self.assertEqual(self.the(ring, "cache")["what"], "DataLoader: samples come from memory once they were loaded")
        self.assertEqual(loads[0], 120)
        checks = 2 * 3 * max(1, workers)  # the first two of each epoch and process are loaded twice
        self.assertLessEqual(loads[1], 40 + checks)

    def test_that_differ_each_time(self) -> None:
        for sample, reason in (
            ("image = image + random.random()", "random numbers are drawn"),
            ("image = image + torch.rand(())", "random numbers are drawn"),
            ("image = image + numpy.random.rand()", "random numbers are drawn"),
            ("image = image + sum(1 for _ in open('loaded'))", "was not the same"),
        ):
            with self.subTest(sample):
                if reason == "was not the same":  # two runs of it differ, too
                    text = SAMPLES.replace("SAMPLE", sample).replace("WORKERS", "0").replace("EPOCHS", "3")
                    self.again()
                    ring = latest(self.train("cache", text=text))
                else:
                    _, ring, _ = self.both(sample)
                self.assertIn(reason, self.the(ring, "cache", REFUSED)["what"])

    def test_of_a_later_epoch_that_are_others(self) -> None:
        """They draw no random numbers, and are the same within an epoch."""
        sample = "image = image + sum(1 for _ in open('loaded')) // 100"
        self.both(sample, epochs=1)
        text = SAMPLES.replace("SAMPLE", sample).replace("WORKERS", "0").replace("EPOCHS", "12")
        self.again()
        (self.folder / "loaded").unlink()
        ring = latest(self.train("cache", text=text))
        self.assertIn("was not the same", of(ring, "cache")[-1][1]["what"])

    def test_of_a_single_epoch(self) -> None:
        _, ring, _ = self.both(epochs=1)
        self.assertIn("those of one epoch", self.the(ring, "cache", REFUSED)["what"])

    def test_more_than_memory_has_room_for(self) -> None:
        done = self.execute(self.script("""
            import sys, torch
            sys.path.insert(0, "AGENT")
            from gapless_agent.fixes import _sample_store
            store = _sample_store.SampleStore(torch, 3, 8 * 9 + 300)
            packed = store.packed(torch.zeros(8))
            for index in range(3):
                store.add(index, packed)
            print(store.state == _sample_store.FULL, [index for index in range(3) if store.get(index)])
        """.replace("AGENT", str(AGENT))), agent=False)  # fmt: skip
        self.assertEqual(done.out.split()[:2], ["True", "[0]"], "one of them has room, and is still served")
