# SPDX-License-Identifier: Apache-2.0
"""`vmap`: which loops over rows become one call, which stay loops and why, and what the patch is told."""

from __future__ import annotations

import unittest
from typing import Any

from harness import Ring, layout, make_control, post
from test_fixes import OFF, ON, REFUSED, FixTest, line_of, of

ROWS = """
    import random
    import torch
    from torch import stack
    torch.manual_seed(1)
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    calls = []

    def centred(batch):
        rows = []
        for row in batch:  # what is to go
            rows.append(row - row.mean())
        return torch.stack(rows)

    class Loss:
        factor = 2.0

        @staticmethod
        def of(x: torch.Tensor, y, weight: float = 1.0) -> torch.Tensor:
            losses: list = []
            for one, other in zip(x, y):
                distance = one - other
                losses.append(weight * distance.square().sum())
            return torch.stack(losses, dim=0).mean()

        @property
        def other(self):
            return stack([self.factor * torch.sin(row) for row in self.rows], 0)

    def noisy(x):
        return torch.stack([row * (1 + 0.1 * random.random()) for row in x])

    def branches(x):
        return torch.stack([row if row.sum() > 0 else -row for row in x])

    def counted(x):
        out = []
        for row in x:
            calls.append(1)
            out.append(row)
        return torch.stack(out)

    def carried(x):
        states, state = [], x[0]
        for row in x:
            state = (state + row).tanh()
            states.append(state)
        return torch.stack(states)

    def of_a_list(x):
        return torch.stack([row + 1 for row in list(x)])

    random.seed(1)
    for step in range(8):
        x = torch.randn(6, 4)
        optimizer.zero_grad()
        loss = Loss()
        loss.rows = centred(x)
        x = branches(noisy(of_a_list(carried(counted(loss.other)))))
        loss.of(net(x), torch.ones(6, 2), weight=0.5).backward()
        optimizer.step()
    print(len(calls), f"{random.random():.6f}", f"{net.weight.sum().item():.4f}")
    try:
        centred(torch.zeros(0, 4))
    except RuntimeError as error:
        import traceback
        print([frame.name for frame in traceback.extract_tb(error.__traceback__)], error)
    SHOW
"""


ALONE = """
    import random
    import numpy
    import torch
    torch.manual_seed(1), numpy.random.seed(1), random.seed(1)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    seen = []

    def grown():
        seen.append(1)
        return len(seen)

    def each(x):
        return EXPRESSION

    for step in range(5):
        optimizer.zero_grad()
        net(each(torch.ones(6, 4)).float()).sum().backward()
        optimizer.step()
    print(random.random(), numpy.random.rand(), torch.rand(1))
"""


class RowLoops(FixTest):
    """`vmap`: what only stacks what each row gives is one call, with the same numbers but for their rounding."""

    def setUp(self) -> None:
        super().setUp()
        self.plain = self.execute(self.script(ROWS.replace("SHOW", "")), agent=False)

    def mapped(self, ring: Ring) -> dict[str, dict[str, Any]]:
        return {one["what"].partition(":")[0]: one for value, one in of(ring, "vmap") if value == ON}

    def test_what_is_mapped(self) -> None:
        done = self.train("vmap", text=ROWS)
        self.assertEqual(done.out, self.plain.out)
        found = self.mapped(done.ring())
        self.assertEqual(set(found), {"centred", "Loss.of", "Loss.other"})
        self.assertEqual(found["centred"]["what"], "centred: the loop over batch is one torch.vmap")
        script = (self.folder / "train.py").read_text()
        edit = found["centred"]["edit"]
        self.assertEqual((edit["kind"], edit["line"]), ("replace", line_of(script, "rows = []")))
        self.assertEqual(edit["last"], line_of(script, "return torch.stack(rows)"))
        self.assertEqual(edit["lines"], ["return torch.vmap(lambda row: row - row.mean())(batch)"])
        self.assertEqual(
            found["Loss.of"]["edit"]["lines"],
            [
                "def of_one_and_other(one, other):",
                "    distance = one - other",
                "    return weight * distance.square().sum()",
                "return torch.vmap(of_one_and_other)(x, y).mean()",
            ],
        )
        self.assertEqual(
            found["Loss.other"]["edit"]["lines"],
            ["return torch.vmap(lambda row: self.factor * torch.sin(row))(self.rows)"],
        )

    def test_what_stays(self) -> None:
        left = {
            "torch.stack([row * (1 + 0.1 * random.random()) for row in x])": "each, loop over x: it draws random numbers",
            "torch.stack([row * numpy.random.rand() for row in x])": "each, loop over x: it draws random numbers",
            "torch.stack([row if row.sum() > 0 else -row for row in x])": "each, loop over x: it cannot be mapped: ",
            "torch.stack([torch.rand(4) * row for row in x])": "each, loop over x: it cannot be mapped: ",
            "torch.stack([row / len(seen) for row in x if seen.append(1) is None])": "no function that the program calls",
            "torch.stack([row.mul_(2) for row in x])": "each, loop over x: it changes the rows",
            "torch.stack([row * grown() for row in x])": "each, loop over x: torch.vmap gives other numbers",
            "torch.stack([row + 1 for row in list(x)])": "no function that the program calls",
            "torch.stack([row + 1 for row in x], 1).t()": "no function that the program calls",
        }
        for expression, reason in left.items():
            with self.subTest(expression):
                self.again()
                text = ALONE.replace("EXPRESSION", expression)
                plain = self.execute(self.script(text), agent=False)
                done = self.train("vmap", text=text)
                self.assertEqual((done.code, done.out), (plain.code, plain.out))
                self.assertIn(reason, self.the(done.ring(), "vmap", REFUSED)["what"])

    def test_off_again(self) -> None:
        """Switched between two steps, as blocks do; the tracebacks of the program are its own."""
        show = "import sys; print(any(name.startswith('gapless_agent') for name in sys.modules))"
        control = make_control(self.run_folder)
        post(control, layout.COMMAND_FIX_ON, text="vmap", at_step=3)
        post(control, layout.COMMAND_FIX_OFF, text="vmap", at_step=5)
        post(control, layout.COMMAND_FIX_ON, text="vmap", at_step=6)
        done = self.train(text=ROWS, show=show)
        self.assertEqual(done.out, self.plain.out + "True\n")
        values = [value for value, _ in of(done.ring(), "vmap")]
        self.assertEqual((values.count(OFF), values[-1]), (1, ON))


if __name__ == "__main__":
    unittest.main()
