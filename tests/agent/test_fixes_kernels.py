# SPDX-License-Identifier: Apache-2.0
"""Kernels of other packages in the place of a model's modules: what is right takes effect, what is wrong stays as it was, and nothing is left
behind. The packages are stand-ins that compute in PyTorch, with faults on demand; the real ones where the Python of the tests has them."""

from __future__ import annotations

import re
import textwrap
import unittest

from cases import in_ci
from harness import ROOT
from kernel_packages import FORWARDS, MODEL, KernelTest, has
from test_fixes import ON, REFUSED, FixTest, losses, of


class Kernels(KernelTest):
    @in_ci
    def test_kernels_take_effect(self) -> None:
        plain = losses(self.train().ring())
        self.again()
        done = self.with_standin("liger")
        found = losses(done.ring())
        self.assertEqual(done.out, "5\n")
        self.close(plain, found)
        self.assertEqual(
            self.told(done, "liger"),
            ["2 × RMSNorm by Liger", "2 × SwiGLU by Liger", "1 × LayerNorm by Liger", "CrossEntropyLoss by Liger"],
        )

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

    def test_what_others_read_is_not_written_to(self) -> None:
        """Liger keeps the gradient of a loss in the place of its input."""
        text = MODEL.replace(
            "loss = criterion(net(x), y)",
            "output = net(x); loss = criterion(output, y); sums.append(float(output.sum()))",
        )
        text = text.replace("for step", "sums = []\n    for step")
        plain = self.with_standin(text=text, show="print(*sums)").out.split()
        self.again()
        done = self.with_standin("liger", text=text, show="print(*sums)")
        self.assertIn("CrossEntropyLoss by Liger", self.told(done, "liger"))
        self.close(list(map(float, plain)), list(map(float, done.out.split())))

    def test_float8_of_transformer_engine(self) -> None:
        plain = losses(self.with_standin().ring())
        self.again()
        done = self.with_standin("transformer_engine")
        [(value, change)] = of(done.ring(), "transformer_engine")
        self.assertEqual((value, change["what"], done.out), (ON, "6 × Linear in float8 by Transformer Engine", "6\n"))
        found = losses(done.ring())
        self.assertNotEqual(found, plain)
        for one, other in zip(plain, found):
            self.assertLess(abs(one - other), 0.05 * abs(one))
        edit = change["edit"]
        added = "\n".join((*edit["imports"], *edit["lines"], "optimizer = "))
        self.again()
        patched = self.with_standin(text=textwrap.dedent(MODEL).replace("optimizer = ", added))
        self.assertEqual((losses(patched.ring()), patched.out), (found, "6\n"), "the patch computes the same")
        self.again()
        done = self.with_standin("transformer_engine", fault="engine")
        self.assertEqual((losses(done.ring()), done.out), (plain, "0\n"))
        [(value, change)] = of(done.ring(), "transformer_engine")
        self.assertEqual(value, REFUSED)
        self.assertIn("Linear in float8 is wrong here: the gradient of weight differs from float64 by", change["what"])

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

    def test_wrong_modules_leave_the_loss(self) -> None:
        text = MODEL.replace("Gated(size)", "torch.nn.Linear(size, size)").replace("torch.nn.LayerNorm(32), ", "")
        done = self.with_standin("liger", fault="weight", text=text)
        self.assertEqual(self.told(done, "liger"), ["CrossEntropyLoss by Liger"])

    def test_with_the_compiler(self) -> None:
        """Kernels are in place before the model is compiled."""
        done = self.with_standin("compile", "liger")
        self.assertIn("2 × RMSNorm by Liger", self.told(done, "liger"))
        self.assertTrue(self.told(done, "compile"))

    def test_a_package_that_is_absent(self) -> None:
        installs = {
            "liger": "pip install liger-kernel",
            "quack": "pip install quack-kernels",
            "apex": "github.com/NVIDIA/apex",
            "hub_kernels": "pip install kernels",
            "float8": "pip install torchao",
            "transformer_engine": "pip install --no-build-isolation transformer_engine[pytorch]",
        }
        absent = {fix: install for fix, install in installs.items() if not has(fix)}
        ring = self.train(*absent).ring()
        for fix, install in absent.items():
            [(value, change)] = of(ring, fix)
            self.assertEqual((value, "is not installed: " in change["what"]), (REFUSED, True), change)
            self.assertIn(install, change["what"])

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
