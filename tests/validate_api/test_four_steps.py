# SPDX-License-Identifier: Apache-2.0
"""Profile, analyse, optimise, validate: the four steps as one program, on real training; and AutoOptimizer by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path
from typing import Any

import gapless
from cases import in_ci

try:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader
except ImportError:
    raise unittest.SkipTest("no PyTorch in this Python") from None

ROOT = Path(__file__).resolve().parents[2]
FOUR_STEPS = """
    import sys
    import torch
    from torch import nn
    from gapless import AutoOptimizer, BottleneckAnalyzer, PerformanceValidator, ProfileCollector

    if __name__ == "__main__":
        results = ProfileCollector().profile_comprehensive([sys.executable, sys.argv[1], "--steps", "40"], "run")
        analyzer = BottleneckAnalyzer()
        bottlenecks = analyzer.analyze_all(results)
        print(analyzer.generate_report(bottlenecks))

        model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
        data_loader = [(torch.rand(16, 256), torch.randint(10, (16,))) for _ in range(8)]
        config = {"batch_size": 16, "num_workers": 0}
        optimized = AutoOptimizer().optimize(model, data_loader, bottlenecks, config)
        print("applied", optimized.optimizations_applied, "rejected", sorted(optimized.rejected))
        print("speedup", optimized.estimated_speedup, "memory", optimized.memory_saved_gb, "config", optimized.new_config)

        validation = PerformanceValidator("history.db").validate_optimization(model, optimized.model, data_loader, "4f2a91c")
        print(validation.report)
"""


class Slow(torch.utils.data.Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    def __len__(self) -> int:
        return 256

    def __getitem__(self, index: int) -> tuple[Any, int]:
        time.sleep(0.001)
        return torch.full((32,), float(index % 7)), index % 4


def finding(*fixes: str) -> dict[str, Any]:
    return {
        "type": "DATA_LOADING", "severity": 0.8, "description": "as recorded",
        "recommendations": [{"text": "do it", "fix": fix, "code": "", "effort": "minutes"} for fix in fixes],
    }  # fmt: skip


class FourSteps(unittest.TestCase):
    def test_as_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "steps.py"
            script.write_text(textwrap.dedent(FOUR_STEPS))
            slow = ROOT / "examples/planted/slow_loader.py"
            done = subprocess.run(
                [sys.executable, str(script), str(slow)], cwd=folder, capture_output=True, text=True, check=False, timeout=300, env=os.environ
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            self.assertRegex(
                done.stdout,
                r"Critical Issues \(severity >0.7\):\n1. \[DATA_LOADING\] the (step|program) waits .*\n   .*\n   Recommendations:\n   - ",
            )
            self.assertRegex(done.stdout, r"Estimated Performance Improvement: \d\.\d× faster training \(")
            self.assertRegex(
                done.stdout, r"(?m)^applied \[\] rejected \['data_loading'(, 'torch_compile')?\]$"
            )  # a list is no DataLoader
            self.assertRegex(
                done.stdout, r"(?m)^speedup 1\.0 memory 0\.0 config \{'batch_size': 16, 'num_workers': 0\}$"
            )
            self.assertIn("Nothing differs: the optimised model is the baseline", done.stdout)  # nothing was applied


class Auto(unittest.TestCase):
    def test_a_slow_loader_gets_workers_and_the_gain_is_measured(self) -> None:
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core: there is nothing to choose from")
        loader = DataLoader(Slow(), batch_size=16)
        model = nn.Linear(32, 4)
        found = gapless.AutoOptimizer().optimize(model, loader, [finding("workers=2")], {"num_workers": 0})
        self.assertEqual(found.optimizations_applied, ["data_loading"])
        self.assertRegex(found.fixes[0], r"^workers=\d+$")
        self.assertGreater(found.estimated_speedup, 1.2)
        self.assertEqual(found.new_config["num_workers"], found.data_loader.num_workers)
        self.assertEqual(loader.num_workers, 0)
        with tempfile.TemporaryDirectory() as folder:
            validator = gapless.PerformanceValidator(Path(folder) / "history.db")
            validation = validator.validate_optimization(model, found.model, loader, "4f2a91c", pairs=12)
        self.assertGreater(validation.speedup, 1.2, "it loads as the optimised training does")
        self.assertEqual(
            set(found.to_dict()),
            {"optimizations_applied", "estimated_speedup", "memory_saved_gb", "new_config", "rejected", "fixes"},
        )

    @in_ci
    def test_faster_loading_that_makes_no_step_faster_is_rejected(self) -> None:
        class NotFaster(gapless.DataLoadingOptimizer):
            def optimize_dataloader(self, dataset: Any, batch_size: int, current_config: Any = None) -> dict[str, Any]:
                return {
                    "num_workers": 1, "pin_memory": False, "prefetch_factor": 2, "persistent_workers": True, "estimated_speedup": 1.7,
                }  # fmt: skip

        data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.arange(64) % 4)  # a worker only costs
        optimizer = gapless.AutoOptimizer()
        optimizer.data_loading = NotFaster()
        loader = DataLoader(data, batch_size=4)
        found = optimizer.optimize(nn.Linear(8, 4), loader, [finding("workers=2")], {"num_workers": 0})
        self.assertRegex(
            found.rejected["data_loading"], r"^loading alone is 1\.70× as fast with workers=1, whole steps 0\.\d\d×$"
        )
        self.assertEqual(
            (found.optimizations_applied, found.estimated_speedup, found.new_config), ([], 1.0, {"num_workers": 0})
        )
        self.assertIs(found.data_loader, loader)

    def test_what_is_not_faster_is_rejected_with_the_reason(self) -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))  # too small to gain from 16 bits
        loader = [(torch.randn(4, 8), torch.randint(4, (4,))) for _ in range(4)]
        before = [one.clone() for one in model.parameters()]
        found = gapless.AutoOptimizer().optimize(
            model, loader, [finding("amp=bf16", "channels_last")], {"lr": 1}, seed=1
        )
        self.assertEqual(found.optimizations_applied, [])
        self.assertRegex(found.rejected["mixed_precision"], r"^(slower|cannot tell|equivalent): \d\.\d+×")
        self.assertNotIn("channels_last", found.rejected)  # there are no images
        self.assertEqual((found.estimated_speedup, found.new_config), (1.0, {"lr": 1}))
        self.assertTrue(all(torch.equal(one, other) for one, other in zip(before, model.parameters())))

    def test_a_change_that_fails_does_not_stop_the_search(self) -> None:
        class Narrow(nn.Module):  # type: ignore[misc,unused-ignore]
            def __init__(self) -> None:
                super().__init__()
                self.layer = nn.Linear(8, 4)

            def forward(self, inputs: Any) -> Any:
                if torch.is_autocast_enabled() or self.layer(inputs).dtype != torch.float32:
                    raise RuntimeError("single precision only")
                return self.layer(inputs)

        loader = [(torch.randn(4, 8), torch.randint(4, (4,)))]
        found = gapless.AutoOptimizer().optimize(Narrow(), loader, [finding("amp")], {})
        self.assertIn("single precision only", found.rejected["mixed_precision"])


if __name__ == "__main__":
    unittest.main()
