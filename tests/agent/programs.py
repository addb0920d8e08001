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
KEPT: list[Any] = []


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


def by_hand(update: Any, passes: int = 1, count: int = STEPS) -> int:
    """Training without an optimiser: `update` writes one parameter."""
    net = model()
    for _ in range(count):
        for parameter in net.parameters():
            parameter.grad = None
        for _ in range(passes):
            (loss(net) / passes).backward()
        for parameter in net.parameters():
            update(parameter)
    return count


def write_data(parameter: Any) -> None:
    parameter.data -= 0.01 * parameter.grad


def write_without_gradients(parameter: Any) -> None:
    with torch.no_grad():
        parameter -= 0.01 * parameter.grad


def by_hand_data() -> int:
    return by_hand(write_data)


def by_hand_data_long() -> int:
    return by_hand(write_data, count=40)


def by_hand_no_grad() -> int:
    return by_hand(write_without_gradients)


def by_hand_accumulation() -> int:
    return by_hand(write_without_gradients, passes=4)


def by_hand_accumulation_data() -> int:
    return by_hand(write_data, passes=3, count=20)


def by_hand_zeroed() -> int:
    """The parameters outlive the training, and gradients are filled with zeros instead of dropped."""
    net = model()
    KEPT.append(net)
    for _ in range(STEPS):
        loss(net).backward()
        for parameter in net.parameters():
            parameter.data.add_(parameter.grad.data, alpha=-0.01)
            parameter.grad.data.zero_()
    return STEPS


def by_hand_autograd_grad() -> int:
    net = model()
    for _ in range(STEPS):
        gradients = torch.autograd.grad(loss(net), list(net.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(net.parameters(), gradients):
                parameter -= 0.01 * gradient
    return STEPS


def by_hand_after_evaluation() -> int:
    net = model()
    with torch.no_grad():
        for _ in range(10):
            net(torch.randn(2, 4))
    for _ in range(STEPS):
        net.zero_grad()
        loss(net).backward()
        for parameter in net.parameters():
            write_without_gradients(parameter)
    return STEPS


def by_hand_gan(discriminator: int = 1) -> int:
    generator, critic = nn.Linear(4, 4), model()
    for _ in range(STEPS):
        for _ in range(discriminator):
            fake = generator(torch.randn(8, 4)).detach()
            (critic(torch.randn(8, 4)).mean() - critic(fake).mean()).backward()
            for parameter in critic.parameters():
                write_without_gradients(parameter)
                parameter.grad = None
        critic(generator(torch.randn(8, 4))).mean().backward()
        for parameter in generator.parameters():
            write_without_gradients(parameter)
            parameter.grad = None
        for parameter in critic.parameters():
            parameter.grad = None
    return STEPS


def by_hand_critic_often() -> int:
    return by_hand_gan(5)


def by_hand_then_optimizer() -> int:
    taken = by_hand(write_without_gradients)
    net = model()
    return taken + iterate(net, sgd(net))


def functional() -> int:
    """New tensors in each iteration: no step can be told from the next."""
    weights = [torch.randn(4, 1, requires_grad=True)]
    for _ in range(STEPS):
        (torch.randn(8, 4) @ weights[0]).square().mean().backward()
        weights = [(one - 0.01 * one.grad).detach().requires_grad_() for one in weights]
    return 0


def gradients_only() -> int:
    """Nothing is updated: no training."""
    net = model()
    for _ in range(80):
        loss(net).backward()
    return 0


PROGRAMS: dict[str, Callable[[], int]] = {
    function.__name__: function
    for function in (
        one_optimizer, with_evaluation, two_optimizers, discriminator_twice, five_then_one, accumulation, closures, never_used,
        never_used_long, one_after_the_other, thrown_away, nested, failing_step, explicit, by_hand_data, by_hand_data_long,
        by_hand_no_grad, by_hand_accumulation, by_hand_accumulation_data, by_hand_zeroed, by_hand_autograd_grad,
        by_hand_after_evaluation, by_hand_gan, by_hand_critic_often, by_hand_then_optimizer, functional, gradients_only,
    )
}  # fmt: skip


def run(program: Callable[[], int], results: Any) -> None:
    results.put(program())


def main(programs: dict[str, Callable[[], int]], slow: dict[str, Callable[[], int]]) -> None:
    """Runs the programs that the command line names, else all but the slow ones."""
    for name in sys.argv[1:] or programs:
        context = get_context("fork")
        results = context.SimpleQueue()
        child = context.Process(target=run, args=({**programs, **slow}[name], results))
        child.start()
        child.join()
        print(name, child.pid, results.get(), flush=True)


if __name__ == "__main__":
    main(PROGRAMS, {})
