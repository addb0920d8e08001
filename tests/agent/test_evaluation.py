# SPDX-License-Identifier: Apache-2.0
"""Time that a training spends on evaluating its model, and what looks like it and is not."""

from __future__ import annotations

from cases import in_ci
from harness import AgentTest, Ring

START = """
    import time, torch
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(8, 4)
    def step(model=net):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
"""


class Evaluations(AgentTest):
    def found(self, text: str) -> tuple[Ring, list[tuple[int, str]]]:
        """The ring, and the step and line of each evaluation."""
        ring = self.succeed(START + text, options={"record": {"on": False}}).ring()
        self.assertEqual([ring.text(message.a) for message in ring.of("message")], [])
        return ring, [(record.b, ring.text(record.a)) for record in ring.of("evaluation")]

    @in_ci
    def test_step_time_and_line(self) -> None:
        ring, found = self.found(
            """
    def evaluate():
        net.eval()
        with torch.no_grad():
            net(x)
        time.sleep(0.05)
        net.train()
    for number in range(12):
        step()
        if number % 5 == 4: evaluate()
"""
        )
        self.assertEqual(found, [(5, "train.py:12"), (10, "train.py:12")])
        steps = {record.a: record for record in ring.of("step")}
        for record in ring.of("evaluation"):
            self.assertTrue(50e6 <= record.dur_ns < 500e6, record)
            self.assertGreaterEqual(steps[record.b].dur_ns, record.dur_ns)
            self.assertGreaterEqual(record.ts_ns + 1e6, steps[record.b].ts_ns)

    def test_classes_with_train_and_eval_of_their_own(self) -> None:
        """The line is the one that calls them; `train(False)` is as good as `eval()`."""
        _, found = self.found(
            """
    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net
        def forward(self, x): return self.net(x)
        def train(self, mode=True):
            super().train(mode)
            self.net[1].eval()  # a frozen batch norm
            return self
        def eval(self): return super().eval()
    own = Own()
    own.train()
    for number in range(4):
        step(own)
        if number == 1:
            own.eval()
            own.train(mode=True)
        if number == 2:
            own.train(False)
            own.train()
"""
        )
        self.assertEqual(found, [(2, "train.py:26"), (3, "train.py:29")])

    def test_parts_and_other_models(self) -> None:
        """Parts that follow the first one are in the same evaluation; a model that does not train is none."""
        _, found = self.found(
            """
    teacher = torch.nn.Linear(4, 1)
    for number in range(4):
        step()
        teacher.eval()
        teacher.train()
        if number == 2:
            net[0].eval()
            net[2].eval()
            net(x)
            net[2].train()
            net[0].train()
"""
        )
        self.assertEqual(found, [(3, "train.py:17")])

    def test_what_trains_in_evaluation_mode_does_not_evaluate(self) -> None:
        _, found = self.found(
            """
    for number in range(3):  # frozen batch norms, again in each step
        net.train()
        net[1].eval()
        step()
    for number in range(3):  # an attack on the inputs
        net.eval()
        attacked = x.clone().requires_grad_()
        net(attacked).sum().backward()
        net.train()
        step()
    net.eval()  # for good
    for number in range(3):
        step()
    net.train()
    step()
    net.eval()  # and the program ends
"""
        )
        self.assertEqual(found, [])

    def test_updates_by_hand(self) -> None:
        text = """
    import torch
    net = torch.nn.Linear(4, 1)
    for number in range(30):
        net.zero_grad()
        net(torch.randn(8, 4)).square().mean().backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.1 * parameter.grad
        if number % 10 == 9:
            net.eval()
            net.train()
"""
        ring = self.succeed(text, options={"record": {"on": False}}).ring()
        self.assertEqual([ring.text(record.a) for record in ring.of("evaluation")], ["train.py:11"] * 3)

    def test_the_program_sees_torch_as_it_is(self) -> None:
        text = """
    import inspect, threading, torch
    print(inspect.signature(torch.nn.Module.train), torch.nn.Module.train.__qualname__, torch.nn.Module.train.__module__)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    print(net.train(False) is net, net[0].training, net.train(mode=True) is net, net[0].training)
    class Bare(torch.nn.Module):
        def __init__(self): pass
    class Fails(torch.nn.Module):
        def train(self, mode=True):
            super().train(mode)
            if not mode: raise ValueError("never")
    for attempt in (lambda: Bare().eval(), lambda: net.train("yes"), lambda: net.train(no_such=1), lambda: Fails().eval()):
        try: attempt()
        except Exception as error: print(type(error).__name__, error)
    thread = threading.Thread(target=net.eval)
    thread.start(); thread.join()
    print(net.training)
"""
        plain = self.execute(self.script(text), agent=False)
        watched = self.succeed(text)
        self.assertEqual(watched.out, plain.out)
