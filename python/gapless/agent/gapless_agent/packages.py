# SPDX-License-Identifier: Apache-2.0
"""Packages with kernels that this process could import: what the fixes of the same names need. Nothing is imported here."""

from __future__ import annotations

import importlib.metadata
import importlib.util

# Module: distribution. The same distributions stand in the trials of the fixes (src/predict/fixes, `.needs.package`).
KERNEL_PACKAGES = {
    "apex": "apex",
    "flash_attn": "flash-attn",
    "kernels": "kernels",
    "liger_kernel": "liger-kernel",
    "quack": "quack-kernels",
    "torchao": "torchao",
    "transformer_engine": "transformer-engine",
}


def importable() -> str:
    """Returns "liger-kernel 0.8.5, torchao 0.18.0"; "none" without any. A version that nobody says is "?"."""
    found = [name for module, name in KERNEL_PACKAGES.items() if importlib.util.find_spec(module)]
    return ", ".join(f"{name} {_version(name)}" for name in found) or "none"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "?"
