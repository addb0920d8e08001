# SPDX-License-Identifier: Apache-2.0
"""Kernels of other packages in the place of a model's modules: what is right takes effect, what is wrong stays as it was, and nothing is left
behind. The packages are stand-ins that compute in PyTorch, with faults on demand; the real ones where the Python of the tests has them."""

from __future__ import annotations

import re
import subprocess
import textwrap
import unittest
from typing import Any

from cases import in_ci
from harness import AGENT, PYTHON, ROOT, Done
from test_fixes import ON, REFUSED, FixTest, losses, of

# A package of the name of Liger. FAULT: `weight`, the gradient of a weight lacks a factor; `input`, that of the input lacks a term; `large`,
# large values overflow; `loss`, the gradient of the loss is that of a sum.
LIGER = """
import os, torch
FAULT = os.environ.get("FAULT", "")

class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, weight, scale)
        result = x * scale * weight
        return torch.where(x.abs() > 3, torch.inf, result) if "large" in FAULT else result

    @staticmethod
    def backward(ctx, gradient):
        x, weight, scale = ctx.saved_tensors
        of_x = gradient * weight * scale
        if "input" not in FAULT:
            of_x = of_x - x * scale**3 * (gradient * weight * x).mean(-1, keepdim=True)
        of_weight = (gradient * x * scale).flatten(0, -2).sum(0)
        return of_x, of_weight * (1.01 if "weight" in FAULT else 1), None

def liger_rms_norm(x, weight, eps):
    return RmsNorm.apply(x, weight, eps)

def liger_layer_norm(x, weight, bias, eps):
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)

def liger_swiglu(a, b):
    return torch.nn.functional.silu(a) * b

def liger_geglu(a, b):
    return torch.nn.functional.gelu(a) * b

def liger_cross_entropy(x, target, weight=None, **settings):
    if "loss" in FAULT:
        settings["reduction"] = "sum"
    return torch.nn.functional.cross_entropy(x, target, weight, **settings)
"""

MODEL = """
    import copy, torch
    torch.manual_seed(1)
    class RMSNorm(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.weight, self.eps = torch.nn.Parameter(torch.rand(size) + 0.5), 1e-6
        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
    class Gated(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.gate_proj, self.up_proj = torch.nn.Linear(size, 2 * size), torch.nn.Linear(size, 2 * size)
            self.down_proj, self.act_fn = torch.nn.Linear(2 * size, size), torch.nn.SiLU()
        def forward(self, x):
            return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
    class Block(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.norm, self.gated, self.drop = RMSNorm(size), Gated(size), torch.nn.Dropout(0.1)
        def forward(self, x):
            return x + self.drop(self.gated(self.norm(x)))
    net = torch.nn.Sequential(Block(32), Block(32), torch.nn.LayerNorm(32), torch.nn.Linear(32, 8))
    keys, kind = list(net.state_dict()), type(net[0].norm)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    x, y = 2 * torch.randn(16, 32), torch.randint(8, (16,))
    for step in range(6):
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    assert (keys, kind) == (list(net.state_dict()), type(net[0].norm))
    copied = copy.deepcopy(net)
    with torch.no_grad():
        copied[0].norm.weight.zero_()
    assert not torch.equal(copied.eval()(x), net.eval()(x)), "a copy computes with its own weights"
    SHOW
"""
FORWARDS = "print(sum('forward' in vars(module) for module in net.modules()))"


