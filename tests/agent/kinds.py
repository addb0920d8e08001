# SPDX-License-Identifier: Apache-2.0
"""Kinds of training that people write with torch alone, each with a known number of steps. Run and printed like programs.py.

Where an iteration has one update, it is the step. Reinforcement learning: each update ends a step, and the rollout before it belongs to it.
"""

from __future__ import annotations

import copy
import random
import threading
from typing import Any, Callable

import programs
import torch
from programs import iterate, loss, model, sgd
from torch import nn

STEPS = 9


class Pole:
    """A pole on a cart, as far as a test needs one: four numbers, two actions, and an end."""

    def __init__(self) -> None:
        self.random = random.Random(1)
        self.state = [0.0] * 4

    def reset(self) -> Any:
        self.state = [self.random.uniform(-0.05, 0.05) for _ in range(4)]
        return torch.tensor(self.state)

    def step(self, action: int) -> tuple[Any, float, bool]:
        at, speed, angle, turn = self.state
        force = 1.0 if action else -1.0
        self.state = [at + 0.02 * speed, speed + 0.2 * force, angle + 0.02 * turn, turn - 0.3 * force + 0.2 * angle]
        return torch.tensor(self.state), 1.0, abs(self.state[2]) > 0.2


def act(policy: Any, state: Any) -> int:
    with torch.no_grad():
        return int(torch.distributions.Categorical(logits=policy(state)).sample())


def rollout(pole: Pole, policy: Any, length: int) -> tuple[Any, Any, Any]:
    states, actions, rewards = [], [], []
    state = pole.reset()
    for _ in range(length):
        states.append(state)
        actions.append(act(policy, state))
        state, reward, ended = pole.step(actions[-1])
        rewards.append(reward)
        state = pole.reset() if ended else state
    return torch.stack(states), torch.tensor(actions), torch.tensor(rewards)


def policy_loss(policy: Any, states: Any, actions: Any, weights: Any) -> Any:
    chosen = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
    return -(chosen * weights).mean()


def ppo() -> int:
    pole, policy, taken = Pole(), nn.Linear(4, 2), 0
    optimizer = sgd(policy)
    for _ in range(4):
        states, actions, rewards = rollout(pole, policy, 32)
        for _ in range(2):
            for part in torch.randperm(32).split(8):
                optimizer.zero_grad()
                policy_loss(policy, states[part], actions[part], rewards[part]).backward()
                optimizer.step()
                taken += 1
    return taken


def a2c() -> int:
    """Two optimisers, one for the policy and one for the value."""
    pole, policy, value = Pole(), nn.Linear(4, 2), nn.Linear(4, 1)
    first, second = sgd(policy), sgd(value)
    for _ in range(STEPS):
        states, actions, rewards = rollout(pole, policy, 16)
        advantage = rewards - value(states).squeeze(-1)
        for optimizer in (first, second):
            optimizer.zero_grad()
        policy_loss(policy, states, actions, advantage.detach()).backward()
        advantage.square().mean().backward()
        first.step()
        second.step()
    return STEPS


def dqn() -> int:
    """Updates from a replay buffer, only once it is filled; the target network is copied now and then."""
    pole, net, taken = Pole(), nn.Linear(4, 2), 0
    target, optimizer = copy.deepcopy(net), sgd(net)
    kept: list[tuple[Any, int, float]] = []
    state = pole.reset()
    for tick in range(60):
        action = act(net, state)
        following, reward, ended = pole.step(action)
        kept.append((state, action, reward))
        state = pole.reset() if ended else following
        if tick < 20:
            continue
        rows = random.sample(kept, 8)
        states = torch.stack([row[0] for row in rows])
        with torch.no_grad():
            wanted = torch.tensor([row[2] for row in rows]) + target(states).amax(1)
        optimizer.zero_grad()
        (net(states)[range(8), [row[1] for row in rows]] - wanted).square().mean().backward()
        optimizer.step()
        taken += 1
        if tick % 10 == 0:
            target.load_state_dict(net.state_dict())
    return taken


def gan() -> int:
    generator, critic = nn.Linear(4, 4), model()
    first, second = sgd(critic), sgd(generator)
    for _ in range(STEPS):
        fake = generator(torch.randn(8, 4))
        first.zero_grad()
        (critic(fake.detach()).mean() - critic(torch.randn(8, 4)).mean()).backward()
        first.step()
        second.zero_grad()
        (-critic(fake).mean()).backward()
        second.step()
    return STEPS


