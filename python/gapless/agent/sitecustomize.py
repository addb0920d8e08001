# SPDX-License-Identifier: Apache-2.0
"""Python runs this when it starts, because the folder is on PYTHONPATH: lets the agent wait for PyTorch, then gives way.

The program must not notice. Another `sitecustomize` further down the path is run as if this one were not there, under its own
name; without such a module this one raises the very error that Python's `site` expects when no module is found.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))


def _arm() -> None:
    if not os.environ.get("GAPLESS_RUN") or os.environ.get("GAPLESS_DISABLE") == "1":
        return
    try:
        from gapless_agent import bootstrap

        bootstrap.arm()
    except Exception:  # noqa: S110 -- nothing of ours may reach the program, and there is nobody to tell yet
        pass


def _give_way() -> None:
    passed = sys.__dict__.setdefault(
        "_gapless_gave_way", {_HERE}
    )  # by copies of this file, of which a path may have several
    passed.add(_HERE)
    others = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) not in passed]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_arm()
_give_way()
