# SPDX-License-Identifier: Apache-2.0
"""Finds the package and the program beside these scripts where they are not installed. Imported before the package."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _is_installed() -> bool:
    """The package, not the agent's stand-in of the same name."""
    try:
        import gapless
    except ImportError:
        return False
    return hasattr(gapless, "RegressionDetector")


if not _is_installed():
    sys.modules.pop("gapless", None)
    sys.path.insert(0, str(ROOT / "python"))

if not os.environ.get("GAPLESS_PROGRAM") and not shutil.which("gapless") and (ROOT / "build" / "gapless").is_file():
    os.environ["GAPLESS_PROGRAM"] = str(ROOT / "build" / "gapless")