def diffusion_with_average() -> int:
    """A denoiser with an exponential average of its weights, which samples from noise after every third step."""
    net = nn.Linear(5, 4)
    average, optimizer = copy.deepcopy(net), torch.optim.AdamW(net.parameters())
    for taken in range(STEPS):
        noise, time = torch.randn(8, 4), torch.rand(8, 1)
        optimizer.zero_grad()
        (net(torch.cat([noise * time, time], 1)) - noise).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            for mean, new in zip(average.parameters(), net.parameters()):
                mean.lerp_(new, 0.01)
            x = torch.randn(2, 4)
            for _ in range(10 if taken % 3 == 0 else 0):
                x = x - 0.1 * average(torch.cat([x, torch.ones(2, 1)], 1))
    return STEPS


def scaler_switched_off() -> int:
    net = model()
    optimizer = sgd(net)
    scaler: Any = torch.cuda.amp.GradScaler(enabled=False)
    for _ in range(STEPS):
        optimizer.zero_grad()
        scaler.scale(loss(net)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return STEPS


def compiled_step() -> int:
    """Loss, backward pass and update are one function given to torch.compile."""
    net = model()
    optimizer = sgd(net)

    def train(x: Any) -> None:
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()

    step = torch.compile(train, backend="eager")
    for _ in range(STEPS):
        step(torch.randn(8, 4))
    return STEPS


def in_a_thread() -> int:
    """The whole loop runs in a thread, as in programs with a user interface."""
    net = model()
    taken: list[int] = []
    worker = threading.Thread(target=lambda: taken.append(iterate(net, sgd(net), STEPS)))
    worker.start()
    worker.join()
    return taken[0]


def by_hand_in_a_thread() -> int:
    taken: list[int] = []
    write = programs.write_without_gradients
    worker = threading.Thread(target=lambda: taken.append(programs.by_hand(write, count=STEPS)))
    worker.start()
    worker.join()
    return taken[0]


def step_in_a_thread() -> int:
    """The update alone runs in a thread."""
    net = model()
    optimizer = sgd(net)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(net).backward()
        worker = threading.Thread(target=optimizer.step)
        worker.start()
        worker.join()
    return STEPS


class SignDescent(torch.optim.Optimizer):  # type: ignore[misc, unused-ignore]
    def __init__(self, parameters: Any, lr: float = 0.01) -> None:
        super().__init__(parameters, {"lr": lr})

    def step(self, closure: Any = None) -> None:  # type: ignore[override, unused-ignore]
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.add_(parameter.grad.sign(), alpha=-group["lr"])


def own_optimizer() -> int:
    net = model()
    return iterate(net, SignDescent(net.parameters()), STEPS)


class Duck:
    """An optimiser that is no torch.optim.Optimizer: it only has its methods."""

    def __init__(self, parameters: Any) -> None:
        self.parameters = list(parameters)

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        with torch.no_grad():
            for parameter in self.parameters:
                parameter.sub_(0.01 * parameter.grad)


def optimizer_of_no_class() -> int:
    net = model()
    return iterate(net, Duck(net.parameters()), STEPS)


class Scheduled:
    """The wrapper of the Transformer tutorials: it sets the rate, then steps."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer, self.count = optimizer, 0

    def zero_grad(self) -> None:
        self.optimizer.zero_grad()

    def step(self) -> None:
        self.count += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 0.01 / self.count
        self.optimizer.step()


def wrapped_optimizer() -> int:
    net = model()
    return iterate(net, Scheduled(sgd(net)), STEPS)


class Lookahead(torch.optim.Optimizer):  # type: ignore[misc, unused-ignore]
    """Wraps another optimiser without calling the base class' __init__, as published ones do."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.count = inner, 0
        self.param_groups, self.state, self.defaults = inner.param_groups, inner.state, inner.defaults

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.inner.zero_grad()

    def step(self, closure: Any = None) -> Any:  # type: ignore[override, unused-ignore]
        self.count += 1
        return self.inner.step(closure)


def partly_built_wrapper() -> int:
    net = model()
    return iterate(net, Lookahead(sgd(net)), STEPS)


def rebuilt_half_way() -> int:
    """As progressive training does: the model and its optimiser are thrown away and made again, larger."""
    taken = 0
    for width in (4, 8):
        net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))
        optimizer = torch.optim.Adam(net.parameters())
        taken += iterate(net, optimizer, STEPS)
        del net, optimizer
    return taken


