#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Edits a person makes to a training, and what `gapless same` says of each: twenty that are harmless, twenty that are not.

Five ordinary scripts; an edit is a replacement in the text of one. Beside the answer stands what comparing the last printed losses with
a tolerance of 5 % would say. With --mcp the question is put as an assistant puts it: to `gapless mcp --allow-run`, by the protocol's own
client (run this script by a Python that has it); --each N asks for the first N of both kinds.

usage: edits.py PROGRAM [--python PYTHON] [--only WORD...] [--each N] [--mcp] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

HEAD = """import math, random
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

torch.set_num_threads(1)
torch.manual_seed(7)
random.seed(7)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, x):
        for one in self.transforms:
            x = one(x)
        return x
"""

IMAGES = """
class Flip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        return x.flip(-1) if torch.rand(()) < self.p else x


class Crop:
    def __init__(self, padding):
        self.padding = padding

    def __call__(self, x):
        a, b = (int(v) for v in torch.randint(0, 2 * self.padding + 1, (2,)))
        size = x.shape[-1]
        return F.pad(x, (self.padding,) * 4)[:, a : a + size, b : b + size]


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return (x - self.mean) / self.std


class Images(Dataset):
    def __init__(self, transform):
        g = torch.Generator().manual_seed(1)
        self.x, self.y = torch.rand(1024, 3, 16, 16, generator=g), torch.randint(0, 8, (1024,), generator=g)
        self.x += self.y.view(-1, 1, 1, 1) / 8
        self.transform = transform

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.transform(self.x[i]), self.y[i]


def main():
    data = Images(Compose([Flip(0.5), Crop(2), Normalize(0.9, 0.4)]))
    loader = DataLoader(data, batch_size=32, shuffle=True)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 8),
    )
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
    for epoch in range(1):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
"""

WORDS = """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.drop(self.out(a))
        return x + self.drop(self.mlp(self.norm2(x)))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(128, 64), nn.Embedding(32, 64)
        self.blocks = nn.ModuleList([Block(64) for _ in range(2)])
        self.head = nn.Linear(64, 128)

    def forward(self, x):
        h = self.embed(x) + self.place(torch.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return self.head(h)


def main():
    g = torch.Generator().manual_seed(2)
    text = torch.randint(0, 128, (20000,), generator=g)
    text[1::2] = text[::2]
    net = Words()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1000, eta_min=1e-5)
    for step in range(32):
        at = torch.randint(0, len(text) - 33, (16,))
        x = torch.stack([text[i : i + 32] for i in at])
        y = torch.stack([text[i + 1 : i + 33] for i in at])
        loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 50.0)
        optimizer.step()
        schedule.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
"""

ROWS = """
class Rows(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(3)
        self.x = torch.randn(2000, 20, generator=g)
        self.y = ((self.x[:, 0] + self.x[:, 1]) > 1.2).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def main():
    data = Rows()
    share = data.y.float().mean()
    sampler = WeightedRandomSampler([1.0 + 3.0 * int(one) for one in data.y], len(data))
    loader = DataLoader(data, batch_size=64, sampler=sampler)
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]), label_smoothing=0.0)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
"""

SERIES = """
class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(4, 32, batch_first=True), nn.Linear(32, 1)

    def forward(self, x):
        h, _ = self.lstm(x)
        return self.head(F.dropout(h[:, -1], 0.1, self.training)).squeeze(-1)


class Series(Dataset):
    def __len__(self):
        return 1500

    def __getitem__(self, i):
        t = torch.arange(24.0) / 6 + i / 10
        x = torch.stack([torch.sin(t), torch.cos(t), torch.sin(2 * t), t / 100], -1)
        return x + 0.05 * torch.randn(x.shape), torch.sin(t[-1] + 1 / 6)


def main():
    loader = DataLoader(Series(), batch_size=50, shuffle=True, drop_last=False)
    net = Forecast()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.smooth_l1_loss(net(x), y, beta=0.5)
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
"""

PAIR = """
def main():
    g = torch.Generator().manual_seed(5)
    real = torch.randn(4096, 8, generator=g) @ torch.randn(8, 8, generator=g)
    make = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8))
    judge = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    of_make = torch.optim.Adam(make.parameters(), lr=1e-3, betas=(0.5, 0.99))
    of_judge = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.99))
    loss = nn.BCEWithLogitsLoss()
    for step in range(24):
        x = real[torch.randint(0, len(real), (64,))]
        fake = make(torch.randn(64, 4))
        of_judge.zero_grad()
        a = loss(judge(x), torch.ones(64, 1)) + loss(judge(fake.detach()), torch.zeros(64, 1))
        a.backward()
        of_judge.step()
        of_make.zero_grad()
        b = loss(judge(fake), torch.ones(64, 1))
        b.backward()
        of_make.step()
    print("loss", a.item())


if __name__ == "__main__":
    main()
"""

