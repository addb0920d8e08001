# SPDX-License-Identifier: Apache-2.0
"""A server of the Model Context Protocol on standard input and output: recordings for assistants, and, where it is allowed, a referee.

`python -m gapless.mcp_server` reads recordings and result files, and starts nothing. With --allow-run it also compares, judges and optimises
commands, which it then starts. Every answer is a text of at most 4,000 tokens; a longer one goes on with a cursor. What cannot be
answered begins with "CANNOT ANSWER:" and the reason. Needs the protocol's SDK: pip install "gapless[mcp]".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from .integrations.extras import need
from .program import NOT_THERE
from .referee import Referee

NO_SDK = 'the server needs the SDK of the protocol: pip install "gapless[mcp]"'
INSTRUCTIONS = """Open a recording of a training or of GPU work first: the answer names the run and lists its findings, ranked by what they cost.
Times are nanoseconds in tables. Empty cells were not recorded; they are not 0. A speedup has an 80 % prediction interval. Whoever changes a script proves it:
`judge` says whether the changed command is faster AND the same training, and how sure that is."""


def make_server(referee: Referee, allow_run: bool) -> Any:
    """A server whose tools are the methods of a referee. Raises ImportError without the SDK."""
    need("mcp", "mcp")
    try:
        from mcp.server import MCPServer
    except ImportError:
        from mcp.server.fastmcp import FastMCP as MCPServer  # the SDK before 2.0

    server = MCPServer("gapless", instructions=INSTRUCTIONS)
    for tool in [*referee.READS, *(referee.RUNS if allow_run else ())]:
        server.add_tool(getattr(referee, tool))
    return server


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="gapless mcp", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--allow-run", action="store_true", help="let the assistant start commands, to compare and optimise them"
    )
    options = parser.parse_args(arguments)
    try:
        server = make_server(Referee(), options.allow_run)
    except ImportError:
        print(f"gapless: {NO_SDK}", file=sys.stderr)
        return NOT_THERE
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
