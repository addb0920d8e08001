# SPDX-License-Identifier: Apache-2.0
"""A plug-in of pytest: a benchmark is a test that fails when it got slower than its history.

    def test_tokenizer(gapless_gate):
        gapless_gate(tokenize, text)

`pytest --gapless-gate` times the function, has `gapless gate` judge it against the runs of the baseline branch in the history, and keeps
it there. Without that option the function is called once, as in any test.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any, Callable, TypeVar

from .integrations.extras import need

need("pytest", "pytest")

import pytest

from .metrics import PerformanceMetrics
from .program import ProgramError, as_file, ask
from .regression import Regression, result_document

BLOCKS = 30
BLOCK_NS = 10_000_000  # at least, so that the clock and a single interruption do not count
WARM_UP_NS = 50_000_000

_Result = TypeVar("_Result")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gapless", "benchmarks against their history")
    group.addoption(
        "--gapless-gate", action="store_true", help="time tests with the fixture gapless_gate, judge and record them"
    )
    group.addoption("--gapless-strict", action="store_true", help="fail also where the history cannot tell")
    group.addoption("--gapless-db", metavar="URL", help="the history: sqlite:FILE or postgresql://… (the user's own)")
    group.addoption("--gapless-baseline", metavar="BRANCH", default="main", help="judge against this branch (main)")
    group.addoption("--gapless-branch", metavar="NAME", help="the branch of this run (git's)")
    group.addoption("--gapless-commit", metavar="SHA", help="the commit of this run (git's)")
    group.addoption(
        "--gapless-threshold", metavar="SHARE", type=float, default=0.05, help="report changes of at least SHARE (0.05)"
    )


@dataclass
class Judged:
    """The judgement of one benchmark."""

    test: str
    regression: Regression
    median_ms: float

    @property
    def text(self) -> str:
        """One line: the verdict, the change with the smallest one that could have been seen, and what to do."""
        found = self.regression
        words = {"regression": "slower", "improvement": "faster", "cannot_tell": "cannot tell"}
        line = f"{self.test}: {self.median_ms:.4g} ms, {words.get(found.verdict, found.verdict)}"
        if found.performance_delta is not None:
            line += f", speed {found.performance_delta:+.1f} % against the baseline"
        if found.mde_share is not None:
            line += f" (changes from {100 * found.mde_share:.1f} % on could be seen)"
        if found.verdict == "cannot_tell" and not found.alarm_pending:
            return f"{line}: the history has too few runs of the baseline"
        return f"{line}: {found.recommendation}" if found.verdict in ("regression", "cannot_tell") else line


class Gate:
    """Call it with a function and its arguments, once in a test. Returns what the function returned."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._config = request.config
        self._node = request.node
        self._used = False

    def __call__(self, function: Callable[..., _Result], *args: Any, **kwargs: Any) -> _Result:
        if self._used:
            raise RuntimeError("gapless_gate is called once in a test: its history has the name of the test")
        self._used = True
        result = function(*args, **kwargs)
        if self._config.getoption("--gapless-gate"):
            self._judge(timed(lambda: function(*args, **kwargs)))
        return result

    def _judge(self, times_ms: list[float]) -> None:
        judged = Judged(self._node.nodeid, self._asked(times_ms), statistics.median(times_ms))
        self._node.user_properties.append(("gapless", judged.text))
        self._config.stash[_JUDGED].append(judged)
        verdict = judged.regression.verdict
        if verdict == "regression" or (verdict == "cannot_tell" and self._config.getoption("--gapless-strict")):
            pytest.fail(judged.text, pytrace=False)

    def _asked(self, times_ms: list[float]) -> Regression:
        options = self._config.getoption
        words = [
            "--record",
            f"--baseline={options('--gapless-baseline')}",
            f"--threshold={options('--gapless-threshold')}",
        ]
        words += [
            f"--{name}={options(f'--gapless-{name}')}"
            for name in ("db", "branch", "commit")
            if options(f"--gapless-{name}")
        ]
        metrics = PerformanceMetrics(step_time_ms=statistics.median(times_ms), step_times_ms=times_ms)
        with as_file(result_document(metrics, {"label": self._node.nodeid})) as path:
            try:
                return Regression.of(ask("gate", path, *words, accept=(0, 1)))
            except ProgramError as error:
                raise pytest.fail.Exception(f"gapless cannot judge this benchmark: {error}", pytrace=False) from None


def timed(call: Callable[[], Any]) -> list[float]:
    """Milliseconds of a call, by blocks: as many calls each as take 10 ms, after 50 ms of calls that do not count."""
    calls, spent, begun = 0, 0, time.perf_counter_ns()
    while spent < WARM_UP_NS or calls == 0:
        call()
        calls += 1
        spent = time.perf_counter_ns() - begun
    in_block = max(1, round(BLOCK_NS * calls / spent))
    blocks = []
    for _ in range(BLOCKS):
        begun = time.perf_counter_ns()
        for _ in range(in_block):
            call()
        blocks.append((time.perf_counter_ns() - begun) / in_block / 1e6)
    return blocks


_JUDGED = pytest.StashKey[list[Judged]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_JUDGED] = []


@pytest.fixture  # type: ignore[untyped-decorator,unused-ignore]
def gapless_gate(request: pytest.FixtureRequest) -> Gate:
    """Times a function and fails the test when it got slower than its history; see `pytest --help`, group gapless."""
    return Gate(request)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    judged = config.stash.get(_JUDGED, [])
    if judged:
        terminalreporter.section("gapless gate")
        for one in judged:
            terminalreporter.line(one.text)
