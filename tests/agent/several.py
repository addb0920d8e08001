# SPDX-License-Identifier: Apache-2.0
"""Training with several optimisers that step unequally often, as published programs do it: a step is the loop's iteration. Run and
printed like programs.py.
"""

from __future__ import annotations

import copy
from typing import Any, Callable

import programs
from programs import iterate, loss, model, sgd

STEPS = 41


def update(net: Any, optimizer: Any) -> None:
    optimizer.zero_grad()
    loss(net).backward()
    optimizer.step()


def pair() -> tuple[Any, Any, Any, Any]:
    nets = [model(), model()]
    return nets[0], nets[1], sgd(nets[0]), sgd(nets[1])


def delayed_policy(offset: int = 0) -> int:
    """SAC and TD3 of CleanRL: the actor steps twice in every second iteration."""
    critic, actor, first, second = pair()
    for index in range(1, STEPS + 1):
        update(critic, first)
        if index % 2 == offset:
            for _ in range(2):
                update(actor, second)
    return STEPS


def delayed_policy_at_once() -> int:
    """As before; the first iteration has an actor's step already."""
    return delayed_policy(1)


def temperature() -> int:
    """SAC with a third optimiser, within the loop of the actor's; and an update begins when enough was played."""
    critic, actor, first, second = pair()
    alpha = model()
    third = sgd(alpha)
    taken = 0
    for index in range(STEPS):
        if index <= 10:
            continue
        taken += 1
        update(critic, first)
        if index % 2 == 0:
            for _ in range(2):
                update(actor, second)
                update(alpha, third)
    return taken


class Learner:
    def __init__(self) -> None:
        self.critic, self.actor, self.first, self.second = pair()

    def train(self, number: int) -> None:
        """The author's TD3."""
        update(self.critic, self.first)
        if number % 2 == 0:
            update(self.actor, self.second)

    def update(self) -> None:
        for _ in range(4):
            update(self.critic, self.first)
        update(self.actor, self.second)


def learner_trains() -> int:
    learner = Learner()
    for index in range(STEPS):
        learner.train(index)
    return STEPS


def learner_updates() -> int:
    learner = Learner()
    for _ in range(STEPS):
        learner.update()
    return STEPS


def wgan_loop_of_critic() -> int:
    critic, generator, first, second = pair()
    for _ in range(STEPS):
        for _ in range(5):
            update(critic, first)
        update(generator, second)
    return STEPS


def wgan_flat() -> int:
    """A batch is an iteration; in every fourth of them the generator steps."""
    critic, generator, first, second = pair()
    for index in range(STEPS):
        update(critic, first)
        if index % 4 == 0:
            update(generator, second)
    return STEPS


def real_and_fake() -> int:
    """A GAN whose discriminator steps for each of the two, from two lines."""
    critic, generator, first, second = pair()
    for _ in range(STEPS):
        update(critic, first)
        update(critic, first)
        update(generator, second)
    return STEPS


def one_line_for_all() -> int:
    """The optimisers, and how often each steps, are in a list."""
    critic, generator, first, second = pair()
    for _ in range(STEPS):
        for net, optimizer, often in ((critic, first, 3), (generator, second, 1)):
            iterate(net, optimizer, often)
    return STEPS


def folds() -> int:
    """Two optimisers for each fold, all of which stay."""
    taken = 0
    for _ in range(3):
        programs.KEPT.append(pair())
        critic, generator, first, second = programs.KEPT[-1]
        for _ in range(STEPS):
            update(critic, first)
            update(generator, second)
            taken += 1
    return taken


def meta_learning() -> int:
    """Four tasks an iteration, each with six updates of an optimiser of its own."""
    net = model()
    outer = sgd(net)
    for _ in range(STEPS):
        outer.zero_grad()
        for _ in range(4):
            fast = copy.deepcopy(net)
            iterate(fast, sgd(fast), 6)
            loss(fast).backward()
            for parameter, adapted in zip(net.parameters(), fast.parameters()):
                parameter.grad = adapted.grad.clone()
        outer.step()
    return STEPS


PROGRAMS: dict[str, Callable[[], int]] = {
    function.__name__: function
    for function in (
        delayed_policy, delayed_policy_at_once, temperature, learner_trains, learner_updates, wgan_loop_of_critic, wgan_flat,
        real_and_fake, one_line_for_all, folds, meta_learning,
    )
}  # fmt: skip


if __name__ == "__main__":
    programs.main(PROGRAMS, {})
