# SPDX-License-Identifier: Apache-2.0
"""Models and batches of several shapes through the profiler, the optimisers and the training loop of a configuration, on real PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import gapless
from cases import in_ci
from gapless.operators import host_type
from gapless.optimization import model_run
from gapless.program import ask
from gapless.training import forward

try:
    import torch
    from torch import nn
except ImportError:
    raise unittest.SkipTest("no PyTorch in this Python") from None

ROOT = Path(__file__).resolve().parents[2]


class Images(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4)
        )

    def forward(self, x: Any) -> Any:
        return self.layers(x)


class Language(nn.Module):  # type: ignore[misc,unused-ignore]
    """As models of transformers are called and answer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(50, 16), nn.Linear(16, 50)

    def forward(self, input_ids: Any, attention_mask: Any = None, labels: Any = None) -> Any:
        hidden = self.embedding(input_ids)
        logits = self.head(hidden if attention_mask is None else hidden * attention_mask[..., None])
        loss = None if labels is None else nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return types.SimpleNamespace(loss=loss, logits=logits)


class Recurrent(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 1)

    def forward(self, series: Any) -> Any:
        return self.head(self.lstm(series)[0][:, -1])


def shapes() -> dict[str, tuple[Any, Any]]:
    """Returns a model and batches of each shape."""
    torch.manual_seed(0)
    images, labels = torch.randn(4, 3, 8, 8), torch.arange(4) % 4
    words = torch.randint(50, (4, 6))
    return {
        "input and target": (Images(), [{"input": images, "target": labels}] * 3),
        "a tuple": (Images(), [(images, labels)] * 3),
        "keywords with labels": (
            Language(),
            [{"input_ids": words, "attention_mask": torch.ones(4, 6), "labels": words}] * 3,
        ),
        "keywords and another entry": (
            Language(),
            [{"input_ids": words, "labels": words, "index": torch.arange(4)}] * 3,
        ),
        "an LSTM with a target of its shape": (Recurrent(), [(torch.randn(4, 5, 8), torch.randn(4, 1))] * 3),
        "an LSTM with a target of rows": (Recurrent(), [(torch.randn(4, 5, 8), torch.randn(4))] * 3),
    }


class Steps(unittest.TestCase):
    @in_ci
    def test_each_shape_has_a_loss(self) -> None:
        for name, (model, batches) in shapes().items():
            loss, is_loss = forward(model, batches[0])
            self.assertEqual((is_loss, loss.dim()), (True, 0), name)
            self.assertGreater(loss.item(), 0, name)

    @in_ci
    def test_no_loss_is_made_up(self) -> None:
        images = torch.randn(4, 3, 8, 8)
        for target in (
            torch.arange(4) + 10,
            torch.randn(4, 7),
            "a text",
            {"boxes": images},
        ):  # no class, no such shape, no tensor
            self.assertFalse(forward(Images(), (images, target))[1])
        self.assertFalse(forward(Images(), images)[1])

    def test_each_shape_is_benchmarked_and_wrapped(self) -> None:
        for name, (model, batches) in shapes().items():
            with self.subTest(name):
                metrics = gapless.PerformanceBenchmark().benchmark_training(model, batches, num_steps=3, warmup_steps=1)
                self.assertIsNotNone(metrics["samples_per_second"])
                criterion = (
                    None if "keywords" in name else lambda output, target: (output.float().sum() - target.sum()) ** 2
                )
                optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
                step = gapless.MixedPrecisionOptimizer().wrap_training_step(model, criterion, optimizer)
                self.assertGreater(step(batches[0]), 0)


