# SPDX-License-Identifier: Apache-2.0
"""Parts of Liger beside modules: rotary embeddings, and the last layer with its loss, without the logits. The first takes effect where its
calls are those of the kernel, the second where one cross entropy reads the logits and nothing else does."""

from __future__ import annotations

import math
import textwrap
import unittest

from kernel_packages import TURNING, KernelTest, has
from test_fixes import ON, REFUSED, losses, of

TURNS = """
    import torch, tinymodel
    torch.manual_seed(1)
    net = torch.nn.Sequential(tinymodel.Attention(16, 2), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.randn(3, 7, 16), torch.randn(3, 7, 4)
    for step in range(4):
        optimizer.zero_grad()
        loss = (net(x) - y).square().mean()
        loss.backward()
        optimizer.step()
    SHOW
"""
# A model of words; LOSS is how its loss is computed, SEEN what else is done with its logits.
WORDS = """
    import torch
    from torch.nn.functional import cross_entropy
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Embedding(40, 16), torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 40))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    words = torch.randint(40, (3, 9))
    words[0, 4:] = 7
    for step in range(6):
        optimizer.zero_grad()
        logits = net(words)
        loss = LOSS
        (loss / 2).backward()
        optimizer.step()
        SEEN
    SHOW
"""
SHIFTED = "cross_entropy(logits[:, :-1].flatten(0, 1).float(), words[:, 1:].flatten(), ignore_index=7)"


