#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gapless.compat.hta against HolisticTraceAnalysis: its answers are those of HTA, table by table, twice: the right ones against
HTA without its rounding, and with GAPLESS_HTA_BUGS=1 against HTA as it is.

On the sample the formulas of hta.py are the other side. --corpus compares every recording of the corpus with HTA itself where
it is installed (traceinsight 0.6.1), else with its stored answers. A difference that has no line in EXPLAINED fails, and so
does a line that explains nothing.

usage: compat_hta_test.py PROGRAM BUILD_FOLDER [--corpus [PART_OF_PATH]]
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compat_hta_cases
import corpus
from oracle import Comparison, Difference

sys.path.append(sys.path.pop(0))  # hta.py here is not the package of that name
sys.path.insert(0, str(corpus.ROOT / "python"))
SAMPLE = next((corpus.ROOT / "samples").glob("resnet50*.json.gz"))
_found = importlib.util.find_spec("hta")
WITH_HTA = _found is not None and bool(_found.submodule_search_locations)

BESIDE = corpus.ROOT / "build/hta/bin/python"  # tools/hta_env.sh makes it
# Methods for which HTA takes minutes where there are many events.
SLOW, MANY = ("aten_ops", "sequences", "critical_path"), 40_000

TRITON = "HTA takes host operators of Triton, which carry a stream number, for kernels"
SYNC = "HTA takes the recorder's synchronisation rows on streams for work"
TWICE = "two calls have one correlation: HTA counts the operation once for each"
FIRST = "HTA takes the first event of the file for the launch of what has none, and what is launched or first itself for without"
NOISE = "HTA holds absolute times to 0.25 us, which decides whether a launch came before an end"
AT_ONCE = "HTA adds up changes at the same time in any order"
LAUNCHES = "HTA knows cudaLaunchKernel, not cuLaunchKernel, hipLaunchKernel and the others"
CUT = "HTA cuts intervals to whole us, and nothing is left of the short ones; combinations that ran for no time have a row"
STATISTICS = "HTA's statistics of names are those of their sums where there are more names than asked for"
ENDS = "HTA leaves ends in the time of the file, and starts are in that of the job"
STEPS = "HTA lets annotations of the device shift steps, and knows no step of stream 0"
CATEGORIES = "HTA knows the categories of newer recorders only"
OPERATORS = "HTA takes the operator of any thread that began last, and counts the ranks before again"
DEPTH = "HTA takes one depth for all threads, and no kernel of stream 0"
LAST_STREAM = "HTA keeps the last stream of a rank"

# (part of mode and path, quantity or its beginning, why). With HTA's own values nothing differs; every line must explain a difference that
# occurs. Right values differ where HTA has one of the mistakes that docs/hta.md lists.
EXPLAINED: tuple[tuple[str, str, str], ...] = (
    ("right: ", "recorded: end", ENDS),
    ("right: ", "recorded: iteration", STEPS),
    ("right: ", "temporal", f"{TRITON}; {SYNC}"),
    ("right: ", "gpu_kernel_breakdown/kernel_type", CUT),
    ("right: ", "gpu_kernel_breakdown/all_kernel", f"{TRITON}; {TWICE}"),
    ("right: ", "some_kernels/kernel_type", CUT),
    ("right: ", "some_kernels/all_kernel", STATISTICS),
    ("right: ", "some_annotations", f"{STATISTICS}; {CATEGORIES}"),
    ("right: ", "idle_time_breakdown", f"{FIRST}; {TWICE}; {NOISE}"),
    ("right: ", "launch_stats", LAUNCHES),
    ("right: ", "launch_rows", LAUNCHES),
    ("right: ", "kernel_launches", LAUNCHES),
    ("right: ", "queue_length", f"{LAUNCHES}; {FIRST}; {TWICE}; {AT_ONCE}"),
    ("right: ", "full_queue", LAST_STREAM),
    ("right: ", "memory_bw", AT_ONCE),
    ("right: ", "counters", f"{LAUNCHES}; {AT_ONCE}"),
    ("right: ", "aten_ops", OPERATORS),
    ("right: ", "sequences", DEPTH),
    ("right: ", "critical_path", f"{AT_ONCE}; {NOISE}"),
)


def without_pandas() -> list[str]:
    """Problems of the answer where pandas is not there; run with it hidden, so that it is always tried."""
    script = (
        f"import sys; sys.path.insert(0, {str(corpus.ROOT / 'python')!r}); import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'pandas' else find(name, *rest)\n"
        "import gapless.compat.hta"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1:]
    wanted = 'gapless.compat.hta.PandasMissing: gapless.compat.hta needs pandas: pip install "gapless[hta]"'
    return [] if last == [wanted] else [f"without pandas: {last}, expected {wanted}"]


def ours(path: Path, as_hta: bool) -> Any:
    os.environ["GAPLESS_HTA_BUGS"] = "1" if as_hta else "0"
    from gapless.compat.hta import TraceAnalysis

    if path.is_dir():
        return TraceAnalysis(trace_dir=str(path))
    return TraceAnalysis(trace_files=[str(path)])


