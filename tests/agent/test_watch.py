# SPDX-License-Identifier: Apache-2.0
"""Tests what else the agent notices, and that it gets into every process of a run."""

from __future__ import annotations

import math
import re
import subprocess

from cases import in_ci
from harness import AGENT, PYTHON, ROOT, AgentTest, environment, layout, traces

EVENTS = """
    import gc, io, torch
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    def work(x):
        y = net(x)
        torch._dynamo.graph_break()
        return y.sum()
    import torch._dynamo
    try:
        compiled = torch.compile(work, backend="eager")
    except RuntimeError as error:  # torch 2.0 has no compiler for Python 3.11
        compiled = work
        print("no compiler:", error)
    for step in range(12):
        compiled(torch.randn(8 + (step > 7), 4) if step < 10 else torch.randn(3, 5, 4)).backward()
        optimizer.step()
        if step == 2:
            kept = [[i] for i in range(200000)]
            for pair in kept: pair.append(pair)
            del kept, pair
            gc.collect()
        if step == 4:
            torch.save(net.state_dict(), "checkpoint.pt")
            torch.save(net.state_dict(), io.BytesIO())
"""

LINES = """
    import torch
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    def read(loss):
        return loss.item()
    def main():
        data = torch.utils.data.TensorDataset(torch.zeros(40, 4))
        for (batch,) in torch.utils.data.DataLoader(data, batch_size=4):
            loss = net(batch).sum()
            loss.backward()
            read(loss)
            optimizer.step()
    main()
"""

WORKERS = """
    import os, subprocess, sys, time, torch
    from torch.utils.data import DataLoader, Dataset
    class Slow(Dataset):
        def __len__(self): return 40
        def __getitem__(self, i):
            time.sleep(0.001 if i else 0.05)
            return torch.zeros(3)
    if __name__ == "__main__":
        for batch in DataLoader(Slow(), batch_size=4, num_workers=2, multiprocessing_context=sys.argv[1]): pass
        print(os.getpid())
"""


class Watch(AgentTest):
    def test_gc_compile_save(self) -> None:
        done = self.succeed(EVENTS, options={"record": {"wait": 1, "warmup": 1, "active": 100}})
        ring = done.ring()
        self.assertEqual(len(ring.of("step")), 12)
        collections = [record for record in ring.of("gc") if record.b == 3 and record.value == 2]
        self.assertGreaterEqual(max(record.a for record in collections), 200000)
        saves = [(ring.text(record.a), record.b, record.x) for record in ring.of("save")]
        self.assertEqual([save[:2] for save in saves], [("checkpoint.pt", 5), ("", 5)])
        self.assertEqual(saves[0][2], (self.folder / "checkpoint.pt").stat().st_size)
        self.assertTrue(math.isnan(saves[1][2]))
        if "no compiler" in done.out:
            self.skipTest(done.out.strip())
        compiled = ring.of("compile")
        values = {record.value for record in compiled}
        self.assertIn(layout.COMPILED, values)
        self.assertIn(layout.GRAPH_BREAK, values)
        first = compiled[0]
        self.assertEqual((first.value, first.b), (layout.COMPILED, 0))
        self.assertGreater(first.dur_ns, 0)
        if first.a:  # torch 2.0 says only how long
            self.assertRegex(ring.text(first.a), r"work \(.*train.py:5\)")
            self.assertIn(layout.COMPILED_AGAIN, values)
        # The program ended in the midst of the window: what was recorded is there.
        (trace,) = traces(done)
        names = [event["name"] for event in trace["traceEvents"] if event.get("cat") == "user_annotation"]
        steps = sorted(int(name.split("#")[1]) for name in names if name.startswith("ProfilerStep#"))
        self.assertEqual(len(steps), len(set(steps)), "a step is marked twice")
        self.assertEqual(steps[:9], list(range(2, 11)))

    @in_ci
    def test_a_recording_has_the_calling_lines(self) -> None:
        """Newer versions of PyTorch write them, the agent adds them to what older ones write."""
        done = self.succeed(LINES, options={"record": {"wait": 1, "warmup": 1, "active": 3}})
        (trace,) = traces(done)
        calls = [event for event in trace["traceEvents"] if event.get("cat") == "python_function"]
        self.assertTrue(all("CallFrom" in event["args"] for event in calls))
        for part, line in ((" item of Tensor", 6), ("backward", 11), ("__next__", 9), ("train.py(", 12)):
            lines = {event["args"]["CallFrom"] for event in calls if part in event["name"]}
            self.assertIn(f"train.py:{line}", lines, part)

    def test_workers_of_a_loader(self) -> None:
        for method in ("fork", "spawn"):
            with self.subTest(method):
                done = self.succeed(WORKERS, method)
                workers = [ring for ring in done.rings() if ring.role == layout.ROLE_LOADS]
                self.assertEqual(len(workers), 2)
                items = [record for ring in workers for record in ring.of("items")]
                self.assertEqual(sum(record.a for record in items), 40)
                self.assertEqual({record.value for record in items}, {0, 1})
                self.assertGreaterEqual(sum(record.b for record in items), 39 * 1e6 + 50e6)
                (trains,) = [ring for ring in done.rings() if ring.role == layout.ROLE_TRAINS]
                self.assertEqual(trains.pid, int(done.out))
                self.assertEqual(len(trains.of("step")), 0)
                subprocess.run(["rm", "-rf", str(self.run_folder / "main")], check=True)

    def test_through_a_shell_script_and_a_module(self) -> None:
        self.script("import torch\nnet = torch.nn.Linear(2, 2)\nwith torch.no_grad():\n    net(torch.zeros(1, 2))\n")
        wrapper = self.script(f"cd {self.folder} && exec {PYTHON or 'python'} -m train\n", "run.sh")
        if not PYTHON:
            self.skipTest("no Python with torch")
        subprocess.run(["bash", str(wrapper)], env=environment(self.run_folder, {}, None), check=True)
        (path,) = self.run_folder.glob("main/agent-*.ring")
        self.assertTrue(path.stat().st_size > layout.RING_HEADER_BYTES)

    def test_a_process_that_replaces_itself(self) -> None:
        """The id stays; both have a ring."""
        done = self.succeed(
            """
            import os, sys, torch
            net = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            net(torch.zeros(1, 2)).sum().backward()
            optimizer.step()
            if len(sys.argv) == 1:
                os.execv(sys.executable, [sys.executable, __file__, "again"])
            """
        )
        self.assertEqual([len(ring.of("step")) for ring in done.rings()], [1, 1])

    def test_light_mode(self) -> None:
        ring = self.succeed(EVENTS, options={"mode": "light"}).ring()
        self.assertEqual({record.kind for record in ring.records} - {"optimizer", "process"}, {"step"})