class Parts(KernelTest):
    def test_rotary_embedding(self) -> None:
        plain = losses(self.with_standin(text=TURNS, show="").ring())
        self.again()
        done = self.with_standin("liger", text=TURNS, show="")
        self.close(plain, losses(done.ring()))
        [(value, change)] = of(done.ring(), "liger")
        self.assertEqual((value, change["what"]), (ON, "rotary embedding by Liger"))
        edit = change["edit"]
        self.assertEqual(edit["lines"][-1], "tinymodel.apply_rotary_pos_emb = rotary")
        added = "\n".join((*edit["imports"], *edit["lines"], "optimizer = "))
        self.again()
        patched = self.with_standin(text=textwrap.dedent(TURNS).replace("optimizer = ", added), show="")
        self.assertEqual(losses(patched.ring()), losses(done.ring()), "the patch computes the same")

    def test_rotary_embeddings_that_stay(self) -> None:
        """A wrong gradient, and calls that the kernel does not take."""
        plain = losses(self.with_standin(text=TURNS, show="").ring())
        self.again()
        done = self.with_standin("liger", text=TURNS, show="", fault="turn")
        self.assertEqual(losses(done.ring()), plain)
        [(value, change)] = of(done.ring(), "liger")
        self.assertEqual(value, REFUSED)
        self.assertIn("rotary embedding is wrong here: the gradient of argument 1 differs from float64", change["what"])
        self.again()
        other = TURNS.replace("Attention(16, 2)", "Attention(16, 2, heads_last=True)")
        plain = losses(self.with_standin(text=other, show="").ring())
        self.again()
        done = self.with_standin("liger", text=other, show="")
        self.assertEqual((losses(done.ring()), [value for value, _ in of(done.ring(), "liger")]), (plain, [REFUSED]))

    def test_a_loss_without_logits(self) -> None:
        said = "Linear (16 → 40) and cross entropy by Liger in one, without the logits"
        show = "from liger_kernel.transformers.functional import calls; print(type(logits).__name__, calls['fused'])"
        for loss in (
            SHIFTED,
            "torch.nn.CrossEntropyLoss(label_smoothing=0.1)(logits.view(-1, 40), words.view(-1))",
            "cross_entropy(logits[words != 7], words[words != 7], reduction='sum') / 20",
        ):
            with self.subTest(loss):
                self.again()
                plain = losses(self.with_standin(text=WORDS.replace("LOSS", loss), show="").ring())
                self.again()
                done = self.with_standin("liger", text=WORDS.replace("LOSS", loss), show=show)
                self.assertEqual((self.told(done, "liger"), done.out), ([said], "Unmade 5\n"))
                self.close(plain, losses(done.ring()))

    def test_logits_that_are_read(self) -> None:
        """From the start, late, and later than the weights that they were computed with; nothing is lost or wrong."""
        read = "print(round(float((logits[:, :-1].argmax(-1) == words[:, 1:]).float().mean()), 6))"
        for seen, said in (
            (read, []),
            (f"if step == 4: {read}", ["Linear (16 → 40)", "the last layer and the loss are the program's own again"]),
            (
                "if step == 4: print(float(torch.stack([logits.detach()]).square().sum()))",
                ["Linear (16 → 40)", "the last layer"],
            ),
        ):
            with self.subTest(seen):
                text = WORDS.replace("LOSS", SHIFTED).replace("SEEN", seen)
                self.again()
                plain = self.with_standin(text=text, show="")
                self.again()
                done = self.with_standin("liger", text=text, show="")
                told = self.told(done, "liger")
                self.assertEqual(len(told), len(said), told)
                for one, part in zip(told, said):
                    self.assertIn(part, one)
                self.close(losses(plain.ring()), losses(done.ring()))
                self.close(list(map(float, plain.out.split())), list(map(float, done.out.split())))
                reasons = [change["what"] for value, change in of(done.ring(), "liger") if value == REFUSED]
                self.assertEqual(
                    [True] * (not said), ["the logits are needed: `argmax` reads them" in one for one in reasons]
                )

    def test_losses_that_stay(self) -> None:
        """Exactly as they were: a wrong gradient of the kernel, another loss, and a second reader."""
        for loss, fault, said in (
            (
                SHIFTED,
                "fused",
                "fused linear cross entropy is wrong here: the gradient of weight differs from float64 by",
            ),
            (
                SHIFTED[:-1] + ", weight=torch.ones(40))",
                "",
                "weights, targets or a reduction that Liger's does not take",
            ),
            (SHIFTED + " + 1e-4 * logits.logsumexp(-1).square().mean()", "", "`logsumexp` reads them"),
            ("logits.log_softmax(-1)[..., 0].mean()", "", "`log_softmax` reads them"),
        ):
            with self.subTest(said):
                self.again()
                plain = losses(self.with_standin(text=WORDS.replace("LOSS", loss), show="").ring())
                self.again()
                done = self.with_standin("liger", text=WORDS.replace("LOSS", loss), show="", fault=fault)
                self.assertEqual(losses(done.ring()), plain)
                [(value, change)] = of(done.ring(), "liger")
                self.assertEqual(value, REFUSED)
                self.assertIn(said, change["what"])

    def test_a_loss_of_nothing(self) -> None:
        """The mean over no target is not a number, and has no gradient: weights stay as they are."""
        target = "words[:, 1:].flatten() if step != 4 else torch.full((24,), 7)"
        text = WORDS.replace("LOSS", SHIFTED.replace("words[:, 1:].flatten()", target))
        plain = losses(self.with_standin(text=text, show="").ring())
        self.again()
        done = self.with_standin("liger", text=text, show="print(type(logits).__name__)")
        found = losses(done.ring())
        self.assertEqual((done.out, math.isnan(plain[4]), math.isnan(found[4])), ("Unmade\n", True, True))
        self.close(plain[:4] + plain[5:], found[:4] + found[5:])

    def test_a_loss_that_is_differentiated_twice(self) -> None:
        text = WORDS.replace("LOSS", SHIFTED).replace(
            "(loss / 2).backward()", "(loss / 2).backward(retain_graph=True); loss.backward()"
        )
        plain = losses(self.with_standin(text=text, show="").ring())
        self.again()
        done = self.with_standin("liger", text=text, show="print(type(logits).__name__)")
        self.assertEqual(done.out, "Unmade\n")
        self.close(plain, losses(done.ring()))

    def test_other_parts_of_liger(self) -> None:
        if not has("liger"):
            self.skipTest("liger-kernel is not installed")
        (self.folder / "tinymodel.py").write_text(TURNING)
        words = WORDS.replace("LOSS", SHIFTED).replace("SEEN", "pass")
        for text, said in ((words, "Linear (16 → 40) and cross entropy"), (TURNS, "rotary embedding by Liger")):
            with self.subTest(said):
                found = []
                for fixes in ([], ["liger"]):
                    self.again()
                    options = {"record": {"on": False}, "fixes": fixes}
                    ring = self.succeed(text.replace("SHOW", ""), options=options, env={"TRITON_INTERPRET": "1"}).ring()
                    found.append(losses(ring))
                [(_, change)] = of(ring, "liger")
                self.assertIn(said, change["what"])
                for one, other in zip(*found):
                    self.assertLessEqual(abs(one - other), 1e-5 * abs(one))


if __name__ == "__main__":
    unittest.main()
