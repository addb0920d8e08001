# SPDX-License-Identifier: Apache-2.0
"""Fixes of loaders, optimisers and torch's switches: each takes effect in a script that was not edited, says what it changed and where,
leaves the losses as its class says, and is refused with a reason where it cannot be applied."""

from __future__ import annotations

import json
import shutil
import sys
import time
import unittest
from typing import Any

from cases import in_ci
from harness import AgentTest, Done, Record, Ring, layout, make_control, patched, post

ON, OFF, REFUSED = layout.FIX_ON, layout.FIX_OFF, layout.FIX_REFUSED

TRAIN = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(TensorDataset(torch.randn(84, 4), torch.randn(84, 1)), batch_size=8, shuffle=True)
    for x, y in loader:
        optimizer.zero_grad(set_to_none=False)
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    SHOW
"""


def changes(ring: Ring) -> list[tuple[int, dict[str, Any]]]:
    return [(record.value, json.loads(ring.text(record.a))) for record in ring.of("fix")]


def of(ring: Ring, fix: str) -> list[tuple[int, dict[str, Any]]]:
    return [(value, change) for value, change in changes(ring) if change["fix"] == fix]


def losses(ring: Ring) -> list[float]:
    return [record.x for record in ring.of("loss")]


def latest(done: Done) -> Ring:
    """Returns the ring of the process that began last, of several that trained in the same folder."""
    found = [ring for ring in done.rings() if ring.role == layout.ROLE_TRAINS]
    return max(found, key=lambda ring: ring.records[0].ts_ns)


def line_of(done_text: str, part: str) -> int:
    return 1 + next(number for number, line in enumerate(done_text.splitlines()) if part in line)


class FixTest(AgentTest):
    def train(self, *fixes: str, show: str = "", text: str = TRAIN, **more: Any) -> Done:
        options = {"record": {"on": False}, "fixes": list(fixes), **more}
        return self.succeed(text.replace("SHOW", show), options=options)

    def again(self) -> None:
        """An empty run folder."""
        shutil.rmtree(self.run_folder)
        self.run_folder.mkdir()

    def the(self, ring: Ring, fix: str, value: int = ON) -> dict[str, Any]:
        """The only change of a fix."""
        found = of(ring, fix)
        self.assertEqual([one[0] for one in found], [value], (fix, changes(ring)))
        return found[0][1]

    def edit(self, ring: Ring, fix: str, kind: str, part: str) -> dict[str, Any]:
        """Its edit, which is at the line with `part`."""
        made: dict[str, Any] = self.the(ring, fix)["edit"]
        script = self.folder / "train.py"
        self.assertEqual((made["kind"], made["file"]), (kind, str(script)))
        self.assertEqual(made["line"], line_of(script.read_text(), part))
        return made


class Loaders(FixTest):
    def test_all_of_a_loader(self) -> None:
        plain = self.train().ring()
        show = "print(loader.num_workers, loader.prefetch_factor, loader.persistent_workers, loader.batch_size, len(loader))"
        done = self.train("workers=2", "prefetch_factor=3", show=show)
        self.assertEqual(done.out.split(), ["2", "3", "True", "8", "11"])
        rings = [ring for ring in done.rings() if ring.role == layout.ROLE_LOADS]
        self.assertEqual([len(ring.of("fix")) for ring in rings], [0, 0])
        made = self.edit(latest(done), "workers", "keywords", "DataLoader(")
        self.assertEqual(made["call"], "DataLoader")
        self.assertEqual(made["set"], {"num_workers": "2", "persistent_workers": "True", "prefetch_factor": "4"})
        self.assertEqual(self.the(latest(done), "prefetch_factor")["what"], "DataLoader: prefetch_factor 4 → 3")
        self.assertEqual(losses(latest(done)), losses(plain), "an order of batches of its own")

    def test_batches(self) -> None:
        done = self.train("batch=2", "drop_last", show="print(loader.batch_size, loader.drop_last, len(loader))")
        self.assertEqual(done.out.split(), ["16", "True", "5"])
        self.assertEqual(self.edit(done.ring(), "batch", "keywords", "DataLoader(")["set"], {"batch_size": "16"})
        self.assertEqual(self.the(done.ring(), "drop_last")["what"], "DataLoader: drop_last")

    def test_left_as_it_is(self) -> None:
        text = """
            import torch
            from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler, TensorDataset
            class Endless(IterableDataset):
                def __iter__(self):
                    yield from torch.ones(3, 4)
            class Own(BatchSampler):
                pass
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            data = TensorDataset(torch.ones(4, 4))
            loaders = [DataLoader(Endless()), DataLoader(data, batch_sampler=Own(SequentialSampler(data), 2, False))]
            loaders.append(DataLoader(data, num_workers=1))
            for x in loaders[0]:
                net(x).sum().backward(); optimizer.step()
            print([loader.num_workers for loader in loaders])
            try:
                DataLoader(data, batch_size=0)
            except ValueError as error:
                print(error)
            try:
                DataLoader(data, no_such=1)
            except TypeError as error:
                print(error)
        """
        plain = self.execute(self.script(text), agent=False)
        done = self.train("workers", "prefetch_factor=2", "batch=2", "pin", text=text)
        self.assertEqual(done.out, plain.out)
        ring = done.ring()
        reason = self.the(ring, "workers", REFUSED)["what"]
        for part in ("IterableDataset", "Own", "num_workers=1 already"):
            self.assertIn(part, reason)
        self.assertIn("no workers", self.the(ring, "prefetch_factor", REFUSED)["what"])
        self.assertIn("no CUDA device", self.the(ring, "pin", REFUSED)["what"])

    def test_of_a_library(self) -> None:
        """A loader that an installed package makes has no line that the user could edit, nor has one of a class that does not take
        the arguments; one of a class that passes them on has."""
        package = self.folder / "site-packages"
        package.mkdir()
        (package / "trainer.py").write_text(
            "from torch.utils.data import DataLoader\ndef loader(data): return DataLoader(data)\n"
            "class Loader(DataLoader):\n    def __init__(self, data, **rest): super().__init__(data, batch_size=2, **rest)\n"
            "class Narrow(DataLoader):\n    def __init__(self, data): super().__init__(data, batch_size=2)\n"
        )
        text = """
            import sys, torch
            sys.path.insert(0, "site-packages")
            import trainer
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for x in trainer.loader(torch.ones(3, 4)):
                net(x).sum().backward(); optimizer.step()
            trainer.Loader(torch.ones(3, 4))
            trainer.Narrow(torch.ones(3, 4))
        """
        found = of(self.train("workers=1", text=text).ring(), "workers")
        self.assertEqual([value for value, _ in found], [ON, ON, ON])
        self.assertNotIn("edit", found[0][1])
        self.assertNotIn("edit", found[2][1])
        self.assertEqual(found[1][1]["edit"]["call"], "Loader")
        self.assertEqual(
            found[1][1]["edit"]["line"], line_of((self.folder / "train.py").read_text(), "trainer.Loader(")
        )


class Optimizers(FixTest):
    def test_foreach(self) -> None:
        plain = self.train().ring()
        done = self.train("fused_optimizer=foreach", show="print(optimizer.param_groups[0]['foreach'])")
        self.assertEqual(done.out, "True\n")
        ring = latest(done)
        self.assertEqual(self.edit(ring, "fused_optimizer", "keywords", "SGD(")["set"], {"foreach": "True"})
        for one, other in zip(losses(plain), losses(ring)):
            self.assertAlmostEqual(one, other, delta=1e-4)

    def test_a_loop_that_was_asked_for(self) -> None:
        text = TRAIN.replace("momentum=0.9)", "momentum=0.9, foreach=False)")
        done = self.train("fused_optimizer=foreach", text=text, show="print(optimizer.param_groups[0]['foreach'])")
        self.assertEqual(done.out, "True\n")
        self.assertEqual(self.edit(latest(done), "fused_optimizer", "keywords", "SGD(")["set"], {"foreach": "True"})
        self.again()
        done = self.train("fused_optimizer=foreach", text=TRAIN.replace("momentum=0.9)", "momentum=0.9, foreach=True)"))
        self.assertIn("has foreach=True already", self.the(done.ring(), "fused_optimizer", REFUSED)["what"])

    def test_fused_or_rolled_back(self) -> None:
        """If the constructor refuses what we asked for, the program gets what it asked for."""
        text = TRAIN.replace(
            "SGD(net.parameters(), lr=0.05, momentum=0.9)", "Adagrad((p for p in net.parameters()), lr=0.05)"
        )
        show = (
            "print(optimizer.param_groups[0].get('fused'), len(optimizer.param_groups[0]['params']), torch.__version__)"
        )
        done = self.train("fused_optimizer", text=text, show=show)
        value, change = of(done.ring(), "fused_optimizer")[0]
        fused, count, version = done.out.split()
        self.assertEqual((count, value), ("4", ON if fused == "True" else REFUSED), change)
        self.assertEqual(fused == "True", not version.startswith("2.0"))
        self.assertEqual(done.ring().step, 11)

    def test_zero_grad_and_refusals(self) -> None:
        plain = self.train().ring()
        fixes = (
            "zero_grad",
            "tf32",
            "cudnn_benchmark",
            "offload",
            "cudagraph",
            "allocator",
            "no_such",
            "threads=0",
            "batch=x",
        )
        done = self.train(*fixes, "anomaly", "checkpoint", "sdpa", "channels_last", "nosync", "ddp_view")
        ring = latest(done)
        made = self.edit(ring, "zero_grad", "keywords", "zero_grad(")
        self.assertEqual((made["call"], made["set"]), ("zero_grad", {"set_to_none": "True"}))
        for fix in fixes[1:6]:
            self.assertIn("no CUDA device", self.the(ring, fix, REFUSED)["what"])
        expected = {
            "no_such": "there is no fix", "threads": "no number", "batch": "no factor", "anomaly": "does not search",
            "checkpoint": "no repeated blocks", "sdpa": "eager attention", "channels_last": "no convolutions",
            "nosync": "no DistributedDataParallel", "ddp_view": "no DistributedDataParallel",
        }  # fmt: skip
        for fix, part in expected.items():
            self.assertIn(part, self.the(ring, fix, REFUSED)["what"])
        self.assertEqual(losses(ring), losses(plain))

    def test_accumulate(self) -> None:
        done = self.train("accumulate=2", show="print(len(loader))")
        ring = done.ring()
        self.assertEqual((done.out, ring.step), ("11\n", 5))
        self.assertEqual([record.value for record in ring.of("step")], [2] * 5, "backward passes")
        change = self.the(ring, "accumulate")
        self.assertEqual(change["what"], "SGD steps every 2 iterations, on the mean gradient")
        script = (self.folder / "train.py").read_text()
        self.again()
        again = self.train(text=patched(script, change["edit"]), show="print(len(loader))")
        self.assertEqual((again.out, again.ring().step), ("11\n", 5), "the patch steps as often")
        self.assertEqual(losses(again.ring()), losses(ring))

    def test_accumulation_elsewhere_has_no_patch(self) -> None:
        """A step in a function of its own cannot go by a counter of the loop."""
        text = TRAIN.replace("optimizer.step()", "step()").replace(
            "for x, y", "def step():\n        optimizer.step()\n    for x, y"
        )
        self.assertNotIn("edit", self.the(self.train("accumulate=2", text=text).ring(), "accumulate"))

    def test_accumulated_is_the_mean(self) -> None:
        """Two halves of a batch, accumulated, are the batch."""
        text = """
            import sys, torch
            torch.manual_seed(1)
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            x = torch.randn(8, 4)
            for part in (x.split(4) if "gapless_agent" in sys.modules else [x]) * 3:
                optimizer.zero_grad()
                net(part).square().mean().backward()
                optimizer.step()
            print(*[f"{value:.6f}" for value in net.weight.flatten().tolist()])
        """
        plain = self.execute(self.script(text), agent=False)
        self.assertEqual(self.train("accumulate=2", text=text).out, plain.out)


class Switches(FixTest):
    def test_from_the_start(self) -> None:
        show = "import gc, os; print(torch.get_num_threads(), torch.is_anomaly_enabled(), gc.isenabled(), len(os.sched_getaffinity(0)))"
        text = TRAIN.replace("for x, y", "torch.autograd.set_detect_anomaly(True)\n    for x, y")
        done = self.train("threads=2", "anomaly", "gc_freeze", "affinity=0", text=text, show=show)
        ring = done.ring()
        self.assertEqual(done.out.split()[:3], ["2", "False", "False"])
        made = self.edit(ring, "anomaly", "keywords", "set_detect_anomaly")
        self.assertEqual((made["call"], made["set"]), ("set_detect_anomaly", {"mode": "False"}))
        self.assertEqual(self.the(ring, "threads")["edit"]["lines"], ["torch.set_num_threads(2)"])
        self.assertEqual(self.the(ring, "threads")["edit"]["imports"], ["import torch"])
        self.assertIn("automatic collection is off", self.the(ring, "gc_freeze")["what"])
        made = self.edit(ring, "gc_freeze", "before", "for x, y")
        self.assertEqual((made["lines"][:2], made["imports"]), (["gc.collect()", "gc.freeze()"], ["import gc"]))
        self.assertEqual(done.out.split()[3], "1")

    def test_threads_by_the_environment(self) -> None:
        """The variable that the fix has set is the change; one of the user's own leaves nothing to change."""
        ring = self.train("threads=1", fix_environment=["OMP_NUM_THREADS"]).ring()
        self.assertEqual(self.the(ring, "threads")["what"], "OMP_NUM_THREADS=1")
        self.again()
        ring = self.train("threads=1").ring()
        self.assertIn("already", self.the(ring, "threads", REFUSED)["what"])
        self.assertEqual([record.x for record in ring.of("optimizer")], [1.0])

    def test_the_loop_around_a_helper(self) -> None:
        """Code that belongs before the training is written before the outermost loop of the function that calls the helper."""
        text = """
            import torch
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
            def update(x):
                optimizer.zero_grad()
                net(x).sum().backward()
                optimizer.step()
            def main():
                for epoch in range(2):
                    for part in torch.randn(5, 8, 4):
                        update(part)
            if __name__ == "__main__":
                main()
        """
        done = self.train("gc_freeze", text=text)
        self.edit(done.ring(), "gc_freeze", "before", "for epoch")

    def test_switches_of_a_gpu(self) -> None:
        """The switches themselves need no GPU; that there is one is said here."""
        text = TRAIN.replace(
            "    import torch\n",
            "    import gapless_agent.fixes._devices as devices\n    devices.has_cuda = lambda torch: True\n    import torch\n",
            1,
        )
        show = "print(torch.get_float32_matmul_precision(), torch.backends.cudnn.benchmark)"
        done = self.train("tf32", "cudnn_benchmark", text=text, show=show)
        self.assertEqual(done.out, "high True\n")
        lines = [self.the(done.ring(), fix)["edit"]["lines"] for fix in ("tf32", "cudnn_benchmark")]
        self.assertEqual(
            lines, [['torch.set_float32_matmul_precision("high")'], ["torch.backends.cudnn.benchmark = True"]]
        )

    LOOP = """
        import os, time, torch
        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        torch.autograd.set_detect_anomaly(True)
        while not os.path.exists("over"):
            optimizer.zero_grad(set_to_none=False)
            out = net(torch.randn(8, 4))
            out.sum().backward()
            optimizer.step()
            flags = torch.get_num_threads(), torch.is_anomaly_enabled(), optimizer.param_groups[0]["foreach"], type(out.grad_fn).__name__
            print(*flags, flush=True)
            time.sleep(0.002)
        """

    def test_between_two_steps(self) -> None:
        control = make_control(self.run_folder)
        items = ["threads=2", "anomaly", "fused_optimizer=foreach", "amp", "zero_grad"]
        for number, item in enumerate(items):
            post(control, layout.COMMAND_FIX_ON, text=item, at_step=10 + number)
        post(control, layout.COMMAND_FIX_ON, text="workers=2", at_step=15)
        post(control, layout.COMMAND_FIX_ON, text="tf32", at_step=15)
        for number, item in enumerate(items):
            post(control, layout.COMMAND_FIX_OFF, text=item.partition("=")[0], at_step=20 + number)
        last = post(control, layout.COMMAND_FIX_ON, text="amp", at_step=26)
        process = self.start(self.script(self.LOOP), options={"record": {"on": False}})
        until = time.monotonic() + 60
        while not self.seen(last) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.2)
        (self.folder / "over").touch()
        done = self.finish(process)
        self.assertEqual(done.code, 0, done.err)
        ring = done.ring()
        answers = {record.a: record.value for record in ring.of("ack")}
        none = layout.ACK_NOT_APPLICABLE
        self.assertEqual(
            [answers[number] for number in range(1, last + 1)], [0] * 5 + [layout.ACK_FAILED, none] + [0] * 6
        )
        rows = [line.split() for line in done.out.splitlines()]
        self.assertEqual(rows[8][:3], ["1", "True", "None"])
        self.assertEqual(rows[17][:3], ["2", "False", "True"])
        self.assertEqual(rows[25][:3], ["1", "True", "None"])
        casts = [row[3] for row in rows]
        self.assertNotEqual(casts[17], casts[8])
        self.assertEqual((casts[25], casts[27]), (casts[8], casts[17]))
        for item in items:
            values = [value for value, _ in of(ring, item.partition("=")[0])]
            self.assertEqual(values, [ON, ON, OFF, ON, ON] if item == "amp" else [ON, OFF], item)
        self.assertIn("from the start", of(ring, "workers")[0][1]["what"])

    def seen(self, sequence: int) -> bool:
        paths = list(self.run_folder.glob("*/agent-*.ring"))
        return any(int.from_bytes(path.read_bytes()[80:88], "little") >= sequence for path in paths)


