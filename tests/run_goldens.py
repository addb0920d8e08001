#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the goldens: one file is one command with what it must print.

    # What this shows.
    $ gapless query --tables slice
    --- stdout
    slice: Host side: ...
    --- stderr
    --- exit 0

The command runs in bash, in the root of the repository, with `gapless` being the program under test and $TMP an empty folder.
Left-out parts are empty, and exit 0. Versions are written VERSION, the empty folder TMP.

usage: run_goldens.py PROGRAM [--update] [FILE...]
--update writes what the program printed into the files: look at the difference before you keep it.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = re.compile(r"^--- (stdout|stderr|exit(?: (\d+))?)$")


def parse(path):
    """The comment and command lines, the command, and the expected parts."""
    head, parts, current = [], {"stdout": "", "stderr": "", "exit": 0}, None
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        found = HEADER.match(line.rstrip("\n"))
        if found and found.group(1).startswith("exit"):
            parts["exit"], current = int(found.group(2) or 0), None
        elif found:
            current = found.group(1)
        elif current:
            parts[current] += line
        else:
            head.append(line)
    commands = [line[2:].rstrip("\n") for line in head if line.startswith("$ ")]
    if not commands:
        sys.exit(f"{path}: no line starts with '$ '")
    return head, "\n".join(commands), parts


def run(program, command):
    """What the command printed, normalised."""
    with tempfile.TemporaryDirectory() as folder:
        work, tools = Path(folder) / "work", Path(folder) / "bin"
        work.mkdir()
        tools.mkdir()
        (tools / "gapless").symlink_to(program)
        environment = {
            "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "TMP": str(work),
            "HOME": folder,
            "XDG_CACHE_HOME": str(Path(folder) / "cache"),
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE", "GCOV_PREFIX"):
            if name in os.environ:
                environment[name] = os.environ[name]
        done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, check=False)

        def tidy(data):
            text = data.decode("utf-8", "backslashreplace").replace(str(work), "TMP")
            text = re.sub(r"\bgapless \d+\.\d+\.\d+", "gapless VERSION", text)
            return re.sub(r'"version": "\d+\.\d+\.\d+"', '"version": "VERSION"', text)

        return {"stdout": tidy(done.stdout), "stderr": tidy(done.stderr), "exit": done.returncode}


def written(head, parts):
    text = "".join(head) + "--- stdout\n" + parts["stdout"]
    if parts["stderr"]:
        text += "--- stderr\n" + parts["stderr"]
    return text + (f"--- exit {parts['exit']}\n" if parts["exit"] else "")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    if not arguments:
        sys.exit(__doc__)
    program = Path(arguments[0]).resolve()
    files = [Path(word) for word in arguments[1:]] or sorted((ROOT / "tests" / "golden").glob("*.test"))
    failed = 0
    for path in files:
        head, command, expected = parse(path)
        actual = run(program, command)
        if actual == expected:
            continue
        if "--update" in sys.argv:
            path.write_text(written(head, actual), encoding="utf-8")
            print(f"updated {path.name}")
            continue
        failed += 1
        print(f"FAILED {path.name}: {command}")
        sys.stdout.writelines(difflib.unified_diff(written(head, expected).splitlines(keepends=True),
                                                   written(head, actual).splitlines(keepends=True), "expected", "printed"))
    print(f"{len(files) - failed} of {len(files)} goldens as expected")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
