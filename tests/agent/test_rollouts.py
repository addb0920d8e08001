# SPDX-License-Identifier: Apache-2.0
"""Environment steps of reinforcement learning: counted by the outermost environment, with the time of the rollout they make."""

from __future__ import annotations

import unittest

from harness import AgentTest

# Stand-ins for the library, with the class hierarchy that it has.
GYMNASIUM = """
    import sys, time, types
    class Env:
        def step(self, action): raise NotImplementedError
    class Wrapper(Env):
        def __init__(self, env): self.env = env
        def step(self, action): return self.env.step(action)
    class VectorEnv:
        num_envs = 1
    sys.modules["gymnasium"] = gymnasium = types.ModuleType("gymnasium")
    gymnasium.Env, gymnasium.Wrapper = Env, Wrapper
    sys.modules["gymnasium.vector"] = vector = types.ModuleType("gymnasium.vector")
    vector.VectorEnv = VectorEnv
    class Pole(Env):
        def step(self, action):
            time.sleep(0.002)
            return 1.0
    class Poles(VectorEnv):
        num_envs = 3
        poles = [Pole() for _ in range(3)]
        def step(self, action):
            return [pole.step(action) for pole in self.poles]
    import torch
    net = torch.nn.Linear(1, 1)
"""
TRAIN = """
    def update():
        optimizer.zero_grad()
        net(torch.ones(4, 1)).sum().backward()
        optimizer.step()
    for iteration in range(3):
        for _ in range(5):
            with torch.no_grad():
                net(torch.ones(1, 1))
            time.sleep(0.001)
            environment.step(0)
        for _ in range(2):
            update()
"""


class Rollouts(AgentTest):
    def rollouts(self, text: str) -> list[tuple[int, int, float, float]]:
        """Step, environment steps, ms of the rollout and ms inside of environments, of each."""
        ring = self.succeed(text, options={"record": {"on": False}}).ring()
        self.assertEqual(ring.step, 6)
        return [(of.a, of.b, of.dur_ns / 1e6, of.x / 1e6) for of in ring.of("rollout")]

    def test_of_a_wrapped_environment(self) -> None:
        """Each first update after a rollout has it; the environment below its wrapper does not count twice."""
        made = (
            "    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)\n    environment = Wrapper(Wrapper(Pole()))\n"
        )
        found = self.rollouts(GYMNASIUM + made + TRAIN)
        self.assertEqual([entry[:2] for entry in found], [(0, 5), (2, 5), (4, 5)])
        for _, _, rollout_ms, inside_ms in found:
            self.assertGreaterEqual(inside_ms, 5 * 2)
            self.assertGreaterEqual(
                rollout_ms, inside_ms + 4, "the inference between two environment steps is part of it"
            )

    def test_of_several_at_once(self) -> None:
        """Each environment of a vector counts; of a class that is defined late, the class below it is seen first."""
        made = """
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    class Late(Poles):
        def step(self, action): return super().step(action)
    environment = Late()
"""
        found = self.rollouts(GYMNASIUM + made + TRAIN)
        self.assertEqual([entry[:2] for entry in found], [(0, 15), (2, 15), (4, 15)])

    def test_errors_of_an_environment_and_training_without_one(self) -> None:
        made = """
    class Broken(Env):
        def step(self, action): raise KeyError("broken")
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    class environment:
        def step(action): return 0
    try:
        Wrapper(Broken()).step(0)
    except KeyError as error:
        print(error)
"""
        found = self.rollouts(GYMNASIUM + made + TRAIN)
        self.assertEqual([entry[:2] for entry in found], [(0, 1)], "the step that failed, and nothing else")


if __name__ == "__main__":
    unittest.main()