class Own(FixTest):
    @in_ci
    def test_own_fix(self) -> None:
        own = self.folder / "halved.py"
        own.write_text(
            "LIVE = False\n"
            "def why_not(agent, value): return '' if value else 'say how much'\n"
            "def on(agent, value):\n"
            "    agent.patches.wrap(agent.torch.optim.SGD, '__init__', lambda original: lambda self, p, lr, **k: original(self, p, lr / float(value), **k))\n"
            "    return 'rates are divided by ' + value\n"
        )
        show = "print(optimizer.param_groups[0]['lr'])"
        done = self.train("halved=2", show=show, own_fixes=[str(own)])
        self.assertEqual((done.out, self.the(done.ring(), "halved")["what"]), ("0.025\n", "rates are divided by 2"))

    def test_broken_ones(self) -> None:
        for name, text in (
            ("raises", "LIVE = True\ndef why_not(a, v): return ''\ndef on(a, v): raise KeyError('mine')\n"),
            ("empty", ""),
        ):
            (self.folder / f"{name}.py").write_text(text)
        files = [str(self.folder / f"{name}.py") for name in ("raises", "empty", "missing")]
        ring = self.train("raises", "empty", "missing", "zero_grad", own_fixes=files).ring()
        expected = {"raises": "KeyError: 'mine'", "empty": "has no LIVE", "missing": "No such file"}
        for fix, part in expected.items():
            self.assertIn(part, self.the(ring, fix, REFUSED)["what"])
        self.assertEqual((of(ring, "zero_grad")[0][0], ring.step), (ON, 11))


