# SPDX-License-Identifier: Apache-2.0
"""A digest of all parameters after some steps: two runs that agree in it have computed the same, bit for bit.

It is taken from the optimisers' parameters in their order, as logical rows, so that another memory format alone changes nothing.
"""

from __future__ import annotations

import ctypes
import hashlib
import time
from typing import Any

from . import layout
from .context import Context
from .optim import Optimizers, parameters_of


class Digest:
    def __init__(self, context: Context, optimizers: Optimizers) -> None:
        self.context, self.optimizers = context, optimizers
        self.guard = context.guard("the digest of the parameters", "Two runs cannot be compared bit for bit.")
        self.due = False

    def install(self) -> None:
        self.due = self.context.options.digest_step > 0

    def at_step(self, step: int) -> None:
        if step < self.context.options.digest_step:
            return
        self.due = False
        entered = time.perf_counter_ns()
        try:
            text, count = self._digest()
            if count:
                self.context.emit(layout.KIND_DIGEST, a=step, b=count, x=float(self.context.text(text)))
        except Exception as error:  # a parameter without memory of its own: no digest, and the run says why
            self.context.message(layout.WARNING, f"no digest of the parameters: {type(error).__name__}: {error}")
        self.context.cost_ns += time.perf_counter_ns() - entered

    def _digest(self) -> tuple[str, int]:
        digest, seen = hashlib.blake2b(digest_size=32), set()
        for reference in list(self.optimizers.alive.values()):
            optimizer = reference()
            for parameter in parameters_of(optimizer):
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    _add(digest, parameter)
        return digest.hexdigest(), len(seen)


def _add(digest: Any, parameter: Any) -> None:
    local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
    plain = local.detach().cpu().contiguous()
    size = plain.numel() * plain.element_size()
    if size:
        digest.update((ctypes.c_char * size).from_address(plain.data_ptr()))
