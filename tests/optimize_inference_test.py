#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless optimize --inference` on real models, on the CPU: what makes requests faster stays, what answers otherwise does not.

usage: optimize_inference_test.py PROGRAM [--ci] [--only PATTERN...]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import cases
import optimize_test
from agent_test import find_python

# Normalisations take half of the time, and can be folded. The program ends by itself.
CNN = """
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
layers = [layer for _ in range(32) for layer in (torch.nn.Conv2d(16, 16, 1), torch.nn.BatchNorm2d(16))]
net = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.LazyLinear(10))
net(torch.randn(2, 16, 32, 32))
net.eval()
for request in range(4000):
    image = torch.randn(1, 16, 32, 32)
    with torch.inference_mode():
        scores = net(image)
"""

# The user's own fixes of these tests change a result in one of these ways.
OWN = """
import time
LIVE = False
def why_not(agent, value):
    return ""
def on(agent, value):
    linear = agent.torch.nn.Linear
    plain = linear.forward
    def forward(layer, x):
        CHANGE
    linear.forward = forward
    return "linear layers compute something else"
"""
LITTLE_MORE = "return plain(layer, x) * 1.001"
SLOWER = "time.sleep(0.02); return plain(layer, x)"

TORCHAO = """
import torch
class Int8WeightOnlyConfig: pass
def quantize_(model, config):
    for child in model.modules():
        if isinstance(child, torch.nn.Linear):
            scale = child.weight.abs().amax(1, keepdim=True) / 127
            child._parameters["weight"] = torch.nn.Parameter((child.weight / scale).round() * scale, False)
"""


class Inference(optimize_test.Optimize):
    def answer(self, *words: str, text: str = CNN, accept: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
        script = self.folder / "serve.py"
        script.write_text(text)
        return self.run_it("--inference", *words, script=script, accept=accept)

    def own(self, change: str, safety: str, *words: str) -> dict[str, Any]:
        (self.folder / "changed.py").write_text(OWN.replace("CHANGE", change))
        return self.answer("--fix", f"{self.folder / 'changed.py'}={safety}", "--only", "changed", *words, accept=(1,))

    def test_folding_stays(self) -> None:
        answer = self.answer("--only", "conv_bn", "--budget", "10m")
        found = self.of(answer, "conv_bn")
        self.assertEqual(found["outcome"], "accepted", found)
        self.assertGreater(found["measured"]["low"], 1)
        self.assertEqual(found["outputs"]["verdict"], "rounding", found)
        self.assertLess(found["outputs"]["value"], found["outputs"]["limit"])
        self.assertNotIn("loss", found)
        self.assertEqual((answer["proved"], answer["inference"]), (True, True))
        self.assertIn("+net = fuse(net)", (self.folder / "out" / "optimized.patch").read_text())
        self.assertIn("| request |", (self.folder / "out" / "report.md").read_text())

    def test_other_answers_are_refused(self) -> None:
        found = self.of(self.own(LITTLE_MORE, "rounding"), "changed")
        self.assertEqual(found["outcome"], "other_answers", found)
        self.assertIn("other answers", found["reason"])
        self.assertGreater(found["outputs"]["value"], found["outputs"]["limit"])

    def test_exact_means_every_bit(self) -> None:
        found = self.of(self.own("return plain(layer, x) * (1 + 2 ** -22)", "exact"), "changed")
        self.assertEqual(found["outcome"], "other_answers", found)

    def test_slower_is_refused(self) -> None:
        found = self.of(self.own(SLOWER, "exact"), "changed")
        self.assertIn(found["outcome"], ("slower", "too_small"), found)

    def test_quantisation_is_asked_for(self) -> None:
        package = self.folder / "torchao"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "quantization.py").write_text(TORCHAO)
        words = ("--only", "quantize=int8", "--budget", "20m")
        found = self.of(self.answer(*words, accept=(1,)), "quantize")
        self.assertEqual(found["outcome"], "not_allowed", found)
        self.assertIn("--allow quantized", found["reason"])
        allowed = self.of(self.answer(*words, "--allow", "quantized"), "quantize")
        self.assertEqual((allowed["outputs"]["verdict"], allowed["outputs"]["unit"]), ("rounding", "int8"), allowed)

    @cases.in_ci
    def test_a_script_without_requests(self) -> None:
        script = self.folder / "serve.py"
        script.write_text("import torch\nprint(torch.ones(3).sum())\n")
        done = subprocess.run(
            [optimize_test.PROGRAM, "optimize", "--inference", "-o", "out", "--", optimize_test.PYTHON, str(script)],
            check=False, cwd=self.folder, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("no request to a model was seen", done.stderr)


def main() -> int:
    optimize_test.PROGRAM = str(Path(sys.argv[1]).resolve())
    optimize_test.PYTHON, problem = find_python("newest")
    if problem:
        print("skipped:", problem)
        return 77
    return cases.main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
