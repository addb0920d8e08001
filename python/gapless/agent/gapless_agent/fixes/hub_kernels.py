# SPDX-License-Identifier: Apache-2.0
"""Layers that name a kernel of the Hugging Face Hub run in it, as far as it is on this machine: nothing is downloaded.

`kernelize` of the package `kernels` chooses them; what it put in the place of a layer is held against the layer as that of any package.
"""

from __future__ import annotations

import os
from typing import Any

from .. import edits
from ..layers import Root
from ._kernels import Exchanged, Kernel, KernelFix, Package, Place

PACKAGE = Package("kernels", "the Hub", "pip install kernels")
LAYER = Kernel("layer", lambda torch, module: hasattr(type(module), "kernel_layer_name"), (), "")


class HubKernels(KernelFix):
    package, kernels = PACKAGE, (LAYER,)

    def on(self, value: str) -> str:
        self.tools.models.add(Kernelized(self.torch, self.report, self.package, self.kernels))
        return ""


class Kernelized(Exchanged):
    def find(self, root: Any) -> list[Place]:
        from kernels import Mode, kernelize

        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the package loads a kernel
        named = [module for module in root.modules() if self._fits(LAYER, module)]
        kernelize(root, mode=Mode.TRAINING | Mode.TORCH_COMPILE, use_fallback=True)
        places = []
        for module in named:
            method = vars(module).pop("forward", None)
            function = getattr(method, "__func__", None)
            if function is not None and function is not type(module).forward:
                kernel = LAYER._replace(what=str(type(module).kernel_layer_name))
                places.append(Place(module, kernel, function))
        return places

    def edit_of(self, root: Root, module: Any, places: list[Place]) -> dict[str, Any] | None:
        if root.setup is None:
            return None
        place, name = root.setup
        call = f"kernelize({name}, mode=Mode.TRAINING | Mode.TORCH_COMPILE)"
        return edits.lines("before", place, call, imports=("from kernels import Mode, kernelize",))


FIX = HubKernels