def theirs(path: Path, as_hta: bool, rank: int) -> Any:
    """HTA itself, without figures and without its rounding unless it is asked for."""
    import plotly.graph_objects

    plotly.graph_objects.Figure.show = lambda *_, **__: None
    options = importlib.import_module("hta.configs.env_options").HTAEnvOptions
    options.instance().set_disable_ns_rounding(not as_hta)
    analysis = importlib.import_module("hta.trace_analysis").TraceAnalysis
    return analysis(trace_dir=str(path)) if path.is_dir() else analysis(trace_files={rank: str(path)})


def stored(path: Path, as_hta: bool) -> dict[str, Any] | None:
    oracle = corpus.FOLDER / "oracle" / "kineto" / path.relative_to(corpus.KINETO)
    stem = oracle / "all_8_ranks" if path.is_dir() else oracle
    for ending in (".hta-0.6.1.json",) if as_hta else (".hta-0.6.1-norounding.json", ".hta-0.6.1.json"):
        answer = stem.with_name(stem.name + ending)
        if answer.exists():
            found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
            return found
    return None


def order_matters(quantity: str, column: str) -> float | None:
    """HTA adds up changes at the same time in any order, which moves single points of a queue's length by one or more."""
    if quantity != "queue_length_summary" or column.endswith(("count", "min", "rank/", "stream/")):
        return None
    return 0.05 if column.endswith(("mean", "std")) else 1.0


def tolerance(quantity: str, column: str) -> float:
    """The distance that numbers may have that went through HTA's floating point, which holds 0.25 us of absolute times, or roundings."""
    turned = order_matters(quantity, column)
    if turned is not None:
        return turned
    if "kernel_breakdown/kernel_type" in quantity or "some_kernels/kernel_type" in quantity:
        return 1.5 if column == "percentage" else 1e9  # HTA cuts each interval to whole us
    if column.endswith(("pctg", "ratio")):
        return 0.0101
    if "idle" in quantity:
        return 5.0 if column in ("idle_time", "std", "mean") else 0.75
    if "launch_stats" in quantity or "launches" in quantity or "launch_rows" in quantity or "aten" in quantity:
        return 500.0 if quantity.endswith("/sum") else 0.75
    return 0.75 if "us)" in column or column in ("ts", "dur", "end", "weight", "") or "duration" in column else 1e-6


def exact(quantity: str, column: str) -> float:
    turned = order_matters(quantity, column)
    if turned is not None:
        return turned
    return 0.0101 if column.endswith(("pctg", "ratio")) or "idle" in quantity else 1e-6


def sample_failures(program: str) -> list[str]:
    """The sample by the formulas of hta.py, from what the program says of each operation."""
    import compat_hta
    from oracle import Op, read_recording

    beside = importlib.util.spec_from_file_location("formulas", Path(__file__).with_name("hta.py"))
    assert beside is not None and beside.loader is not None
    formulas = importlib.util.module_from_spec(beside)
    beside.loader.exec_module(formulas)
    mine = ours(SAMPLE, as_hta=False)
    ranks = mine.t.get_ranks()
    read = read_recording(program, str(SAMPLE))
    check = Comparison(SAMPLE.name)
    answers = compat_hta.answers(mine, ranks, compat_hta.LIVE)
    answers["loaded"] = {str(rank): {"gpu_rows_stream_not_-1": len(mine.t.gpu_rows(rank))} for rank in ranks}
    answers["launch_stats"] = {rank: found for rank, found in answers["launch_stats"].items() if found["count"]}
    del answers["errors"]["potential_stragglers"]  # one rank without communication
    check.equal("errors", answers["errors"], {})
    marks = [(row[1], row[2], row[3]) for row in read["marks"]]
    formulas.compare_hta(check, [Op(*row) for row in read["ops"]], marks, answers)
    check.equal("compared", check.compared > 100, True)
    return [str(difference) for difference in check.differences]


def compare(path: Path, as_hta: bool, many: bool) -> tuple[Comparison, list[str]] | None:
    """Ours against HTA, and the methods that were compared; None where HTA does not read it, or its answers were not stored."""
    import compat_hta

    mode = "as HTA" if as_hta else "right"
    check = Comparison(f"{mode}: {path.relative_to(corpus.KINETO)}")
    mine = ours(path, as_hta)
    ranks = mine.t.get_ranks()
    if WITH_HTA:
        try:
            other = theirs(path, as_hta, ranks[0])
        except Exception:  # noqa: BLE001 -- it raises whatever it meets
            return None
        asked = {name: call for name, call in compat_hta.LIVE.items() if not (many and name in SLOW)}
        expected = compat_hta.answers(other, ranks, asked)
    else:
        found = stored(path, as_hta)
        if found is None:
            return None
        expected = found
    methods = compat_hta.LIVE if WITH_HTA else compat_hta.STORED
    methods = {name: call for name, call in methods.items() if not (WITH_HTA and many and name in SLOW)}
    answers = compat_hta.answers(mine, ranks, {name: call for name, call in methods.items() if name in expected})
    check.equal("errors", answers.pop("errors"), {})
    noisy = not as_hta and not all(events.in_whole_us for events in mine.t.events.values())
    for name, answer in answers.items():
        compat_hta.compare_answers(check, answer, expected[name], name, tolerance if noisy else exact)
    return check, list(answers)


