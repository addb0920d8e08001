# SPDX-License-Identifier: Apache-2.0
"""Workers of DataLoaders exchanged between two steps: no sample is lost, none comes twice, the order stays, and errors of the
dataset reach the program as they would without us."""

from __future__ import annotations

import textwrap
import unittest
from typing import Any

from harness import layout
from test_fixes import FixTest, changes

# A program that trains on the numbers 0, 1, 2…, and says of each batch which they were and who loaded them.
HEAD = """
    import os, random, sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset, get_worker_info
    class Numbers(Dataset):
        def __init__(self, count=22, broken=()):
            self.count, self.broken = count, broken
        def __len__(self):
            return self.count
        def __getitem__(self, i):
            if i in self.broken:
                raise ValueError(f"row {i} is broken")
            info = get_worker_info()
            return torch.tensor([float(i)]), -1 if info is None else info.num_workers
    torch.manual_seed(3)
    net = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
    def step(x):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    def fixes():
        module = sys.modules.get("gapless_agent.install")  # none: the program runs alone
        return module and module.running.fixes
    def alive():
        return [child for child in __import__("multiprocessing").active_children() if child.is_alive()]
"""

# Several epochs, in which the number of workers changes at random before each batch, and the dataset of a shuffled loader.
SWITCHING = """
    ARGUMENTS = {}
    loader = DataLoader(Numbers(), batch_size=3, shuffle=True, **ARGUMENTS)
    draw = random.Random(9)
    fix = fixes()
    seen_by = set()
    for epoch in range(2):
        rows = []
        for x, by in loader:
            rows += x.flatten().int().tolist()
            seen_by.add(int(by[0]))
            step(x)
            if fix and draw.random() < 0.5:
                fix.switch_off("workers")
                count = draw.choice([None, 0, 1, 2, 3])
                if count is not None:
                    fix.switch_on(f"workers={count}")
        print(epoch, rows, len(loader), torch.rand(1).item())
    del loader
    if fix:
        fix.switch_off("workers")
    print(sorted(seen_by), [p.name for p in alive()], file=sys.stderr)
"""


def program(text: str, arguments: str = "{}") -> str:
    return textwrap.dedent(HEAD) + textwrap.dedent(text).replace("ARGUMENTS = {}", f"ARGUMENTS = {arguments}")


