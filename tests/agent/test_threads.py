# SPDX-License-Identifier: Apache-2.0
"""Programs that train in threads: the same result and status as without the agent, and what was recorded is kept.

PyTorch's profiler has to be stopped by the thread that started it: from another one it ends the process with signal 11.
GAPLESS_TEST_REPEAT=N runs every program N times.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import textwrap
from typing import Any

from cases import in_ci
from harness import AgentTest, Done, layout

REPEAT = int(os.environ.get("GAPLESS_TEST_REPEAT", "1"))

COMMON = """
import os, sys, threading, time, torch
torch.set_num_threads(1)
def threads():  # of the program: not those that sample it and pack a recording
    return [thread.name for thread in threading.enumerate() if not thread.name.startswith("gapless")]
def train(steps, seed=0, pause=0.0):
    torch.manual_seed(seed)
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters())
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        loss = net(torch.rand(4, 8, generator=generator)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(pause)
    return round(loss.item(), 6)
"""

# The first steps of a window and its end lie in different threads, or its thread ends before the process does.
ENDS_WITHIN_A_WINDOW = """
results = []
thread = threading.Thread(target=lambda: results.append(train(10)))
thread.start()
thread.join()
print(results, threads())
"""
ENDS_BEFORE_THE_WINDOW_KEEPS = ENDS_WITHIN_A_WINDOW.replace("train(10)", "train(7)")
# The main thread holds the mark of the recorded thread, and drops it after that thread has ended.
MARK_OUTLIVES_THE_THREAD = """
import gc
marks, results = [], []
def trains():
    results.append(train(8))
    marks.extend(one for one in gc.get_objects() if type(one).__name__ == "_Owner")
thread = threading.Thread(target=trains)
thread.start()
thread.join()
marks.clear()
print(results, threads(), flush=True)
"""
MAIN_TRAINS_ON = ENDS_WITHIN_A_WINDOW + "print(train(40))\n"
FOUR_THREADS = """
trainers = [threading.Thread(target=train, args=(40, seed)) for seed in range(4)]
[thread.start() for thread in trainers]
[thread.join() for thread in trainers]
print("done", threads())
"""
# Six iterations of a thread with two optimisers each, and four threads of two trials with an optimiser of its own each.
TWO_OPTIMIZERS = """
def adversarial():
    nets = [torch.nn.Linear(4, 1) for _ in range(2)]
    optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
    for _ in range(6):
        for net, optimizer in zip(nets, optimizers):
            net(torch.ones(2, 4)).sum().backward()
            optimizer.step()
trainers = [threading.Thread(target=adversarial) for _ in range(3)]
[thread.start() for thread in trainers]
[thread.join() for thread in trainers]
"""
TRIALS = """
def trials(seed):
    for trial in range(2):
        train(7, seed)
trainers = [threading.Thread(target=trials, args=(seed,)) for seed in range(4)]
[thread.start() for thread in trainers]
[thread.join() for thread in trainers]
"""
ONE_STEP_EACH = """
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def step():
    optimizer.zero_grad()
    net(torch.ones(4, 8)).square().mean().backward()
    optimizer.step()
for _ in range(90):
    thread = threading.Thread(target=step)
    thread.start()
    thread.join()
"""
# Without an optimiser the agent looks at the calls of models, so that its wrapper is in place while a window records stacks.
BY_HAND = """
net, done = torch.nn.Linear(4, 8), []
def by_hand():
    for number in range(30):
        net(torch.randn(8, 4)).pow(2).mean().backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.sub_(0.01 * parameter.grad)
        net.zero_grad()
        done.append(number)
thread = threading.Thread(target=by_hand)
thread.start()
thread.join()
print(len(done))
"""
ONE_AFTER_THE_OTHER = """
results = []
for seed in range(5):
    thread = threading.Thread(target=lambda: results.append(train(4, seed)))
    thread.start()
    thread.join()
print(results)
"""
POOL = """
from concurrent.futures import ThreadPoolExecutor
torch.manual_seed(0)
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def step(index):
    optimizer.zero_grad()
    net(torch.full((4, 8), index / 60)).square().mean().backward()
    optimizer.step()
    return index
with ThreadPoolExecutor(3) as pool:
    print([pool.submit(step, index).result() for index in range(60)][-1])
print(round(net.weight.sum().item(), 6))
"""
OUTLIVES_MAIN = """
def work():
    print(train(10, pause=0.01), flush=True)
threading.Thread(target=work).start()
print("main ends", flush=True)
"""
# Python ends a daemon in the midst of PyTorch's code, which aborts the process: in half of all runs without the agent, too.
DAEMON = """
trained = threading.Event()
def work():
    train(10)
    trained.set()
    train(100_000, pause=0.01)
threading.Thread(target=work, daemon=True).start()
trained.wait()
print("main ends", flush=True)
"""
DAEMON_HANGS = """
trained = threading.Event()
def work():
    train(10)
    trained.set()
    time.sleep(1000)
threading.Thread(target=work, daemon=True).start()
trained.wait()
sys.exit(3)
"""
NOT_OF_THREADING = """
import _thread
lock = _thread.allocate_lock()
lock.acquire()
def work():
    print(train(10), flush=True)
    lock.release()
_thread.start_new_thread(work, ())
lock.acquire()
time.sleep(0.2)
print(threads())
"""
RAISES = """
def work():
    train(10)
    raise ValueError("of the program")
thread = threading.Thread(target=work)
thread.start()
thread.join()
sys.exit(7)
"""
FORKS = """
def work():
    train(10)
    child = os.fork()
    if child == 0:
        print("child", train(20), flush=True)
        os._exit(5)
    print("parent", train(3), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
OWN_PROFILER_ELSEWHERE = """
go, gone = threading.Event(), threading.Event()
def work():
    train(10)
    go.set()
    gone.wait()
    train(10)
thread = threading.Thread(target=work)
thread.start()
go.wait()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as own:
    train(3)
print(sum(event.count for event in own.key_averages() if event.key == "aten::linear"))
gone.set()
thread.join()
"""
# PyTorch ends these itself now and then: a thread that still computes while Python ends; a profiler that is stopped behind its thread,
# in one of about a hundred ends on a busy machine ("terminate called without an active exception").
PYTORCH_MAY_ABORT = (DAEMON, MARK_OUTLIVES_THE_THREAD)


class Threads(AgentTest):
    def both(self, program: str, **how: Any) -> Done:
        """Runs the program without and with the agent, compares, and returns what it did with it."""
        script = self.folder / "train.py"
        script.write_text(COMMON + textwrap.dedent(program))
        without = self.execute(script, agent=False)
        for _ in range(REPEAT):
            done = self.execute(script, **how)
            self.assertEqual(done.out, without.out, done.err)
            if program in PYTORCH_MAY_ABORT:
                self.assertIn(done.code, (0, -signal.SIGABRT), done.err)
            else:
                self.assertEqual(done.code, without.code, done.err)
        return done

    def recorded(self, done: Done) -> list[str]:
        """Returns the names of the step marks of the only recording."""
        files = done.files("main/main_*.pt.trace.json.gz")
        self.assertEqual(len(files), REPEAT, done.err)
        events = json.loads(gzip.decompress(files[0].read_bytes()))["traceEvents"]
        return [event["name"] for event in events if event["name"].startswith("ProfilerStep#")]

    def test_thread_that_ends_within_a_window(self) -> None:
        self.assertEqual(
            self.recorded(self.both(ENDS_WITHIN_A_WINDOW)), ["ProfilerStep#8", "ProfilerStep#9", "ProfilerStep#10"]
        )

    def test_thread_that_ends_before_the_window_keeps(self) -> None:
        self.assertEqual(self.both(ENDS_BEFORE_THE_WINDOW_KEEPS).files("main/*.gz"), [])

    def test_another_thread_trains_on(self) -> None:
        self.assertEqual(len(self.recorded(self.both(MAIN_TRAINS_ON))), 3)

    def test_several_threads_train(self) -> None:
        self.both(FOUR_THREADS)
        self.both(ONE_AFTER_THE_OTHER)

    def test_a_window_whose_mark_outlives_the_thread(self) -> None:
        done = self.both(MARK_OUTLIVES_THE_THREAD)
        self.assertIn(layout.RECORDER_IMPOSSIBLE, [record.value for record in done.ring().of("recorder")])

    @in_ci
    def test_steps_are_those_of_all_threads(self) -> None:
        programs = {FOUR_THREADS: 160, TWO_OPTIMIZERS: 18, TRIALS: 56, ONE_STEP_EACH: 90, POOL: 60}
        ring = self.succeed(COMMON + "".join(programs), options={"record": {"on": False}}).ring()
        steps = sorted(record.a for record in ring.of("step"))
        self.assertEqual(steps, list(range(sum(programs.values()))))

    def test_a_window_has_steps_of_its_own_thread(self) -> None:
        record = {"wait": 4, "warmup": 1, "active": 5, "repeat": 1}
        self.assertEqual(len(self.recorded(self.both(FOUR_THREADS, options={"record": record}))), 5)

    def test_the_next_thread_has_the_window_of_one_that_ended(self) -> None:
        program = ENDS_BEFORE_THE_WINDOW_KEEPS + "print(train(40))\n"
        self.assertEqual(len(self.recorded(self.both(program))), 6)

    def test_parameters_are_written_by_hand(self) -> None:
        done = self.both(BY_HAND)
        self.assertEqual(done.out, "30\n")
        self.assertEqual(len(self.recorded(done)), 6, "the whole window")

    def test_thread_pool(self) -> None:
        self.both(POOL)

    def test_thread_that_outlives_main(self) -> None:
        self.assertEqual(len(self.recorded(self.both(OUTLIVES_MAIN))), 3)

    def test_daemon_that_still_trains_closes_its_window(self) -> None:
        self.recorded(self.both(DAEMON))

    def test_daemon_that_does_nothing_is_left(self) -> None:
        ring = self.both(DAEMON_HANGS).rings()[0]
        self.assertIn(layout.RECORDER_IMPOSSIBLE, [record.value for record in ring.of("recorder")])

    def test_thread_that_threading_does_not_know(self) -> None:
        self.recorded(self.both(NOT_OF_THREADING))

    def test_thread_that_raises(self) -> None:
        self.recorded(self.both(RAISES))

    def test_fork_in_a_thread(self) -> None:
        self.both(FORKS)

    def test_own_profiler_in_another_thread(self) -> None:
        self.both(OWN_PROFILER_ELSEWHERE)

    def test_agent_that_fails_in_another_thread(self) -> None:
        """The window is left alone: only the thread that opened it could stop it."""
        fails = """
            if "gapless_agent" in sys.modules:
                running = sys.modules["gapless_agent.install"].running
                running.recorder.guard.failed(RuntimeError("an error of the agent"))
        """
        program = (
            OWN_PROFILER_ELSEWHERE.split("with torch")[0]
            + textwrap.dedent(fails)
            + "gone.set()\nthread.join()\nprint(1)\n"
        )
        self.both(program)

    def test_every_profile_of_python(self) -> None:
        for kind in ("sample", "cprofile", "lines", "tracemalloc"):
            with self.subTest(kind):
                for program in (ENDS_WITHIN_A_WINDOW, FOUR_THREADS, DAEMON):
                    self.both(program, options={"python": kind, "python_hz": 200})

    def test_more_than_one_window(self) -> None:
        record = {"wait": 1, "warmup": 1, "active": 2, "repeat": 6}
        for program in (MAIN_TRAINS_ON, FOUR_THREADS, ONE_AFTER_THE_OTHER, POOL):
            self.both(program, options={"record": record})
