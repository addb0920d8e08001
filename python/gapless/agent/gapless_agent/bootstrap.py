# SPDX-License-Identifier: Apache-2.0
"""Waits for `import torch` without costing a process that never does it.

A finder in front of `sys.meta_path` wraps the loader of the one module `torch` and runs the installer after the module's own
code. It may be asked for the spec more than once (`importlib.util.find_spec` is how libraries look whether torch is there), so it
stays until torch was really loaded. A second finder, at the end, serves `import gapless` where no package of that name is
installed, so that `gapless.step()` works in a script that only runs under the launcher.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

if False:  # for the type checker alone: a process without torch does not even load `typing`
    from collections.abc import Sequence
    from importlib.abc import Loader
    from types import ModuleType
    from typing import Any


class _AfterTorch:
    """The loader of torch, followed by the installer. Everything else about the module is as without."""

    def __init__(self, real: Loader) -> None:
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        if _finder in sys.meta_path:
            sys.meta_path.remove(_finder)
        try:
            from . import install

            install.install(module)
        except Exception:  # noqa: S110 -- install reports what it can; nothing may reach the program
            pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _TorchFinder:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _AfterTorch(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _GaplessFinder:
    """Last in line: only where nothing else is called `gapless`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gapless":
            return None
        return ModuleSpec("gapless", _GaplessLoader())  # type: ignore[arg-type]


class _GaplessLoader:
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        from . import api

        module.__dict__["step"] = api.step


_finder = _TorchFinder()


def arm() -> None:
    if "torch" not in sys.modules:
        sys.meta_path.insert(0, _finder)
    sys.meta_path.append(_GaplessFinder())
