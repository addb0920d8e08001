# SPDX-License-Identifier: Apache-2.0
"""Trains the model that a configuration names, with the settings in it.

  model_run.py --config config/model.yaml

The keys of the configuration, with their defaults:
  model: package.module:function      required; called with model_args (a mapping)
  dataset: package.module:function    required; called with dataset_args; returns a dataset, or a loader of batches
  loss: (fits the target)             a name in torch.nn.functional, or package.module:function
  optimizer: SGD, learning_rate: 0.01, optimizer_args: {}      a class of torch.optim
  batch_size: 32, num_workers: 0, pin_memory: false, prefetch_factor, persistent_workers, drop_last: false, shuffle: true
  precision: fp32                     or bf16, fp16 (with a scaled loss on a GPU)
  compile: false                      true, or a mode of torch.compile
  channels_last: false, gradient_checkpointing: false
  steps: 200, seed: 0, device: (cuda where there is one)
Modules are looked for in the current folder, too. Prints the last loss. Exit status: 0; 2 for wrong use; 3 for a bad configuration.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # started as a file: the folder of the package takes the place of this one in the path
    import pathlib

    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[2])

from gapless.checkpointing import GradientCheckpointingOptimizer
from gapless.command_line import parser_of, run
from gapless.fusion import KernelFusionOptimizer
from gapless.mixed_precision import MixedPrecisionOptimizer
from gapless.model_config import read
from gapless.training import Batches, InferredLoss, Training

NAME = "model_run"
PRECISIONS = {
    "fp32": None,
    "float32": None,
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp16": "float16",
    "float16": "float16",
}
LOADER_KEYS = ("num_workers", "pin_memory", "prefetch_factor", "persistent_workers", "drop_last")


def named(name: Any, key: str) -> Any:
    """Returns the object that "package.module:name" names."""
    module, _, attribute = str(name).partition(":")
    if not module or not attribute:
        raise ValueError(f"cannot use {key}: {name!r}; write package.module:function")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"cannot use {key}: {name!r}: {error}") from None


def model_of(config: Mapping[str, Any], device: Any) -> Any:
    """Returns the model with the changes that the configuration asks for; not compiled."""
    import torch

    if not config.get("model"):
        raise ValueError("cannot train: the configuration has no model; write model: package.module:function")
    model = named(config["model"], "model")(**(config.get("model_args") or {})).to(device)
    if config.get("gradient_checkpointing"):
        model = GradientCheckpointingOptimizer().apply_checkpointing(model)
    if config.get("channels_last"):
        model = model.to(memory_format=torch.channels_last)
    return model


def loader_of(config: Mapping[str, Any]) -> Any:
    """Returns the loader of batches."""
    from torch.utils.data import DataLoader, IterableDataset

    if not config.get("dataset"):
        raise ValueError("cannot train: the configuration has no dataset; write dataset: package.module:function")
    data = named(config["dataset"], "dataset")(**(config.get("dataset_args") or {}))
    if isinstance(data, DataLoader) or not hasattr(data, "__getitem__") and not isinstance(data, IterableDataset):
        return data
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], (dict, list, tuple)) and _is_batch(data[0]):
        return data
    settings = {key: config[key] for key in LOADER_KEYS if config.get(key) is not None}
    shuffle = bool(config.get("shuffle", True)) and not isinstance(data, IterableDataset)
    return DataLoader(data, batch_size=int(config.get("batch_size", 32)), shuffle=shuffle, **settings)


def train(config: Mapping[str, Any], steps: int) -> float:
    """Takes the steps; returns the last loss."""
    import torch

    torch.manual_seed(int(config.get("seed", 0)))
    device = torch.device(str(config.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")))
    model = model_of(config, device)
    make = getattr(torch.optim, str(config.get("optimizer", "SGD")), None)
    if make is None:
        raise ValueError(f"cannot use optimizer: {config['optimizer']!r} is no class of torch.optim")
    optimizer = make(
        model.parameters(), lr=float(config.get("learning_rate", 0.01)), **(config.get("optimizer_args") or {})
    )
    if config.get("compile"):
        mode = "default" if config["compile"] is True else str(config["compile"])
        model = KernelFusionOptimizer().apply_torch_compile(model, mode=mode)
    step = _step(config, model, optimizer)
    batches, loss = Batches(loader_of(config)), float("nan")
    model.train()
    for _ in range(steps):
        loss = step(next(batches))
    return float(loss)


def _step(config: Mapping[str, Any], model: Any, optimizer: Any) -> Any:
    import torch

    criterion: Any = None
    if config.get("loss"):
        loss = str(config["loss"])
        criterion = named(loss, "loss") if ":" in loss else getattr(torch.nn.functional, loss, None)
        if criterion is None:
            raise ValueError(f"cannot use loss: {loss!r} is no function of torch.nn.functional")
    precision = str(config.get("precision", "fp32"))
    if precision not in PRECISIONS:
        raise ValueError(f"cannot use precision: {precision!r}; write fp32, bf16 or fp16")
    dtype = PRECISIONS[precision]
    if dtype is None:
        return Training(model, optimizer, criterion).step
    fitting = InferredLoss()
    return MixedPrecisionOptimizer(getattr(torch, dtype)).wrap_training_step(model, criterion or fitting, optimizer)


def _is_batch(sample: Any) -> bool:
    """Returns True for a batch: its first tensor has rows, as samples of the kind (input, number) have not."""
    parts = list(sample.values()) if isinstance(sample, dict) else list(sample)
    return len(parts) > 1 and all(hasattr(part, "dim") and part.dim() > 0 for part in parts)


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = parser_of(NAME, __doc__ or "")
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="YAML or JSON")
    parser.add_argument("--steps", type=int, help="(otherwise steps of the configuration, 200)")
    given = parser.parse_args(words)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    config = read(given.config)
    print(f"loss {train(config, given.steps or int(config.get('steps', 200))):.6g}")
    return 0


if __name__ == "__main__":
    sys.exit(run(main, NAME))
