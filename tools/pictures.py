#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of what the program prints in a terminal, for the README and the site: docs/pictures/<name>.svg.

usage: pictures.py PROGRAM [--check]

--check draws nothing and needs no package: it reads the text out of each picture and holds it against what the program prints
now; exit 1 when they differ. Drawing needs rich (docs/requirements.txt): `make pictures`.
A picture names fonts and loads none, so it looks the same in a browser without a network.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
COLUMNS = 100
SAMPLE = "samples/resnet50_v100.pt.trace.json.gz"
PICTURES = {"terminal": ["analyze", SAMPLE]}  # name → words after `gapless`

# Geometry of rich's drawing: a character is 20 high and 20 × ASPECT wide.
ASPECT = 0.6
CELL = 20 * ASPECT
BACKGROUND, FOREGROUND = (13, 17, 23), (214, 222, 230)
ANSI = [(33, 38, 45), (255, 107, 100), (74, 190, 104), (219, 167, 49), (98, 166, 255), (188, 140, 255), (76, 196, 207)]
TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<style>
text {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 20px;
  white-space: pre; }}
{styles}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<g transform="translate(9, 24)">{backgrounds}{matrix}</g>
</svg>
"""


def printed(program: Path, words: list[str]) -> str:
    """The command as typed, and what it prints in colour to a terminal of COLUMNS columns."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
        environment.update({"LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": cache})
        command = [str(program), *words, "--color", "always", "--width", str(COLUMNS)]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, encoding="utf-8")
    return f"\x1b[2m$\x1b[0m {shlex.join(['gapless', *words])}\n\n{done.stdout}"


def plain(text: str) -> str:
    """Without colours and without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).strip("\n").split("\n")) + "\n"


def drawn(picture: str) -> str:
    """The text that a picture shows, every character where it stands."""
    lines: dict[float, dict[int, str]] = {}
    for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text"):
        line = lines.setdefault(float(element.attrib["y"]), {})
        start = round(float(element.attrib["x"]) / CELL)
        line.update(enumerate((element.text or "").replace("\xa0", " "), start))
    rows = []
    for y in range(round((max(lines, default=0) - 20) / 24.4) + 1):
        row = next((cells for at, cells in lines.items() if abs(at - 20 - y * 24.4) < 1), {})
        rows.append("".join(row.get(column, " ") for column in range(max(row, default=-1) + 1)))
    return plain("\n".join(rows))


def draw(name: str, text: str) -> str:
    """The text as a picture, as wide as its longest line."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    width = max(map(len, plain(text).split("\n")))
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=width, file=nowhere, color_system="truecolor", force_terminal=True)
        console.print(Text.from_ansi(text.rstrip("\n")), highlight=False, no_wrap=True, overflow="ignore", end="")
        theme = TerminalTheme(BACKGROUND, FOREGROUND, [*ANSI, FOREGROUND])
        picture: str = console.export_svg(
            theme=theme, code_format=TEMPLATE, font_aspect_ratio=ASPECT, unique_id=name, title=""
        )
    return re.sub(r"<text ([^>]*?) clip-path[^>]*>([^<]*)</text>", tidied, picture)


def tidied(found: re.Match[str]) -> str:
    """One piece of rich's text: no ends of lines, and bars of blocks stretched to whole cells, so that no font leaves gaps."""
    attributes, text = found[1], unescape(found[2])
    if not text.strip():
        return ""
    if set(text) <= set("█▓▒░"):
        attributes += ' lengthAdjust="spacingAndGlyphs"'
    return f"<text {attributes}>{found[2]}</text>\n"


def check(name: str, expected: str) -> list[str]:
    """Returns what differs between the committed picture and what the program prints."""
    path = FOLDER / f"{name}.svg"
    if not path.exists():
        return [f"{path} is missing"]
    picture = path.read_text(encoding="utf-8")
    wrong = [f"{path}: loads {found}" for found in re.findall(r"""url\((?!#)[^)]*\)|href=["'][^#"'][^"']*""", picture)]
    shown = drawn(picture).splitlines()
    return wrong + list(difflib.unified_diff(shown, expected.splitlines(), str(path), "printed", lineterm=""))


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        sys.exit(__doc__)
    wrong: list[str] = []
    for name, command in PICTURES.items():
        text = printed(Path(words[0]).resolve(), command)
        if "--check" in sys.argv:
            wrong += check(name, plain(text))
            continue
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.svg").write_text(draw(name, text), encoding="utf-8")
        wrong += check(name, plain(text))
    print("\n".join(wrong) if wrong else f"{len(PICTURES)} picture(s) show what the program prints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
