# SPDX-License-Identifier: Apache-2.0
"""Pairs of blocks, and what they are made of. Steps that sleep need no PyTorch; ratios are checked, not times."""

from __future__ import annotations

import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, ClassVar
from unittest import mock

import gapless
from cases import in_ci
from gapless import utilization
from gapless.host import cores
from gapless.training import Batches, samples_of
from gapless.utilization import Utilization, mean_of

BATCHES = [1, 2, 3]


def sleeper(config: dict[str, float]) -> Callable[[Any], None]:
    return lambda _: time.sleep(config["seconds"])


class Trainer:
    """An object with a step of its own, which notes what it got."""

    log: ClassVar[list[tuple[str, Any]]] = []
    made: ClassVar[list[str]] = []

    def __init__(self, name: str) -> None:
        self.name = name
        self.made.append(name)

    def train_step(self, batch: Any) -> None:
        self.log.append((self.name, batch))
        time.sleep(0.0002)


@in_ci
class Compared(unittest.TestCase):
    def compare(self, a: float, b: float, **how: Any) -> gapless.ABTestResult:
        configs = {"seconds": a}, {"seconds": b}
        return gapless.ABTestValidator().compare_configurations(*configs, sleeper, BATCHES, **how)

    def test_faster(self) -> None:
        found = self.compare(0.004, 0.002, warmup_steps=1)
        self.assertEqual((found.verdict, found.statistically_significant, found.pairs), ("faster", True, 24))
        self.assertTrue(1.3 < found.speedup < 2.7, found)
        low, high = found.speedup_confidence_interval
        self.assertTrue(low is not None and high is not None and 1 < low <= found.speedup <= high, found)
        self.assertLess(found.p_value, 0.05)
        self.assertGreater(found.baseline_metrics.step_time_p50_ms or 0, 4)
        self.assertIsNone(found.baseline_metrics.samples_per_second)  # numbers have no length
        self.assertAlmostEqual(found.memory_saved_gb or 0.0, 0.0, delta=0.05)  # of resident memory: sleeping takes none
        self.assertEqual(found.baseline_metrics.memory_usage_source, "host")
        self.assertEqual(len(found.to_dict()["log_ratios"]), 24)
        self.assertEqual(found.to_dict()["baseline_metrics"]["gpu_utilization_source"], "cpu")
        self.assertLess(found.baseline_metrics.gpu_utilization or 0, 30)  # it sleeps

    def test_slower_in_one_run(self) -> None:
        found = self.compare(0.001, 0.003, num_runs=1, pairs=14, warmup_steps=0)
        self.assertEqual((found.verdict, found.pairs), ("slower", 14))
        self.assertLess(found.speedup, 0.8)

    def test_few_pairs_tell_nothing(self) -> None:
        found = self.compare(0.001, 0.003, num_runs=1, pairs=2, warmup_steps=0)
        self.assertEqual((found.verdict, found.statistically_significant, found.pairs), ("cannot_tell", False, 4))

    def test_same_batches_in_an_order_by_lot(self) -> None:
        Trainer.log, Trainer.made = [], []
        validator = gapless.ABTestValidator()
        validator.compare_configurations("a", "b", Trainer, BATCHES, num_runs=4, pairs=40, warmup_steps=0, seed=5)
        self.assertEqual(sorted(Trainer.made), ["a"] * 4 + ["b"] * 4)
        self.assertEqual({tuple(Trainer.made[at : at + 2]) for at in range(0, 8, 2)}, {("a", "b"), ("b", "a")})
        self.assertEqual(len(Trainer.log), 4 * 102)  # of each run; a step of each comes first, which does not count
        steps = [Trainer.log[run * 102 + 2 : (run + 1) * 102] for run in range(4)]
        blocks = [of_run[at : at + 5] for of_run in steps for at in range(0, len(of_run), 5)]
        self.assertEqual(len(blocks), 80)
        orders = set()
        for first, second in zip(blocks[::2], blocks[1::2]):
            self.assertEqual([batch for _, batch in first], [batch for _, batch in second])
            orders.add(first[0][0] + second[0][0])
        self.assertEqual(orders, {"ab", "ba"})
        before, Trainer.log = Trainer.log, []
        validator.compare_configurations("a", "b", Trainer, BATCHES, num_runs=4, pairs=40, warmup_steps=0, seed=5)
        self.assertEqual(Trainer.log, before)

    def test_what_a_step_raises_comes_through(self) -> None:
        error = KeyError("of the user")

        def failing(_: Any) -> Callable[[Any], None]:
            def step(_: Any) -> None:
                raise error

            return step

        with self.assertRaises(KeyError) as caught:
            gapless.ABTestValidator().compare_configurations(0, 1, failing, BATCHES)
        self.assertIs(caught.exception, error)

    def test_bad_input(self) -> None:
        validator = gapless.ABTestValidator()
        with self.assertRaises(TypeError):
            validator.compare_configurations(0, 1, lambda config: config, BATCHES)
        with self.assertRaises(ValueError):
            self.compare(0.001, 0.001, num_runs=0)
        with self.assertRaisesRegex(ValueError, "no batch"):
            validator.compare_configurations(0, 1, Trainer, [])


