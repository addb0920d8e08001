#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates `gapless analyze --json` against the schema that the program writes: on the sample always, and on every recording of
the corpus when it is there. The breakdown must add up as the schema promises in words.

usage: schema_test.py PROGRAM
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import corpus

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def inputs() -> Iterator[str]:
    yield from sorted(map(str, (corpus.ROOT / "samples").glob("*.json*")))
    yield from sorted(map(str, (corpus.ROOT / "tests" / "data").iterdir()))
    if (corpus.FOLDER / "kineto").is_dir():
        for path in sorted((corpus.FOLDER / "kineto").rglob("*")):
            if path.is_file():
                yield str(path)


def problems_of(document: dict[str, Any], validator: jsonschema.Draft202012Validator) -> Iterator[str]:
    for error in validator.iter_errors(document):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    for device in document.get("breakdown", []):
        parts = sum(device[key] for key in ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"))
        idle = sum(device[f"idle_{cause}_ns"] for cause in ("data", "launch", "sync", "host", "unknown"))
        if parts != device["wall_ns"] or idle != device["idle_ns"]:
            yield f"the breakdown of trace {device['trace']} does not add up"
    planned = {step["bottleneck"] for step in document["plan"]}
    listed = [finding["id"] for finding in document["bottlenecks"] if finding["id"] in planned]
    if listed != [step["bottleneck"] for step in document["plan"]]:
        yield f"bottlenecks are not in the order of the plan: {listed}"


def main() -> int:
    with open(corpus.pages(Path(sys.argv[1])) / "schema" / "analyze.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    valid = refused = 0
    failures: list[str] = []
    for path in inputs():
        rates = ["--price", "2.49", "--carbon", "380", "--watts", "300", "--epoch-steps", "1000", "--single", "100ms"]
        command = [sys.argv[1], "analyze", "--no-cache", "--json", path, *rates]
        done = subprocess.run(command, capture_output=True, timeout=600, check=False)
        if done.returncode not in (0, 3):
            failures.append(f"{path}: exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}")
            continue
        document = json.loads(done.stdout)
        if done.returncode == 3:
            refused += 1
            if document.get("error", {}).get("exit_status") != 3:
                failures.append(f"{path}: exit 3 without the error as JSON")
            continue
        found = list(problems_of(document, validator))
        failures += [f"{path}: {problem}" for problem in found]
        valid += not found
    print(*failures[:20], sep="\n")
    print(f"{valid} reports valid, {refused} inputs refused, {len(failures)} problems")
    return 1 if failures or valid == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
