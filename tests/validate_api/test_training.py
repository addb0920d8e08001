# SPDX-License-Identifier: Apache-2.0
"""Benchmarks and validation of models, with PyTorch on a CPU. Models sleep for a known time: ratios are checked, not times."""

from __future__ import annotations

import copy
import math
import tempfile
import time
import types
import unittest
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import gapless
from cases import in_ci
from gapless import scaling
from gapless.alike import are_alike
from gapless.pairs import Memory
from gapless.program import ask
from gapless.step_timing import StepClock, measure_steps
from gapless.training import forward

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest("no PyTorch in this Python") from error

from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Sleepy(nn.Module):  # type: ignore[misc,unused-ignore]
    """Sleeps in every forward pass, and has all that a step could change: weights, statistics, a dropout."""

    def __init__(self, seconds: float = 0.0, factor: float = 1.0) -> None:
        super().__init__()
        self.seconds = seconds
        self.factor = factor
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        self.passes = 0
        self.fails_at: BaseException | None = None

    def forward(self, inputs: Any) -> Any:
        self.passes += 1
        if self.fails_at is not None and self.passes > 3:
            raise self.fails_at
        time.sleep(self.seconds)
        return self.layers(inputs) * self.factor


class Reordered(Sleepy):
    """The same, but for the order in which the first layer sums."""

    def forward(self, inputs: Any) -> Any:
        time.sleep(self.seconds)
        first = self.layers[0]
        left = inputs[:, :2] @ first.weight[:, :2].t()
        return self.layers[1:](left + inputs[:, 2:] @ first.weight[:, 2:].t() + first.bias) * self.factor


