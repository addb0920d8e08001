# SPDX-License-Identifier: Apache-2.0
"""The lines that construct loaders, optimisers, wrappers and scalers, which is where findings are cured."""

from __future__ import annotations

import json
from typing import Any

from harness import AgentTest, Done, layout

PROGRAM = """
    import sys
    sys.path.insert(0, "site-packages")
    import os, torch
    from torch.utils.data import DataLoader, TensorDataset
    from library import optimizer_of
    class Batches(DataLoader):
        def __init__(self, data):
            super().__init__(
                data, batch_size=4)                               # loader made
    def forever(loader):
        for batch in loader:
            yield batch
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))  # ddp made
    scaler = torch.amp.GradScaler("cpu", enabled=False)           # scaler made
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)        # optimizer made
    other = optimizer_of(torch.nn.Linear(1, 1))
    for (x,) in (batch for batch in forever(Batches(TensorDataset(torch.ones(8, 4))))):  # loader read
        scaler.scale(net(x).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
        other.step()
"""
LIBRARY = "import torch\n\ndef optimizer_of(net):\n    return torch.optim.Adam(net.parameters())\n"


class MadeLines(AgentTest):
    def line(self, part: str) -> str:
        lines = (self.folder / "train.py").read_text().splitlines()
        return f"train.py:{1 + next(at for at, line in enumerate(lines) if line.endswith('# ' + part))}"

    def facts(self, done: Done, kind: str) -> list[dict[str, Any]]:
        ring = done.ring()
        return [json.loads(ring.text(record.a)) for record in ring.of(kind)]

    def test_lines_that_construct(self) -> None:
        (self.folder / "site-packages").mkdir()
        self.script(LIBRARY, "site-packages/library.py")
        done = self.succeed(PROGRAM)
        (loader,) = self.facts(done, "loader")
        first = self.line("loader made")
        before = f"train.py:{int(first.split(':')[1]) - 1}"  # old versions of Python name another line of a call
        self.assertIn(loader["line"], (first, before))
        self.assertEqual(loader["read"], self.line("loader read"), "neither the generator nor the expression")
        sgd, adam = self.facts(done, "optimizer")
        self.assertEqual((sgd["class"], sgd["line"]), ("SGD", self.line("optimizer made")))
        self.assertEqual((adam["class"], adam["line"]), ("Adam", ""), "a library makes it")
        made = {about["class"]: about["line"] for about in self.facts(done, "made")}
        self.assertEqual(
            made, {"DistributedDataParallel": self.line("ddp made"), "GradScaler": self.line("scaler made")}
        )

    def test_nothing_is_said_before_the_program_trains(self) -> None:
        done = self.succeed("import torch\nscaler = torch.nn.DataParallel(torch.nn.Linear(1, 1))\nprint('done')\n")
        self.assertEqual([ring.of("made") for ring in done.rings() if ring.role == layout.ROLE_TRAINS], [])
