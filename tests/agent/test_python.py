# SPDX-License-Identifier: Apache-2.0
"""Profiles of the Python code: sampled stacks, calls, lines, allocations, and the reading of samples by function."""

from __future__ import annotations

import json
from typing import Any

from cases import in_ci
from harness import AGENT, AgentTest, Done, layout, make_control, post, traces

PROGRAM = """
    import time, torch
    from torch.utils.data import DataLoader, Dataset
    kept, tensors = [], []
    def slow(i):
        until = time.perf_counter() + 0.004
        while time.perf_counter() < until: pass
        return i
    class Data(Dataset):
        def __len__(self): return 120
        def __getitem__(self, i):
            slow(i)
            return torch.zeros(3)
    def keep():
        kept.append(bytearray(50000))
        tensors.append(torch.zeros(250, 100))
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in DataLoader(Data(), batch_size=10, num_workers=WORKERS):
        net(batch).sum().backward()
        optimizer.step()
        keep()
    print(len(kept))
"""
LINE_OF_LOOP, LINE_OF_KEEPING, LINE_OF_TENSORS = 7, 15, 16

COUNTED = """
    import torch
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    def counted():
        return torch.ones(8, 4)
    for step in range(40):
        for _ in range(10):
            batch = counted()
        net(batch).sum().backward()
        optimizer.step()
"""


# A function of gc.callbacks hands the interpreter's lock over whenever the sampler's thread makes a frame: the stacks change meanwhile.
COLLECTS_WHILE_SAMPLED = """
import gc, sys, threading, time
sys.path.insert(0, sys.argv[1])
from gapless_agent.sampler import Sampler
def told(phase, info):
    if threading.current_thread().name == "gapless sampler":
        time.sleep(0.0002)
gc.callbacks.append(told)
gc.set_threshold(5, 2, 2)
def deep(left):
    return sum(numbers(30)) if left == 0 else deep(left - 1) + 1
def numbers(most):
    yield from range(most)
    yield from (number for number in range(most))
sampler = Sampler(1000, 0, lambda *_: None)
sampler.start()
until = time.time() + 4
while time.time() < until:
    deep(150)
sampler.stop()
assert gc.isenabled() and sampler.node
print("lived")
"""


# An object in the locals of a sampled function is freed when the function returns, in its own thread, without collecting garbage.
HOLDS_NOTHING = """
import gc, sys, threading, time
sys.path.insert(0, sys.argv[1])
from gapless_agent.sampler import Sampler
dropped = []
class Held:
    def __del__(self):
        dropped.append(threading.current_thread().name)
def work():
    held = Held()
    until = time.time() + 0.02
    while time.time() < until:
        pass
gc.disable()
sampler = Sampler(1000, 0, lambda *_: None)
sampler.start()
for _ in range(50):
    work()
sampler.stop()
assert sampler.node
print(len(dropped), set(dropped))
"""