class Switching(FixTest):
    def switched(self, text: str, **how: Any) -> Any:
        return self.succeed(
            text, options={"record": {"on": False}, "switch_loaders": True, **how.pop("options", {})}, **how
        )

    def both(self, text: str) -> tuple[Any, Any]:
        """The program alone, and with workers that change."""
        alone = self.execute(self.script(text), agent=False)
        self.assertEqual(alone.code, 0, alone.err)
        return alone, self.switched(text)

    def same_batches(self, arguments: str, loaded_by: list[int]) -> None:
        alone, switched = self.both(program(SWITCHING, arguments))
        self.assertEqual(switched.out, alone.out, "not the batches that the program gets alone")
        self.assertEqual(switched.err.splitlines()[-1], f"{loaded_by} []", "who loaded, and which workers are left")

    def test_without_workers_of_its_own(self) -> None:
        self.same_batches("{}", [-1, 1, 2, 3])

    def test_with_workers_of_its_own(self) -> None:
        self.same_batches("dict(num_workers=2)", [-1, 1, 2, 3])

    def test_persistent(self) -> None:
        more = "worker_init_fn=lambda n: None, collate_fn=torch.utils.data.default_collate, timeout=30"
        self.same_batches(f"dict(num_workers=2, persistent_workers=True, prefetch_factor=3, {more})", [-1, 1, 2, 3])

    def test_generator_and_last_batch(self) -> None:
        self.same_batches("dict(generator=torch.Generator().manual_seed(2), drop_last=True)", [-1, 1, 2, 3])

    def test_left_in_the_midst_and_read_twice(self) -> None:
        """An epoch that is broken off, two iterators of one loader side by side, and an iterator that is read beyond its end."""
        text = """
            loader = DataLoader(Numbers(), batch_size=3)
            fix = fixes()
            def switch(item):
                if fix:
                    fix.switch_off("workers")
                    fix.switch_on(item)
            for end in (2, 3, 99):
                for number, (x, by) in enumerate(loader):
                    step(x)
                    print(x.flatten().tolist())
                    switch(f"workers={1 + number % 2}")
                    if number == end:
                        break
            for (x, _), (y, _) in zip(loader, loader):
                step(x)
                switch("workers=0" if x[0] > 9 else "workers=2")
                print(x.flatten().tolist(), y.flatten().tolist())
            iterator = iter(loader)
            print(len(list(iterator)), next(iterator, "over"), len(iterator))
        """
        alone, switched = self.both(program(text))
        self.assertEqual(switched.out, alone.out)

    def test_errors_of_the_program_arrive(self) -> None:
        """A row that cannot be read, and a sampler that fails: at the same batch, with the rows before and after it."""
        text = """
            class Failing:
                def __iter__(self):
                    yield from range(10)
                    raise KeyError("no more")
                def __len__(self):
                    return 22
            fix = fixes()
            if fix:
                step(torch.ones(1, 1))
                assert list(DataLoader(Numbers(), batch_size=22))
            for more in ({"broken": (4, 17)}, {}):
                loader = DataLoader(Numbers(**more), batch_size=2, sampler=None if more else Failing())
                for item in ("workers=0", "workers=2"):
                    if fix:
                        fix.switch_off("workers")
                        assert fix.switch_on(item)[0] in (0, 4), fix.switch_on(item)
                    iterator = iter(loader)
                    while True:
                        try:
                            print(next(iterator)[0].flatten().tolist())
                        except StopIteration:
                            break
                        except Exception as error:
                            print(type(error).__name__, str(error).split()[-1])
        """
        alone, switched = self.both(program(text))
        self.assertEqual(switched.out, alone.out)

    def test_workers_that_fail(self) -> None:
        """A worker that is killed, and one that cannot start: the program goes on as it was, and the fix is refused."""
        text = """
            import signal
            loader = DataLoader(Numbers(), batch_size=2)
            fix = fixes()
            for number, (x, by) in enumerate(loader):
                step(x)
                print(x.flatten().int().tolist())
                if number == 1:
                    print(fix.switch_on("workers=2")[0])
                    BREAK
                if number == 3:
                    [os.kill(child.pid, signal.SIGKILL) for child in alive()]
            print(fix.switch_on("workers=1"))
        """
        cannot = "import multiprocessing.process as p; p.BaseProcess.start = lambda self: exec('raise OSError(12, \"none\")')"
        rows = [str([2 * i, 2 * i + 1]) for i in range(11)]
        for how in ("pass", cannot):
            self.again()
            done = self.switched(program(text.replace("BREAK", how)))
            self.assertEqual(done.out.splitlines()[:-1], [*rows[:2], "0", *rows[2:]])
            self.assertRegex(
                done.out.splitlines()[-1], "its workers failed: (RuntimeError|OSError|ConnectionResetError)"
            )
            states = [value for value, change in changes(done.ring()) if change["fix"] == "workers"]
            self.assertEqual(states[:2], [layout.FIX_ON, layout.FIX_REFUSED])

    def test_the_agent_switches_itself_off(self) -> None:
        text = """
            loader = DataLoader(Numbers(), batch_size=2)
            fix = fixes()
            for epoch in range(2):
                for number, (x, by) in enumerate(loader):
                    step(x)
                    print(x.flatten().int().tolist(), int(by[0]))
                    if number == 1 and not epoch:
                        fix.switch_on("workers=2")
                    if number == 4 and not epoch:
                        fix.context.fail(ValueError("of ours"))
        """
        done = self.execute(self.script(program(text)), options={"record": {"on": False}, "switch_loaders": True})
        self.assertEqual(done.code, 0, done.err)
        rows = [f"[{2 * i}, {2 * i + 1}]" for i in range(11)]
        expected = [f"{row} {-1 if i < 2 else 2}" for i, row in enumerate(rows)] + [f"{row} -1" for row in rows]
        self.assertEqual(done.out.splitlines(), expected)

    def test_loaders_that_stay_as_they_are(self) -> None:
        text = """
            from torch.utils.data import IterableDataset
            class Stream(IterableDataset):
                def __iter__(self):
                    return iter([torch.ones(1)] * 4)
            class Own(DataLoader):
                def __iter__(self):
                    return super().__iter__()
            class Batches(torch.utils.data.BatchSampler): pass
            batches = Batches(torch.utils.data.SequentialSampler(Numbers()), 2, False)
            fix = fixes()
            step(torch.ones(1, 1))
            print(*fix.switch_on("workers=2"))
            for loader in (DataLoader(Stream(), batch_size=2), DataLoader(Numbers(), batch_size=None), Own(Numbers()),
                           DataLoader(Numbers(), batch_sampler=batches)):
                fix.make_tools().loader_switch.reasons.clear()
                for x in loader:
                    step(x if type(loader.dataset) is Stream else x[0].reshape(-1, 1))
                    break
                print(*fix.switch_on("workers=2"))
        """
        done = self.switched(program(text))
        for line, reason in zip(
            done.out.splitlines(),
            (
                "no DataLoader has been read",
                "read in its own order",
                "batch_size=None",
                "Own is not torch's DataLoader itself",
                "Batches may keep count",
            ),
        ):
            self.assertTrue(line.startswith(f"{layout.ACK_FAILED} it can only be on from the start: "), line)
            self.assertIn(reason, line)

    def test_other_settings(self) -> None:
        text = """
            loader = DataLoader(Numbers(), batch_size=2, num_workers=1)
            fix = fixes()
            for number, (x, by) in enumerate(loader):
                step(x)
                if number == 1:
                    print(*fix.switch_on("workers=1"))
                    print(*fix.switch_on("prefetch_factor=5"))
                if number == 3:
                    print(*[made._prefetch_factor for made in __import__("gc").get_objects() if type(made).__name__ == "_Workers"])
                    print(*fix.switch_off("prefetch_factor"))
        """
        done = self.switched(program(text))
        self.assertEqual(
            done.out.splitlines(),
            [
                f"{layout.ACK_NOT_APPLICABLE} every DataLoader has num_workers=1 already",
                f"{layout.ACK_DONE} DataLoaders load with 1 workers that fetch 5 batches ahead each",
                "5",
                f"{layout.ACK_DONE} DataLoaders load with 1 workers that fetch 2 batches ahead each",
            ],
        )


if __name__ == "__main__":
    unittest.main()
