#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write docs/case_study/report.md: what `gapless report --style lab` says of examples/lab/slow_train.py on a CPU.

usage: case_study.py PROGRAM [--python PYTHON] [--budget TIME] [--from FOLDER]

Profiles the script, optimises it within the budget (4m) and measures its stages, into FOLDER (a temporary one), which is used as
it is with --from. The page, its pictures and the JSON that its numbers are from go to docs/case_study.md and docs/case_study/;
tests/case_study_test.py holds the text to the JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "case_study"
PAGE = FOLDER / "report.md"
ARGUMENTS = ["--size", "32", "--batch", "8"]
STAGES = {
    "baseline": "slow_train.py",
    "loader": "stage1_loader.py",
    "precision": "stage2_precision.py",
    "layout": "stage3_layout.py",
    "compile": "stage4_compile.py",
    "all": "stage5_all.py",
}
OF_THE_MACHINE = ("host", "kernel", "fingerprint", "commit", "branch", "dirty")
TITLE = "Case study: a slow training script on a CPU"
PREFACE = """\
This page is what `gapless report --style lab` makes of real runs of `examples/lab/slow_train.py` on {about};
`tools/case_study.py` wrote it. A CPU shows the method, not what a GPU gains: pinned memory, TF32 and the synchronisations of the script cost nothing here.

```sh
gapless profile -o before -- {command}
gapless optimize -o optimized --budget {budget} -- {command}
gapless bench --warmup 10 --steps 30 --json=baseline.json -- {command}    # and so for each stage
gapless report before optimized baseline.json … all.json --style lab -o case_study.md
```

"""


def script(name: str, steps: int) -> list[str]:
    return ["python", f"examples/lab/{name}", *ARGUMENTS, "--steps", str(steps)]


def measure(program: Path, python: Path, budget: str, folder: Path) -> None:
    """Runs everything. Optimising ends with 1 where nothing is proved, which is a result, too.

    No --metric is given: an accuracy over 240 images moves by more than its 2 % when a training only rounds differently.
    """
    environment = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    train = script(STAGES["baseline"], 30)

    def run(*words: str, fine: tuple[int, ...] = (0,)) -> None:
        done = subprocess.run([str(program), *words], cwd=ROOT, env=environment, check=False)
        if done.returncode not in fine:
            raise SystemExit(f"cannot measure: {' '.join(words)} ended with {done.returncode}")

    run("profile", "-o", str(folder / "before"), "--", *train)
    run("optimize", "-o", str(folder / "optimized"), "--budget", budget, "--", *train, fine=(0, 1))
    recipe = folder / "optimized" / "optimized.json"
    if recipe.exists():
        run("profile", "-o", str(folder / "after"), "--", str(program), "run", "--recipe", str(recipe), "--", *train)
    (folder / "stages").mkdir(exist_ok=True)
    for stage, name in STAGES.items():
        result = folder / "stages" / f"{stage}.json"
        run("bench", "--warmup", "10", "--steps", "30", f"--json={result}", "--", *script(name, 40))


def kept(text: str) -> str:
    """Returns a result on one line, without what names the machine or the checkout: a test alone reads it."""
    document = json.loads(text)
    for name in OF_THE_MACHINE:
        document.get("environment", {}).pop(name, None)
    document.pop("recipe", None)
    document.pop("patch", None)
    return json.dumps(document, ensure_ascii=False) + "\n"


def write(program: Path, folder: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    shutil.copy(folder / "optimized" / "result.json", FOLDER / "optimize.json")
    for stage in STAGES:
        shutil.copy(folder / "stages" / f"{stage}.json", FOLDER / f"{stage}.json")
    for path in FOLDER.glob("*.json"):
        path.write_text(kept(path.read_text(encoding="utf-8")), encoding="utf-8")
    inputs = [folder / "before", folder / "optimized", *(FOLDER / f"{stage}.json" for stage in STAGES)]
    inputs += [folder / "after"] if (folder / "after").exists() else []
    with tempfile.TemporaryDirectory() as temporary:
        page = Path(temporary) / "case_study.md"
        words = ["report", *map(str, inputs), "--style", "lab", "--title", TITLE, "-o", str(page)]
        subprocess.run([str(program), *words, f"--json={FOLDER / 'report.json'}"], check=True)
        for picture in (Path(temporary) / "case_study").glob("*.svg"):
            shutil.copy(picture, FOLDER / picture.name)
        result = json.loads((FOLDER / "optimize.json").read_text(encoding="utf-8"))
        preface = PREFACE.format(
            about=f"a machine with {result['about'].replace(' · ', ' and ')}",
            command=result["command"],
            budget=f"{result['budget_s'] / 60:.0f}m",
        )
        head, _, rest = page.read_text(encoding="utf-8").partition("\n\n")
        text = f"{head}\n\n{preface}{rest}".replace("](case_study/", "](")  # the pictures are beside the page
        PAGE.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--python", type=Path, default=ROOT / "build" / "torch" / "bin" / "python")
    parser.add_argument("--budget", default="4m")
    parser.add_argument("--from", dest="folder", type=Path)
    given = parser.parse_args()
    program = given.program.absolute()
    if given.folder is not None:
        write(program, given.folder)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        measure(program, given.python.absolute(), given.budget, Path(temporary))
        write(program, Path(temporary))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
