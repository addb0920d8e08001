#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rule has a recording on which it speaks and one on which it does not, and what it says is kept in a golden.

usage: rule_contract.py PROGRAM [--update] [RULE...]

tests/rules/<rule>.py describes the two recordings (see tests/rules/recording.py); tests/rules/<rule>.golden is what the
report of the one on which it speaks says of it, all evidence and advice included. --update writes the goldens: read the
difference before you keep it.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import ROOT, pages

RULES = ROOT / "tests" / "rules"


def analyze(program: Path, rule: str, which: str, folder: Path, *options: str) -> str:
    """Returns what `gapless analyze` prints of the rule's recording."""
    subprocess.run([sys.executable, "-B", str(RULES / "recording.py"), rule, which, str(folder / which)], check=True)
    command = [str(program), "analyze", str(folder / which), "--no-cache", "--only", rule, *options]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def all_rules() -> list[str]:
    sources = (ROOT / "src" / "diagnose" / "rules").glob("*.cc")
    return sorted(path.stem for path in sources if not path.stem.endswith("_test"))


def described(found: dict[str, object]) -> str:
    """A bottleneck as text, one fact per line."""
    lines = [
        f"{found['id']} · {found['type']} · severity {found['severity']:.2f} · {found['title']}",
        str(found["description"]),
    ]
    gain = found.get("gain")
    if isinstance(gain, dict):
        lines.append(
            f"gain {gain['low']:.2f} {gain['expected']:.2f} {gain['high']:.2f}, confidence {gain['confidence']}"
        )
    for evidence in found["evidence"]:  # type: ignore[attr-defined]
        rows = f" [{evidence['table']} {evidence.get('rows', '')}]" if "table" in evidence else ""
        lines.append(f"- {evidence['text']}{rows}" + (f" @ {evidence['source']}" if "source" in evidence else ""))
    for advice in found["recommendations"]:  # type: ignore[attr-defined]
        parts = [advice["text"], *(f"{key}: {advice[key]}" for key in ("fix", "code", "effort") if key in advice)]
        lines.append("→ " + " | ".join(parts))
    return "\n".join(lines) + "\n"


@functools.cache
def saving(program: Path) -> set[str]:
    """The rules of which the reference says how much of the affected time their fix is expected to save."""
    sections = (pages(program) / "reference" / "rules.md").read_text(encoding="utf-8").split("\n## ")
    return {section.split("\n", 1)[0] for section in sections if "\nSaves of that time" in section}


def check(program: Path, rule: str, update: bool) -> list[str]:
    """Returns what is wrong with the rule, one line each."""
    if not (RULES / f"{rule}.py").exists():
        return [f"{rule}: tests/rules/{rule}.py is missing"]
    with tempfile.TemporaryDirectory() as folder:
        fires = json.loads(analyze(program, rule, "fires", Path(folder), "--json"))["bottlenecks"]
        silent = json.loads(analyze(program, rule, "silent", Path(folder), "--json"))["bottlenecks"]
    wrong = []
    if not fires:
        wrong.append(f"{rule}: silent where it should speak")
    if silent:
        wrong.append(f"{rule}: speaks where it should be silent: {silent[0]['title']}")
    if any("gain" in finding for finding in fires) and rule not in saving(program):
        wrong.append(f"{rule}: has a gain, and no `.saves` that says which part of the time that is")
    text = "".join(described(finding) for finding in fires)
    golden = RULES / f"{rule}.golden"
    if update and fires:
        golden.write_text(text, encoding="utf-8")
    kept = golden.read_text(encoding="utf-8") if golden.exists() else ""
    different = [*difflib.unified_diff(kept.splitlines(), text.splitlines(), str(golden), "printed", lineterm="")]
    if different:
        different.append(f"after reading this: tests/rule_contract.py build/gapless --update {rule}")
    return wrong + different


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--update"]
    program = Path(words[0]).resolve()
    rules = words[1:] or all_rules()
    wrong = [line for rule in rules for line in check(program, rule, "--update" in sys.argv)]
    strays = sorted(
        {path.stem for path in RULES.glob("*.py")}
        - {"recording", "memory_recording", "comm_recording"}
        - set(all_rules())
    )
    wrong += [f"tests/rules/{stray}.py describes no rule" for stray in strays]
    print("\n".join(wrong) if wrong else f"{len(rules)} rules: each speaks, each can be silent")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
