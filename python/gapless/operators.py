# SPDX-License-Identifier: Apache-2.0
"""The operators of a recording: the longest, by type of work, and what can be done about them.

The program computes every time and share. Device work has types there (`operator_types`); operators of a recording without device work
get theirs here, by name.
"""

from __future__ import annotations

import re
from typing import Any

from .program import ask

TOP = 10
# Types as the program names them, by the ATen operator that does the work on a CPU.
HOST_TYPES = (
    ("conv", r"conv"),
    ("attention", r"attention"),
    ("matmul", r"^aten::(mm|bmm|addmm|baddbmm|matmul|linear|mkldnn_linear|einsum|dot|mv|addmv)|lstm|gru|rnn|mkldnn_rnn"),
    ("norm", r"norm"),
    ("optimizer", r"optimizer|_foreach_|_fused_(sgd|adam)|addc(mul|div)_"),
    ("activation", r"relu|gelu|silu|sigmoid|tanh|softmax|softplus|elu|threshold_backward|hardswish|mish"),
    ("pooling", r"pool"),
    ("loss", r"nll_loss|cross_entropy|mse_loss|bce|kl_div"),
    ("embedding", r"embedding|index_select|gather|index_put|aten::index$"),
    ("copy", r"copy_|_to_copy|aten::to$|clone|contiguous|aten::cat$|aten::stack$|pin_memory"),
    ("random", r"rand|uniform_|normal_|bernoulli|dropout"),
    ("reduction", r"^aten::(sum|mean|max|min|argmax|prod|std|var|any|all)"),
    ("memory", r"empty|zeros|zero_|fill_|ones|resize_|full"),
    ("view", r"^aten::(t|view|reshape|transpose|permute|as_strided|expand|slice|select|unsqueeze|squeeze|detach|detach_|alias|split|chunk|unbind)$"),
    ("pointwise", r"^aten::(add|sub|mul|div|neg|exp|log|pow|sqrt|rsqrt|abs|where|clamp|lerp|eq|ne|lt|gt|le|ge|_local_scalar_dense|item)_?$"),
    ("communication", r"c10d|nccl|gloo|all_reduce|allreduce"),
)  # fmt: skip
CHAIN = ("aten::conv2d", "aten::batch_norm", "aten::relu", "aten::relu_")
HALF = ("c10::BFloat16", "c10::Half", "BFloat16", "Half")


def top_operators(path: str, count: int = TOP) -> list[dict[str, Any]]:
    """Returns the operators with the most time of their own, on the device where there is one, else on the host."""
    words = (
        "SELECT name, sum(calls) calls, sum(host_self_ns) host_self_ns, sum(host_total_ns) host_total_ns, "
        "sum(device_self_ns) device_self_ns, sum(device_total_ns) device_total_ns FROM operators GROUP BY name"
    )
    rows = ask("query", path, words, "--no-cache")
    times = {side: sum(row[f"{side}_self_ns"] or 0 for row in rows) for side in ("device", "host")}
    side = "device" if times["device"] else "host"
    rows.sort(key=lambda row: -(row[f"{side}_self_ns"] or 0))
    whole = times[side] or 1
    return [
        {
            "name": row["name"], "type": host_type(row["name"]), "calls": row["calls"],
            "self_cpu_ms": (row["host_self_ns"] or 0) / 1e6, "total_cpu_ms": (row["host_total_ns"] or 0) / 1e6,
            **({"self_gpu_ms": (row["device_self_ns"] or 0) / 1e6, "total_gpu_ms": (row["device_total_ns"] or 0) / 1e6} if side == "device" else {}),
            "share": (row[f"{side}_self_ns"] or 0) / whole,
        }
        for row in rows[:count]
    ]  # fmt: skip


def breakdown(path: str) -> dict[str, Any]:
    """Returns the time by type of operator, and the opportunities; see `PyTorchProfiler.analyze_operator_breakdown`."""
    types = ask(
        "query", path,
        "SELECT type, sum(device_ns) ns, sum(gpu_ops) calls FROM operator_types GROUP BY 1", "--no-cache",
    )  # fmt: skip
    types = [row for row in types if row["ns"]]
    measured_on = "gpu" if types else "cpu"
    if not types:
        types = _host_types(path)
    whole = sum(row["ns"] for row in types) or 1
    by_type = {
        row["type"]: {"time_ms": row["ns"] / 1e6, "calls": row["calls"], "share": row["ns"] / whole, "percent": row["ns"] / whole * 100}
        for row in sorted(types, key=lambda row: -row["ns"])
    }  # fmt: skip
    found: dict[str, Any] = {"by_type": by_type, "measured_on": measured_on}
    found["fusion_opportunities"] = _device_chains(path) if measured_on == "gpu" else _host_chains(path)
    copies = by_type.get("copy")
    found["copies"] = {"share": copies["share"] if copies else 0.0, "calls": copies["calls"] if copies else 0}
    autocast = _autocast(path, measured_on)
    if autocast is not None:
        found["autocast"] = autocast
    found["recommendations"] = _advice(found)
    return found


