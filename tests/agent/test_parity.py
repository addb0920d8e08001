# SPDX-License-Identifier: Apache-2.0
"""Recordings of the first steps (docs/parity.md): what they hold, and that they leave the training alone where they should."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases import in_ci
from harness import AgentTest, Done, layout

NOISE = 2.0**-11
STEPS = 8

CONV = """
    import sys, torch
    torch.manual_seed(1)
    from torch.utils.data import DataLoader, TensorDataset
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Dropout(0.1), torch.nn.Linear(144, 5))
    if "channels_last" in sys.argv:
        net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3 if "lr" not in sys.argv else 2.2e-3)
    data = TensorDataset(torch.randn(96, 3, 8, 8), torch.randint(0, 5, (96,)))
    losses = []
    for epoch in range(2):
        for x, y in DataLoader(data, batch_size=8, shuffle=True):
            if "drop" in sys.argv:
                x, y = x[:6], y[:6]
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            if "scaled" in sys.argv:
                net[0].weight.grad.mul_(1.02)
            optimizer.step()
            losses.append(loss.item())
    print(losses, [value.sum().item() for value in net.state_dict().values()])
"""

GAN = """
    import torch
    torch.manual_seed(0)
    make, judge = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 6)), torch.nn.Linear(6, 1)
    of_make, of_judge = torch.optim.SGD(make.parameters(), lr=0.1), torch.optim.Adam(judge.parameters())
    loss = torch.nn.BCEWithLogitsLoss()
    for step in range(20):
        made, ones = make(torch.randn(8, 4)), torch.ones(8, 1)
        of_judge.zero_grad()
        (loss(judge(torch.randn(8, 6)), ones) + loss(judge(made.detach()), 0 * ones)).backward()
        of_judge.step()
        of_make.zero_grad()
        loss(judge(made), ones).backward()
        of_make.step()
        with torch.no_grad():
            for weight in judge.parameters():
                weight.clamp_(-0.1, 0.1)
    print([weight.abs().max().item() <= 0.1 for weight in judge.parameters()])
"""

CLOSURE = """
    import sys, torch
    torch.manual_seed(0)
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cells, self.out = torch.nn.LSTM(6, 8, batch_first=True), torch.nn.Linear(8, 6)
        def forward(self, x):
            return self.out(self.cells(x)[0])
    net = Net()
    optimizer = (torch.optim.LBFGS if "lbfgs" in sys.argv else torch.optim.SGD)(net.parameters(), lr=0.1)
    for step in range(20):
        x = torch.randn(4, 7, 6)
        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(net(x), x)
            loss.backward()
            return loss
        optimizer.step(closure)
    print([value.sum().item() for value in net.state_dict().values()], "forward" in vars(net.cells))
"""

DESCRIBED = """
    import torch
    from torch.utils.data import DataLoader, Dataset
    torch.manual_seed(1)
    class Flip:
        def __init__(self, p): self.p = p
        def __call__(self, x): return x.flip(-1) if torch.rand(()) < self.p else x
    class Compose:
        def __init__(self, transforms): self.transforms = transforms
        def __call__(self, x):
            for one in self.transforms: x = one(x)
            return x
    class Rows(Dataset):
        def __init__(self, transform): self.transform, self.root = transform, "/somewhere"
        def __len__(self): return 64
        def __getitem__(self, i): return self.transform(torch.full((4,), float(i))), i % 2
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.25), torch.nn.Linear(8, 2))
    net[0].bias.requires_grad_(False)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
    for x, y in DataLoader(Rows(Compose([Flip(0.5), lambda x: x / 64])), batch_size=4, shuffle=True):
        optimizer.zero_grad()
        (0.5 * criterion(net(x), y)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.5)
        optimizer.step()
        schedule.step()
"""

BY_HAND = """
    import sys, torch
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 6))
    losses = []
    for step in range(24):
        x = torch.randn(4, 6)
        net.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), x)
        loss.backward()
        for weight in net.parameters():
            weight.data.add_(weight.grad, alpha=-0.1 if "lr" not in sys.argv or step < 5 else -0.11)
        losses.append(loss.item())
    print(losses)
"""

SCALER = """
    import torch
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
    for step in range(12):
        optimizer.zero_grad()
        loss = net(torch.randn(3, 4)).square().mean()
        if step == 2:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""


