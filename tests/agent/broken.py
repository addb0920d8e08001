# SPDX-License-Identifier: Apache-2.0
"""One training, again and again under an agent of which one function raises. Run as a program that has no agent of its own: each case is a
child, forked after torch was imported, that breaks its function, starts the agent and trains. Prints `<case> <what the training computed>`;
the ring of a case lies in the folder of its name.

usage: broken.py FOLDER CASE...    (a case is MODULE:CLASS.FUNCTION of gapless_agent, or "none", or "without" for no agent)
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset

AGENT = Path(__file__).resolve().parents[2] / "python" / "gapless" / "agent"
STEPS = 12
RECORD = {"wait": 2, "warmup": 1, "active": 2}
OPTIONS: dict[str, Any] = {"digest_step": 4}


def train() -> str:
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters())
    scaler = scaler_for_cpu()
    data = TensorDataset(torch.randn(8 * STEPS, 4), torch.randn(8 * STEPS, 1))
    for taken, (x, y) in enumerate(DataLoader(data, batch_size=8, shuffle=True)):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        if taken == STEPS // 2:
            gc.collect()
            net.eval()
            net.train()
    torch.save(net.state_dict(), os.devnull)
    del optimizer
    return computed(net)


def scaler_for_cpu() -> Any:
    """torch 2.0 has none."""
    return torch.amp.GradScaler("cpu", init_scale=8.0) if hasattr(torch.amp, "GradScaler") else None


def by_hand() -> str:
    torch.manual_seed(1)
    net = torch.nn.Linear(4, 1)
    for _ in range(STEPS):
        net.zero_grad()
        net(torch.randn(8, 4)).square().mean().backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.1 * parameter.grad
    return computed(net)


def infer() -> str:
    torch.manual_seed(1)
    net = torch.nn.Linear(4, 1)
    with torch.no_grad():
        return str([net(torch.randn(2, 4)).sum().item().hex() for _ in range(STEPS)])


def computed(net: Any) -> str:
    return ",".join(number.hex() for parameter in net.parameters() for number in parameter.detach().flatten().tolist())


def train_in_steps() -> str:
    torch.manual_seed(1)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(STEPS):
        one_step(net, optimizer)
    return computed(net)


def one_step(net: Any, optimizer: Any) -> None:
    optimizer.zero_grad()
    net(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()


PROGRAMS = {"by_name": train_in_steps, "train": train, "by_hand": by_hand, "infer": infer}


def break_it(case: str) -> None:
    module, _, name = case.partition(":")
    owner, _, function = name.partition(".")

    def broken(*_args: Any, **_kwargs: Any) -> Any:
        raise RuntimeError("an error on purpose")

    setattr(getattr(importlib.import_module("gapless_agent." + module), owner), function, broken)


def run(folder: str, program: str, case: str) -> None:
    agent = None
    if case != "without":
        options: dict[str, Any] = {**OPTIONS, "record": {"on": "recorder" in case, **RECORD}}  # which takes longest
        if program == "by_name":
            options["step_function"] = "broken.py:one_step"
        options["python"] = "sample" if "python" in case else ""
        os.environ.update(GAPLESS_RUN=folder, GAPLESS_OPTIONS=json.dumps(options))
        os.mkdir(folder)
        sys.path.insert(0, str(AGENT))
        if case != "none":
            break_it(case)
        install = importlib.import_module("gapless_agent.install")
        install.install(torch)
        agent = install.running.agent if install.running is not None else None
    result = PROGRAMS[program]()
    if agent is not None:
        agent.at_end()
    print(program, case, result, flush=True)


def main() -> None:
    faulthandler.enable()
    folder = sys.argv[1]
    for number, word in enumerate(sys.argv[2:]):
        program, _, case = word.partition("/")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run(os.path.join(folder, str(number)), program, case)
                status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, code = os.waitpid(child, 0)
        if code:
            print(program, case, "exit", code, flush=True)


if __name__ == "__main__":
    main()