def error_in_between() -> int:
    """An error in one forward pass, caught; that iteration has no update."""
    net = model()
    optimizer = sgd(net)
    taken = 0
    for index in range(STEPS):
        try:
            optimizer.zero_grad()
            net(torch.randn(8, 3 if index == 4 else 4)).sum().backward()
            optimizer.step()
            taken += 1
        except RuntimeError:
            continue
    return taken


def optimizer_per_parameter() -> int:
    """Each parameter has an optimiser of its own, which steps during the backward pass as soon as the gradient is there."""
    net = model()
    if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"):
        return iterate(net, sgd(net), STEPS)
    optimizers = {id(parameter): torch.optim.SGD([parameter], lr=0.01) for parameter in net.parameters()}

    def update(parameter: Any) -> None:
        optimizers[id(parameter)].step()
        optimizers[id(parameter)].zero_grad()

    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(update)
    for _ in range(STEPS):
        loss(net).backward()
    return STEPS


def sparse_and_dense() -> int:
    table, net = nn.Embedding(20, 4, sparse=True), model()
    optimizers = [torch.optim.SparseAdam(table.parameters()), torch.optim.Adam(net.parameters())]
    for _ in range(STEPS):
        for optimizer in optimizers:
            optimizer.zero_grad()
        net(table(torch.randint(20, (8,)))).square().mean().backward()
        for optimizer in optimizers:
            optimizer.step()
    return STEPS


def sharpness_aware() -> int:
    """SAM: two forward and backward passes for one update; the first one only moves the weights, by hand."""
    net = model()
    optimizer = sgd(net)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(net).backward()
        with torch.no_grad():
            moved = [0.05 * parameter.grad for parameter in net.parameters()]
            for parameter, by in zip(net.parameters(), moved):
                parameter.add_(by)
        optimizer.zero_grad()
        loss(net).backward()
        with torch.no_grad():
            for parameter, by in zip(net.parameters(), moved):
                parameter.sub_(by)
        optimizer.step()
    return STEPS


def meta_learning() -> int:
    """Inner updates by hand, or with an optimiser made anew for each task; the outer optimiser ends the step."""
    net = model()
    outer = torch.optim.Adam(net.parameters())
    for _ in range(STEPS):
        outer.zero_grad()
        for _ in range(2):
            fast = copy.deepcopy(net)
            inner = sgd(fast)
            iterate(fast, inner, 3)
            loss(fast).backward()
            for parameter, adapted in zip(net.parameters(), fast.parameters()):
                parameter.grad = adapted.grad.clone()
        outer.step()
    return STEPS


def warm_up_then_joint() -> int:
    """One part is trained alone first, then both parts with an optimiser each."""
    first, second = model(), model()
    one, two = sgd(first), sgd(second)
    taken = iterate(first, one, 40)
    for _ in range(40):
        iterate(first, one, 1)
        iterate(second, two, 1)
    return taken + 40


def leaves_and_stays() -> int:
    """A search over settings keeps every trained model and its optimiser."""
    taken = 0
    for _ in range(4):
        net = model()
        optimizer = sgd(net)
        programs.KEPT.append((net, optimizer))
        taken += iterate(net, optimizer, STEPS)
    return taken


PROGRAMS: dict[str, Callable[[], int]] = {
    function.__name__: function
    for function in (
        ppo, a2c, dqn, gan, diffusion_with_average, scaler_switched_off, in_a_thread, by_hand_in_a_thread,
        step_in_a_thread, own_optimizer, optimizer_of_no_class, wrapped_optimizer, partly_built_wrapper, rebuilt_half_way,
        error_in_between, optimizer_per_parameter, sparse_and_dense, sharpness_aware, meta_learning, warm_up_then_joint,
        leaves_and_stays,
    )
}  # fmt: skip
SLOW: dict[str, Callable[[], int]] = {"compiled_step": compiled_step}  # only when named


if __name__ == "__main__":
    programs.main(PROGRAMS, SLOW)
