# SPDX-License-Identifier: Apache-2.0
"""Recordings of what a model returns (docs/parity.md), and the fixes for programs that infer."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

from cases import in_ci
from test_fixes import REFUSED, FixTest, changes, of

CALLS = 6

NET = """
    import torch
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(),
                              torch.nn.Linear(144, 5)).eval()
    first = net[3].weight.detach().clone()
"""
SERVE = (
    NET
    + """
    for request in range(14):
        with torch.inference_mode():
            scores = net(torch.randn(2, 3, 8, 8))
    print(scores.dtype, net[3].weight.dtype, torch.equal(first, net[3].weight))
"""
)
RECORDS = (
    NET
    + """
    for request in range(14):
        scores = net(torch.randn(2, 3, 8, 8))
    print(scores.requires_grad, scores.is_inference())
"""
)
# A text of 3 tokens behind a prompt of 4, without a cache; its model returns a dictionary.
WRITES = """
    import torch
    torch.manual_seed(1)
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.out = torch.nn.Embedding(11, 8), torch.nn.Linear(8, 11)
        def forward(self, input_ids):
            return {"logits": self.out(self.words(input_ids).cumsum(1))}
    net = Net().eval()
    with torch.no_grad():
        for request in range(8):
            ids = torch.randint(0, 11, (1, 4))
            for token in range(3):
                ids = torch.cat([ids, net(ids)["logits"][:, -1].argmax(-1, keepdim=True)], 1)
"""

TORCHAO = """
import torch
class Int8WeightOnlyConfig: pass
def quantize_(model, config):
    for child in model.modules():
        if isinstance(child, torch.nn.Linear):
            scale = child.weight.abs().amax(1, keepdim=True) / 127
            child._parameters["weight"] = torch.nn.Parameter((child.weight / scale).round() * scale, False)
"""


@dataclass
class Recording:
    calls: list[dict[str, Any]]
    numbers: list[float]


class Outputs(FixTest):
    def record(self, role: str, *fixes: str, text: str = SERVE, noise: float = 0.0) -> Recording:
        parity = {"role": role, "folder": str(self.folder / role), "steps": CALLS, "noise": noise}
        done = self.train(*fixes, text=text, calls=True, parity=parity)
        self.out, self.ring = done.out, done.ring()
        told = self.ring.of("parity")
        self.assertEqual([record.value for record in told], [CALLS])
        here = self.folder / role / "main"
        events = [json.loads(line) for line in (here / "events.jsonl").read_text().splitlines()]
        data = (here / "numbers.f64").read_bytes()
        self.assertEqual(len(events), CALLS)
        self.assertEqual(
            len(data) // 8, sum(one["samples"] for call in events for one in call["inputs"] + call["outputs"])
        )
        self.again()
        return Recording(events, list(struct.unpack(f"<{len(data) // 8}d", data)))

    @in_ci
    def test_what_is_recorded(self) -> None:
        first, second = self.record("baseline"), self.record("candidate")
        self.assertEqual(first, second, "the program sets its seed, and repeats itself")
        call = first.calls[0]
        self.assertEqual(([one["shape"] for one in call["inputs"]], call["goes_on"]), ([[2, 3, 8, 8]], False))
        self.assertEqual(
            [(one["shape"], one["type"], one["name"]) for one in call["outputs"]], [([2, 5], "float32", "")]
        )
        scores = first.numbers[384:394]
        best = [max(range(5), key=lambda index: scores[row + index]) for row in (0, 5)]
        self.assertEqual(call["choices"], best)
        self.assertNotEqual(first.calls[0]["outputs"][0]["code"], first.calls[1]["outputs"][0]["code"])

    def test_a_probe_has_noise_and_takes_it_off(self) -> None:
        first, probe = self.record("baseline"), self.record("probe", noise=2.0**-9)
        self.assertTrue(self.out.endswith("True\n"), "the weights are what they were")
        self.assertEqual(first.calls[0]["inputs"], probe.calls[0]["inputs"])
        error = max(abs(one - other) for one, other in zip(first.numbers, probe.numbers))
        self.assertTrue(1e-5 < error < 1e-1, error)

    def test_text(self) -> None:
        found = self.record("baseline", text=WRITES)
        # The first three calls are not recorded, nor the one at which the agent is sure: the second text goes on.
        goes_on = [call["goes_on"] for call in found.calls]
        self.assertEqual(goes_on, [False, True, False, True, True, False])
        self.assertEqual([one["name"] for one in found.calls[0]["outputs"]], ["logits"])
        self.assertTrue(found.calls[0]["inputs"][0]["whole"])

    def test_inference_mode(self) -> None:
        done = self.train("inference_mode", text=RECORDS, calls=True)
        self.assertEqual(done.out, "False True\n")
        edit = self.edit(done.ring(), "inference_mode", "with", "scores = net(")
        self.assertEqual(edit["lines"], ["with torch.inference_mode():"])
        self.again()
        refused = self.train("inference_mode", text=SERVE, calls=True).ring()
        self.assertIn("switched gradients off itself", self.the(refused, "inference_mode", REFUSED)["what"])

    def test_a_program_with_gradients_has_requests_only_where_the_user_says_so(self) -> None:
        self.assertEqual(len(self.train(text=RECORDS, calls=True).ring().of("call")) > 8, True)

    def test_cast(self) -> None:
        done = self.train("cast=bf16", text=SERVE, calls=True)
        self.assertEqual(done.out, "torch.float32 torch.bfloat16 False\n")
        self.assertIn("float32 again", self.the(done.ring(), "cast")["what"])
        self.again()
        broken = SERVE.replace(
            "    for request",
            "    net.register_forward_pre_hook(lambda m, a: print(end=str(a[0].numpy())[:0]))\n    for request",
        )
        done = self.train("cast=bf16", text=broken, calls=True)
        self.assertEqual(done.out, "torch.float32 torch.float32 True\n", "numpy has no bfloat16: all is put back")
        self.assertEqual([value for value, _ in of(done.ring(), "cast")], [REFUSED], changes(done.ring()))

    def test_quantize(self) -> None:
        missing = self.the(self.train("quantize=int8", text=SERVE, calls=True).ring(), "quantize", REFUSED)
        self.assertIn("pip install torchao", missing["what"])
        self.again()
        (self.folder / "torchao").mkdir()
        (self.folder / "torchao" / "__init__.py").touch()
        (self.folder / "torchao" / "quantization.py").write_text(TORCHAO)
        done = self.train("quantize=int8", text=SERVE, calls=True)
        self.assertEqual(done.out, "torch.float32 torch.float32 False\n")
        edit = self.edit(done.ring(), "quantize", "before", "for request")
        self.assertEqual(edit["lines"], ["quantize_(net, Int8WeightOnlyConfig())"])

    def test_folded_with_gradients(self) -> None:
        done = self.train("conv_bn", text=RECORDS, calls=True)
        edit = self.edit(done.ring(), "conv_bn", "before", "for request")
        self.assertEqual(edit["lines"], ["net = fuse(net)"])