class Processes(FixTest):
    def test_only_who_trains_tells(self) -> None:
        """A launcher that imports torch, a forked child and one that is started anew say nothing; one that trains does, wherever."""
        text = """
            import multiprocessing, os, subprocess, sys, torch
            def train():
                net = torch.nn.Linear(4, 1)
                optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
                for _ in range(3):
                    optimizer.zero_grad(set_to_none=False)
                    net(torch.randn(8, 4)).sum().backward()
                    optimizer.step()
                print(os.getpid(), flush=True)
            def idle():
                torch.ones(3).sum()
            if sys.argv[1:]:
                train()
            else:
                for work in (idle, train):
                    child = multiprocessing.get_context("fork").Process(target=work)
                    child.start(); child.join()
                subprocess.run([sys.executable, __file__, "child"], check=True)
        """
        done = self.train("threads=2", "zero_grad", text=text)
        told = {ring.pid: [(value, change["fix"]) for value, change in changes(ring)] for ring in done.rings()}
        self.assertEqual(sorted(told), sorted(map(int, done.out.split())))
        for pid, found in told.items():
            self.assertEqual(found, [(ON, "threads"), (ON, "zero_grad")], pid)

    def test_program_that_fails(self) -> None:
        text = TRAIN.replace("SHOW", "net(torch.randn(3, 5))")
        both = [
            self.execute(
                self.script(text),
                agent=agent,
                options={"record": {"on": False}, "fixes": ["amp", "checkpoint", "workers=1"]},
            )
            for agent in (False, True)
        ]
        self.assertEqual([done.code for done in both], [1, 1])
        if sys.version_info >= (3, 11):
            self.assertEqual(both[0].err.splitlines()[-1], both[1].err.splitlines()[-1])
        self.assertEqual([value for value, _ in of(both[1].ring(), "amp")], [ON])

    @in_ci
    def test_without_fixes_nothing_changes(self) -> None:
        """Constructors of loaders and of DistributedDataParallel are watched for their lines, once, and by no fix."""
        show = (
            "from torch.nn.parallel import DistributedDataParallel as D; M = torch.nn.Module\n"
            "    print([hasattr(f, '__wrapped__') for f in (DataLoader.__init__.__wrapped__, torch.optim.SGD.__init__,"
            " D.__init__.__wrapped__, M.__call__, M.zero_grad, torch.Tensor.to, torch.autocast.__enter__)], 'gapless_agent.fixes.workers' in __import__('sys').modules)"
        )
        self.assertNotIn("True", self.train(show=show).out)

    def test_digest(self) -> None:
        """Equal where all is computed the same, and only there; in the order of rows, whatever the memory's."""

        def digest(done: Done) -> list[Record]:
            return [record for ring in done.rings() for record in ring.of("digest")]

        texts = set()
        runs = [
            self.train(digest_step=5),
            self.train("zero_grad", "threads=1", digest_step=5),
            self.train("batch=2", digest_step=3),
        ]
        for ring in runs[-1].rings():
            for record in ring.of("digest"):
                self.assertIn((record.a, record.b), [(5, 4), (3, 4)])
                self.assertRegex(ring.text(record.x), "^[0-9a-f]{64}$")
                texts.add((record.a, ring.text(record.x)))
        self.assertEqual(len(texts), 2)
        self.assertEqual(len(digest(runs[-1])), 3)


if __name__ == "__main__":
    unittest.main()
