# SPDX-License-Identifier: Apache-2.0
"""The engines that tasks run on, each behind the same few calls: processes of this machine, Ray, and whatever has the interface of
concurrent.futures (loky, Dask, MPI, submitit)."""

from __future__ import annotations

import concurrent.futures
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Collection
from concurrent.futures import Executor
from typing import Any, Callable, Union

from ..integrations.extras import need
from ..program import NOT_THERE, ProgramError
from .task import Task, run

On = Union[str, Executor, Callable[[], Executor], None]
PER_CORE = 2  # tasks in flight
OF_UNKNOWN = 256  # in flight on an engine that does not say how many it can do
IN_ARRAY = 1000  # jobs of one array of submitit: Slurm takes 1,001
POLL, LONGEST_POLL = 0.2, 2.0  # seconds between two looks at futures that cannot be waited for


class Engine:
    """An engine runs tasks. `submit` returns a future; a worker that dies breaks an engine, or only the future."""

    tries_again = False  # by itself, before it says that a worker died

    def width(self) -> int:
        """Returns the number of tasks that may be in flight."""
        return PER_CORE * cores()

    def submit(self, tasks: list[Task]) -> list[Any]:
        raise NotImplementedError

    def wait(self, futures: Collection[Any]) -> set[Any]:
        """Returns the futures that are done, at least one."""
        done, _ = concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED)
        return done

    def again(self) -> bool:
        """Makes the engine anew after it broke; False if it cannot be."""
        return False

    def stop(self, futures: Collection[Any]) -> None:
        """Ends what runs: the caller was interrupted."""
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """Nothing more will be submitted."""


def cores() -> int:
    return len(os.sched_getaffinity(0))


class Processes(Engine):
    """The program itself, a process for each task: as many at once as there are cores, started and watched by threads."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._threads = concurrent.futures.ThreadPoolExecutor(cores(), "gapless-cluster")

    def submit(self, tasks: list[Task]) -> list[Any]:
        return [self._threads.submit(run, task, self._stopped) for task in tasks]

    def stop(self, futures: Collection[Any]) -> None:
        super().stop(futures)
        self._stopped.set()
        self._threads.shutdown(wait=True)  # each sees it within a tenth of a second

    def close(self) -> None:
        self._threads.shutdown(wait=True)


class Given(Engine):
    """An Executor of the caller's, or a function that makes one: then it is made anew when it broke, and shut down in the end."""

    def __init__(self, given: Executor | Callable[[], Executor]) -> None:
        self._make = None if hasattr(given, "submit") else given
        self._executor: Any = self._make() if callable(self._make) else given
        self._own = self._make is not None

    def width(self) -> int:
        client = getattr(self._executor, "_client", None)
        if client is not None and hasattr(client, "nthreads"):  # Dask
            return PER_CORE * max(1, sum(int(threads) for threads in client.nthreads().values()))
        workers = getattr(self._executor, "_max_workers", None)
        return PER_CORE * workers if isinstance(workers, int) and workers > 0 else OF_UNKNOWN

    def submit(self, tasks: list[Task]) -> list[Any]:
        return [self._executor.submit(run, task) for task in tasks]

    def again(self) -> bool:
        broken, maker = self._executor, self._make or _maker_like(self._executor)
        if maker is None:
            return False
        broken.shutdown(wait=False)
        self._executor, self._own = maker(), True
        return True

    def close(self) -> None:
        if self._own and "loky" not in type(self._executor).__module__:  # loky's is kept for whoever wants it next
            self._executor.shutdown(wait=True)


def _maker_like(executor: Any) -> Callable[[], Executor] | None:
    """A pool of processes is of no use once a worker was killed: another one, as large."""
    workers = getattr(executor, "_max_workers", None)
    if type(executor) is concurrent.futures.ProcessPoolExecutor:
        context = executor._mp_context
        return lambda: concurrent.futures.ProcessPoolExecutor(workers, mp_context=context)
    if type(executor).__module__.startswith("loky"):
        loky = sys.modules["loky"]
        return lambda: loky.get_reusable_executor(max_workers=workers)
    return None


class Submitit(Given):
    """Jobs of a queue, submitted as arrays; they have no futures to wait for."""

    def width(self) -> int:
        here = getattr(self._executor, "cluster", "") in ("local", "debug")  # a process for each job, at once
        return PER_CORE * cores() if here else IN_ARRAY

    def submit(self, tasks: list[Task]) -> list[Any]:
        if len(tasks) == 1:
            return super().submit(tasks)
        with self._executor.batch():
            return super().submit(tasks)

    def wait(self, futures: Collection[Any]) -> set[Any]:
        pause = POLL
        while True:
            done = {future for future in futures if future.done()}
            if done:
                return done
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_POLL)

    def stop(self, futures: Collection[Any]) -> None:
        for future in futures:
            future.cancel(check=False)


class Ray(Engine):
    """Tasks of the cluster that this process is connected to, or that RAY_ADDRESS names."""

    tries_again = True

    def __init__(self, memory: int | None, retries: int) -> None:
        self._ray = need("ray", "ray")
        self._connected_here = not self._ray.is_initialized()
        if self._connected_here:
            if not os.environ.get("RAY_ADDRESS"):
                raise ProgramError(
                    "there is no Ray cluster to run on: call ray.init() first, or set RAY_ADDRESS to the address of one", NOT_THERE
                )  # fmt: skip
            self._ray.init(log_to_driver=False, logging_level="ERROR")
        wanted = {"memory": memory} if memory else {}
        self._run = self._ray.remote(
            num_cpus=1, max_retries=retries, retry_exceptions=False, scheduling_strategy="SPREAD", **wanted
        )(run)
        self._references: dict[Any, Any] = {}

    def width(self) -> int:
        return PER_CORE * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, tasks: list[Task]) -> list[Any]:
        futures = []
        for task in tasks:
            reference = self._run.remote(task)
            future = reference.future()
            self._references[future] = reference
            futures.append(future)
        return futures

    def wait(self, futures: Collection[Any]) -> set[Any]:
        done = super().wait(futures)
        for future in done:
            self._references.pop(future, None)
        return done

    def stop(self, futures: Collection[Any]) -> None:
        for future in futures:
            if future in self._references:
                self._ray.cancel(self._references.pop(future), force=True)

    def close(self) -> None:
        self._references.clear()
        if self._connected_here:
            self._ray.shutdown()


def engine_for(on: On, memory: int | None, retries: int) -> Engine:
    """The engine that was asked for; None: Ray where this process is connected to it or told to be, else processes."""
    if on is None:
        ray = sys.modules.get("ray")
        connected = ray is not None and ray.is_initialized()
        named = bool(os.environ.get("RAY_ADDRESS")) and importlib.util.find_spec("ray") is not None
        on = "ray" if connected or named else "processes"
    if on == "processes":
        return Processes()
    if on == "ray":
        return Ray(memory, retries)
    if isinstance(on, str):
        raise ValueError(  # noqa: TRY004  (the type is right)
            f'there is no engine {on!r}: "processes", "ray", or an Executor'
        )
    if type(on).__module__.startswith("submitit"):
        return Submitit(on)
    if not hasattr(on, "submit") and not callable(on):
        raise TypeError(f"{type(on).__name__} is no Executor, and no function that makes one")
    return Given(on)