def paths(part: str) -> Iterator[tuple[Path, bool]]:
    """The recordings, and whether they have many events."""
    ranks = corpus.KINETO / "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto"
    if part in str(ranks):
        yield ranks, False
    for path, count in corpus.counts():
        if "!/" not in path and path.endswith((".json", ".gz")) and part in path and count.get("gpu_busy"):
            yield Path(path), count["traceEvents"] > MANY


def explanation_of(difference: Difference) -> int:
    for line, (recording, quantity, _) in enumerate(EXPLAINED):
        if recording in difference.recording and difference.quantity.startswith(quantity):
            return line
    return -1


def compare_diffs(path: Path) -> Comparison:
    """TraceDiff against the stored answers."""
    import compat_hta

    expected = json.loads(path.read_text(encoding="utf-8"))
    os.environ["GAPLESS_HTA_BUGS"] = "0"
    from gapless.compat.hta import DeviceType, LabeledTrace, Trace, TraceDiff

    control, test = [
        LabeledTrace(label, t=Trace([str(corpus.FOLDER / expected[label.lower()])])) for label in ("Control", "Test")
    ]
    check = Comparison(path.name)
    for name, device in (("all_devices", DeviceType.ALL), ("gpu", DeviceType.GPU), ("cpu", DeviceType.CPU)):
        answer = compat_hta.table(TraceDiff.compare_traces(control, test, device_type=device))
        compat_hta.compare_tables(check, name, answer, expected[f"compare_first_iteration_{name}"], lambda _: 1e-6)
    mine = {name: sorted(names) for name, names in TraceDiff.ops_diff(control, test).items()}
    theirs_of = {name: sorted(names) for name, names in expected["ops_diff_first_iteration_all_devices"].items()}
    check.equal("ops_diff", mine, theirs_of)
    return check


def _method(quantity: str) -> str:
    return quantity.split("/")[0].split(":")[0]


def corpus_failures(part: str) -> list[str]:
    failures, explained = [], [0] * len(EXPLAINED)
    recordings = compared = 0
    checks = [compare(path, as_hta, many) for path, many in paths(part) for as_hta in (False, True)]
    folder = corpus.FOLDER / "oracle/kineto/_trace_diff"
    for pattern in ("*_vs_test.hta-0.6.1.json", "resnet50_workers*.hta-0.6.1.json"):
        checks += [(compare_diffs(path), ["ops_diff"]) for path in sorted(folder.glob(pattern)) if part in str(path)]
    methods: dict[str, list[int]] = {}  # by method: comparisons that are equal, explained and different
    for found in checks:
        if found is not None:
            check, asked = found
            recordings, compared = recordings + 1, compared + check.compared
            of_method: dict[str, int] = dict.fromkeys(asked, 0)
            for difference in check.differences:
                line, name = explanation_of(difference), _method(difference.quantity)
                of_method[name] = max(of_method.get(name, 0), 2 if line < 0 else 1)
                if line < 0:
                    failures.append(str(difference)[:400])
                else:
                    explained[line] += 1
            for name, worst in of_method.items():
                methods.setdefault(f"{check.recording.split(':')[0]}: {name}", [0, 0, 0])[worst] += 1
    for name, counts in sorted(methods.items()):
        print(f"{name:42} {counts[0]:3} equal {counts[1]:3} by a mistake of HTA {counts[2]:3} different")
    if not part and WITH_HTA:  # the stored answers are of some methods
        failures += [f"explains nothing: {EXPLAINED[line]}" for line, times in enumerate(explained) if not times]
    side = "HTA itself" if WITH_HTA else "stored answers"
    print(f"{side}: {recordings} comparisons, {compared} columns, {sum(explained)} differences explained")
    return failures if compared else [*failures, "nothing was compared"]


def main() -> int:
    program, build, *more = sys.argv[1:]
    os.environ["GAPLESS_PROGRAM"], os.environ["GAPLESS_LIBRARY"] = program, f"{build}/libgapless.so"
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    failures = without_pandas()
    if not WITH_HTA and BESIDE.exists() and Path(sys.executable) != BESIDE:
        os.execv(BESIDE, [str(BESIDE), *sys.argv])
    if importlib.util.find_spec("pandas") is None:
        print("\n".join(failures) or "skipped: pandas is not installed")
        return 1 if failures else 77
    failures += sample_failures(program) + compat_hta_cases.failures()
    if "--corpus" in more:
        corpus.require()
        failures += corpus_failures("".join(more[1:2]))
    for failure in failures[:600]:
        print(failure)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