class Profiler(unittest.TestCase):
    @in_ci
    def test_a_recording_of_steps(self) -> None:
        model, batches = shapes()["input and target"]
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        profiler = gapless.PyTorchProfiler()
        with tempfile.TemporaryDirectory() as folder:
            result = profiler.profile_training_step(model, batches, num_steps=10, output_path=folder)
            self.assertEqual(result.summary["steps"], 3)  # the loader has no more
            self.assertTrue(result.profile_path.endswith(".json.gz"), result.profile_path)
            names = [operator["name"] for operator in result.summary["top_operators"]]
            self.assertEqual(len(names), 10)
            self.assertIn("conv", {operator["type"] for operator in result.summary["top_operators"]})
            self.assertTrue(0 <= result.summary["data_loading"]["share"] < 1)
            self.assertEqual(ask("query", result.profile_path, "SELECT count(*) n FROM step WHERE complete")[0]["n"], 3)
            found = profiler.analyze_operator_breakdown(result.profile_path)
        self.assertTrue({"conv", "norm", "activation", "matmul"} <= found["by_type"].keys(), found["by_type"].keys())
        self.assertAlmostEqual(sum(entry["share"] for entry in found["by_type"].values()), 1)
        self.assertAlmostEqual(sum(entry["percent"] for entry in found["by_type"].values()), 100)
        self.assertEqual(found["fusion_opportunities"][0]["pattern"], "conv2d + batch_norm + relu")
        self.assertEqual(found["fusion_opportunities"][0]["calls"], 3)
        self.assertIs(found["autocast"], False)
        self.assertTrue(all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items()))
        self.assertEqual(host_type("aten::mkldnn_convolution"), "conv")

    def test_autocast_is_seen(self) -> None:
        model, batches = shapes()["a tuple"]
        with tempfile.TemporaryDirectory() as folder:
            mixed = gapless.MixedPrecisionOptimizer().autocast_forward(model)
            result = gapless.PyTorchProfiler().profile_training_step(mixed, batches, 2, folder)
            self.assertIs(gapless.PyTorchProfiler().analyze_operator_breakdown(result.profile_path)["autocast"], True)

    @in_ci
    def test_refused(self) -> None:
        for batches, steps in (([], 3), ([torch.ones(1, 3, 8, 8)], 0)):
            with self.assertRaises(ValueError):
                gapless.PyTorchProfiler().profile_training_step(Images(), batches, steps)

    def test_a_recording_of_a_gpu(self) -> None:
        path = ROOT / "samples/resnet50_v100.pt.trace.json.gz"
        found = gapless.PyTorchProfiler().analyze_operator_breakdown(str(path))
        self.assertEqual(found["measured_on"], "gpu")
        self.assertGreater(found["by_type"]["conv"]["share"], 0.4)
        self.assertGreater(len(found["fusion_opportunities"]), 0)


class Decided(unittest.TestCase):
    """Each kind of bottleneck with AutoOptimizer, on a model of blocks."""

    def optimize(self, *types: str, **how: Any) -> gapless.OptimizationResult:
        torch.manual_seed(0)
        model = nn.Sequential(*(nn.Sequential(nn.Linear(32, 32), nn.ReLU()) for _ in range(4)), nn.Linear(32, 4))
        loader = [(torch.randn(8, 32), torch.arange(8) % 4)] * 4
        found = [gapless.Bottleneck(gapless.BottleneckType(name), 0.8, "by hand") for name in types]
        return gapless.AutoOptimizer().optimize(model, loader, found, {"lr": 1}, pairs=8, warmup_steps=5, **how)

    @in_ci
    def test_memory(self) -> None:
        result = self.optimize("memory_bandwidth")
        self.assertLessEqual(
            {"optimizations_applied", "estimated_speedup", "memory_saved_gb", "new_config"}, result.keys()
        )
        if "gradient_checkpointing" not in result.optimizations_applied:
            self.assertRegex(result.rejected["gradient_checkpointing"], r"^(slower|cannot tell|equivalent): ")
        self.assertEqual(result.new_config["max_batch_size"], 32)  # four times the present one, on a CPU
        self.assertIn("another batch size is another training", result.rejected["batch_size"])
        self.assertNotIn("batch_size", result.new_config)

    @in_ci
    def test_communication(self) -> None:
        result = self.optimize("multi_gpu_comm")
        self.assertIs(result.new_config["gradient_as_bucket_view"], True)
        self.assertIn("DistributedDataParallel", result.rejected["gradient_as_bucket_view"])
        self.assertIn("another training", result.rejected["gradient_accumulation"])
        allowed = self.optimize("multi_gpu_comm", "small_batch", allow_training_changes=True)
        self.assertEqual((allowed.new_config["gradient_accumulation_steps"], allowed.new_config["batch_size"]), (2, 32))
        self.assertEqual(allowed.optimizations_applied, ["gradient_accumulation", "batch_size"])
        self.assertEqual((allowed.estimated_speedup, allowed.memory_saved_gb), (1.0, 0.0))  # nothing here was measured

    @in_ci
    def test_what_no_change_of_a_model_cures(self) -> None:
        result = self.optimize("cpu_gpu_sync", "recording")
        self.assertEqual((result.optimizations_applied, set(result.rejected)), ([], {"cpu_gpu_sync", "recording"}))
        json.dumps(dict(result))