class Python(AgentTest):
    def profile(self, kind: str, workers: int = 0) -> tuple[Done, list[Any]]:
        options = {"python": kind, "record": {"on": False}}
        done = self.succeed(PROGRAM.replace("WORKERS", str(workers)), options=options)
        self.assertEqual(done.out, "12\n")
        tables = [json.loads(path.read_text()) for path in done.files("main/python-*.host.json")]
        for table in tables:
            self.assertEqual((table["format"], table["version"], table["kind"]), ("gapless.host", 1, kind))
        return done, tables

    def test_sampled_stacks(self) -> None:
        done, (table,) = self.profile("sample")
        ours = {row["function"].split(".")[-1]: row for row in table["functions"] if row["file"].endswith("train.py")}
        slow, reading = ours["slow"], ours["__getitem__"]
        self.assertTrue(0.2e9 < slow["self_ns"] < 3e9, slow)
        self.assertGreaterEqual(reading["total_ns"], slow["self_ns"])
        samples = table["samples"]
        self.assertEqual(len(samples["ts_ns"]), len(samples["node"]))
        self.assertTrue(all(table["start_unix_ns"] <= ts <= table["end_unix_ns"] for ts in samples["ts_ns"]))
        (scope,) = [json.loads(path.read_text()) for path in done.files("main/*.speedscope.json")]
        names = [frame["name"] for frame in scope["shared"]["frames"]]
        main = next(profile for profile in scope["profiles"] if profile["name"] == "MainThread")
        self.assertEqual(sum(main["weights"]), main["endValue"])
        self.assertTrue(any(names[stack[-1]] == "slow" for stack in main["samples"]))
        functions = [json.loads(done.ring().text(record.y)) for record in done.ring().of("items") if record.y]
        self.assertTrue(any("slow (" in next(iter(by_function)) for by_function in functions), functions)

    def test_sampled_stacks_in_workers(self) -> None:
        done, tables = self.profile("sample", workers=2)
        self.assertEqual(len(tables), 3)
        times: dict[str, int] = {}
        for ring in done.rings():
            for record in ring.of("items") if ring.role == layout.ROLE_LOADS else []:
                for name, own in json.loads(ring.text(record.y)).items() if record.y else []:
                    times[name.split(" ")[0]] = times.get(name.split(" ")[0], 0) + own
        self.assertGreater(times["slow"], sum(times.values()) / 2, times)

    def test_calls(self) -> None:
        _, (table,) = self.profile("cprofile")
        (slow,) = [row for row in table["functions"] if row["function"] == "slow"]
        self.assertEqual((slow["calls"], slow["line"]), (120, 5))
        self.assertGreater(slow["total_ns"], 0.4e9)

    @in_ci
    def test_calls_are_counted_while_steps_are_recorded(self) -> None:
        """Both want Python to tell them of each call, and it tells one only."""
        done = self.succeed(COUNTED, options={"python": "cprofile", "record": {"wait": 2, "warmup": 1, "active": 3}})
        (path,) = done.files("main/python-*.host.json")
        functions = json.loads(path.read_text())["functions"]
        self.assertEqual([row["calls"] for row in functions if row["function"] == "counted"], [400])
        self.assertEqual([row for row in functions if "gapless_agent" in row["file"]], [])
        (trace,) = traces(done)
        self.assertEqual([event for event in trace["traceEvents"] if event.get("cat") == "python_function"], [])

    def test_lines(self) -> None:
        _, (table,) = self.profile("lines")
        self.assertEqual({row["file"].rsplit("/", 1)[1] for row in table["lines"]}, {"train.py"})
        rows = {row["line"]: row for row in table["lines"]}
        self.assertEqual(rows[LINE_OF_KEEPING]["hits"], 12)
        self.assertEqual(max(range(5, 14), key=lambda line: rows.get(line, {"self_ns": 0})["self_ns"]), LINE_OF_LOOP)
        total = sum(row["self_ns"] for row in rows.values())
        self.assertLessEqual(total, table["end_unix_ns"] - table["start_unix_ns"])

    def test_allocations(self) -> None:
        _, (table,) = self.profile("tracemalloc")
        row = next(row for row in table["lines"] if row["file"].endswith("train.py") and row["line"] == LINE_OF_KEEPING)
        self.assertGreater(row["bytes"], 12 * 50000)
        row = next(row for row in table["lines"] if row["file"].endswith("train.py") and row["line"] == LINE_OF_TENSORS)
        self.assertGreater(row["bytes"], 12 * 100000, "what tensors keep outside of Python is their line's, too")

    def test_on_command(self) -> None:
        post(make_control(self.run_folder), layout.COMMAND_PYTHON, argument=1)
        done = self.succeed(PROGRAM.replace("WORKERS", "0").replace("120", "600"), options={"record": {"on": False}})
        (path,) = done.files("main/python-*-1.host.json")
        table = json.loads(path.read_text())
        self.assertLess(table["end_unix_ns"] - table["start_unix_ns"], 2e9)
        self.assertEqual([record.value for record in done.ring().of("ack")], [layout.ACK_DONE])

    @in_ci
    def test_stacks_are_fetched_undisturbed(self) -> None:
        """Python 3.11 ends with signal 11 where a stack changes while it is fetched."""
        done = self.execute(self.script(COLLECTS_WHILE_SAMPLED), AGENT, agent=False)
        self.assertEqual((done.code, done.out), (0, "lived\n"), done.err)

    @in_ci
    def test_sampling_holds_nothing_of_the_program(self) -> None:
        done = self.execute(self.script(HOLDS_NOTHING), AGENT, agent=False)
        self.assertEqual((done.code, done.out), (0, "50 {'MainThread'}\n"), done.err)


class Cost(AgentTest):
    def test_counting_ends_once_it_costs_too_much(self) -> None:
        """The limits are lowered; what was seen until then is there, and the program is no longer traced."""
        text = """
    import sys, time, torch
    profile = sys.modules["gapless_agent.python_profile"]
    profile.MOST_COST_NS, profile.MOST_SHARE = 1_000_000, 0.0001
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    def count(): return sum(number for number in range(20000))
    for _ in range(150):
        optimizer.zero_grad()
        net(torch.ones(8, 4)).square().mean().backward()
        optimizer.step()
        count()
        time.sleep(0.01)
    print(sys.gettrace(), sys.getprofile())
"""
        for kind, rows in (("lines", "lines"), ("cprofile", "functions")):
            with self.subTest(kind):
                self.setUp()
                done = self.succeed(text, options={"python": kind, "record": {"on": False}})
                self.assertEqual(done.out, "None None\n")
                ring = done.ring()
                (said,) = [ring.text(message.a) for message in ring.of("message")]
                self.assertRegex(said, rf"^the Python profile \({kind}\) ended after \d+ s: it had cost about \d+ s")
                (cost,) = [record for record in ring.of("recorder") if record.flags == layout.COST_PYTHON]
                self.assertGreater(cost.dur_ns, 1_000_000)
                (file,) = done.files("*/python-*.host.json")
                self.assertTrue(json.loads(file.read_text())[rows])
