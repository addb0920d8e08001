# SPDX-License-Identifier: Apache-2.0
"""The slow script through gapless optimize, the batch size that serves best, and the energy of a step there."""

from __future__ import annotations

import shutil
from typing import Any

from gpu_parts.session import ROOT, Session, Skipped
from gpu_parts.workloads import images, transformer

KEPT = ("report.md", "report.html", "result.json", "recipe.json", "optimized.json", "optimized.yaml", "changes.patch")
ENERGY = """
SELECT value, ts_ns, (SELECT min(ts_ns) FROM step WHERE complete) AS begin_ns,
       (SELECT max(ts_ns + dur_ns) FROM step WHERE complete) AS end_ns, (SELECT count(*) FROM step WHERE complete) AS steps
FROM counter WHERE name = 'gpu.energy' AND device = 0 ORDER BY ts_ns
"""
POWER = "SELECT name, avg(value) AS mean, max(value) AS highest FROM counter WHERE name LIKE 'gpu.power%' GROUP BY name"


def optimize(session: Session) -> dict[str, Any]:
    """The table of requirement C11: the baseline, each fix that stayed, all together."""
    folder = session.work / "optimized"
    budget_s = 20 if session.stand_in else int(min(170, max(30, session.left_s() - 40))) if not session.plan else 170
    answer = session.ask(
        "optimize", "-o", str(folder), "--budget", f"{budget_s}s", "--keep-candidate", "--", *images(session, steps=60),
        limit_s=budget_s + 90, ok=(0, 1), least_s=20,
    )  # fmt: skip
    if not session.plan:
        shutil.copytree(folder, session.out / "optimized", ignore=leave_out, dirs_exist_ok=True)
    kept = (
        "table",
        "applied",
        "refused",
        "untried",
        "proved",
        "conclusion",
        "speedup",
        "loss",
        "memory_saved_bytes",
        "took_s",
    )
    return {key: answer[key] for key in kept if key in answer}


def leave_out(folder: str, names: list[str]) -> set[str]:
    """Returns what is not worth bringing back: recordings of the search."""
    return {name for name in names if not name.endswith((".md", ".html", ".json", ".yaml", ".patch", ".svg"))}


def batch_and_energy(session: Session) -> dict[str, Any]:
    """The batch size that gapless tune finds, and what a step takes from the supply at the power limit as it is."""
    figures: dict[str, Any] = {}
    budget_s = 10 if session.stand_in else 60
    answer = session.ask(
        "tune", "batch", "--budget", f"{budget_s}s", "--rounds", "4", "--", *images(session, "loader"),
        limit_s=budget_s + 60, ok=(0, 1), least_s=15,
    )  # fmt: skip
    figures["batch"] = {key: answer[key] for key in ("settings", "best", "compared", "rounds") if key in answer}
    folder = session.work / "energy"
    session.ask("profile", "--light", "-o", str(folder), "--", *transformer(session, 400), limit_s=90, least_s=10)
    figures["power"] = session.ask("query", "--no-cache", str(folder), POWER)
    figures["energy"] = energy_of(session.ask("query", "--no-cache", str(folder), ENERGY) or [])
    figures["power_limit"] = "as it was found: the settings of the card are never changed here"
    return figures


def energy_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Joules a step, from the card's counter between the first and the last sample within complete steps."""
    within = [row for row in rows if row["begin_ns"] is not None and row["begin_ns"] <= row["ts_ns"] <= row["end_ns"]]
    if len(within) < 2:
        return {}
    first, last = within[0], within[-1]
    share = (last["ts_ns"] - first["ts_ns"]) / (first["end_ns"] - first["begin_ns"])
    joules = last["value"] - first["value"]
    return {"joules": joules, "steps": first["steps"] * share, "joules_a_step": joules / (first["steps"] * share)}


def kernels(session: Session) -> dict[str, Any]:
    """Custom kernels against the stock operations, by the script that comes with them."""
    script = ROOT / "kernels" / "measure.py"
    if not script.exists():
        raise Skipped("the project has no kernels/measure.py yet")
    if not session.on_gpu and not session.plan:
        raise Skipped("custom kernels need a GPU")
    target = session.out / "kernels.json"
    session.run([session.python, str(script), "--json", str(target)], limit_s=120, least_s=20)
    return {"file": target.name}
