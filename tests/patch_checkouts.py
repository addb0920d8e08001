# SPDX-License-Identifier: Apache-2.0
"""Small programs of several files for tests/patch_tree_test.py, each with the truth about its patch, written before the program ran.

Each makes its loader, its model and its optimiser in other files than the one that is started.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

FIXES = ("workers=1", "fused_optimizer", "zero_grad")

NET = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))

        def forward(self, x):
            return self.body(x)
"""

DATA = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    def numbers():
        draw = torch.Generator().manual_seed(1)
        return TensorDataset(torch.randn(24, 4, generator=draw), torch.randn(24, 1, generator=draw))

    def batches():
        return DataLoader(numbers(), batch_size=4)
"""

LOOP = """
    for x, y in loader:
        optimizer.zero_grad(set_to_none=False)
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


def code(*parts: str) -> str:
    return "\n".join(textwrap.dedent(part).strip("\n") + "\n" for part in parts)


@dataclass
class Checkout:
    """Paths of `files` and `cwd` are below a folder of the test's own, "{top}" in words. The truth: `root` is what the patch
    applies to, `edited` the files by fix, below it, `by_hand` a part of the reason, and `made` the line of a file that constructs."""

    name: str
    files: dict[str, str]
    command: tuple[str, ...]
    root: str
    edited: dict[str, tuple[str, ...]]
    by_hand: dict[str, str] = field(default_factory=dict)
    made: dict[str, tuple[str, str]] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()  # what user's code outside of the checkout constructs
    cwd: str = "home"
    git: str = ""
    paths: tuple[str, ...] = ()
    fixes: tuple[str, ...] = FIXES
    steps: int = 6


FLAT = Checkout(
    "three files beside each other, no git",
    {
        "home/train.py": code("import torch\nfrom data import batches\nfrom model import Net, adamw\n\ntorch.manual_seed(1)\nnet = Net()\n"
                              "optimizer, loader = adamw(net), batches()", LOOP),
        "home/data.py": code(DATA),
        "home/model.py": code(NET, "def adamw(net):\n    return torch.optim.AdamW(net.parameters(), lr=0.01, foreach=False)"),
    },
    ("train.py",),
    root="home",
    edited={"workers": ("data.py",), "fused_optimizer": ("model.py",), "zero_grad": ("train.py",)},
    made={"loader": ("data.py", "DataLoader(numbers"), "optimizer": ("model.py", "torch.optim.AdamW(")},
)  # fmt: skip

PACKAGE = Checkout(
    "a package with relative imports, run as a module",
    {
        "home/pkg/__init__.py": "",
        "home/pkg/data/__init__.py": "from .loaders import batches\n",
        "home/pkg/data/loaders.py": code(DATA),
        "home/pkg/model.py": code(NET),
        "home/pkg/optim.py": code("from torch import optim\n\ndef sgd(net):\n    return optim.SGD(\n        net.parameters(),\n        lr=0.01,\n        momentum=0.9,\n    )"),
        "home/pkg/train.py": code("import torch\nfrom .data import batches\nfrom .model import Net\nfrom .optim import sgd\n\ntorch.manual_seed(1)\n"
                                  "net = Net()\noptimizer, loader = sgd(net), batches()", LOOP),
    },
    ("-m", "pkg.train"),
    root="home",
    git="home",
    edited={"workers": ("pkg/data/loaders.py",), "fused_optimizer": ("pkg/optim.py",), "zero_grad": ("pkg/train.py",)},
    made={"loader": ("pkg/data/loaders.py", "DataLoader(numbers"), "optimizer": ("pkg/optim.py", "optim.SGD(")},
)  # fmt: skip

FACTORY = Checkout(
    "a factory that hands its keywords to the loader",
    {
        "home/train.py": code("import torch\nfrom lib.factory import make_loader\nfrom lib.model import Net\n\ntorch.manual_seed(1)\nnet = Net()\n"
                              "optimizer = torch.optim.Adam(net.parameters(), foreach=False)\n"
                              "loader = make_loader(batch_size=4, num_workers=0, shuffle=False)", LOOP),
        "home/lib/factory.py": code(DATA, "def make_loader(**options):\n    return DataLoader(numbers(), **options)"),
        "home/lib/model.py": code(NET),
    },
    ("train.py",),
    root="home",
    edited={"workers": ("lib/factory.py",), "fused_optimizer": ("train.py",), "zero_grad": ("train.py",)},
    made={"loader": ("lib/factory.py", "DataLoader(numbers(), **options)"), "optimizer": ("train.py", "torch.optim.Adam(")},
)  # fmt: skip

