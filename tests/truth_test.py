#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the report says of real recordings to what people found who read the recordings and not the report.

usage: truth_test.py PROGRAM [--table FILE] [--show] [SLUG...]

tests/truth/<slug>.toml says of one recording what is going on (`truth`, as an expert would sign it), the facts that follow from it
([facts]: workload, state, devices, steps, busy, step_ms, class), which rules must report something and which must not, and what must
and must not be said (in the whole report, -v, by regular expressions). Recordings with `corpus` lie below $GAPLESS_CORPUS, the others
below $GAPLESS_STRANGERS, where tools/fetch_corpus puts them; the keys about the recording are described in
tools/corpus_parts/recording.py. A recording that is not there is counted; a file with another checksum than the truth's is not the
recording: it is named and not judged. OPEN lists what is known to be wrong, with the reason: it may not grow unnoticed, and what it
names must still be wrong.

--table writes one line per recording: agreed, partly (a figure is off) or wrong (a verdict is).
"""

from __future__ import annotations

import argparse
import html
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from corpus_parts.recording import ANOTHER, HERE, MISSING, TRUTHS, Recording, parse

Truth = dict[str, Any]

# Slug -> what is still wrong with it, and why.
OPEN: dict[str, str] = {
    "alexnet_cupti_range_profiler_a100": "kernels stand in ranges of counters (cuda_profiler_range), which are not read",
    "ascend_alexnet_ddp_rank0_level1": "launching holds up the device for a sixth of the step, and is said beside the communication",
    "ascend_alexnet_ddp_rank1_level2": "launching holds up the device for a sixth of the step, and is said beside the communication",
    "ckks_homomorphic_test_rtx2060": "24 operations in 5 ms behind a start: judged, where the person would not",
    "cutile_matmul_cold_start_4070ti": "just-in-time compilation of which nothing was recorded, and 184 copies that repeat",
    "ddp_overlap_homework_cold_2x3090": "starts of two processes in one file: loading takes 45 % of the rest, not half",
    "gpt_2_7b_cuda_graphs_a100": "no operator was recorded, and a kernel's name belongs to a backward pass",
    "gpt_2_7b_load_and_forward_fp32_a100": "the upload of the weights is not told from the work that follows",
    "grof_copy_scale_copy_loop": "a home-made list of events without categories: nothing says which are the GPU's",
    "h100_qwen_05b_b16": "the step's window lasts until the device is done, 2 ms more than the person took",
    "hta_dlrm_rank0_of_16_a100": "a call waits 147 ms while an operation is queued: the wait is not taken for the cause",
    "hta_dlrm_shampoo_rank0_of_128": "a sample of the events: the launches of most are missing",
    "hta_dlrm_shampoo_rank1_of_128": "a sample of the events: the launches of most are missing",
    "hta_functorch_ddp_404_allreduces_2xv100": "sizes were not recorded, so nothing says that the messages are small",
    "llama_tensor_parallel_cold_2x4090": "the start is set aside; what is judged is busier than the person's span, which has some of it",
    "neural_pde_sparse_sync_4090": "kernels are queued and do not start while the host waits: not taken for the wait's fault",
    "openacc_reduction_v100": "a dozen operations: too few to judge, the person did",
    "poverty_vit_first_batch_a5000": "half of the wait for the first batch is of no call that happens once, so that the 23 ms behind it are judged",
    "sdpa_128_microbench_mi300x": "the gap before the first call counts",
    "switch_transformer_first_pass_a100": "a cold start of 521 ms is set aside, and the 70 ms behind it are judged, where the person would not",
    "tracelens_qwen_05b_b16_mi300x": "the step's window lasts until the device is done, 4 ms more than the person took",
}


def analyze(program: Path, path: Path, *options: str) -> str:
    command = [str(program), "analyze", str(path), "--no-cache", *options]
    environment = os.environ | {"LC_ALL": "C.UTF-8", "COLUMNS": "400"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=600)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def within(what: str, got: float | None, bounds: list[float]) -> list[str]:
    if got is None:
        return [f"{what} is absent, not {bounds[0]} to {bounds[1]}"]
    return [] if bounds[0] <= got <= bounds[1] else [f"{what} {got:.4g}, not {bounds[0]} to {bounds[1]}"]


def figures(facts: dict[str, Any], report: dict[str, Any]) -> list[str]:
    """Returns what the report gets wrong about amounts."""
    run = report["run"]
    devices = len(report.get("breakdown", []))
    wrong = [] if devices == facts["devices"] else [f"{devices} devices, not {facts['devices']}"]
    wrong += within("steps", run.get("steps", 0), facts["steps"])
    if "busy" in facts:
        wrong += within("busy", run.get("gpu_busy_share"), facts["busy"])
    if "step_ms" in facts and facts["steps"][0] > 0:
        median = run["step_ns"]["median"] / 1e6 if "step_ns" in run else None
        wrong += within("median step in ms", median, facts["step_ms"])
    return wrong


def verdicts(truth: Truth, report: dict[str, Any], text: str) -> list[str]:
    """Returns what the report says that is not so, and what it leaves out."""
    run, facts = report["run"], truth["facts"]
    found = [finding["id"] for finding in report["bottlenecks"]]
    wrong = []
    if run.get("class", "none") not in facts["class"]:
        wrong.append(f"class {run.get('class', 'none')}, not {' or '.join(facts['class'])}")
    if facts["workload"] in ("inference", "serving") and run.get("workload") == "training":
        wrong.append(f"called training, but it is {facts['workload']}")
    if facts["workload"] == "training" and run.get("workload") in ("inference", "serving"):
        wrong.append(f"called {run['workload']}, but it is training")
    wrong += [f"{rule} is not reported" for rule in truth["must"]["find"] if rule not in found]
    wrong += [f"{rule} is reported" for rule in truth["must_not"]["find"] if rule in found]
    wrong += [f"does not say “{pattern}”" for pattern in truth["must"].get("say", []) if not re.search(pattern, text)]
    for pattern in truth["must_not"].get("say", []):
        said = re.search(pattern, text)
        if said:
            wrong.append(f"says “{text[max(0, said.start() - 30) : said.end() + 30].strip()}”")
    return wrong


def properties(report: dict[str, Any], text: str) -> list[str]:
    """Checks what holds of every report."""
    run, found = report["run"], report["bottlenecks"]
    wrong = []
    if not found and str(run.get("class", "")).split()[0:1] and run["class"] not in ("compute bound", "memory bound"):
        wrong.append(f"{run['class']}, and nothing is found")
    if run.get("class") == "warm-up" and any(finding["type"] != "RECORDING" for finding in found):
        wrong.append("a cold start gets advice for steady work")
    if run.get("workload") == "serving" and re.search(r"DataLoader|training|prof\.step", text):
        wrong.append("a word of training in a report of serving")
    if not report.get("breakdown") and re.search(r"CUDA graph|cudagraph", text):
        wrong.append("advice for a GPU, and no GPU did work")
    return wrong


def one_verdict(program: Path, path: Path, report: dict[str, Any], text: str) -> list[str]:
    """Terminal, Markdown, page and `--explain` say what the JSON says."""
    found, kind = report["bottlenecks"], report["run"].get("class", "")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        analyze(program, path, "-o", str(page))
        others = {
            "terminal": text,
            "markdown": analyze(program, path, "--format", "markdown"),
            "page": page.read_text("utf-8"),
        }
    if found:
        others["--explain"] = analyze(program, path, "--explain", found[0]["id"])
    for name, other in others.items():
        words = " ".join(html.unescape(other).replace("\\u003c", "<").split())
        if kind and kind != "unknown" and name != "--explain" and kind.lower() not in words.lower():
            wrong.append(f"{name} does not say “{kind}”")
        if found and name != "terminal" and found[0]["title"] not in words:
            wrong.append(f"{name} does not say “{found[0]['title']}”")
    return wrong


def check(program: Path, truth: Truth, path: Path) -> tuple[list[str], list[str]]:
    """Wrong figures, wrong verdicts of the report on the recording at `path`."""
    try:
        text = analyze(program, path, "-v")
        output = analyze(program, path, "--json")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return [], [str(error)]
    report = json.loads(output) if output.strip() else {}
    if "run" not in report:
        facts = truth["facts"]
        refused = facts["workload"] == "nothing" or facts["state"] == "empty" or facts.get("may_be_refused", False)
        return [], [] if refused else ["cannot be read"]
    return figures(truth["facts"], report), verdicts(truth, report, text) + properties(report, text) + one_verdict(
        program, path, report, text
    )


def absences(recordings: dict[str, Recording], states: dict[str, str]) -> str:
    """The truths that were not held against a recording, and the command that brings what is missing."""
    missing = [slug for slug, state in states.items() if state == MISSING]
    fetched = [slug for slug in missing if recordings[slug].origin]
    lines = [f"recordings not here: {len(missing)}"] if missing else []
    if fetched:
        lines[0] += f"; tools/fetch_corpus brings {len(fetched)} of them"
    for slug, state in states.items():
        if state == ANOTHER:
            lines.append(
                f"{slug}: {recordings[slug].place()} is not the recording (another checksum), so it was not judged"
            )
    return "\n".join(lines)


def compare(answers: dict[str, tuple[list[str], list[str]]], shown: dict[str, str]) -> tuple[list[str], int]:
    """A line for each recording, and how many of them are not as OPEN says; prints those, with the truths to show."""
    table, unexpected = [], 0
    for slug, (amounts, sayings) in answers.items():
        word = "wrong" if sayings else "partly" if amounts else "agreed"
        table.append(f"{word:7} {slug}: {'; '.join(sayings + amounts)}".rstrip(": "))
        if (word == "agreed") != (slug not in OPEN):
            unexpected += 1
            print(table[-1] if word != "agreed" else f"{slug}: agreed now, take it out of OPEN")
            if slug in shown:
                print("    " + "\n    ".join(shown[slug].strip().splitlines()))
    return table, unexpected


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", type=Path)
    arguments.add_argument("slugs", nargs="*")
    arguments.add_argument("--table", type=Path)
    arguments.add_argument("--show", action="store_true", help="print the truth beside what is wrong")
    options = arguments.parse_args()
    try:
        loads = importlib.import_module("tomllib").loads
    except ImportError:
        print("skipped: TOML is read by Python 3.11 and newer")
        return 77
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(TRUTHS.glob("*.toml"))}
    if options.slugs:
        texts = {slug: texts[slug] for slug in options.slugs}
    truths: dict[str, Truth] = {slug: loads(text) for slug, text in texts.items()}
    recordings = {slug: parse(slug, text) for slug, text in texts.items()}
    states = {slug: recording.state(recording.place()) for slug, recording in recordings.items()}
    there = [slug for slug, state in states.items() if state == HERE]
    if not there:
        print(f"skipped: {absences(recordings, states)}")
        return 77
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        judged = pool.map(lambda slug: check(options.program, truths[slug], recordings[slug].place()), there)
        answers = dict(zip(there, judged))
    table, unexpected = compare(answers, {slug: str(truths[slug]["truth"]) for slug in there} if options.show else {})
    if options.table:
        options.table.write_text("\n".join(sorted(table)) + "\n", encoding="utf-8")
    counts = {word: sum(line.startswith(word) for line in table) for word in ("agreed", "partly", "wrong")}
    print(f"{len(truths)} truths, {len(there)} ran: " + ", ".join(f"{n} {w}" for w, n in counts.items()))
    if len(there) < len(truths):
        print(absences(recordings, states))
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