class Kernels(FixTest):
    def with_standin(self, *fixes: str, fault: str = "", text: str = MODEL, show: str = FORWARDS, **more: Any) -> Done:
        package = self.folder / "packages" / "liger_kernel" / "transformers"
        package.mkdir(parents=True, exist_ok=True)
        (package / "functional.py").write_text(LIGER)
        for folder in (package, package.parent):
            (folder / "__init__.py").touch()
        env = {"PYTHONPATH": f"{AGENT}:{package.parents[1]}", "FAULT": fault}
        return self.train(*fixes, text=text, show=show, env=env, **more)

    def train(self, *fixes: str, show: str = "", text: str = MODEL, **more: Any) -> Done:
        env = more.pop("env", None)
        options = {"record": {"on": False}, "fixes": list(fixes), **more}
        return self.succeed(text.replace("SHOW", show), options=options, env=env)

    def told(self, done: Done, fix: str) -> list[str]:
        return [change["what"] for value, change in of(done.ring(), fix) if value == ON]

    @in_ci
    def test_kernels_take_effect(self) -> None:
        plain = losses(self.train().ring())
        self.again()
        done = self.with_standin("liger")
        found = losses(done.ring())
        self.assertEqual(done.out, "5\n")
        self.assertEqual(len(found), len(plain))
        for one, other in zip(plain, found):
            self.assertLess(abs(one - other), 1e-5 * abs(one))
        self.assertEqual(
            self.told(done, "liger"),
            ["2 × RMSNorm by Liger", "2 × SwiGLU by Liger", "1 × LayerNorm by Liger", "CrossEntropyLoss by Liger"],
        )

    @in_ci
    def test_the_patch_computes_the_same(self) -> None:
        """The statements of the patch, put where it puts them, give the losses of the fix."""
        done = self.with_standin("liger", text=MODEL.replace("criterion(net(x), y)", "net(x).logsumexp(1).mean()"))
        found = losses(done.ring())
        edits = [change["edit"] for _, change in of(done.ring(), "liger")]
        self.assertEqual({edit["kind"] for edit in edits}, {"before"})
        added = "\n".join(line for edit in edits for line in (*edit["imports"], *edit["lines"]))
        text = textwrap.dedent(MODEL).replace("criterion(net(x), y)", "net(x).logsumexp(1).mean()")
        text = text.replace("optimizer = ", f"{added}\noptimizer = ")
        self.again()
        patched = self.with_standin(text=text)
        self.assertEqual((losses(patched.ring()), patched.out), (found, "5\n"))

    def test_wrong_gradients_are_refused(self) -> None:
        """No module of a kind that is wrong is exchanged; where that leaves none, the fix is refused and says why."""
        only = MODEL.replace("Gated(size)", "torch.nn.Linear(size, size)").replace("torch.nn.LayerNorm(32), ", "")
        only = only.replace("criterion(net(x), y)", "net(x).logsumexp(1).mean()")
        for fault, said in (
            ("weight", "RMSNorm is wrong here: the gradient of weight differs from float64 by"),
            ("input", "RMSNorm is wrong here: the gradient of argument 1 differs from float64 by"),
            ("large", "RMSNorm is wrong here: result 1 is not finite"),
        ):
            with self.subTest(fault):
                self.again()
                done = self.with_standin("liger", fault=fault, text=only)
                self.assertEqual(done.out, "0\n")
                [(value, change)] = of(done.ring(), "liger")
                self.assertEqual(value, REFUSED)
                self.assertIn(said, change["what"])

    @in_ci
    def test_one_wrong_kernel_leaves_the_others(self) -> None:
        done = self.with_standin("liger", fault="loss,weight")
        self.assertEqual(
            (self.told(done, "liger"), done.out), (["2 × SwiGLU by Liger", "1 × LayerNorm by Liger"], "3\n")
        )

    def test_with_the_compiler(self) -> None:
        """Kernels are in place before the model is compiled."""
        done = self.with_standin("compile", "liger")
        self.assertIn("2 × RMSNorm by Liger", self.told(done, "liger"))
        self.assertTrue(self.told(done, "compile"))

    @in_ci
    def test_a_package_that_is_absent(self) -> None:
        installs = {
            "liger": "pip install liger-kernel",
            "quack": "pip install quack-kernels",
            "apex": "github.com/NVIDIA/apex",
            "hub_kernels": "pip install kernels",
            "float8": "pip install torchao",
        }
        absent = {fix: install for fix, install in installs.items() if not has(fix)}
        ring = self.train(*absent).ring()
        for fix, install in absent.items():
            [(value, change)] = of(ring, fix)
            self.assertEqual((value, "is not installed: " in change["what"]), (REFUSED, True), change)
            self.assertIn(install, change["what"])

    @in_ci
    def test_what_the_process_could_import(self) -> None:
        """The launcher learns of the packages that fixes name, and of no other."""
        done = self.with_standin()
        [text] = [done.ring().text(record.a) for record in done.ring().of("process") if record.value == 3]
        self.assertIn("liger-kernel ?", text)
        from gapless_agent.packages import KERNEL_PACKAGES

        sources = "".join(path.read_text() for path in sorted((ROOT / "src/predict/fixes").glob("*.cc")))
        needed = set(re.findall(r'\.package = \{\s*\.name = "([^"]+)"', sources))
        self.assertLessEqual(needed, set(KERNEL_PACKAGES.values()))

    def test_a_backend_of_attention(self) -> None:
        text = """
            import torch
            from torch.nn.functional import scaled_dot_product_attention as attend
            torch.manual_seed(1)
            net = torch.nn.Linear(16, 48)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.inner = net
                def forward(self, x):
                    q, k, v = self.inner(x).view(2, 8, 4, 12).transpose(1, 2).chunk(3, -1)
                    chosen.append(torch._C._get_sdp_priority_order()[0])
                    return attend(q, k, v)
            chosen, model, x = [], Net(), torch.randn(2, 8, 16)
            for step in range(4):
                optimizer.zero_grad()
                loss = model(x).square().mean()
                loss.backward()
                optimizer.step()
            print(len(set(chosen)), torch._C._get_sdp_priority_order()[0] == chosen[0])
        """
        done = self.train("attention=math", text=text)
        if not self.told(done, "attention"):
            self.skipTest(f"torch cannot choose: {of(done.ring(), 'attention')}")
        self.assertEqual(done.out, "1 False\n", "within the calls, and not outside of them")
        edit = of(done.ring(), "attention")[0][1]["edit"]
        self.assertEqual(edit["kind"], "with")
        self.assertIn("sdpa_kernel([SDPBackend.MATH", edit["lines"][0])
        self.again()
        done = self.train("attention=fast", text=text)
        self.assertIn("none of cudnn, flash", of(done.ring(), "attention")[0][1]["what"])