SCRIPTS = {"images": IMAGES, "words": WORDS, "rows": ROWS, "series": SERIES, "pair": PAIR}


class Edit(NamedTuple):
    script: str
    name: str
    old: str
    new: str
    harmless: bool


HARMLESS = (
    Edit("images", "workers", "batch_size=32, shuffle=True", "batch_size=32, shuffle=True, num_workers=2", True),
    Edit("images", "set to none", "optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=True)", True),
    Edit("images", "fused", "weight_decay=5e-4)", "weight_decay=5e-4, fused=True)", True),
    Edit("images", "channels last", "    criterion =", "    net = net.to(memory_format=torch.channels_last)\n    criterion =", True),
    Edit("images", "in-place relu", "nn.ReLU(), nn.MaxPool2d(2)", "nn.ReLU(inplace=True), nn.MaxPool2d(2)", True),
    Edit("images", "own loop of transforms", "        for one in self.transforms:\n            x = one(x)\n        return x", "        result = x\n        for step in self.transforms:\n            result = step(result)\n        return result", True),
    Edit("images", "logging", "            optimizer.step()", "            optimizer.step()\n            _ = float(loss)", True),
    Edit("images", "evaluation", "        schedule.step()", "        with torch.no_grad():\n            net.eval()\n            net(x)\n            net.train()\n        schedule.step()", True),
    Edit("words", "attention by hand", "F.scaled_dot_product_attention(q, k, v, is_causal=True)", "((q @ k.transpose(-1, -2) / math.sqrt(c // 4)).masked_fill(torch.ones(t, t).triu(1).bool(), float('-inf')).softmax(-1) @ v)", True),
    Edit("words", "bf16", "        loss = F.cross_entropy(net(x)", "        with torch.autocast('cpu', torch.bfloat16):\n            out = net(x)\n        loss = F.cross_entropy(out.float()", True),
    Edit("words", "no foreach", "weight_decay=0.1)", "weight_decay=0.1, foreach=False)", True),
    Edit("words", "sliced by index", "torch.stack([text[i + 1 : i + 33] for i in at])", "text[at[:, None] + torch.arange(1, 33)]", True),
    Edit("words", "loss by log_softmax", "F.cross_entropy(net(x).flatten(0, 1), y.flatten())", "F.nll_loss(net(x).flatten(0, 1).log_softmax(-1), y.flatten())", True),
    Edit("rows", "workers", "sampler=sampler)", "sampler=sampler, num_workers=2, persistent_workers=True)", True),
    Edit("rows", "fused", "lr=2e-3)", "lr=2e-3, fused=True)", True),
    Edit("rows", "two threads", "torch.set_num_threads(1)", "torch.set_num_threads(2)", True),
    Edit("series", "no denormals", "    net = Forecast()", "    torch.set_flush_denormal(True)\n    net = Forecast()", True),
    Edit("series", "renamed", "net = Forecast()", "net = model = Forecast()", True),
    Edit("pair", "joined batch", "        a = loss(judge(x), torch.ones(64, 1)) + loss(judge(fake.detach()), torch.zeros(64, 1))", "        both = judge(torch.cat([x, fake.detach()]))\n        a = loss(both[:64], torch.ones(64, 1)) + loss(both[64:], torch.zeros(64, 1))", True),
    Edit("pair", "fused", "of_make = torch.optim.Adam(make.parameters(), lr=1e-3,", "of_make = torch.optim.Adam(make.parameters(), lr=1e-3, fused=True,", True),
)  # fmt: skip
HARMFUL = (
    Edit("images", "flip dropped", "Flip(0.5), ", "", False),
    Edit("images", "crop dropped", "Crop(2), ", "", False),
    Edit("images", "flip always", "Flip(0.5)", "Flip(1.0)", False),
    Edit("images", "wrong normalisation", "Normalize(0.9, 0.4)", "Normalize(0.5, 0.4)", False),
    Edit("images", "shuffling off", "batch_size=32, shuffle=True", "batch_size=32", False),
    Edit("images", "label smoothing", "nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(label_smoothing=0.1)", False),
    Edit("images", "clipping dropped", "            nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n", "", False),
    Edit("images", "other schedule", "step_size=2", "step_size=4", False),
    Edit("images", "half of the data", "return len(self.x)", "return len(self.x) // 2", False),
    Edit("images", "one layer frozen", "    criterion =", "    net[4].requires_grad_(False)\n    criterion =", False),
    Edit("words", "dropout doubled", "nn.Dropout(0.1)", "nn.Dropout(0.2)", False),
    Edit("words", "clipping that acts later", "        torch.nn.utils.clip_grad_norm_(net.parameters(), 50.0)\n", "", False),
    Edit("words", "shorter schedule", "T_max=1000", "T_max=500", False),
    Edit("words", "seed again in each step", "        at = torch.randint", "        torch.manual_seed(1)\n        at = torch.randint", False),
    Edit("rows", "weights of classes dropped", "weight=torch.tensor([1.0, 2.0]), ", "", False),
    Edit("rows", "plain sampler", "sampler=sampler)", "shuffle=True)", False),
    Edit("rows", "dropout off", "nn.Dropout(0.2)", "nn.Dropout(0.0)", False),
    Edit("series", "other loss", "beta=0.5", "beta=1.0", False),
    Edit("series", "noise dropped", "return x + 0.05 * torch.randn(x.shape), ", "return x, ", False),
    Edit("pair", "half a loss", "b = loss(judge(fake), torch.ones(64, 1))", "b = 0.5 * loss(judge(fake), torch.ones(64, 1))", False),
)  # fmt: skip


