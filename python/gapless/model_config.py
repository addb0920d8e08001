# SPDX-License-Identifier: Apache-2.0
"""The configuration of a training: YAML or JSON, and the command that trains with it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .integrations.extras import MissingPackage
from .program import NOT_THERE, command_words

PLACE = "{config}"  # stands for the configuration's path in a command
MODEL_RUN = Path(__file__).with_name("optimization") / "model_run.py"


def read(path: Path) -> dict[str, Any]:
    """Returns a configuration; raises ValueError where it is no mapping, MissingPackage where it is YAML and PyYAML is not installed."""
    return parse(path.read_text(encoding="utf-8"), path)


def parse(text: str, path: Path) -> dict[str, Any]:
    """Returns the configuration that a text holds; `path` names it in errors."""
    try:
        found = json.loads(text) if path.suffix == ".json" else _yaml(text, path)
    except json.JSONDecodeError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"cannot use {path}: it holds no mapping of settings")  # noqa: TRY004 -- the file, not a type
    return found


def command_of(config: Mapping[str, Any]) -> list[str]:
    """Returns the words of the command that trains, empty where the configuration names none.

    `command` is a line or a list. `script` is a Python file, with `args` (a line or a list). `model` is "module:function", for the
    training loop of `gapless.optimization.model_run`. `{config}` in a word stands for the configuration's path.

    >>> command_of({"script": "train.py", "args": "--config {config}"})[1:]
    ['train.py', '--config', '{config}']
    """
    command, script = config.get("command"), config.get("script")
    if command:
        return command_words(command if isinstance(command, str) else [str(word) for word in command])
    python = str(config.get("python") or sys.executable)
    if script:
        arguments = config.get("args") or []
        words = shlex.split(arguments) if isinstance(arguments, str) else [str(word) for word in arguments]
        return [python, str(script), *words]
    if config.get("model"):
        return [python, str(MODEL_RUN), "--config", PLACE]
    return []


def with_config(words: list[str], path: Path | None) -> list[str]:
    """Returns the words with the configuration's path in its place."""
    return words if path is None else [word.replace(PLACE, str(path)) for word in words]


def _yaml(text: str, path: Path) -> Any:
    try:
        import yaml
    except ImportError:
        text = f'cannot read {path}: YAML needs PyYAML: pip install "gapless[yaml]", or write the file as JSON'
        raise MissingPackage(text, NOT_THERE) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