@dataclass
class Recording:
    events: list[dict[str, Any]]
    numbers: list[list[list[float]]]  # by event and tensor: the norm and the sketch; gradients, then buffers

    @classmethod
    def read(cls, folder: Path) -> Recording:
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        data = (folder / "numbers.f64").read_bytes()
        values, at, numbers = struct.unpack(f"<{len(data) // 8}d", data), 0, []
        for event in events:
            count = 0 if event.get("skipped") else event["tensors"] + event["buffers"] + event.get("starts", 0)
            numbers.append([list(values[at + 65 * index : at + 65 * index + 65]) for index in range(count)])
            at += 65 * count
        assert at == len(values)
        return cls(events, numbers)

    def of(self, key: str) -> list[Any]:
        return [event.get(key) for event in self.events]

    def differs(self, other: Recording, event: int, tensor: int) -> float:
        """Returns how far the gradient differs, as a share of it."""
        mine, others = self.numbers[event][tensor], other.numbers[event][tensor]
        return float(sum((a - b) ** 2 for a, b in zip(mine[1:], others[1:])) ** 0.5 / others[0])


class ParityTest(AgentTest):
    def record(self, program: str, role: str, *words: str, steps: int = STEPS, **more: Any) -> tuple[Recording, Done]:
        for old in self.run_folder.glob("*/agent-*"):
            old.unlink()
        name = role + "-".join(words) + str(len(list(self.folder.glob("*"))))
        parity = {
            "role": role,
            "folder": str(self.folder / name),
            "baseline": str(self.folder / "baseline"),
            "steps": steps,
        }
        if role == "baseline":
            parity["folder"] = parity["baseline"]
        done = self.succeed(
            program, *words, options={"record": {"on": False}, "every_loss": True, "parity": {**parity, **more}}
        )
        ring = done.ring()
        self.assertEqual([ring.text(record.a) for record in ring.of("message")], [])
        self.ended = ring.of("parity")
        self.assertEqual(len(self.ended), 1)
        recording = Recording.read(Path(str(parity["folder"])) / "main")
        self.assertEqual(self.ended[0].value, len(recording.events))
        return recording, done