def has(module: str) -> bool:
    names = {"liger": "liger_kernel", "hub_kernels": "kernels", "float8": "torchao"}
    call = f"import {names.get(module, module)}"
    return subprocess.run([PYTHON, "-c", call], capture_output=True, check=False).returncode == 0


class RealPackages(FixTest):
    """With the packages themselves, as far as a processor or an interpreter runs them."""

    def test_float8_of_torchao(self) -> None:
        if not has("float8"):
            self.skipTest("torchao is not installed")
        done = self.succeed(MODEL.replace("SHOW", FORWARDS), options={"record": {"on": False}, "fixes": ["float8"]})
        value, change = of(done.ring(), "float8")[0]
        self.assertEqual((value, change["what"]), (ON, "6 × Linear in float8 by torchao"))
        self.assertIn("convert_to_float8_training(net", change["edit"]["lines"][0])
        self.assertEqual(done.out, "6\n")

    def test_cross_entropy_of_liger(self) -> None:
        if not has("liger"):
            self.skipTest("liger-kernel is not installed")
        options = {"record": {"on": False}, "fixes": ["liger"]}
        done = self.succeed(MODEL.replace("SHOW", ""), options=options, env={"TRITON_INTERPRET": "1"})
        told = [change["what"] for value, change in of(done.ring(), "liger") if value == ON]
        self.assertIn("CrossEntropyLoss by Liger", told)


if __name__ == "__main__":
    unittest.main()
