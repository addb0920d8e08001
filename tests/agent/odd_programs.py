# SPDX-License-Identifier: Apache-2.0
"""Programs that do odd things while they train. Run as a program: each in a child of its own, forked after torch was imported, so
that all of them together cost one import. Prints, for each, its name, its exit status and what it printed.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import get_context
from typing import Any, Callable

import odd_processes  # noqa: F401 -- adds its programs to the list
import torch
from odd_training import PROGRAMS, Training, around, odd, train


@odd
def runs_without_garbage_collection() -> object:
    import gc

    def off() -> None:
        gc.disable()
        gc.freeze()

    return around(off), gc.isenabled(), gc.get_freeze_count() > 0


@odd
def forgets_modules() -> object:
    def forget() -> None:
        for name in ("json", "gzip", "threading", "time", "struct"):
            sys.modules.pop(name, None)

    return around(forget)


@odd
def replaces_open() -> object:
    import builtins

    def fails(*_: Any, **__: Any) -> Any:
        raise PermissionError("no files here")

    builtins.open = fails
    return around(lambda: None)


@odd
def stops_the_clocks() -> object:
    import time

    def stop() -> None:
        time.time = lambda: 0.0
        time.time_ns = time.perf_counter_ns = lambda: 0
        time.perf_counter = lambda: 0.0

    return around(stop)


@odd
def starts_no_threads() -> object:
    import threading

    def fails(_: Any) -> None:
        raise RuntimeError("no threads here")

    def no_more() -> None:
        setattr(threading.Thread, "start", fails)  # noqa: B010 -- a method may not be assigned to

    return around(no_more)


@odd
def makes_warnings_errors() -> object:
    import warnings

    return around(lambda: warnings.simplefilter("error"))


@odd
def replaces_its_output() -> object:
    import io

    kept, sys.stdout = sys.stdout, io.StringIO()
    value = train()
    print("unseen")
    text, sys.stdout = sys.stdout.getvalue(), kept
    return value, text


@odd
def replaces_the_optimizers_step() -> object:
    calls, original = [0], torch.optim.Adam.step

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        return original(self, *args, **kwargs)

    torch.optim.Adam.step = counted
    return train(), calls


@odd
def wraps_an_optimizer() -> object:
    class Wrapper:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    training = Training()
    training.optimizer = Wrapper(training.optimizer)
    return training.steps(20)


@odd
def trains_in_a_generator() -> object:
    def steps() -> Any:
        training = Training()
        while True:
            yield training.steps(1)

    run = steps()
    values = [next(run) for _ in range(20)]
    try:
        run.throw(KeyError("enough"))
    except KeyError as error:
        return values[-1], str(error)
    return None


@odd
def trains_in_coroutines() -> object:
    import asyncio

    async def work(seed: int) -> float:
        training = Training(seed)
        for _ in range(10):
            training.step()
            await asyncio.sleep(0)
        return round(training.step(), 6)

    async def both() -> list[float]:
        return [await work(1), await work(2)]

    return asyncio.run(both())


@odd
def maps_over_a_pool() -> object:
    with get_context("fork").Pool(2) as pool:
        return pool.map(train, [10, 12, 14])


@odd
def loads_with_workers() -> object:
    from torch.utils.data import DataLoader, TensorDataset

    training = Training()
    for (batch,) in DataLoader(TensorDataset(torch.rand(80, 4)), batch_size=4, num_workers=2):
        training.net(batch).sum().backward()
        training.optimizer.step()
    return training.steps(1)


@odd
def exits_from_within() -> object:
    return around(lambda: sys.exit(5))


@odd
def leaves_at_once() -> object:
    return around(lambda: os._exit(6))


@odd
def aborts() -> object:
    return around(os.abort)


@odd
def ends_itself_by_a_signal() -> object:
    return around(lambda: os.kill(os.getpid(), 9))


@odd
def raises_in_a_thread() -> object:
    import threading

    def work() -> None:
        train(10)
        raise ValueError("of the program")

    threading.excepthook = lambda caught: print(caught.exc_value)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return train(3)


@odd
def registers_what_to_do_at_its_end() -> object:
    import multiprocessing.util

    multiprocessing.util.Finalize(None, lambda: print("the end", train(3), flush=True), exitpriority=1)
    return train()


@odd
def copies_and_stores_everything() -> object:
    import copy
    import io
    import pickle

    training = Training()
    training.steps(10)
    other = copy.deepcopy(training)
    stored = io.BytesIO()
    torch.save({"net": training.net.state_dict(), "optimizer": training.optimizer.state_dict()}, stored)
    return training.steps(2), other.steps(2) > 0, len(stored.getvalue()), len(pickle.dumps(training.optimizer))


@odd
def asks_for_random_numbers() -> object:
    import random

    random.seed(1)
    value = train()
    return value, random.random(), torch.rand(2).tolist(), torch.initial_seed()


@odd
def runs_code_from_text() -> object:
    space: dict[str, Any] = {"training": Training()}
    exec("value = training.steps(20)", space)  # noqa: S102 -- that is what the program does
    return space["value"]


@odd
def starts_a_session() -> object:
    return around(os.setsid)


@odd
def becomes_another_user() -> object:
    return around(lambda: os.setuid(65534) if os.geteuid() == 0 else None), os.getuid() == 65534 or os.getuid() != 0


@odd
def runs_a_sub_interpreter() -> object:
    try:
        interpreters: Any = __import__("_xxsubinterpreters")
    except ImportError:
        return around(lambda: None)

    def run() -> None:
        interpreter = interpreters.create()
        interpreters.run_string(interpreter, "import os; os.write(1, b'inside\\n')")
        interpreters.destroy(interpreter)

    return around(run)


@odd
def trains_in_threads() -> object:
    import threading

    threads = [threading.Thread(target=train, args=(10,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(threads)


@odd
def infers_without_gradients() -> object:
    training = Training()
    training.net.eval()
    with torch.inference_mode():
        return round(sum(float(training.net(torch.ones(2, 4)).sum()) for _ in range(30)), 4)


@odd
def breaks_a_hook() -> object:
    training = Training()

    def fails(_: Any, __: Any, ___: Any) -> None:
        raise LookupError("in a hook")

    training.steps(10)
    handle = training.net.register_forward_hook(fails)
    try:
        training.step()
    except LookupError as error:
        handle.remove()
        return str(error), training.steps(5)
    return None


def run(program: Callable[[], object], output: int) -> None:
    os.dup2(output, 1)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 -- not what the parent has in its buffer
    print(program(), flush=True)


def main() -> None:
    torch.set_num_threads(1)
    train(1)  # what torch makes at its first step is there before the forks
    for program in PROGRAMS:
        reading, writing = os.pipe()
        child = get_context("fork").Process(target=run, args=(program, writing))
        child.start()
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            printed = file.read().decode("utf-8", "replace")
        child.join()
        print(f"{program.__name__}: {child.exitcode} {printed.strip()!r}", flush=True)


if __name__ == "__main__":
    main()