@in_ci
class Layout(AgentTest):
    """The page of the protocol and the constants say the same."""

    page = (ROOT / "python" / "gapless" / "agent" / "README.md").read_text()

    def rows(self, after: str) -> list[list[str]]:
        text = self.page[self.page.index(after) :]
        table = re.search(r"\n\|(?:[^\n]*\n\|)+[^\n]*", text)
        assert table is not None
        lines = table.group(0).strip().splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    def test_kinds(self) -> None:
        for number, name, *_ in self.rows("What a field of a kind does not name"):
            self.assertEqual(getattr(layout, "KIND_" + name.upper()), int(number))

    def test_commands(self) -> None:
        for number, name, *_ in self.rows("char[216]"):
            self.assertEqual(getattr(layout, "COMMAND_" + name.upper()), int(number))

    def test_ring_header(self) -> None:
        names = {
            "written": 64,
            "step": 72,
            "acknowledged": 80,
            "heartbeat": 88,
            "cost": 96,
            "hook_calls": 104,
            "drained": 112,
        }
        rows = {
            row[2].replace("_unix_ns", "").replace("_ns", ""): int(row[0]) for row in self.rows("Header, 4096 bytes")
        }
        for name, offset in names.items():
            self.assertEqual(rows[name], offset)
            self.assertEqual(getattr(layout, name.upper()) * 8, offset)
        self.assertEqual(rows["state"], layout.OFFSET_STATE)
        self.assertEqual(rows["device"], layout.OFFSET_DEVICE)
        self.assertEqual((rows["host"], rows["versions"]), (layout.OFFSET_HOST, layout.OFFSET_VERSIONS))
        self.assertEqual(layout.RING_HEADER.size, rows["written"])

    def test_record(self) -> None:
        self.assertEqual((layout.RECORD.size, layout.TEXT_RECORD.size), (64, 64))
        self.assertEqual((layout.SLOT.size, layout.CONTROL_HEADER.size), (layout.SLOT_BYTES, 40))
        self.assertTrue(AGENT.is_dir())