MODULE = """
    import torch
    from torch import nn

    def model(width=8):
        return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 2))

    def dataset():
        generator = torch.Generator().manual_seed(1)
        inputs = torch.randn(64, 4, generator=generator)
        return [(row, int(row.sum() > 0)) for row in inputs]
"""


class Configured(unittest.TestCase):
    """gapless.optimization.model_run trains what a configuration names. JSON, so that PyYAML is not needed."""

    def train(self, status: int = 0, **config: Any) -> str:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "mine.py").write_text(textwrap.dedent(MODULE))
            (Path(folder) / "model.json").write_text(json.dumps(config))
            words = [sys.executable, str(ROOT / "python/gapless/optimization/model_run.py"), "--config", "model.json"]
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    @in_ci
    def test_it_learns(self) -> None:
        how = {
            "model": "mine:model",
            "dataset": "mine:dataset",
            "learning_rate": 0.5,
            "precision": "bf16",
            "model_args": {"width": 16},
        }
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sys, "path", [folder, *sys.path]):
            (Path(folder) / "mine.py").write_text(textwrap.dedent(MODULE))
            first, last = (model_run.train(how, steps) for steps in (1, 60))
        self.assertLess(last, first / 2)

    def test_settings(self) -> None:
        how: dict[str, Any] = {
            "model": "mine:model",
            "dataset": "mine:dataset",
            "steps": 4,
            "batch_size": 16,
            "num_workers": 1,
            "shuffle": False,
        }
        plain = self.train(**how)
        same: dict[str, Any] = {
            "loss": "cross_entropy",
            "gradient_checkpointing": True,
            "optimizer_args": {"momentum": 0.0},
        }
        self.assertEqual(self.train(**how, **same), plain)
        self.assertNotEqual(self.train(**how, optimizer="AdamW"), plain)

    def test_what_is_wrong_is_said(self) -> None:
        said = self.train(3, model="mine:model")
        self.assertEqual((said.count("\n"), said[:11]), (1, "model_run: "))

    @in_ci
    def test_each_setting_that_is_wrong(self) -> None:
        how = {"model": "torch.nn:Identity", "dataset": "builtins:list", "steps": 1}
        for change, text in (
            ({"model": None}, "no model"),
            (
                {"dataset": None, "model": "torch.nn:Linear", "model_args": {"in_features": 1, "out_features": 1}},
                "no dataset",
            ),
            ({"model": "mine"}, "write package.module:function"),
            ({"model": "nowhere:model"}, "No module named 'nowhere'"),
            ({"model": "torch.nn:Linearly"}, "has no attribute 'Linearly'"),
            ({"optimizer": "Adagrade"}, "no class of torch.optim"),
            ({"loss": "losss"}, "no function of torch.nn.functional"),
            ({"precision": "fp8"}, "write fp32, bf16 or fp16"),
        ):
            config: dict[str, Any] = {"model_args": {}, **how, **change}
            if change.keys() & {"optimizer", "loss", "precision"}:
                config.update(model="torch.nn:Linear", model_args={"in_features": 1, "out_features": 1})
            with self.assertRaisesRegex(ValueError, text):
                model_run.train(config, 1)


if __name__ == "__main__":
    unittest.main()
