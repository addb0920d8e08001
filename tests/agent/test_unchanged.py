# SPDX-License-Identifier: Apache-2.0
"""A program does the same with the agent and without: output, exit status, files, random numbers, what it can look at."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cases import in_ci
from harness import AgentTest, Done, layout

TRAIN = """
    import random, sys, torch
    torch.manual_seed(1)
    random.seed(1)
    from torch.utils.data import DataLoader, TensorDataset
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters())
    data = TensorDataset(torch.randn(160, 4), torch.randn(160, 1))
    for x, y in DataLoader(data, batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    print(loss.item(), torch.rand(3).tolist(), random.random())
    print("to the other one", file=sys.stderr)
    torch.save(net.state_dict(), "net.pt")
"""

LOOK = """
    import sys, signal, warnings, gc
    import torch
    print(sys.flags, sys.argv, sys.path[0], "sitecustomize" in sys.modules, sys.excepthook is sys.__excepthook__)
    print([str(signal.getsignal(number)) for number in range(1, 32)], sys.gettrace(), sys.getprofile())
    print(warnings.filters, sorted(vars()), __name__, __file__, __spec__, sys.displayhook)
    print(torch.__spec__.loader, torch.__loader__, torch.backward if hasattr(torch, "backward") else "")
    import inspect
    print(inspect.signature(torch.autograd.backward), inspect.signature(torch.save), torch.save.__module__)
    print(inspect.signature(torch.nn.Module.__call__), inspect.signature(torch.optim.Optimizer.__init__))
    print(torch.utils.data.DataLoader.__init__.__qualname__, torch.autograd.backward.__doc__ == None)
    import threading, importlib.util
    print(threading.active_count(), importlib.util.find_spec("torch").name)
"""

# Wrappers of the program's own, one around torch's and one in a subclass, each of which must run as often as without the agent.
WRAP = """
    import torch
    from torch import nn
    calls, original = [0, 0], nn.Module.__call__
    def counted(self, *args, **kwargs):
        calls[0] += 1
        return original(self, *args, **kwargs)
    nn.Module.__call__ = counted
    class Own(nn.Sequential):
        def __call__(self, *args, **kwargs):
            calls[1] += 1
            return super().__call__(*args, **kwargs)
    net, x = Own(nn.Linear(4, 4)), torch.ones(2, 4)
    with torch.no_grad():
        for _ in range(6):
            net(x)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        net(x).sum().backward()
        optimizer.step()
    print(calls)
"""


# Warnings at every height of the stack, from below what the agent wraps: constructor, step, backward, loader, model, save.
WARNS = """
import io, warnings, torch
def warn(where):
    for level in range(1, 12):
        warnings.warn(f"{where} {level}", stacklevel=level + 1)
class Own(torch.optim.SGD):
    def __init__(self, parameters):
        warn("made")
        super().__init__(parameters, lr=0.1)
    def step(self, closure=None):
        warn("step")
        return super().step(closure)
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        warn("backward")
        return gradient * 2
class Net(torch.nn.Linear):
    def forward(self, x):
        warn("forward")
        return super().forward(x)
    def __reduce_ex__(self, protocol):
        warn("save")
        return super().__reduce_ex__(protocol)
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        warn("item")
        return torch.ones(4)
if __name__ == "__main__":
    net = Net(4, 1)
    with torch.no_grad():
        for _ in range(20):
            net(torch.ones(2, 4))
    optimizer = Own(net.parameters())
    for batch in torch.utils.data.DataLoader(Data(), batch_size=2):
        Twice.apply(net(batch).sum()).backward()
        optimizer.step()
    torch.save(net, io.BytesIO())
"""


Observed = tuple[int, str, str, dict[str, bytes]]  # exit status, output, errors, files written


class Unchanged(AgentTest):
    def both(self, *words: str | Path, **how: Any) -> Done:
        """Runs without and with the agent in folders of the same name, compares, and answers the one with."""
        folders = [self.folder / name / "work" for name in ("without", "with")]
        for folder in folders:
            folder.mkdir(parents=True)
        started = [self.start(*words, agent=folder is folders[1], cwd=folder, **how) for folder in folders]
        done = [self.finish(process) for process in started]
        observed = [self.observed(*pair) for pair in zip(folders, done)]
        self.assertEqual(observed[0], observed[1])
        shutil.rmtree(folders[0].parent)
        shutil.rmtree(folders[1].parent)
        return done[1]

    def observed(self, folder: Path, done: Done) -> Observed:
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        out = re.sub("0x[0-9a-f]+", "0x", done.out)
        return done.code, out, self.plain(done.err), files

    @staticmethod
    def plain(err: str) -> str:
        """Before Python 3.11 the traceback has a line for each of the agent's wrappers that it passes. And once the agent has
        recorded, the profiler no longer logs what it does."""
        err = re.sub(r"(?m)^(STAGE|USDT|INFO|ERROR):.*\n", "", err)
        return re.sub(r"  File \"[^\"]*gapless_agent[^\n]*\n(    [^\n]*\n)?", "", err)

    @in_ci
    def test_success(self) -> None:
        done = self.both(self.script(TRAIN))
        self.assertEqual(done.code, 0)
        ring = done.ring()
        self.assertEqual((ring.step, ring.state), (20, layout.STATE_ENDED))
        self.assertEqual([ring.text(record.a) for record in ring.of("save")], ["net.pt"])
        self.assertEqual(len(done.files("main/main_*.pt.trace.json.gz")), 1)
        self.assertEqual(len(done.files("main/*")), 2)

    def test_warnings_name_the_line_of_the_program(self) -> None:
        script = self.script(WARNS)
        said = [
            {line for line in self.execute(script, agent=agent).err.splitlines() if "UserWarning" in line}
            for agent in (False, True)
        ]
        self.assertGreater(len(said[0]), 50)
        self.assertEqual(*said)

    def test_exception(self) -> None:
        done = self.both(self.script(TRAIN + "    raise ValueError('a reason')\n"))
        self.assertEqual(done.code, 1)
        (failure,) = done.ring().of("failure")
        self.assertIn("ValueError: a reason", done.ring().text(failure.a))
        self.assertEqual(failure.value, layout.FAILURE_EXCEPTION)

    def test_exceptions_below_the_hooks(self) -> None:
        """Tracebacks through the loader, the model, backward and a step are the program's own."""
        text = """
            import sys, torch, traceback
            from torch.utils.data import DataLoader, Dataset
            class Bad(Dataset):
                def __len__(self): return 4
                def __getitem__(self, i): raise KeyError(i)
            class Net(torch.nn.Module):
                def forward(self, x): raise IndexError("in forward")
            def attempt(f):
                try: f()
                except Exception: traceback.print_exc()
            attempt(lambda: next(iter(DataLoader(Bad()))))
            attempt(lambda: next(iter(DataLoader(Bad(), num_workers=1))))
            attempt(lambda: Net()(1))
            attempt(lambda: torch.randn(3).sum().backward())
            attempt(lambda: torch.optim.SGD([], lr=1))
            attempt(lambda: torch.save(1, "no/such/folder/x"))
            attempt(lambda: torch.save(1, "x", no_such=1))
        """
        done = self.both(self.script(text))
        self.assertEqual(done.err.count("Traceback (most recent call last)"), 7 + done.err.count("Original Traceback"))
        version = tuple(int(part) for part in self.version().split(".")[:2])
        if version >= (3, 11):
            self.assertNotIn("gapless_agent", done.err)

    def version(self) -> str:
        return self.execute("-c", "import platform; print(platform.python_version())", agent=False).out.strip()

    def test_exit_code(self) -> None:
        self.assertEqual(self.both(self.script(TRAIN + "    sys.exit(7)\n")).code, 7)

    def test_killed(self) -> None:
        done = self.both(self.script(TRAIN + "    import os; os.kill(os.getpid(), 9)\n"))
        self.assertEqual(done.code, -signal.SIGKILL)
        ring = done.ring()
        self.assertEqual((ring.state, ring.step, len(ring.of("step"))), (layout.STATE_RUNS, 20, 20))

    def test_interrupted(self) -> None:
        text = TRAIN + "    print('ready', flush=True)\n    import time\n    time.sleep(60)\n"
        errors = []
        for agent in (False, True):
            process = self.start(self.script(text), agent=agent)
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.readline()
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            done = self.finish(process)
            self.assertEqual(done.code, -signal.SIGINT)
            errors.append(done.err)
        self.assertEqual(*errors)
        self.assertEqual(done.ring().state, layout.STATE_ENDED)

    def test_what_a_program_can_look_at(self) -> None:
        self.both(self.script(LOOK))

    def test_wrappers_around_a_models_call(self) -> None:
        self.assertEqual(self.both(self.script(WRAP)).code, 0)

    def test_users_sitecustomize(self) -> None:
        other = self.folder / "other"
        other.mkdir()
        (other / "sitecustomize.py").write_text("import sys\nsys.from_site = (__name__, __file__)\n")
        text = "import sys, sitecustomize; print(sys.from_site, sitecustomize.__file__, sitecustomize.__name__)"
        both = [self.execute("-c", text, agent=agent, env=env) for agent, env in self.paths(other)]
        self.assertEqual(both[0].out, both[1].out)
        self.assertIn(str(other), both[0].out)
        (other / "sitecustomize.py").write_text("raise RuntimeError('broken')\n")
        both = [self.execute("-c", "print(1)", agent=agent, env=env) for agent, env in self.paths(other)]
        self.assertEqual((both[0].out, both[0].err, both[0].code), (both[1].out, both[1].err, both[1].code))
        self.assertIn("broken", both[0].err)

    def test_two_copies_on_the_path_give_way_once_each(self) -> None:
        """As when a program is measured from a checkout of gapless itself, or below another gapless."""
        other, second = self.folder / "other", self.folder / "second"
        for folder in (other, second):
            folder.mkdir()
        (other / "sitecustomize.py").write_text("import sys\nsys.from_site = __file__\n")
        agent = Path(layout.__file__).resolve().parents[1]
        shutil.copy(agent / "sitecustomize.py", second)
        path = os.pathsep.join(map(str, (agent, second, other)))
        done = self.execute("-c", "import sys; print(sys.from_site)", agent=True, env={"PYTHONPATH": path})
        self.assertEqual((done.out.strip(), done.err), (str(other / "sitecustomize.py"), ""))

    def paths(self, other: Path) -> list[tuple[bool, dict[str, str]]]:
        agent = str(Path(layout.__file__).resolve().parents[1])
        return [(False, {"PYTHONPATH": str(other)}), (True, {"PYTHONPATH": agent + os.pathsep + str(other)})]

    def test_own_profiler(self) -> None:
        text = """
            import torch, json
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            def steps(count, after=lambda: None):
                for _ in range(count):
                    net(torch.randn(8, 4)).sum().backward(); optimizer.step(); after()
            steps(BEFORE)
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
                steps(10, profiler.step)
            steps(20)
            names = [event.key for event in profiler.key_averages()]
            print(sorted(name for name in names if "backward" not in name.lower()))
        """
        for before, written in ((0, 0), (10, 1)):
            with self.subTest(before=before):
                subprocess.run(["rm", "-rf", *map(str, self.run_folder.iterdir())], check=True)
                done = self.both(self.script(text.replace("BEFORE", str(before))))
                self.assertEqual(done.code, 0, done.err)
                ring = done.ring()
                self.assertEqual(ring.of("recorder")[-1].value if not written else 5, layout.RECORDER_IMPOSSIBLE)
                self.assertIn(layout.RECORDER_IMPOSSIBLE, [record.value for record in ring.of("recorder")])
                self.assertEqual(len(done.files("main/*.gz")), written)

    def test_isolated(self) -> None:
        done = self.both("-I", self.script(TRAIN))
        self.assertEqual(done.code, 0)
        self.assertEqual(list(self.run_folder.iterdir()), [])

    def test_switched_off(self) -> None:
        for env in ({"GAPLESS_DISABLE": "1"}, {"GAPLESS_RUN": ""}):
            done = self.execute("-c", "import sys; print('gapless_agent' in sys.modules)", env=env)
            self.assertEqual(done.out, "False\n")
        done = self.execute(self.script(TRAIN), options={"mode": "off"})
        self.assertEqual((done.code, list(self.run_folder.iterdir())), (0, []))

    def test_run_folder_that_cannot_be_written(self) -> None:
        self.run_folder.rmdir()
        self.run_folder.write_text("a file")
        done = self.execute(self.script(TRAIN))
        self.assertEqual((done.code, done.err), (0, "to the other one\n"))

    def test_options_that_are_no_options(self) -> None:
        text = '{"mode": 3, "record": 7, "ring_records": -5, "python_hz": true, "step": ["auto"]}'
        done = self.execute(self.script(TRAIN), env={"GAPLESS_OPTIONS": text})
        self.assertEqual((done.code, done.ring().step), (0, 20))

    def test_internal_error(self) -> None:
        """A part that failed is no longer watched, and the run says so; the program does not notice."""
        text = TRAIN.replace(
            "    data = ",
            """
    if "gapless_agent" in sys.modules:
        from gapless_agent import control
        def broken(step): raise RuntimeError("an error of the agent")
        sys.modules["gapless_agent.install"].running.steps.follow = broken
    data = """,
        )
        ring = self.both(self.script(text)).ring()
        self.assertEqual((ring.state, len(ring.of("step"))), (layout.STATE_ENDED, 1))
        self.assertIn("Gapless no longer watches where steps end", ring.text(ring.of("message")[0].a))
        self.assertIn("an error of the agent", ring.text(ring.of("message")[0].a))

    def test_without_torch(self) -> None:
        done = self.both("-c", "import sys; print('torch' in sys.modules, 'typing' in sys.modules)")
        self.assertEqual((done.code, list(self.run_folder.iterdir())), (0, []))


if __name__ == "__main__":
    sys.exit("run by tests/agent_test.py")