class Recordings(ParityTest):
    def test_a_conv_net(self) -> None:
        """One training that most of a recording's fields are about, and three changes of it."""
        plain = self.succeed(CONV, options={"record": {"on": False}})
        baseline, done = self.record(CONV, "baseline")
        self.assertEqual(done.out, plain.out, "a baseline leaves the training as it is")
        self.assertEqual(baseline.of("samples"), [8] * STEPS)
        self.assertEqual(baseline.of("draws"), [True] * STEPS, "dropout draws")
        self.assertEqual(baseline.of("handed"), [True] * STEPS)
        first = baseline.events[0]
        self.assertEqual((first["names"][0], first["buffer_names"]), ("0.weight", ["1.running_mean", "1.running_var"]))
        self.assertEqual((first["class"], first["precision"], first["recurrent"]), ("AdamW", "fp32", False))
        self.assertEqual(first["settings"][0]["lr"], 2e-3)
        self.assertEqual(first["starts"], first["tensors"], "the parameters at the start")
        self.assertNotIn("starts", baseline.events[1])
        self.assertEqual(max(max(event["shadow"]) for event in baseline.events), 0)
        self.assertEqual(self.ended[0].b, STEPS)

        repeat, done = self.record(CONV, "repeat")
        self.assertEqual(done.out, plain.out, "what is handed over is what is there")
        self.assertEqual(repeat, baseline)

        probe, _ = self.record(CONV, "probe", noise=NOISE)
        self.assertEqual(probe.differs(baseline, 0, 0), 0, "the first step has no noise")
        self.assertEqual(probe.of("random"), baseline.of("random"), "noise is not drawn from the program's numbers")
        for event in range(1, STEPS):
            self.assertGreater(probe.differs(baseline, event, 0), NOISE / 20)
            self.assertLess(probe.differs(baseline, event, 0), NOISE * 20)

        changed, _ = self.record(CONV, "candidate", "lr")
        self.assertEqual(changed.events[0]["settings"][0]["lr"], 2.2e-3)
        self.assertAlmostEqual(changed.events[0]["shadow"][0], 0.1, 3)
        self.assertEqual(
            changed.of("losses"), baseline.of("losses"), "every step starts from the baseline's parameters"
        )

    def test_what_changes_data_or_gradients_shows(self) -> None:
        baseline, _ = self.record(CONV, "baseline")
        scaled, _ = self.record(CONV, "candidate", "scaled")
        for event in range(STEPS):
            self.assertAlmostEqual(scaled.differs(baseline, event, 0), 0.02, 2)
            self.assertEqual(scaled.differs(baseline, event, 5), 0)
        layout_changed, _ = self.record(CONV, "candidate", "channels_last")
        self.assertEqual(layout_changed.of("start")[0], baseline.of("start")[0], "bytes are taken in logical order")
        self.assertLess(layout_changed.differs(baseline, 3, 0), 1e-5)
        dropped, _ = self.record(CONV, "candidate", "drop")
        self.assertEqual(dropped.of("samples"), [8] * STEPS, "the loader still gives eight")
        self.assertGreater(dropped.differs(baseline, 0, 0), 0.05)

    @in_ci
    def test_what_the_program_is(self) -> None:
        recording, _ = self.record(DESCRIBED, "baseline")
        self.assertEqual([len(one) for one in recording.of("inputs")], [3] * STEPS)
        facts = json.loads((self.folder / "baseline/main/program.json").read_text())
        (flip, scale) = facts["transform"]["loader 1, transform"]
        self.assertEqual(flip, "Flip(p=0.5)")
        self.assertRegex(scale, r"^<lambda> \(code [0-9a-f]{8}\)$")
        self.assertEqual(facts["sampler"], {"loader 1": ["RandomSampler(replacement=False)"]})
        self.assertEqual(facts["loader"], {"loader 1": ["batch_size=4", "drop_last=False", "samples=64"]})
        self.assertEqual(facts["dropout"], {"modules": ["Dropout(p=0.25, inplace=False)"]})
        self.assertEqual(facts["frozen"], {"parameters": ["0.bias"]})
        self.assertIn("label_smoothing=0.1", facts["loss"]["modules"][0])
        self.assertRegex(facts["graph"]["loss"][0], r"^MulBackward0\(.*other=0.5.*\)$")
        self.assertEqual(facts["clipping"], {"gradients": ["norm at most 1.5"]})
        self.assertRegex(facts["schedule"]["learning rate"][0], r"^StepLR\(.*step_size=30\)$")
        self.assertEqual(facts["dataset"], {"loader 1": ["Rows()"]}, "a path is nothing that the training is")
        self.assertIn("Rows.__getitem__", facts["code"])

    def test_it_ends_by_itself(self) -> None:
        baseline, _ = self.record(CONV, "baseline", steps=100)
        self.assertEqual(len(baseline.events), 24, "the program took no more")
        baseline, _ = self.record(CONV, "repeat", steps=2)
        self.assertEqual(len(baseline.events), 24, "as many as the baseline, whatever is asked for")

    def test_two_optimisers(self) -> None:
        plain = self.succeed(GAN, options={"record": {"on": False}})
        baseline, done = self.record(GAN, "baseline", steps=20)
        self.assertEqual(done.out, plain.out)
        self.assertEqual(baseline.of("optimizer"), [0, 1] * 10)
        self.assertEqual(baseline.of("class")[:2], ["Adam", "SGD"])
        self.assertEqual(baseline.of("buffers")[:2], [0, 2])
        probe, done = self.record(GAN, "probe", steps=20, noise=NOISE)
        self.assertEqual(done.out, plain.out, "weights that the program clipped stay clipped when the noise goes")
        self.assertEqual(probe.differs(baseline, 0, 0), 0)
        self.assertGreater(probe.differs(baseline, 2, 0), 0)
        self.assertGreater(probe.differs(baseline, 3, 0), 0)

    def test_closures_and_recurrent_layers(self) -> None:
        plain = self.succeed(CLOSURE, options={"record": {"on": False}})
        baseline, done = self.record(CLOSURE, "baseline")
        self.assertEqual(done.out, plain.out)
        self.assertTrue(baseline.events[0]["recurrent"])
        self.assertEqual([len(losses) for losses in baseline.of("losses")], [1] * STEPS)
        wide, done = self.record(CLOSURE, "probe", noise=NOISE, wide=True)
        self.assertIn("False", done.out, "the layer is as it was")
        narrow, _ = self.record(CLOSURE, "probe", noise=NOISE)
        self.assertEqual(wide.events[0]["losses"], baseline.events[0]["losses"])
        self.assertNotEqual(wide.numbers[3], narrow.numbers[3])
        self.assertLess(wide.differs(baseline, 3, 1), NOISE * 50)

    def test_an_optimiser_without_a_shadow(self) -> None:
        baseline, _ = self.record(CLOSURE, "baseline", "lbfgs")
        self.assertIn("no_shadow", baseline.events[0])
        self.assertNotIn("shadow", baseline.events[0])

    def test_a_program_without_an_optimiser(self) -> None:
        """Updates by hand are seen late, so nothing is handed over; losses and parameters show what is the same."""
        plain = self.succeed(BY_HAND, options={"record": {"on": False}})
        baseline, done = self.record(BY_HAND, "baseline")
        self.assertEqual(done.out, plain.out)
        self.assertEqual(baseline.of("by_hand"), [True] * STEPS)
        self.assertIn("0.weight", baseline.events[0]["names"])
        self.assertEqual([len(losses) for losses in baseline.of("losses")], [1] * STEPS)
        repeat, _ = self.record(BY_HAND, "repeat")
        self.assertEqual(repeat, baseline)
        changed, _ = self.record(BY_HAND, "candidate", "lr")
        self.assertEqual(changed.of("state")[:5], baseline.of("state")[:5])
        self.assertNotEqual(changed.of("state")[5], baseline.of("state")[5])

    def test_steps_that_the_scaler_skips(self) -> None:
        if (
            "amp.GradScaler"
            in self.succeed("import torch; print('amp.GradScaler' if not hasattr(torch.amp, 'GradScaler') else '')").out
        ):
            self.skipTest("this version has no GradScaler for the CPU")
        baseline, _ = self.record(SCALER, "baseline")
        self.assertEqual(baseline.of("skipped"), [None, None, True] + [None] * (STEPS - 3))
        self.assertLess(baseline.numbers[0][0][0], 4, "gradients are divided by the scale")
        self.assertEqual(baseline.events[2]["losses"], [None])
        repeat, _ = self.record(SCALER, "repeat")
        self.assertEqual(repeat, baseline)

    def test_programs_without_a_seed_are_given_one(self) -> None:
        program = CONV.replace("torch.manual_seed(1)", "import random; print(random.random())")
        baseline, done = self.record(program, "baseline")
        repeat, again = self.record(program, "repeat")
        self.assertEqual(again.out, done.out)
        self.assertEqual(repeat, baseline)

    def test_other_random_numbers(self) -> None:
        baseline, _ = self.record(CONV, "baseline")
        other, _ = self.record(CONV, "reseeded", reseed=1)
        self.assertEqual(other.of("random")[0], baseline.of("random")[0])
        self.assertNotEqual(other.of("random")[2], baseline.of("random")[2])