def host_type(name: str) -> str:
    """Returns the type of work of an ATen operator.

    >>> host_type("aten::addmm"), host_type("aten::native_batch_norm_backward"), host_type("MyFunction")
    ('matmul', 'norm', 'other')
    """
    lower = name.lower()
    return next((kind for kind, pattern in HOST_TYPES if re.search(pattern, lower)), "other")


def _host_types(path: str) -> list[dict[str, Any]]:
    rows = ask(
        "query", path, "SELECT name, sum(calls) calls, sum(host_self_ns) ns FROM operators GROUP BY 1", "--no-cache"
    )
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        kind = host_type(row["name"])
        entry = found.setdefault(kind, {"type": kind, "ns": 0, "calls": 0})
        entry["ns"] += row["ns"] or 0
        entry["calls"] += row["calls"]
    return list(found.values())


def _device_chains(path: str) -> list[dict[str, Any]]:
    words = "SELECT kind, pattern, sum(calls) calls, sum(removable_ns) ns, max(source_line) line FROM fusion GROUP BY 1, 2 ORDER BY 4 DESC LIMIT 10"
    return [
        {
            "pattern": row["pattern"], "kind": row["kind"], "calls": row["calls"],
            **({} if row["ns"] is None else {"removable_ms": row["ns"] / 1e6}),
            **({} if row["line"] is None else {"source_line": row["line"]}),
        }
        for row in ask("query", path, words, "--no-cache")
    ]  # fmt: skip


def _host_chains(path: str) -> list[dict[str, Any]]:
    """Returns convolutions whose output goes through a batch normalisation (and a ReLU), as the outermost operators show them."""
    names = ", ".join(f"'{name}'" for name in CHAIN)
    words = (
        "SELECT first, second, third, count(*) calls FROM (SELECT name first, lead(name, 1) OVER places second, lead(name, 2) OVER places third "
        f"FROM slice WHERE name IN ({names}) WINDOW places AS (PARTITION BY trace, tid ORDER BY ts_ns)) "
        "WHERE first = 'aten::conv2d' AND second = 'aten::batch_norm' GROUP BY 1, 2, 3"
    )
    found: dict[str, int] = {}
    for row in ask("query", path, words, "--no-cache"):
        third = " + relu" if str(row.get("third")).startswith("aten::relu") else ""
        found[f"conv2d + batch_norm{third}"] = found.get(f"conv2d + batch_norm{third}", 0) + row["calls"]
    return [{"pattern": pattern, "kind": "conv_bn", "calls": calls} for pattern, calls in found.items()]


def _autocast(path: str, measured_on: str) -> bool | None:
    """Returns True if matrix work runs in 16 bits; None where the types were not recorded."""
    if measured_on == "gpu":
        rows = ask(
            "query", path, "SELECT max(autocast) used, sum(half_ns + bfloat16_ns) low FROM precision", "--no-cache"
        )
        used, low = rows[0].get("used"), rows[0].get("low")
        return None if used is None and low is None else bool(used) or bool(low)
    rows = ask(
        "query", path,
        "SELECT DISTINCT input_types types FROM slice WHERE input_types IS NOT NULL AND name IN "
        "('aten::mm', 'aten::addmm', 'aten::bmm', 'aten::convolution', 'aten::linear')", "--no-cache",
    )  # fmt: skip
    return any(kind in str(row["types"]) for row in rows for kind in HALF) if rows else None


def _advice(found: dict[str, Any]) -> list[str]:
    advice = [
        f"Fuse {chain['pattern']}, called {chain['calls']} times (torch.compile)"
        for chain in found["fusion_opportunities"][:3]
    ]
    if found["copies"]["share"] >= 0.05:
        advice.append(
            f"Copies take {found['copies']['share'] * 100:.0f} % of the operators' time: keep data in one type, layout and place"
        )
    if found.get("autocast") is False:
        advice.append("Autocast (mixed precision) is not in use: matrix work runs in 32 bits")
    return advice