BY_NAME = Checkout(
    "an optimiser whose class a dictionary names",
    {
        "home/train.py": code("import torch\nfrom data import batches\nfrom model import Net\nfrom optim import by_name\n\ntorch.manual_seed(1)\nnet = Net()\n"
                              "optimizer, loader = by_name(net, {'name': 'AdamW', 'options': {'lr': 0.01}}), batches()", LOOP),
        "home/data.py": code(DATA),
        "home/model.py": code(NET),
        "home/optim.py": code("import torch\n\ndef by_name(net, config):\n"
                              "    return getattr(torch.optim, config['name'])(net.parameters(), **config['options'])"),
    },
    ("train.py",),
    root="home",
    edited={"workers": ("data.py",), "zero_grad": ("train.py",)},
    by_hand={"fused_optimizer": "optim.py: line 4 makes AdamW by calling getattr(torch.optim, config['name']), which may make something else in another run"},
    made={"loader": ("data.py", "DataLoader(numbers"), "optimizer": ("optim.py", "getattr(torch.optim")},
)  # fmt: skip

TWO = Checkout(
    "two optimisers, made in one function",
    {
        "home/gan/__init__.py": "",
        "home/gan/nets.py": code(NET),
        "home/gan/optimizers.py": code("from torch.optim import Adam\n\ndef both(one, other):\n    first = Adam(one.parameters(), lr=0.01, foreach=False)\n"
                                       "    return first, Adam(other.parameters(), lr=0.02, foreach=False)"),
        "home/gan/data.py": code(DATA),
        "home/gan/__main__.py": code("import torch\nfrom gan.data import batches\nfrom gan.nets import Net\nfrom gan.optimizers import both\n\n"
                                     "torch.manual_seed(1)\none, other = Net(), Net()\nfirst, second = both(one, other)", """
            for x, y in batches():
                for net, optimizer in ((one, first), (other, second)):
                    optimizer.zero_grad(set_to_none=False)
                    loss = torch.nn.functional.mse_loss(net(x), y)
                    loss.backward()
                    optimizer.step()
                    print(loss.item())
            """),
    },
    ("-m", "gan"),
    root="home",
    git="home",
    edited={"workers": ("gan/data.py",), "fused_optimizer": ("gan/optimizers.py",), "zero_grad": ("gan/__main__.py",)},
    made={"loader": ("gan/data.py", "DataLoader(numbers"), "optimizer": ("gan/optimizers.py", "first = Adam(")},
)  # fmt: skip

SUBFOLDER = Checkout(
    "a script in a folder of its own, its library beside that",
    {
        "home/scripts/train.py": code("import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))\n\nimport torch\n"
                                      "from lib.data import batches\nfrom lib.model import Net, adamw\n\ntorch.manual_seed(1)\nnet = Net()\n"
                                      "optimizer, loader = adamw(net), batches()", LOOP),
        "home/lib/data.py": FLAT.files["home/data.py"],
        "home/lib/model.py": FLAT.files["home/model.py"],
    },
    ("train.py",),
    cwd="home/scripts",
    root="home",
    git="home",
    edited={"workers": ("lib/data.py",), "fused_optimizer": ("lib/model.py",), "zero_grad": ("scripts/train.py",)},
    made={"loader": ("lib/data.py", "DataLoader(numbers"), "optimizer": ("lib/model.py", "torch.optim.AdamW(")},
)  # fmt: skip

OUTSIDE = Checkout(
    "a loader that is made outside of the checkout",
    {
        "home/train.py": FLAT.files["home/train.py"],
        "home/model.py": FLAT.files["home/model.py"],
        "shared/data.py": FLAT.files["home/data.py"],
    },
    ("train.py",),
    paths=("shared",),
    root="home",
    git="home",
    edited={"fused_optimizer": ("model.py",), "zero_grad": ("train.py",)},
    by_hand={"workers": "data.py:9, which lies outside of the checkout"},
    elsewhere=("loader",),
    made={"optimizer": ("model.py", "torch.optim.AdamW(")},
)  # fmt: skip

