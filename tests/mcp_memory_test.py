#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A thousand calls of `gapless mcp` by the protocol's own client: the memory of the server stays, and every answer fits into 4,000 tokens.
Prints the size of the answers by tool. Skipped where the SDK is not installed.

usage: mcp_memory_test.py PROGRAM BUILD_FOLDER [CALLS]
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import statistics
import sys
from pathlib import Path
from typing import Any

from corpus import ROOT

sys.path.insert(0, str(ROOT / "python"))

from gapless.referee import CANNOT, MAX_CHARACTERS

SAMPLE = str(next((ROOT / "samples").glob("resnet50*.json.gz")))
CHARACTERS_OF_A_TOKEN = 3  # few, so that no answer is larger than is said
RUNS = 9  # more than the server keeps open
WARM_UP = 200  # calls after which everything that is kept is there
LOOK_EACH = 20  # calls between two looks at it
MOST_GROWTH_KIB = 10 * 1024  # of some 300 MiB, which come and go with the recordings that are opened


def server_memory_kib() -> int:
    """Resident memory of the one process that this one has started, the server."""
    (child,) = Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
    found = re.search(r"^VmRSS:\s+(\d+) kB", Path("/proc", child, "status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def asked(run: str, at: int) -> tuple[str, dict[str, Any]]:
    """The calls of a conversation, over and over; a recording is opened anew now and then."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("findings", {"run": run}),
        ("query", {"run": run, "sql": f"SELECT * FROM gpu_op WHERE id > {at} LIMIT 500"}),
        ("query", {"run": run, "sql": "SELECT name, count(*) AS n FROM gpu_op GROUP BY name ORDER BY n DESC"}),
        ("explain", {"run": run, "rule": "data_loading"}),
        ("list_tables", {}),
        ("list_tables", {"name": "gpu_op"}),
        ("predict", {"run": run, "what": ["workers=4", "amp"]}),
        ("query", {"run": run, "sql": "SELECT nosuch FROM gpu_op"}),
        ("findings", {"run": "run999"}),
        ("open_recording", {"paths": [SAMPLE]}) if at % 50 == 9 else ("findings", {"run": run, "cursor": 10}),
    ]
    return calls[at % len(calls)]


async def talk(program: str, calls: int) -> list[str]:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "GAPLESS_PYTHON": sys.executable}
    sizes: dict[str, list[int]] = {}
    memory: dict[int, int] = {}
    problems = []
    server = StdioServerParameters(command=program, args=["mcp"], env=environment)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for _ in range(RUNS):
            opened = await session.call_tool("open_recording", {"paths": [SAMPLE]})
        run = opened.content[0].text.split()[2]
        for at in range(calls):
            tool, words = asked(run, at)
            answer = (await session.call_tool(tool, words)).content[0].text
            if tool == "open_recording":
                run = answer.split()[2]
            refused = answer.startswith(CANNOT)
            if refused != (words.get("run") == "run999" or "nosuch" in str(words)):
                problems.append(f"{tool} {words}: {answer[:200]}")
            sizes.setdefault("a refusal" if refused else tool, []).append(len(answer))
            if at + 1 >= WARM_UP and at % LOOK_EACH == LOOK_EACH - 1:
                memory[at + 1] = server_memory_kib()
    print(f"{'answer':16}{'calls':>7}{'tokens, median':>16}{'most':>7}")
    for tool, of in sorted(sizes.items()):
        tokens = [-(-size // CHARACTERS_OF_A_TOKEN) for size in of]
        print(f"{tool:16}{len(of):7}{statistics.median(tokens):16.0f}{max(tokens):7}")
    looks = list(memory.values())
    begins, ends = (statistics.mean(part) for part in (looks[: len(looks) // 3], looks[-(len(looks) // 3) :]))
    print(
        f"resident memory: {begins / 1024:.1f} MiB in the first third of the calls, {ends / 1024:.1f} MiB in the last"
    )
    if max(size for of in sizes.values() for size in of) > MAX_CHARACTERS:
        problems.append("an answer is longer than is said")
    if ends - begins > MOST_GROWTH_KIB:
        problems.append(f"the server grew by {ends - begins:.0f} KiB")
    return problems


def main() -> int:
    if importlib.util.find_spec("mcp") is None:
        print("skipped: not installed: mcp")
        return 0
    program = os.path.abspath(sys.argv[1])
    os.environ["GAPLESS_PROGRAM"] = program
    os.environ["GAPLESS_LIBRARY"] = str(Path(sys.argv[2]).resolve() / "libgapless.so")
    problems = asyncio.run(talk(program, int(sys.argv[3]) if len(sys.argv) > 3 else 1000))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