def last_loss(python: str, script: Path) -> float:
    done = subprocess.run([python, str(script)], capture_output=True, text=True, check=True)
    return float(re.findall(r"loss (\S+)", done.stdout)[-1])


def answer_of(program: str, before: list[str], after: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [program, "same", "--json", "--", *before, "--", *after], capture_output=True, text=True, check=False
    )
    if done.stdout.startswith("{"):
        return dict(json.loads(done.stdout))
    return {"verdict": "failed", "reason": done.stderr}


async def told_by_mcp(program: str, before: list[str], after: list[str]) -> dict[str, Any]:
    """The same answer, as the tool of the server gives it: a line with the verdict, then the text of `gapless same`."""
    from mcp import ClientSession, StdioServerParameters, stdio_client

    package = str(Path(__file__).resolve().parents[2] / "python")
    environment = {**os.environ, "GAPLESS_PYTHON": sys.executable, "GAPLESS_PROGRAM": program, "PYTHONPATH": package}
    server = StdioServerParameters(command=program, args=["mcp", "--allow-run"], env=environment)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        told = await session.call_tool("same_training", {"before": before, "after": after})
    first, _, text = told.content[0].text.partition("\n")
    verdicts = {"yes": "exact", "no": "other_training", "cannot tell": "cannot_tell"}
    found = re.match(r"the same training\? ([a-z ]+) \(", first)
    return {"verdict": verdicts.get(found[1], first) if found else first, "reason": text.split("\n", 1)[0]}


def chosen(only: list[str], each: int | None) -> list[Edit]:
    asked = [
        [edit for edit in kind if not only or any(word in f"{edit.script} {edit.name}" for word in only)]
        for kind in (HARMLESS, HARMFUL)
    ]
    return [edit for kind in asked for edit in kind[:each]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--each", type=int)
    parser.add_argument("--mcp", action="store_true")
    parser.add_argument("--json", default="")
    asked = parser.parse_args()
    rows, wrong = [], 0
    losses: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="gapless-edits-") as folder:
        for edit in chosen(asked.only, asked.each):
            a, b = Path(folder, f"{edit.script}.py"), Path(folder, f"{edit.script}_edited.py")
            source = HEAD + SCRIPTS[edit.script]
            if source.count(edit.old) < 1:
                raise SystemExit(f"{edit.script}: '{edit.old}' is not there")
            a.write_text(source)
            b.write_text(source.replace(edit.old, edit.new))
            begun = time.monotonic()
            before, after = [asked.python, str(a)], [asked.python, str(b)]
            answer = (
                asyncio.run(told_by_mcp(os.path.abspath(asked.program), before, after))
                if asked.mcp
                else answer_of(asked.program, before, after)
            )
            losses.setdefault(edit.script, last_loss(asked.python, a))
            apart = abs(last_loss(asked.python, b) / losses[edit.script] - 1)
            accepted = answer["verdict"] in ("exact", "rounding", "same_distribution")
            is_wrong = accepted != edit.harmless and not (edit.harmless is False and answer["verdict"] == "cannot_tell")
            is_wrong = is_wrong and not (edit.harmless and answer["verdict"] == "cannot_tell")
            wrong += is_wrong
            rows.append(
                {
                    **edit._asdict(),
                    **answer,
                    "seconds": time.monotonic() - begun,
                    "loss_apart": apart,
                    "wrong": is_wrong,
                }
            )
            print(
                f"{'harmless' if edit.harmless else 'harmful ':8} {edit.script:7} {edit.name:26} {'WRONG ' if is_wrong else ''}"
                f"{answer['verdict']:18} by losses: {'same' if apart <= 0.05 else 'other':6} {answer['reason']}",
                flush=True,
            )
            for one in answer.get("differences", []):
                print(f"{'':18}differs: {one}", flush=True)
    if asked.json:
        Path(asked.json).write_text(json.dumps(rows, indent=1))
    for harmless, title in ((True, "harmless"), (False, "harmful")):
        of = [row for row in rows if row["harmless"] == harmless]
        count = {v: sum(row["verdict"] == v for row in of) for v in sorted({row["verdict"] for row in of})}
        by_losses = sum(row["loss_apart"] <= 0.05 for row in of)
        print(f"{title}: {len(of)} edits, {count}; by losses within 5 % {by_losses} the same")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
