# SPDX-License-Identifier: Apache-2.0
"""Steps detected equal steps taken."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

from cases import in_ci
from harness import PYTHON, AgentTest, Record, Ring, layout

HERE = Path(__file__).resolve().parent

SCALER = """
    import torch
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    {scaler}
    for step in range(12):
        optimizer.zero_grad()
        x = torch.randn(8, 4)
        if step in (0, 5, 6):
            x[0, 0] = float("inf")
        scaler.scale(net(x).square().mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    print(scaler.get_scale())
"""

# torch 2.0 has a scaler for CUDA only: this one is its class, with the tests of the gradients on the CPU.
OLD_SCALER = """
    class Scaler(torch.cuda.amp.GradScaler):
        def __init__(self):
            super().__init__(enabled=False)
            self._enabled, self._init_scale, self._scale, self._growth_tracker = True, 65536.0, None, None
            self._growth_factor, self._backoff_factor, self._growth_interval = 2.0, 0.5, 2000
            self._init_growth_tracker = 0
            from collections import defaultdict
            from torch.cuda.amp.grad_scaler import _refresh_per_optimizer_state
            self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)
        def scale(self, loss):
            if self._scale is None:
                self._scale = torch.full((), self._init_scale)
                self._growth_tracker = torch.full((), 0, dtype=torch.int32)
            return loss * self._scale
        def unscale_(self, optimizer):
            state = self._per_optimizer_states[id(optimizer)]
            found = torch.zeros(())
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if not torch.isfinite(p.grad).all():
                        found = torch.ones(())
                    p.grad.div_(self._scale)
            state["found_inf_per_device"] = {torch.device("cpu"): found}
        def update(self, new_scale=None):
            return super().update(new_scale)
    def shrink(scale, tracker, found, growth, backoff, interval):
        scale.mul_(backoff if found.item() else 1.0)
    torch._amp_update_scale_ = shrink
    scaler = Scaler()
