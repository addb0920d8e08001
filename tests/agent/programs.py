# SPDX-License-Identifier: Apache-2.0
"""Training loops whose number of steps is known. Run as a program under the agent: each loop in a child of its own, forked after
torch was imported, so that all of them together cost one import. Prints `<name> <pid> <steps taken>` for each.
"""

from __future__ import annotations

import sys
from multiprocessing import get_context
from typing import Any, Callable

import torch
from torch import nn

STEPS = 7


def model() -> Any:
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))


def sgd(net: Any) -> Any:
    return torch.optim.SGD(net.parameters(), lr=0.01)


def loss(net: Any) -> Any:
    return net(torch.randn(8, 4)).square().mean()


def iterate(net: Any, optimizer: Any, count: int = STEPS) -> int:
    for _ in range(count):
        optimizer.zero_grad()
        loss(net).backward()
        optimizer.step()
    return count


def one_optimizer() -> int:
    net = model()
    return iterate(net, sgd(net))


def with_evaluation() -> int:
    net = model()
    optimizer = sgd(net)
    for _ in range(STEPS):
        iterate(net, optimizer, 1)
        with torch.no_grad():
            for _ in range(5):
                net(torch.randn(2, 4))
    return STEPS


def two_optimizers() -> int:
    nets = [model(), model()]
    optimizers = [sgd(net) for net in nets]
    for _ in range(STEPS):
        for net, optimizer in zip(nets, optimizers):
            iterate(net, optimizer, 1)
    return STEPS


def discriminator_twice() -> int:
    nets = [model(), model()]
    first, second = [sgd(net) for net in nets]
    for _ in range(STEPS):
        iterate(nets[0], first, 2)
        iterate(nets[1], second, 1)
    return STEPS


def five_then_one() -> int:
    nets = [model(), model()]
    first, second = [sgd(net) for net in nets]
    for _ in range(STEPS):
        iterate(nets[0], first, 5)
        iterate(nets[1], second, 1)
    return STEPS


def accumulation() -> int:
    net = model()
    optimizer = sgd(net)
    for _ in range(STEPS):
        for _ in range(4):
            (loss(net) / 4).backward()
        optimizer.step()
        optimizer.zero_grad()
    return STEPS


def closures() -> int:
    net = model()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)

    def closure() -> Any:
        optimizer.zero_grad()
        value = loss(net)
        value.backward()
        return value

    for _ in range(STEPS):
        optimizer.step(closure)
    return STEPS


def never_used() -> int:
    """An optimiser that exists and never steps: what is kept back is counted in the end."""
    net, other = model(), model()
    optimizer = sgd(net)
    unused = sgd(other)
    taken = iterate(net, optimizer)
    del unused
    return taken


def never_used_long() -> int:
    net, other = model(), model()
    optimizer = sgd(net)
    unused = sgd(other)
    taken = iterate(net, optimizer, 40)
    del unused
    return taken


def one_after_the_other() -> int:
    """Two trainings in one process; the first optimiser is still there when the second works."""
    first, second = model(), model()
    early = sgd(first)
    taken = iterate(first, early, 10)
    late = sgd(second)
    return taken + iterate(second, late, 12)


def thrown_away() -> int:
    """As a search over settings does."""
    taken = 0
    for _ in range(3):
        net = model()
        taken += iterate(net, sgd(net), 4)
    return taken


class Outer(torch.optim.Optimizer):  # type: ignore[misc, unused-ignore]
    """An optimiser around another one, as the sharded ones are."""

    def __init__(self, net: Any) -> None:
        super().__init__(list(net.parameters()), {"lr": 0.1})
        self.inner = sgd(net)

    def step(self, closure: Any = None) -> None:  # type: ignore[override, unused-ignore]
        self.inner.step()


def nested() -> int:
    net = model()
    return iterate(net, Outer(net))


class Fails(torch.optim.SGD):  # type: ignore[misc, unused-ignore]
    fails = False

    def step(self, closure: Any = None) -> None:  # type: ignore[override, unused-ignore]
        if self.fails:
            raise RuntimeError("as asked")
        super().step()


def failing_step() -> int:
    net = model()
    optimizer = Fails(net.parameters(), lr=0.1)
    taken = iterate(net, optimizer)
    optimizer.fails = True
    try:
        iterate(net, optimizer, 1)
    except RuntimeError:
        optimizer.fails = False
    return taken + iterate(net, optimizer)


def explicit() -> int:
    import gapless

    net = model()
    optimizer = sgd(net)
    for _ in range(STEPS):
        iterate(net, optimizer, 1)
        gapless.step()
    return STEPS


PROGRAMS: dict[str, Callable[[], int]] = {
    function.__name__: function
    for function in (
        one_optimizer, with_evaluation, two_optimizers, discriminator_twice, five_then_one, accumulation, closures, never_used,
        never_used_long, one_after_the_other, thrown_away, nested, failing_step, explicit,
    )
}  # fmt: skip


def run(name: str, results: Any) -> None:
    results.put(PROGRAMS[name]())


def main() -> None:
    for name in sys.argv[1:] or PROGRAMS:
        context = get_context("fork")
        results = context.SimpleQueue()
        child = context.Process(target=run, args=(name, results))
        child.start()
        child.join()
        print(name, child.pid, results.get(), flush=True)


if __name__ == "__main__":
    main()
