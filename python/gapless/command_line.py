# SPDX-License-Identifier: Apache-2.0
"""Exit statuses, messages and files of the runnable modules."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

from .program import BAD_INPUT, ProgramError

WRONG_USE, INTERRUPTED = 2, 130


def parser_of(name: str, description: str) -> argparse.ArgumentParser:
    """Returns a parser whose help shows the description as it is written."""
    return argparse.ArgumentParser(
        prog=name, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def run(main: Callable[[Sequence[str] | None], int], name: str) -> int:
    """Runs the main function of a module; returns its exit status. Errors become one line on standard error."""
    try:
        return main(None)
    except ProgramError as error:
        status, text = error.status, str(error)
    except (OSError, ValueError) as error:
        status, text = BAD_INPUT, str(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    print(f"{name}: {text}", file=sys.stderr)
    return status


def write(path: Path, text: str) -> None:
    """Writes a file whole: a reader sees all of it or none. Makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_json(path: Path, document: Any) -> None:
    write(path, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
