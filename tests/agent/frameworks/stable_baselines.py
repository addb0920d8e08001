# SPDX-License-Identifier: Apache-2.0
"""PPO and DQN of Stable-Baselines3, one after the other."""

from __future__ import annotations

from stable_baselines3 import DQN, PPO

if __name__ == "__main__":
    first = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, device="cpu").learn(256)
    second = DQN("MlpPolicy", "CartPole-v1", learning_starts=50, train_freq=4, device="cpu").learn(200)
    print("steps", 2 * first._n_updates + second._n_updates)
