# SPDX-License-Identifier: Apache-2.0
"""PPO on CartPole: a rollout without gradients, then several updates from it. Each update ends a step; the rollout lies in the first."""

from __future__ import annotations

import gymnasium
import torch
from torch.distributions import Categorical

if __name__ == "__main__":
    environment = gymnasium.make("CartPole-v1")
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
    seen, _ = environment.reset(seed=1)
    taken = 0
    for _ in range(5):
        rows = []
        for _ in range(64):
            state = torch.as_tensor(seen)
            with torch.no_grad():
                choice = Categorical(logits=actor(state))
                action = choice.sample()
            seen, reward, ended, cut, _ = environment.step(int(action))
            rows.append((state, action, choice.log_prob(action), float(reward)))
            if ended or cut:
                seen, _ = environment.reset()
        states, actions, before = (torch.stack([row[at] for row in rows]) for at in range(3))
        rewards = torch.tensor([row[3] for row in rows])
        for part in torch.randperm(64).split(16):
            ratio = (Categorical(logits=actor(states[part])).log_prob(actions[part]) - before[part]).exp()
            advantage = rewards[part] - critic(states[part]).squeeze(-1)
            loss = -(ratio * advantage.detach()).mean() + advantage.square().mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
            optimizer.step()
            taken += 1
    print("steps", taken)
