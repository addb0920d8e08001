# SPDX-License-Identifier: Apache-2.0
"""Role of this process in a job of several programs, as far as something says so: Ray, multiprocessing, or the server it runs.

A trainer, the servers that generate what it trains on and the model that rewards it are processes of one job, and none of them says a
rank that tells them apart.
"""

from __future__ import annotations

import os
import re
import sys

# Names that nobody gave: those of multiprocessing itself.
_NO_NAME = re.compile(r"MainProcess|(Spawn|Fork|ForkServer)?(Process|PoolWorker)-[\d:]+")
_SERVERS = {"vllm": "vllm", "sglang": "sglang", "lmdeploy": "lmdeploy", "trtllm-serve": "tensorrt-llm"}


def _title() -> str:
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return file.read(256).split(b"\0")[0].decode(errors="replace")
    except OSError:
        return ""


def _of_ray() -> str:
    """Ray calls the process of an actor `ray::Class.method` while a method runs."""
    title = _title()
    name = re.split(r"[.(]", title[5:])[0].strip() if title.startswith("ray::") else ""
    return "" if name == "IDLE" else name


def _of_multiprocessing() -> str:
    multiprocessing = sys.modules.get("multiprocessing.process")
    name = multiprocessing.current_process().name if multiprocessing is not None else ""
    return "" if _NO_NAME.fullmatch(name) else re.sub(r"[-_ .]*\d+$", "", name)


def actor_name() -> str:
    """The name that the program gave its actor; "" without."""
    ray = sys.modules.get("ray")
    if ray is None or not _of_ray():
        return ""
    try:
        return str(ray.get_runtime_context().get_actor_name() or "")
    except Exception:  # not in an actor, or another version of Ray
        return ""


def program() -> str:
    """The module that runs (`python -m`), or the script's file name."""
    specification = getattr(sys.modules.get("__main__"), "__spec__", None)
    name = specification.name if specification is not None else os.path.basename((sys.argv or [""])[0])
    return str(name).removesuffix(".__main__")


def role() -> str:
    return _of_ray() or _of_multiprocessing() or _SERVERS.get(program().split(".")[0], "")
