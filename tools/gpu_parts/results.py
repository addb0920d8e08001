# SPDX-License-Identifier: Apache-2.0
"""The file results.json, and the form in which bench/results keeps it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gpu_parts.session import ROOT

FORMAT, SCHEMA = "gapless.gpu_check", 1


@dataclass
class Outcome:
    name: str
    status: str  # ok, failed, skipped, left
    reason: str = ""
    seconds: float = 0.0
    figures: dict[str, Any] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)  # what of the part was not done
    commands: list[str] = field(default_factory=list)  # stand-ins: what it would run with a GPU


def write(out: Path, about: dict[str, Any], outcomes: list[Outcome]) -> None:
    """Writes results.json anew: whatever happens later, this much is there."""
    document = {"format": FORMAT, "schema": SCHEMA, **about, "parts": [asdict(one) for one in outcomes]}
    file = out / "results.json"
    temporary = file.with_suffix(".new")
    temporary.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(file)


def table(outcomes: list[Outcome]) -> str:
    lines = [f"{'part':12} {'status':8} {'seconds':>7}  about"]
    for one in outcomes:
        about = one.reason or ("" if not one.left else f"left: {'; '.join(one.left)}")
        lines.append(f"{one.name:12} {one.status:8} {one.seconds:7.1f}  {about[:160]}".rstrip())
    return "\n".join(lines)


def keep(folders: list[Path], root: Path = ROOT / "bench" / "results") -> Path:
    """Joins the results of several calls on one card and date into <card>/<date>.json: of each part the last that did something.

    Raises ValueError where the calls were on different cards, or none was on a GPU."""
    documents = [json.loads((folder / "results.json").read_text(encoding="utf-8")) for folder in folders]
    if len({(one["card"].get("name"), one["date"]) for one in documents}) != 1 or not documents[0]["card"].get("name"):
        raise ValueError("results of one card and one date can be joined, stand-ins cannot be kept")
    joined: dict[str, Any] = documents[-1]
    parts: dict[str, dict[str, Any]] = {}
    for document in documents:
        for part in document["parts"]:
            if part["name"] not in parts or part["status"] == "ok" or parts[part["name"]]["status"] != "ok":
                parts[part["name"]] = joined_part(parts.get(part["name"]), part)
    joined["parts"] = list(parts.values())
    card = re.sub(r"[^a-z0-9]+", "_", joined["card"]["name"].lower()).strip("_")
    target = root / card / f"{joined['date']}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(joined, indent=1) + "\n", encoding="utf-8")
    return target


def joined_part(before: dict[str, Any] | None, part: dict[str, Any]) -> dict[str, Any]:
    """The part "fixes" is done in several calls: rows of other fixes stay."""
    if before is None or "fixes" not in before["figures"] or "fixes" not in part["figures"]:
        return part
    new = {row["fix"] for row in part["figures"]["fixes"]}
    rows = [row for row in before["figures"]["fixes"] if row["fix"] not in new] + part["figures"]["fixes"]
    judged = [row["within"] for row in rows if row.get("within") is not None]
    return {**part, "figures": {**part["figures"], "fixes": rows, "within": sum(judged), "judged": len(judged)}}