class Answers(nn.Module):  # type: ignore[misc,unused-ignore]
    """As models of transformers are: inputs by keyword, labels among them, a loss in the answer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, input_ids: Any, labels: Any = None) -> Any:
        logits = self.layer(input_ids)
        loss = None if labels is None else (logits - labels).square().mean()
        return types.SimpleNamespace(loss=loss, logits=logits)


class WholeBatch(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, batch: Any) -> Any:
        return self.layer(batch["x"])


class Nothing(nn.Module):  # type: ignore[misc,unused-ignore]
    def forward(self, inputs: Any) -> Any:
        return inputs * 2


def loader(batches: int = 3, size: int = 8) -> Any:
    generator = torch.Generator().manual_seed(7)
    return [
        (torch.randn(size, 4, generator=generator), torch.randn(size, 1, generator=generator)) for _ in range(batches)
    ]


def benchmark(
    model: Any, batches: Any = None, steps: int = 5, warmup: int = 2, **how: Any
) -> gapless.PerformanceMetrics:
    batches = loader() if batches is None else batches
    return gapless.PerformanceBenchmark().benchmark_training(model, batches, steps, warmup, **how)


@in_ci
class Benchmark(unittest.TestCase):
    def test_counts_and_times(self) -> None:
        model = Sleepy(0.003)
        found = benchmark(model, loader(1), 8, 2)
        self.assertEqual(model.passes, 10)
        self.assertEqual(len(found.step_times_ms), 8)
        self.assertGreater(found.step_time_p50_ms or 0, 3)
        self.assertAlmostEqual((found.samples_per_second or 0) * (found.step_time_ms or 0) / 1e3, 8)
        self.assertIsNone(found.multi_gpu_scaling_efficiency)
        self.assertEqual((found.memory_usage_source, found.gpu_utilization_source), ("host", "cpu"))
        self.assertTrue(0.05 < (found.memory_usage_gb or 0) < 20, found.memory_usage_gb)
        self.assertTrue(0 < (found.gpu_utilization or 0) <= 100, found.gpu_utilization)
        self.assertGreaterEqual(found.step_time_p99_ms or 0, found.step_time_p95_ms or 0)

    def test_waiting_for_a_batch_counts(self) -> None:
        class Slow:
            def __iter__(self) -> Any:
                for batch in loader():
                    time.sleep(0.003)
                    yield batch

        found = benchmark(Sleepy(), Slow())
        self.assertGreater(found.step_time_p50_ms or 0, 3)

    def test_the_model_is_as_before(self) -> None:
        for optimizer in (None, torch.optim.Adam):
            for error in (None, RuntimeError("of the user"), KeyboardInterrupt()):
                with self.subTest(optimizer=optimizer, error=error):
                    self.check_unchanged(optimizer, error)

    def check_unchanged(self, make: Any, error: BaseException | None) -> None:
        model = Sleepy()
        optimizer = make(model.parameters(), lr=0.1) if make else None
        model(loader()[0][0]).sum().backward()
        if optimizer is not None:
            optimizer.step()
        before = copy.deepcopy((model.state_dict(), optimizer.state_dict() if optimizer else None))
        gradients = [one.grad.clone() for one in model.parameters()]
        tensors = [*model.parameters(), *model.buffers()]
        model.fails_at = error
        if error is None:
            benchmark(model, optimizer=optimizer, criterion=nn.functional.mse_loss)
        else:
            with self.assertRaises(type(error)) as caught:
                benchmark(model, optimizer=optimizer)
            self.assertIs(caught.exception, error)
        self.assertEqual(repr(before), repr((model.state_dict(), optimizer.state_dict() if optimizer else None)))
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[0][name]), name)
        for kept, weight in zip(gradients, model.parameters()):
            self.assertTrue(torch.equal(kept, weight.grad))
        self.assertTrue(all(a is b for a, b in zip(tensors, [*model.parameters(), *model.buffers()])))

    def test_an_optimizer_learns_meanwhile(self) -> None:
        losses: list[float] = []

        def criterion(output: Any, target: Any) -> Any:
            loss = nn.functional.mse_loss(output, target)
            losses.append(float(loss.detach()))
            return loss

        model = Sleepy()
        benchmark(model, loader(1), 20, 0, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), criterion=criterion)
        self.assertLess(losses[-1], losses[0] * 0.9)
        losses.clear()
        benchmark(model.eval(), loader(1), 5, 0, criterion=criterion)
        self.assertEqual(len(set(losses)), 1)

    def test_kinds_of_batches(self) -> None:
        inputs, labels = loader()[0]
        answers = Answers()
        for batch in (
            {"input_ids": inputs, "labels": labels},
            {"input_ids": inputs},
            {"input_ids": inputs, "y": labels},
        ):
            self.assertIsNotNone(benchmark(answers, [batch]).samples_per_second)
        self.assertTrue(forward(answers, {"input_ids": inputs, "labels": labels})[1])
        self.assertTrue(forward(nn.DataParallel(answers), {"input_ids": inputs, "labels": labels})[1])
        plain, is_loss = forward(WholeBatch(), {"x": inputs})
        self.assertEqual((plain.dim(), is_loss), (0, False))
        of_target, is_loss = forward(WholeBatch(), {"x": inputs, "y": labels}, nn.functional.mse_loss)
        self.assertEqual((of_target.dim(), is_loss), (0, True))
        self.assertFalse(forward(Sleepy(), inputs)[1])
        self.assertIsNotNone(benchmark(Sleepy(), [inputs]).samples_per_second)
        with self.assertRaisesRegex(TypeError, "criterion"):
            forward(lambda _: {}, inputs)
        self.assertEqual(forward(lambda _: {"loss": torch.tensor(2.0), "x": inputs}, inputs), (torch.tensor(2.0), True))

    def test_no_parameters_and_no_number(self) -> None:
        self.assertIsNotNone(benchmark(Nothing()).step_time_ms)
        nan = benchmark(Sleepy(factor=math.nan), criterion=nn.functional.mse_loss)
        self.assertTrue(math.isfinite(nan.step_time_ms or math.nan))

    def test_refused(self) -> None:
        for batches, steps, warmup in (([], 5, 2), (loader(), 0, 2), (loader(), 5, -1), (iter(loader(2)), 5, 2)):
            with self.assertRaises(ValueError):
                benchmark(Sleepy(), batches, steps, warmup)

    def test_profiled_as_well(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            batches = [{"input_ids": inputs, "labels": labels} for inputs, labels in loader()]
            model = Answers()
            result = gapless.PyTorchProfiler().profile_training_step(model, batches, 2, str(Path(folder) / "run"))
            self.assertEqual(result.summary["steps"], 2)
            self.assertIsNone(model.layer.weight.grad)


class Event:
    """As torch.cuda.Event, on a device whose clock is a count of seconds."""

    now_s = 0.0

    def __init__(self, enable_timing: bool) -> None:
        self.at_s = 0.0

    def record(self, stream: str) -> None:
        assert stream == "stream"
        self.at_s = Event.now_s

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, other: Event) -> float:
        return (other.at_s - self.at_s) * 1e3


class OnDevice(unittest.TestCase):
    """Tests what is asked of torch.cuda, with a stand-in for it: whether a real device answers so is not shown here."""

    def setUp(self) -> None:
        self.device = types.SimpleNamespace(type="cuda")
        self.waited: list[Any] = []
        patched: dict[str, Any] = {
            "Event": Event, "synchronize": self.waited.append, "current_stream": lambda _: "stream",
            "reset_peak_memory_stats": lambda _: None, "memory_allocated": lambda _: 3 * 10**9,
            "max_memory_allocated": lambda _: 5 * 10**9,
        }  # fmt: skip
        patch = mock.patch.multiple(torch.cuda, **patched)
        patch.start()
        self.addCleanup(patch.stop)

    def test_steps_by_events(self) -> None:
        def step(seconds: float) -> None:
            Event.now_s += seconds

        times, samples = measure_steps(step, [0.5, 0.25, 1.0], 3, StepClock(self.device))
        self.assertEqual((times, samples), ([500.0, 250.0, 1000.0], None))
        self.assertEqual(self.waited, [self.device])  # before the first step only

    def test_memory_above_what_was_there(self) -> None:
        memory = Memory(self.device)
        self.assertIsNone(memory.peak_gb())
        memory.start()
        self.assertEqual(memory.peak_gb(), 2.0)
        memory.start(own_bytes=10**9)
        self.assertEqual(memory.peak_gb(), 3.0)

    def test_memory_on_a_cpu_is_resident_memory(self) -> None:
        memory = Memory(torch.device("cpu"))
        self.assertIsNone(memory.peak_gb())
        memory.start()
        torch.ones(50_000_000)  # 0.2e9 bytes, which are given back at once: the peak counts
        self.assertAlmostEqual(memory.peak_gb() or 0, 0.2, delta=0.05)
        self.assertEqual(memory.source, "host")


class Scaling(unittest.TestCase):
    def test_two_processes(self) -> None:
        model = Sleepy(0.02)
        data = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
        counts = [1, 2, 4096]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = gapless.PerformanceBenchmark().benchmark_multi_gpu_scaling(
                model, data, counts, num_steps=8, warmup_steps=1, criterion=nn.functional.mse_loss
            )
        self.assertIn("4096", str(said[0].message))
        self.assertEqual(Path(said[0].filename).name, Path(__file__).name)
        self.assertEqual(found[1].multi_gpu_scaling_efficiency, 1.0)
        if 2 in found:  # where there are two cores
            efficiency = found[2].multi_gpu_scaling_efficiency or 0
            self.assertTrue(0.4 < efficiency < 1.3, efficiency)
            together = (found[2].samples_per_second or 0) * (found[2].step_time_ms or 0) / 1e3
            self.assertAlmostEqual(together, 16, delta=3)
        self.assertFalse(any(one.is_shared() for one in model.parameters()))
        self.assertEqual(model.passes, 0)

    def test_each_process_has_its_part(self) -> None:
        data = DataLoader(TensorDataset(torch.arange(16)), batch_size=4, shuffle=True, drop_last=True)
        described = scaling._described(data)
        parts = [
            {int(one) for (batch,) in scaling._loader_from(described, rank, 2) for one in batch} for rank in (0, 1)
        ]
        self.assertEqual([len(part) for part in parts], [8, 8])
        self.assertEqual(parts[0] | parts[1], set(range(16)))
        self.assertEqual(scaling._loader_from(scaling._described([1, 2]), 1, 2), [1, 2])

    def test_what_fails_there(self) -> None:
        model = Sleepy()
        model.fails_at = ValueError("of the user")
        with self.assertRaises(torch.multiprocessing.ProcessRaisedException) as caught:
            gapless.PerformanceBenchmark().benchmark_multi_gpu_scaling(model, loader(), [1], num_steps=5)
        self.assertIn("ValueError: of the user", str(caught.exception))

    def test_refused(self) -> None:
        measure = gapless.PerformanceBenchmark().benchmark_multi_gpu_scaling
        with self.assertRaisesRegex(TypeError, "picklable"):
            measure(Sleepy(), loader(), [1], criterion=lambda output, _: output.sum())
        with self.assertRaises(ValueError):
            measure(Sleepy(), loader(), [0])
        with warnings.catch_warnings(), self.assertRaises(ValueError):
            warnings.simplefilter("ignore")
            measure(Sleepy(), loader(), [4096])


class Compared(unittest.TestCase):
    @in_ci
    def test_models(self) -> None:
        made: list[Any] = []

        def model_fn(config: dict[str, float]) -> Any:
            made.append(Sleepy(**config))
            return made[-1]

        found = gapless.ABTestValidator().compare_configurations(
            {"seconds": 0.005}, {"seconds": 0.001}, model_fn, loader(), num_runs=2, warmup_steps=1
        )
        self.assertEqual((found.verdict, found.pairs, len(made)), ("faster", 24, 4))
        self.assertGreater(found.speedup, 1.5)
        self.assertGreater(
            found.optimized_metrics.samples_per_second or 0, found.baseline_metrics.samples_per_second or 0
        )
        self.assertEqual([one.passes for one in made], [1 + 1 + 12 * 5] * 4)


class Validated(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database = Path(folder.name) / "h.db"
        self.validator = gapless.PerformanceValidator(self.database)
        self.baseline = Sleepy(0.005)
        self.optimized = copy.deepcopy(self.baseline)
        self.optimized.seconds = 0.001

    def validate(self, **how: Any) -> gapless.ValidationResult:
        how = {"branch": "feature", "warmup_steps": 4, "criterion": nn.functional.mse_loss, **how}
        return self.validator.validate_optimization(self.baseline, self.optimized, loader(), "abc", **how)

    @in_ci
    def test_accepted(self) -> None:
        state = copy.deepcopy(self.optimized.state_dict())
        random = torch.random.get_rng_state()
        found = self.validate(label="sleepy")
        self.assertTrue(found.accepted, found.report)
        self.assertEqual((found.verdict, found.regression.verdict, found.recorded), ("faster", "cannot_tell", True))
        self.assertGreater(found.speedup, 1.5)
        assert found.loss is not None
        self.assertEqual((found.loss.parity, found.loss.max_difference, found.loss.steps), (True, 0.0, 4))
        self.assertIn("The optimised model is faster.\n", found.report)
        self.assertIn("Accepted.", found.report)
        self.assertAlmostEqual(found.memory_saved_gb or 0.0, 0.0, delta=0.05)
        self.assertEqual((found["speedup"], found["accepted"]), (found.speedup, True))
        runs = ask("history", "list", f"--db={self.database}")["runs"]
        run = {name: runs[0][name] for name in ("commit_sha", "branch", "benchmark", "batch_size")}
        self.assertEqual(run, {"commit_sha": "abc", "branch": "feature", "benchmark": "sleepy", "batch_size": 8})
        self.assertAlmostEqual(runs[0]["metrics"]["step_time_p50_ms"], found.optimized_metrics.step_time_p50_ms or 0)
        self.assertTrue(all(torch.equal(one, state[name]) for name, one in self.optimized.state_dict().items()))
        self.assertTrue(torch.equal(random, torch.random.get_rng_state()))
        self.assertEqual(found.to_dict()["regression"]["regression_detected"], False)

    @in_ci
    def test_nothing_differs(self) -> None:
        self.optimized.seconds = self.baseline.seconds
        said: list[str] = []
        found = self.validate(on_progress=said.append)
        self.assertEqual((found.verdict, found.accepted, found.pairs, found.recorded), ("equivalent", False, 0, False))
        self.assertEqual((found.speedup, found.memory_saved_gb, said), (1.0, 0.0, []))
        self.assertRegex(found.report, "^Nothing differs: the optimised model is the baseline")
        self.assertFalse(self.database.exists())
        for change in (self.other_weights, self.other_mode, self.a_hook, self.another_dtype):
            self.optimized = copy.deepcopy(self.baseline)
            self.assertTrue(are_alike(self.baseline, self.optimized))
            change()
            self.assertFalse(are_alike(self.baseline, self.optimized), change.__name__)

    def other_weights(self) -> None:
        next(self.optimized.parameters()).data.mul_(1.0001)

    def other_mode(self) -> None:
        self.optimized.eval()

    def a_hook(self) -> None:
        self.optimized.register_forward_hook(lambda *_: None)

    def another_dtype(self) -> None:
        self.optimized.to(torch.float64)

    def test_progress_is_told_and_logged(self) -> None:
        said: list[str] = []
        with self.assertLogs("gapless", "INFO") as logged:
            self.validate(pairs=4, on_progress=said.append)
        self.assertRegex(said[0], "^the training of both: 4 steps each")
        self.assertEqual([text.split(":")[0] for text in said[1:]], [f"pair {n} of 4" for n in (1, 2, 3, 4)])
        self.assertEqual([record.getMessage() for record in logged.records], said)

    def test_other_losses_are_not_accepted(self) -> None:
        for factor, most in ((1.5, None), (math.nan, math.inf)):
            self.optimized.factor = factor
            found = self.validate(pairs=12)
            assert found.loss is not None
            self.assertFalse(found.loss.parity)
            self.assertFalse(found.accepted)
            self.assertEqual(found.loss.training.verdict, "other_training")
            self.assertIn("another training: ", found.report)
            if most is not None:
                self.assertEqual(found.loss.max_difference, most)

    def test_training_for_real(self) -> None:
        def sgd(weights: Any) -> Any:
            return torch.optim.SGD(weights, lr=0.1)

        found = self.validate(pairs=12, make_optimizer=sgd)
        assert found.loss is not None
        self.assertEqual((found.loss.parity, found.loss.max_difference), (True, 0.0))
        self.assertEqual(found.loss.training.verdict, "exact")
        with self.assertRaisesRegex(ValueError, "share weights"):
            self.validator.validate_optimization(self.baseline, self.baseline, loader(), "abc", make_optimizer=sgd)

    def test_rounding_is_no_other_training(self) -> None:
        """The optimised model sums in another order; the baseline is trained once more, to see what rounding does."""
        other = Reordered(0.001)
        other.load_state_dict(self.baseline.state_dict())
        self.optimized = other
        found = self.validate(pairs=12, make_optimizer=lambda weights: torch.optim.AdamW(weights, lr=0.01))
        assert found.loss is not None
        training = found.loss.training
        self.assertEqual((training.verdict, training.unit, found.loss.parity), ("rounding", "fp32", True), found.report)

    def test_without_a_criterion_the_target_names_the_loss(self) -> None:
        found = self.validate(pairs=12, criterion=None)
        assert found.loss is not None
        self.assertEqual((found.loss.parity, found.loss.max_difference), (True, 0.0))

    def test_no_loss_to_compare(self) -> None:
        inputs = [batch[0] for batch in loader()]
        found = self.validator.validate_optimization(
            self.baseline, self.optimized, inputs, "abc", branch="feature", pairs=12
        )
        self.assertIsNone(found.loss)
        self.assertTrue(found.accepted)
        self.assertIn("no losses to compare", found.report)

    def test_a_regression_is_not_accepted(self) -> None:
        detector = gapless.RegressionDetector(self.database)
        for at in range(12):
            detector.record_benchmark(f"c{at}", "main", {"samples_per_second": 1e6 + at % 3})
        found = self.validate(pairs=12)
        alarm = found.regression.regression_detected or found.regression.alarm_pending  # one run alone is pending
        self.assertEqual((alarm, found.accepted, found.verdict), (True, False, "faster"))


if __name__ == "__main__":
    unittest.main()