"""


def steps_are_whole(ring: Ring) -> bool:
    steps = ring.of("step")
    return [record.a for record in steps] == list(range(len(steps))) and ring.step == len(steps)


class Steps(AgentTest):
    def counted(self, script: str, *names: str) -> dict[str, list[Record]]:
        """Runs programs of the script (all of them without a name); the agent counts in each the steps that it prints. Returns them."""
        done = self.execute(HERE / script, *names, options={"record": {"on": False}})
        self.assertEqual(done.code, 0, done.err)
        rings = {ring.pid: ring for ring in done.rings()}
        lines = [line.split() for line in done.out.splitlines()]
        self.assertTrue(lines, done.out)
        for name, pid, taken in lines:
            with self.subTest(name):
                ring = rings[int(pid)]
                self.assertEqual(ring.state, layout.STATE_ENDED)
                self.assertEqual(len(ring.of("step")), int(taken))
                self.assertTrue(steps_are_whole(ring))
        return {name: rings[int(pid)].of("step") for name, pid, _ in lines}

    def test_kinds_of_training(self) -> None:
        self.assertGreater(len(self.counted("kinds.py")), 20)

    def test_several_optimizers(self) -> None:
        self.counted("several.py")

    @in_ci
    def test_the_iteration_of_several_optimizers(self) -> None:
        """Not the rarest update, nor the second update of an actor in an iteration."""
        by_name = self.counted("several.py", "delayed_policy", "learner_trains")
        self.assertEqual([record.value for record in by_name["delayed_policy"]][:5], [1, 1, 3, 1, 3])

    def test_a_compiled_step(self) -> None:
        if self.execute("-c", "import torch; torch.compile(print)", agent=False).code:
            self.skipTest("this torch cannot compile on this Python")
        self.counted("kinds.py", "compiled_step")

    def test_two_ranks(self) -> None:
        """DDP over gloo; gradients are exchanged at every second backward pass only."""
        done = self.succeed(
            """
            import os, torch, torch.multiprocessing
            from torch.nn.parallel import DistributedDataParallel
            def work(rank):
                os.environ.update(MASTER_ADDR="127.0.0.1", RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
                store = torch.distributed.FileStore("store", 2)
                torch.distributed.init_process_group("gloo", rank=rank, world_size=2, store=store)
                net = DistributedDataParallel(torch.nn.Linear(4, 1))
                optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
                for _ in range(9):
                    with net.no_sync():
                        net(torch.randn(8, 4)).sum().backward()
                    net(torch.randn(8, 4)).sum().backward()
                    optimizer.step()
                    optimizer.zero_grad()
                torch.distributed.destroy_process_group()
            if __name__ == "__main__":
                torch.multiprocessing.spawn(work, nprocs=2)
            """
        )
        rings = [ring for ring in done.rings() if ring.of("step")]
        self.assertEqual([len(ring.of("step")) for ring in rings], [9, 9])
        self.assertEqual({record.value for ring in rings for record in ring.of("step")}, {2})

    def test_loops_of_known_length(self) -> None:
        by_name = self.counted("programs.py")
        self.assertEqual({record.value for record in by_name["accumulation"]}, {4})
        self.assertEqual({record.value for record in by_name["two_optimizers"]}, {2})
        self.assertEqual({record.value for record in by_name["discriminator_twice"]}, {3})
        self.assertTrue(all(record.value > 1 for record in by_name["closures"]))
        self.assertTrue(all(record.flags & layout.FLAG_EXPLICIT for record in by_name["explicit"][1:]))
        self.assertEqual([bool(record.flags & layout.FLAG_FIRST) for record in by_name["nested"]], [True] + [False] * 6)

    def test_an_optimizer_in_the_place_of_one_that_is_gone(self) -> None:
        """Python gives the new one the address of the old one, as often as not."""
        ring = self.succeed(
            """
            import gc, torch
            net = torch.nn.Linear(4, 1)
            for phase in range(20):
                optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
                for step in range(3):
                    net(torch.zeros(1, 4)).sum().backward()
                    optimizer.step()
                del optimizer
                gc.collect()
            """
        ).ring()
        self.assertEqual(len(ring.of("optimizer")), 20)
        self.assertEqual([record.a for record in ring.of("step")], list(range(60)))

    def test_skipped_steps_of_a_scaler(self) -> None:
        python = self.execute("-c", "import torch; print(hasattr(torch.amp, 'GradScaler'))", agent=False).out.strip()
        scaler = "scaler = torch.amp.GradScaler('cpu')" if python == "True" else OLD_SCALER.strip()
        ring = self.succeed(SCALER.replace("{scaler}", scaler)).ring()
        steps = ring.of("step")
        self.assertEqual(len(steps), 12)
        skipped = [record.a for record in steps if record.flags & layout.FLAG_SKIPPED]
        self.assertEqual(skipped, [0, 5, 6])
        scales = ring.of("scale")
        self.assertEqual([record.a for record in scales], list(range(12)))
        self.assertEqual([record.a for record in scales if record.flags & 1], [0, 5, 6])
        self.assertEqual(scales[-1].x, 65536.0 / 8)

    def test_a_scaled_loss_is_the_loss_of_the_program(self) -> None:
        if PYTHON and not self.has_scaler():
            self.skipTest("torch 2.0 has a scaler for CUDA only")
        done = self.succeed(
            """
            import torch
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
            scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
            for step in range(4):
                loss = net(torch.ones(8, 4)).square().mean()
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                print(loss.item())
            """
        )
        losses = [record.x for record in done.ring().of("loss")]
        self.assertEqual(losses, [float(line) for line in done.out.split()])

    def test_a_scaler_that_is_switched_off_is_none(self) -> None:
        """A scaler as every script with a switch for mixed precision builds it: enabled=False leaves it half built."""
        where = (
            "torch.amp.GradScaler('cpu', enabled=False)"
            if self.has_scaler()
            else "torch.cuda.amp.GradScaler(enabled=False)"
        )
        done = self.succeed(
            """
            import torch
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
            scaler = {scaler}
            for step in range(5):
                loss = net(torch.ones(8, 4)).square().mean()
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            """.replace("{scaler}", where)
        )
        self.assertEqual(len(done.ring().of("step")), 5)
        self.assertEqual(done.ring().of("message"), [])

    @staticmethod
    def has_scaler() -> bool:
        ask = [PYTHON, "-c", "import torch; raise SystemExit(not hasattr(torch.amp, 'GradScaler'))"]
        return subprocess.run(ask, check=False).returncode == 0

    def test_inference_loop(self) -> None:
        ring = self.succeed(
            """
            import torch
            net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()))
            before = torch.nn.Module.__call__
            with torch.no_grad():
                for _ in range(20):
                    net(torch.randn(8, 4))
            assert torch.nn.Module.__call__ is not before  # torch's own is back
            assert "__call__" not in vars(torch.nn.Linear)
            """
        ).ring()
        self.assertEqual(len(ring.of("step")), 20)
        self.assertTrue(all(record.flags & layout.FLAG_INFERENCE for record in ring.of("step")))
        self.assertTrue(all(record.value == 0 for record in ring.of("step")))

    def test_calls_of_a_model_that_writes_text(self) -> None:
        ring = self.succeed(
            """
            import torch
            net = torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.Linear(4, 9))
            with torch.no_grad():
                for _ in range(5):
                    for length in (7, 1, 1):
                        net(torch.zeros(2, length, dtype=torch.long))
                for _ in range(2):
                    net(input=torch.zeros(3, 4, dtype=torch.long))
            """,
            options={"calls": True},
        ).ring()
        self.assertEqual(len(ring.of("step")), 17)
        calls = ring.of("call")[-13:]
        self.assertEqual([record.a for record in calls], list(range(4, 17)))
        self.assertEqual([record.value for record in calls[:11]], [1, 1, 7, 1, 1, 7, 1, 1, 7, 1, 1])
        self.assertEqual({record.b for record in calls[:11]}, {2})
        self.assertEqual([(record.b, record.value) for record in calls[11:]], [(3, 4), (3, 4)])
        self.assertTrue(all(record.dur_ns > 0 and record.x != record.x for record in calls))

    def test_transforms_of_a_dataset_are_no_models(self) -> None:
        ring = self.succeed(
            """
            import torch
            from torch import nn
            from torch.utils.data import DataLoader, Dataset

            class Images(Dataset):
                def __init__(self):
                    self.transform = nn.Sequential(nn.Flatten(0), nn.LayerNorm(16))
                def __len__(self):
                    return 96
                def __getitem__(self, index):
                    return self.transform(torch.full((4, 4), float(index)))

            net = nn.Linear(16, 2)
            with torch.no_grad():
                for batch in DataLoader(Images(), batch_size=8):
                    net(batch)
            """
        ).ring()
        self.assertEqual(len(ring.of("step")), 12)
        self.assertTrue(all(record.flags & layout.FLAG_INFERENCE for record in ring.of("step")))

    def test_two_models_and_few_calls(self) -> None:
        ring = self.succeed(
            """
            import torch
            encoder, decoder = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
            with torch.inference_mode():
                for _ in range(3):
                    x = encoder(torch.randn(8, 4))
                    for _ in range(2):
                        x = decoder(x)
            """
        ).ring()
        self.assertEqual(len(ring.of("step")), 3)

    def test_inference_then_training(self) -> None:
        ring = self.succeed(
            """
            import torch
            net = torch.nn.Linear(4, 4)
            with torch.no_grad():
                for _ in range(10):
                    net(torch.randn(8, 4))
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for _ in range(6):
                net(torch.randn(8, 4)).sum().backward()
                optimizer.step()
            with torch.no_grad():
                for _ in range(5):
                    net(torch.randn(8, 4))
            assert "__call__" not in vars(torch.nn.Linear)
            """
        ).ring()
        flags = [bool(record.flags & layout.FLAG_INFERENCE) for record in ring.of("step")]
        self.assertEqual(flags, [True] * 10 + [False] * 6)

    def test_spawned_child(self) -> None:
        done = self.succeed(
            """
            import torch, torch.multiprocessing
            def work(index):
                net = torch.nn.Linear(4, 1)
                optimizer = torch.optim.Adam(net.parameters())
                for _ in range(5 + index):
                    net(torch.randn(8, 4)).sum().backward()
                    optimizer.step()
            if __name__ == "__main__":
                torch.multiprocessing.spawn(work, nprocs=2)
            """
        )
        self.assertEqual(sorted(len(ring.of("step")) for ring in done.rings()), [5, 6])
        self.assertEqual({ring.state for ring in done.rings()}, {layout.STATE_ENDED})

    def test_short_steps_are_written_in_groups(self) -> None:
        """None is lost, each keeps its own values, and what comes from elsewhere stays in order."""
        ring = self.succeed(
            """
            import torch
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
            for step in range(900):
                loss = net(torch.zeros(1, 4)).sum() * 0 + step
                loss.backward()
                optimizer.step()
            torch.optim.Adam(net.parameters()).step()
            """,
            options={"every_loss": True},
        ).ring()
        steps, losses = ring.of("step"), ring.of("loss")
        self.assertEqual([record.a for record in steps], list(range(900)))
        self.assertEqual([(record.a, record.x) for record in losses], [(step, float(step)) for step in range(900)])
        ends = [record.ts_ns + record.dur_ns for record in steps]
        # The wall clock and the one that measures are read one after the other.
        self.assertLess(max(abs(record.ts_ns - end) for record, end in zip(steps[1:], ends)), 1_000_000)
        self.assertGreater(ring.records.index(ring.of("optimizer")[-1]), ring.records.index(steps[-1]))

    def test_of_short_steps_some_are_looked_at(self) -> None:
        """Every step is told; the losses and batches of some, each with its own."""
        ring = self.succeed(
            """
            import time, torch
            from torch.utils.data import DataLoader
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
            for step, x in enumerate(DataLoader(torch.zeros(3200, 4), batch_size=4)):
                loss = net(x).sum() * 0 + step
                loss.backward()
                optimizer.step()
                if step > 128: time.sleep(0.002)
            """
        ).ring()
        steps, losses = ring.of("step"), ring.of("loss")
        self.assertEqual([(record.a, record.b) for record in steps], [(step, 4) for step in range(800)])
        self.assertEqual([record.a for record in losses[:128]], list(range(128)))
        self.assertTrue(all(record.x == record.a for record in losses), losses)
        self.assertTrue(129 < len(losses) < 800, len(losses))
        # A batch is chosen for timing before it is fetched, and its step is the one that begins.
        timed = sum(record.a for record in ring.of("items"))
        self.assertEqual(timed, 4 * len(losses))

    def test_long_steps_are_all_looked_at(self) -> None:
        """But for the first ones after short steps, which still wait for each other."""
        ring = self.succeed(
            """
            import time, torch
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
            for step in range(310):
                if step >= 300: time.sleep(0.12)
                net(torch.zeros(1, 4)).sum().backward()
                optimizer.step()
            """
        ).ring()
        looked_at = {record.a for record in ring.of("loss")}
        self.assertLessEqual(set(range(304, 310)), looked_at)
        self.assertLess(len(looked_at), 300)

    def killed_after(self, count: int) -> int:
        """The steps that are found."""
        program = f"""
            import os, signal, time, torch
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
            for step in range({count}):
                net(torch.zeros(1, 4)).sum().backward()
                optimizer.step()
                if step > 128: time.sleep(0.002)
            os.kill(os.getpid(), signal.SIGKILL)
            """
        return len(self.execute(self.script(program)).ring().of("step"))

    def test_killed_among_the_first_steps(self) -> None:
        self.assertEqual(self.killed_after(7), 7)

    @in_ci
    def test_killed_between_groups(self) -> None:
        self.assertGreaterEqual(self.killed_after(600), 600 - 200 // 2)

    def test_losses_of_every_type(self) -> None:
        ring = self.succeed(
            """
            import torch
            weight = torch.nn.Parameter(torch.ones(1))
            optimizer = torch.optim.SGD([weight], lr=0.0)
            for kind in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
                ((weight * 1.5).to(kind)).sum().backward()
                optimizer.step()
            """
        ).ring()
        self.assertEqual([record.x for record in ring.of("loss")], [1.5] * 4)

    def test_what_a_step_holds(self) -> None:
        """Samples, waits and losses of a loop with a slow loader."""
        ring = self.succeed(
            """
            import time, torch
            from torch.utils.data import DataLoader, Dataset
            class Slow(Dataset):
                def __len__(self): return 64
                def __getitem__(self, i):
                    time.sleep(0.0005)
                    return torch.full((4,), float(i)), i
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
            for x, _ in DataLoader(Slow(), batch_size=16):
                loss = net(x).mean()
                optimizer.zero_grad(); loss.backward(); optimizer.step()
            """
        ).ring()
        steps = ring.of("step")
        self.assertEqual([record.b for record in steps], [16] * 4)
        self.assertTrue(all(16 * 5e5 <= record.x < record.dur_ns for record in steps), steps)
        self.assertEqual([record.b for record in ring.of("wait")], [0, 1, 2, 3])
        losses = [record.x for record in ring.of("loss")]
        self.assertEqual(len(losses), 4)
        self.assertTrue(all(math.isfinite(loss) for loss in losses) and len(set(losses)) == 4)
        self.assertEqual([(record.a, record.b) for record in ring.of("loss")], [(step, 0) for step in range(4)])
        (loader,) = ring.of("loader")
        self.assertIn('"batch_size":16', ring.text(loader.a))
        self.assertEqual(sum(record.a for record in ring.of("items")), 64)
        self.assertGreaterEqual(sum(record.b for record in ring.of("items")), 64 * 5e5)
        self.assertGreaterEqual(max(record.x for record in ring.of("items")), 5e5)
        (optimizer,) = ring.of("optimizer")
        self.assertEqual(optimizer.value, 5)
        self.assertIn('"class":"SGD"', ring.text(optimizer.a))
