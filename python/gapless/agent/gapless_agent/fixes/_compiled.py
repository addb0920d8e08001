# SPDX-License-Identifier: Apache-2.0
"""A root compiled by torch.compile, without an attribute of it: what `compile` and `cudagraph` share.

Compiled is what `Module.compile` compiles, the call with its hooks. torch before 2.2 leaves code of torch.nn alone, hooks
included; there the `forward` of the root is compiled and stands in its place while the root is called.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator
from typing import Any

from .. import edits
from ..layers import Call, Layer, Root
from ..reports import Report
from . import _devices


def why_not(torch: Any) -> str:
    if not hasattr(torch, "compile"):
        return f"torch {torch.__version__} has no torch.compile"
    if (sys.version_info >= (3, 11) and not hasattr(torch, "cond")) or not sys.platform.startswith("linux"):
        return (
            f"torch {torch.__version__} compiles nothing with Python {sys.version_info[0]}.{sys.version_info[1]} here"
        )
    if not _devices.has_cuda(torch) and not any(map(shutil.which, ("c++", "g++", "clang++", "gcc"))):
        return "there is no C++ compiler, which torch.compile needs without a GPU: install g++"
    return ""


class Compiled(Layer):
    training_only = False
    traces = True

    def __init__(self, torch: Any, report: Report, mode: str, copies: bool = False) -> None:
        super().__init__(torch, report)
        self.mode, self.copies = mode, copies
        self.compiled: dict[int, Any] = {}
        self.inside = hasattr(torch.nn.Module, "compile")

    def found(self, root: Root, module: Any) -> str:
        inner = sys.modules.get("torch._dynamo.eval_frame")
        if inner is not None and isinstance(module, inner.OptimizedModule):
            return "the program compiles its model already"
        if getattr(module, "_compiled_call_impl", None) is not None:
            return "the program compiles its model already"
        if isinstance(module, self.torch.jit.ScriptModule):
            return "the model is TorchScript"
        if self.fix == "cudagraph" and _devices.kind_of(module) != "cuda":
            return "the model is not on a GPU"
        if id(module) not in self.compiled:  # switched on again: what was compiled is kept
            mode = None if self.mode == "default" else self.mode
            self.compiled[id(module)] = self.torch.compile(
                module._call_impl if self.inside else module.forward, mode=mode
            )
        return ""

    def context(self, module: Any) -> Any:
        return None if self.inside else _in_place(module, self.compiled[id(module)])

    def call(self, module: Any, call: Call) -> Call:
        if not self.inside:
            return call
        compiled = self.compiled[id(module)]
        return lambda _, *args, **kwargs: compiled(*args, **kwargs)

    def after(self, module: Any, result: Any) -> Any:
        """A CUDA graph writes its results to the same memory each time; the program may keep them."""
        return _copied(self.torch, result) if self.copies else result

    def works(self, root: Root, module: Any) -> None:
        written = "" if self.mode == "default" else f'mode="{self.mode}"'
        edit = None
        if root.setup is not None:
            place, name = root.setup
            line = f"{name}.compile({written})"
            if not self.inside:
                line = f"{name}.forward = torch.compile({name}.forward{', ' + written if written else ''})"
            edit = edits.lines("before", place, line, imports=() if self.inside else ("import torch",))
        what = f"{type(module).__name__} is compiled{', ' + self.mode if written else ''}"
        self.report.changed(what, edit)

    def lost(self, root: Root, module: Any) -> None:
        """Nothing of the module was changed."""


@contextlib.contextmanager
def _in_place(module: Any, forward: Any) -> Iterator[None]:
    own = module.__dict__.get("forward")
    module.__dict__["forward"] = forward
    try:
        yield
    finally:
        if own is None:
            del module.__dict__["forward"]
        else:
            module.__dict__["forward"] = own


def _copied(torch: Any, value: Any) -> Any:
    from ._values import mapped

    return mapped(value, lambda item: item.clone() if isinstance(item, torch.Tensor) and item.is_cuda else item)