INSTALLED = Checkout(
    "a loader of a package that is installed within the checkout",
    {
        "home/train.py": FLAT.files["home/train.py"],
        "home/model.py": FLAT.files["home/model.py"],
        "home/env/site-packages/data.py": FLAT.files["home/data.py"],
    },
    ("train.py",),
    paths=("home/env/site-packages",),
    root="home",
    edited={"fused_optimizer": ("model.py",), "zero_grad": ("train.py",)},
    by_hand={"workers": "num_workers 0 → 1"},
    made={"optimizer": ("model.py", "torch.optim.AdamW(")},
)  # fmt: skip

CLASSES = Checkout(
    "classes of the program's own around the loader and the optimiser",
    {
        "home/train.py": code("import torch\nfrom data import Batches\nfrom model import Net, Own\n\ntorch.manual_seed(1)\nnet = Net()\n"
                              "optimizer, loader = Own(net), Batches(4)", LOOP),
        "home/data.py": code(DATA, "class Batches(DataLoader):\n    def __init__(self, size):\n        super().__init__(numbers(), batch_size=size)"),
        "home/model.py": code(NET, "class Own(torch.optim.AdamW):\n    def __init__(self, net):\n        super().__init__(net.parameters(), lr=0.01, foreach=False)"),
    },
    ("train.py",),
    root="home",
    edited={"workers": ("data.py",), "fused_optimizer": ("model.py",), "zero_grad": ("train.py",)},
    made={"loader": ("data.py", "super().__init__(numbers()"), "optimizer": ("model.py", "super().__init__(net.parameters()")},
)  # fmt: skip

TRAINER = Checkout(
    "a trainer, a model that makes its optimiser, and a project that uses both",
    {
        "home/mini/__init__.py": "",
        "home/mini/model.py": code(NET, """
            def configure_optimizers(self, rate):
                groups = [{"params": [p for p in self.parameters() if p.dim() == n]} for n in (1, 2)]
                optimizer = torch.optim.AdamW(groups, lr=rate, foreach=False)
                return optimizer

            Net.configure_optimizers = configure_optimizers
            """),
        "home/mini/trainer.py": code("""
            import torch
            from torch.utils.data.dataloader import DataLoader

            class Trainer:
                def __init__(self, net, data):
                    self.net, self.data = net, data

                def batches(self, loader):
                    for batch in loader:
                        yield batch

                def run(self):
                    self.optimizer = self.net.configure_optimizers(0.01)
                    loader = DataLoader(
                        self.data,
                        batch_size=4,
                        num_workers=0,
                    )
                    for x, y in (batch for batch in self.batches(loader)):
                        loss = torch.nn.functional.mse_loss(self.net(x), y)
                        self.net.zero_grad(set_to_none=False)
                        loss.backward()
                        self.optimizer.step()
                        print(loss.item())
            """),
        "home/projects/adder/adder.py": code("import torch\nfrom mini.model import Net\nfrom mini.trainer import Trainer\nfrom numbers_of import numbers\n\n"
                                             "torch.manual_seed(1)\nTrainer(Net(), numbers()).run()"),
        "home/projects/adder/numbers_of.py": code(DATA),
    },
    ("adder.py",),
    cwd="home/projects/adder",
    paths=("home",),
    root="home",
    git="home",
    edited={"workers": ("mini/trainer.py",), "fused_optimizer": ("mini/model.py",), "zero_grad": ("mini/trainer.py",)},
    made={"loader": ("mini/trainer.py", "loader = DataLoader("), "optimizer": ("mini/model.py", "torch.optim.AdamW(")},
)  # fmt: skip

ELSEWHERE = Checkout(
    "started from another folder, by its whole path",
    {
        "home/my project/train.py": FLAT.files["home/train.py"],
        "home/my project/data.py": FLAT.files["home/data.py"],
        "home/my project/model.py": FLAT.files["home/model.py"],
        "runs/notes.txt": "",
    },
    ("{top}/home/my project/train.py",),
    cwd="runs",
    root="home/my project",
    edited=FLAT.edited,
    made=FLAT.made,
)  # fmt: skip

CHECKOUTS = {
    "flat": FLAT,
    "package": PACKAGE,
    "factory": FACTORY,
    "by_name": BY_NAME,
    "two_optimizers": TWO,
    "subfolder": SUBFOLDER,
    "outside": OUTSIDE,
    "installed": INSTALLED,
    "classes": CLASSES,
    "trainer": TRAINER,
    "elsewhere": ELSEWHERE,
}
