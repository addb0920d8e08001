# SPDX-License-Identifier: Apache-2.0
"""Programs that do odd things to their own process while they train: to its children, signals, frames, files and limits."""

from __future__ import annotations

import os
import sys
from typing import Any

from odd_training import Training, around, odd, train


@odd
def forks_and_both_train() -> object:
    training = Training()
    training.steps(10)
    child = os.fork()
    if child == 0:
        os._exit(int(training.steps(10) * 1000) % 50)
    return training.steps(10), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@odd
def executes_another_program() -> object:
    around(lambda: None)
    sys.stdout.flush()
    return os.execv("/bin/sh", ["sh", "-c", "echo executed; exit 9"])


@odd
def handles_an_alarm() -> object:
    import signal

    seen: list[int] = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    value = train(40)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return value, bool(seen)


@odd
def exits_in_a_handler() -> object:
    import signal

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    return around(lambda: os.kill(os.getpid(), signal.SIGTERM))


@odd
def catches_an_interrupt() -> object:
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            train(3)
        except KeyboardInterrupt:
            print("interrupted")

    return around(interrupted)


@odd
def blocks_all_signals() -> object:
    import signal

    return around(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)))


@odd
def traces_itself() -> object:
    lines: list[int] = []

    def traced() -> int:
        count = 0
        for _ in range(3):
            count += 1
        return count

    def tracer(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code is traced.__code__:
            lines.append(frame.f_lineno)
        return tracer

    training = Training()
    training.steps(10)
    sys.settrace(tracer)
    traced()
    value = training.steps(10)
    kept = sys.gettrace() is tracer
    sys.settrace(None)
    return value, len(lines), kept


@odd
def profiles_itself() -> object:
    training, calls = Training(), [0]

    def count(_frame: Any, event: str, _: Any) -> None:
        calls[0] += event == "call"

    sys.setprofile(count)
    value = training.steps(4)
    kept = sys.getprofile() is count
    sys.setprofile(None)
    return value, kept, calls[0] > 0


@odd
def closes_what_it_does_not_know() -> object:
    return around(lambda: os.closerange(3, 256))


@odd
def closes_standard_streams() -> object:
    def close() -> None:
        os.close(0)
        os.close(2)

    return around(close)


@odd
def recurses_deeply() -> object:
    def deep(level: int) -> float:
        return deep(level - 1) if level else train(12)

    return deep(800)


@odd
def recurses_too_deeply() -> object:
    def deep() -> object:
        return deep()

    def caught() -> None:
        try:
            deep()
        except RecursionError:
            print("too deep")

    return around(caught)


@odd
def trains_at_the_limit_of_recursion() -> object:
    """Wherever the limit falls into a step, the program sees its own error and goes on."""
    training, done = Training(), []

    def deep(level: int) -> None:
        if level:
            return deep(level - 1)
        try:
            done.append(training.step())
        except RecursionError:
            done.append(0.0)

    before = sys.getrecursionlimit()
    for room in (200, 250):
        sys.setrecursionlimit(room)
        deep(20)
    sys.setrecursionlimit(before)
    return len(done), train(12)


@odd
def leaves_its_folder() -> object:
    import tempfile

    def leave() -> None:
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.rmdir(folder)

    return around(leave)


@odd
def clears_its_environment() -> object:
    return around(os.environ.clear), len(os.environ)


@odd
def makes_files_for_nobody() -> object:
    return around(lambda: os.umask(0o777)), oct(os.umask(0))


@odd
def may_open_no_more_files() -> object:
    import resource

    return around(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)))


@odd
def may_write_no_more() -> object:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return around(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