@in_ci
class Loaders(unittest.TestCase):
    def test_begun_again(self) -> None:
        batches = Batches([1, 2])
        self.assertEqual([next(batches) for _ in range(5)], [1, 2, 1, 2, 1])

    def test_none_is_a_batch(self) -> None:
        self.assertEqual([next(Batches([None])) for _ in range(2)], [None, None])

    def test_what_ends(self) -> None:
        batches = Batches(iter([1, 2]))
        self.assertEqual([next(batches), next(batches)], [1, 2])
        with self.assertRaisesRegex(ValueError, "after 2 batches"):
            next(batches)

    def test_samples(self) -> None:
        self.assertIsNone(samples_of({"text": "abc", "n": 3}))
        self.assertIsNone(samples_of([]))


class Sampled(unittest.TestCase):
    """nvidia-smi is stood in for by a script; the device by its uuid."""

    def sampled(self, script: str, uuid: str | None = "GPU-b") -> float | None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "nvidia-smi"
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            path = f"{folder}{os.pathsep}{os.environ['PATH']}"
            with mock.patch.object(utilization, "uuid_of", lambda _: uuid), mock.patch.dict(os.environ, {"PATH": path}):
                with Utilization("device") as found:
                    time.sleep(0.2)
                return found.percent

    def test_mean_of_the_device(self) -> None:
        rows = "echo 'GPU-a, 10'; echo 'GPU-b, 80'; echo 'GPU-a, 20'; echo 'GPU-b, 90'"
        self.assertEqual(self.sampled(rows + "; sleep 60"), 85)
        self.assertIsNone(self.sampled(rows, None))

    def test_nothing_is_none(self) -> None:
        self.assertIsNone(self.sampled("echo 'GPU-b, [N/A]'"))
        self.assertIsNone(self.sampled("exit 9"))

    def test_without_a_device_the_processors_are_measured(self) -> None:
        with Utilization(None) as busy:
            until = time.perf_counter() + 0.2
            while time.perf_counter() < until:
                pass
        with Utilization(None) as idle:
            time.sleep(0.2)
        self.assertEqual((busy.source, idle.source), ("cpu", "cpu"))
        self.assertGreater(busy.percent or 0, 30 / cores())
        self.assertLess(idle.percent if idle.percent is not None else 100, (busy.percent or 0) / 2)

    def test_one_device_needs_no_name(self) -> None:
        self.assertEqual(mean_of("GPU-x, 40\nGPU-x, 60\n", None), 50)
        self.assertEqual(mean_of("GPU-x, 0\n", "x"), 0)


if __name__ == "__main__":
    unittest.main()