class Errors(ParityTest):
    def test_an_error_ends_the_recording_alone(self) -> None:
        plain = self.succeed(CONV, options={"record": {"on": False}})
        parity = {"role": "candidate", "folder": str(self.folder / "x"), "baseline": str(self.folder / "missing")}
        for old in self.run_folder.glob("*/agent-*"):
            old.unlink()
        done = self.succeed(CONV, options={"record": {"on": False}, "parity": parity})
        self.assertEqual(done.out, plain.out)
        ring = done.ring()
        self.assertIn("whether the training stays the same", ring.text(ring.of("message")[0].a))
        self.assertEqual([record.value for record in ring.of("parity")], [0])
        self.assertEqual(ring.step, 24)
        self.assertEqual(ring.state, layout.STATE_ENDED)


class Ranks(ParityTest):
    def test_each_rank_records(self) -> None:
        script = self.script("""
            import os, torch
            import torch.distributed as dist
            def main(rank):
                os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", LOCAL_RANK=str(rank))
                dist.init_process_group("gloo")
                torch.manual_seed(0)
                net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                torch.manual_seed(rank)
                for _ in range(8):
                    optimizer.zero_grad()
                    net(torch.randn(3, 4)).square().mean().backward()
                    optimizer.step()
                dist.destroy_process_group()
            if __name__ == "__main__":
                main(int(os.environ["RANK"]))
        """)
        parity = {"role": "baseline", "folder": str(self.folder / "baseline"), "steps": 4}
        started = [
            self.start(
                script,
                options={"record": {"on": False}, "parity": parity},
                env={"RANK": str(rank), "MASTER_PORT": "29711"},
            )
            for rank in range(2)
        ]
        for process in started:
            self.assertEqual(self.finish(process).code, 0)
        ranks = [Recording.read(self.folder / "baseline" / f"rank{rank}") for rank in range(2)]
        self.assertEqual(ranks[0].of("state"), ranks[1].of("state"))
        self.assertNotEqual(ranks[0].of("losses"), ranks[1].of("losses"))
