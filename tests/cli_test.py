#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as people and scripts meet it: help, exit statuses, streams, terminals, signals.

usage: cli_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from corpus import ROOT

DATA = ROOT / "tests" / "data"
SAMPLE = str(next((ROOT / "samples").glob("*.json.gz")))
PROGRAM = ""
VERBS: list[str] = []


def run(
    *words: str, env: dict[str, str] | None = None, cwd: Path | None = None, input: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
        cwd=cwd,
        input=input,
        check=False,
    )


def on_terminal(*words: str, columns: int = 80, env: dict[str, str] | None = None) -> str:
    """Returns what the program writes when standard output is a terminal of that many columns."""
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    environment.update({"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", **(env or {})})
    parent, child = pty.openpty()
    subprocess.run(["stty", "cols", str(columns), "rows", "40"], stdin=child, check=True)
    process = subprocess.Popen([PROGRAM, *words], stdout=child, stderr=subprocess.DEVNULL, env=environment)
    os.close(child)
    data = b""
    while True:
        ready, _, _ = select.select([parent], [], [], 60)
        try:
            block = os.read(parent, 65536) if ready else b""
        except OSError:
            block = b""
        if not block:
            break
        data += block
    process.wait()
    os.close(parent)
    return data.decode("utf-8").replace("\r\n", "\n")


def has_terminals() -> bool:
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


class Help(unittest.TestCase):
    def test_every_verb_has_help_in_all_its_forms(self) -> None:
        for verb in VERBS:
            with self.subTest(verb=verb):
                texts = {run(*words).stdout for words in ((verb, "--help"), (verb, "-h"), ("help", verb))}
                self.assertEqual(len(texts), 1)
                self.assertTrue(texts.pop().startswith(f"usage: gapless {verb}"))

    def test_the_overview(self) -> None:
        self.assertEqual(run("--help").returncode, 0)
        self.assertIn("analyze", run("--help").stdout)
        nothing = run()
        self.assertEqual((nothing.returncode, nothing.stdout), (2, ""))
        self.assertIn("find where the time goes:", nothing.stderr)

    def test_version(self) -> None:
        self.assertRegex(run("--version").stdout, r"^gapless \d+\.\d+\.\d+ \(JSON schema \d+\)\n$")
        self.assertEqual(json.loads(run("--version", "--json").stdout)["gapless"]["schema"], 1)


class Timings(unittest.TestCase):
    def test_they_are_hidden_and_name_every_kind_of_part(self) -> None:
        self.assertNotIn("--timings", run("analyze", "--help").stdout)
        self.assertNotIn("timings", json.loads(run("analyze", SAMPLE, "--json").stdout))
        done = run("analyze", SAMPLE, "--no-cache", "--timings", "--json")
        timings = json.loads(done.stdout)["timings"]
        self.assertEqual(timings, sorted(timings, key=lambda timing: -timing["ms"]))
        parts = {timing["part"] for timing in timings}
        self.assertLessEqual({"reading", "analysis", "rule", "what-if", "predict"}, parts)
        self.assertIn("replay", [timing.get("name") for timing in timings])
        self.assertIn("own time", done.stderr)


class ExitStatus(unittest.TestCase):
    def check(self, status: int, *words: str) -> subprocess.CompletedProcess[str]:
        done = run(*words)
        self.assertEqual(done.returncode, status, f"{words}: {done.stderr}")
        return done

    def test_0_fine(self) -> None:
        self.check(0, "analyze", SAMPLE)
        self.check(0, "query", SAMPLE, "SELECT 1")
        self.check(0, "analyze", str(DATA / "broken_rank"))

    def test_1_the_answer_is_no(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.txt").write_text("1\n2\n")
            self.check(1, "compare", f"{folder}/a.txt", f"{folder}/a.txt")

    def test_2_usage(self) -> None:
        for words in (
            ["analyse", SAMPLE],
            ["analyze"],
            ["analyze", SAMPLE, "--nonsense"],
            ["analyze", SAMPLE, "--format", "x"],
            ["analyze", SAMPLE, "--width", "x"],
            ["analyze", SAMPLE, "--rank", "x"],
            ["query", SAMPLE, "SELEC 1"],
            ["query", SAMPLE, "DROP TABLE slice"],
            ["analyze", SAMPLE, "--", "ls"],
            ["analyze", SAMPLE, "-o", str(DATA)],
            ["convert", SAMPLE, "-o", SAMPLE],
            ["convert", SAMPLE, "-o", os.devnull, "--without", "x"],
            ["convert", SAMPLE, "-o", os.devnull, "--steps", "x"],
        ):
            done = self.check(2, *words)
            self.assertTrue(done.stderr.startswith("gapless: "), done.stderr)
            self.assertEqual(done.stdout, "")

    def test_3_input(self) -> None:
        for name in ("nosuch.json", "empty.json", "not_a_trace.json"):
            done = self.check(3, "analyze", str(DATA / name))
            self.assertIn(name, done.stderr)

    def test_4_environment(self) -> None:
        self.check(4, "analyze", SAMPLE, "-o", "/nosuch/folder/report.txt")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, "analyze", SAMPLE], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 4)

    def test_errors_are_json_when_json_was_asked_for(self) -> None:
        for words in (
            ["analyze", str(DATA / "empty.json")],
            ["query", SAMPLE, "SELECT x FROM slice"],
            ["analyze", "--nonsense"],
            ["nonsense"],
        ):
            done = run(*words, "--json")
            error = json.loads(done.stdout)["error"]
            self.assertEqual(error["exit_status"], done.returncode)
            self.assertIn(error["message"], done.stderr)


class Streams(unittest.TestCase):
    def test_every_verb_prints_json(self) -> None:
        self.pages = tempfile.TemporaryDirectory()
        self.addCleanup(self.pages.cleanup)
        arguments = {
            "analyze": [SAMPLE],
            "query": [SAMPLE, "SELECT 1"],
            "completion": ["bash"],
            "convert": [SAMPLE, "-o", os.devnull],
            "docs": [self.pages.name],
        }
        for verb in VERBS:
            with self.subTest(verb=verb):
                json.loads(run(verb, *arguments.get(verb, []), "--json", cwd=ROOT).stdout)

    def test_json_in_a_file_comes_beside_the_report(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.json"
            done = run("analyze", SAMPLE, f"--json={path}")
            self.assertIn("where a step goes", done.stdout)
            self.assertIn("bottlenecks", json.loads(path.read_text(encoding="utf-8")))
            self.assertEqual(run("query", SAMPLE, "SELECT 7 AS x", f"--json={path}").stdout, "x\n7\n")
            self.assertEqual(json.loads(path.read_text(encoding="utf-8")), [{"x": 7}])

    def test_output_goes_to_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.txt"
            self.assertEqual(run("analyze", SAMPLE, "-o", str(path)).stdout, "")
            text = path.read_text(encoding="utf-8")
            self.assertIn("what to fix", text)
            self.assertNotIn("\x1b", text)
            self.assertEqual([entry.name for entry in Path(folder).iterdir()], ["report.txt"])

    def test_a_reader_that_goes_away_is_no_error(self) -> None:
        for words in (["query", SAMPLE, "SELECT * FROM slice"], ["analyze", SAMPLE], ["help"]):
            process = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            stderr = process.stderr.read().decode()
            process.stderr.close()
            self.assertEqual((process.wait(), stderr), (0, ""))

    def test_sql_from_a_file_and_from_standard_input(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write("-- two\nSELECT 2 AS x;\n")
            file.flush()
            self.assertEqual(run("query", SAMPLE, "--file", file.name).stdout, "x\n2\n")
        self.assertEqual(run("query", SAMPLE, "-", input="SELECT 3 AS x").stdout, "x\n3\n")
        self.assertEqual(run("query", SAMPLE, "--file", "-", input="SELECT 4 AS x").stdout, "x\n4\n")

    def test_every_statement_of_the_guide_runs(self) -> None:
        guide = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
        statements = re.findall(r"```sql\n(.*?)```", guide, re.DOTALL)
        self.assertGreater(len(statements), 5)
        for statement in statements:
            with self.subTest(statement=statement):
                self.assertEqual(run("query", str(DATA / "two_ranks"), statement).stderr, "")

    def test_csv_reads_back(self) -> None:
        sql = "SELECT id, name, dur_ns, parent_id FROM slice LIMIT 500"
        rows = list(csv.reader(io.StringIO(run("query", SAMPLE, sql, "--csv").stdout)))
        objects = json.loads(run("query", SAMPLE, sql, "--json").stdout)
        self.assertEqual(rows[0], list(objects[0]))
        self.assertEqual(rows[1:], [["" if value is None else str(value) for value in row.values()] for row in objects])

    def test_what_was_lost_is_said_on_standard_error(self) -> None:
        self.assertIn("truncated.json", run("query", str(DATA / "truncated.json"), "SELECT 1").stderr)
        for level, warns in (("warning", True), ("error", False), ("off", False)):
            said = run(
                "query", str(DATA / "truncated.json"), "SELECT 1", "--log", level, env={"GAPLESS_LOG": "off"}
            ).stderr
            self.assertEqual("truncated.json" in said, warns, level)
        self.assertIn("rank1.json", run("query", str(DATA / "broken_rank"), "SELECT 1").stderr)
        self.assertEqual(run("query", SAMPLE, "SELECT 1").stderr, "")


@unittest.skipUnless(has_terminals(), "the system has no pseudo-terminals (/dev/pts is not mounted)")
class Terminals(unittest.TestCase):
    def test_colour_only_on_a_terminal_and_never_with_no_color(self) -> None:
        self.assertIn("\x1b[", on_terminal("analyze", SAMPLE))
        self.assertNotIn("\x1b[", on_terminal("analyze", SAMPLE, env={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b[", on_terminal("analyze", SAMPLE, env={"TERM": "dumb"}))
        self.assertNotIn("\x1b[", on_terminal("analyze", SAMPLE, "--color=never"))
        self.assertNotIn("\x1b[", run("analyze", SAMPLE).stdout)
        self.assertIn("\x1b[", run("analyze", SAMPLE, "--color=always").stdout)

    def test_a_page_is_no_output_for_a_terminal_but_a_file_in_the_folder_analysed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(SAMPLE, folder)
            for _ in range(2):  # the page is no recording: it does not disturb the second time
                said = on_terminal("analyze", folder, "--format", "html")
                self.assertEqual(said.strip(), f"full report: {folder}/report.html")
            self.assertIn("<!doctype html>", (Path(folder) / "report.html").read_text(encoding="utf-8"))

    def test_colour_changes_nothing_else(self) -> None:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal("analyze", SAMPLE))
        self.assertEqual(plain, run("analyze", SAMPLE).stdout)

    def test_the_report_fits_the_terminal(self) -> None:
        for columns in (80, 100, 160):
            for line in on_terminal("analyze", SAMPLE, "--color=never", columns=columns).splitlines():
                if not line.startswith("next: gapless ") and "gapless query" not in line:
                    self.assertLessEqual(len(line), columns, line)

    def test_without_utf8_the_report_is_ascii(self) -> None:
        run("analyze", SAMPLE, env={"LC_ALL": "C"}).stdout.encode("ascii")

    def test_names_in_a_recording_cannot_steer_the_terminal(self) -> None:
        for words in (
            ["analyze", str(DATA / "hostile.json")],
            ["query", str(DATA / "hostile.json"), "SELECT name FROM slice"],
        ):
            self.assertIsNone(re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", run(*words).stdout))


class Signals(unittest.TestCase):
    ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

    def test_an_interrupt_ends_cleanly_and_leaves_no_file(self) -> None:
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with tempfile.TemporaryDirectory() as folder:
                command = [PROGRAM, "query", SAMPLE, self.ENDLESS, "-o", f"{folder}/out"]
                process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
                time.sleep(1.5)
                process.send_signal(number)
                _, stderr = process.communicate(timeout=60)
                self.assertEqual(process.returncode, status)
                self.assertIn("interrupted", stderr)
                self.assertEqual(list(Path(folder).iterdir()), [])


MEASURING = ("compare", "--pairs", "3", "--no-same")
TWO_SLEEPS = ("--", "sleep", "0.02", "--", "sleep", "0.02")
AT_ONCE = {"GAPLESS_PROGRESS_SECONDS": "0"}


class Progress(unittest.TestCase):
    """Long measurements say in a log how far they are; here without the half minute between two lines."""

    def test_a_log_has_lines_and_how_long_it_took(self) -> None:
        said = run(*MEASURING, *TWO_SLEEPS, env=AT_ONCE).stderr
        self.assertRegex(said, r"(?m)^comparing pair 1  0 % of 3 pairs at most$")
        self.assertRegex(said, r"(?m)^comparing pair 3: speedup .+  67 % of 3 pairs at most$")
        self.assertRegex(said, r"comparing took \S+ ?\w*\n$")
        self.assertNotIn("\r", said)

    def test_short_work_and_a_wish_for_silence_are_silent(self) -> None:
        self.assertEqual(run(*MEASURING, *TWO_SLEEPS).stderr, "")
        self.assertEqual(run(*MEASURING, "--log", "error", *TWO_SLEEPS, env=AT_ONCE).stderr, "")


class Conversion(unittest.TestCase):
    def test_what_is_compressed_holds_the_same(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.json", "a.json.gz"):
                done = run("convert", SAMPLE, "-o", name, cwd=Path(folder))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"wrote {name}: ", done.stdout)
            plain = (Path(folder) / "a.json").read_bytes()
            self.assertEqual(gzip.decompress((Path(folder) / "a.json.gz").read_bytes()), plain)
            self.assertEqual(run("convert", SAMPLE).stdout.encode(), plain)
            self.assertLess((Path(folder) / "a.json.gz").stat().st_size, len(plain) / 5)

    def test_json_tells_what_was_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            told = json.loads(run("convert", SAMPLE, "-o", f"{folder}/a.json", "--json").stdout)
            size = (Path(folder) / "a.json").stat().st_size
            self.assertEqual(told["files"], [{"path": f"{folder}/a.json", "bytes": size}])
            self.assertEqual(told["uncompressed_bytes"], size)
            rows = json.loads(run("query", SAMPLE, "SELECT count(*) AS rows FROM slice", "--json").stdout)
            self.assertEqual(told["events"]["slice"], rows[0]["rows"])

    def test_a_file_for_each_rank(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run("convert", str(DATA / "two_ranks"), "-o", f"{folder}/out/")
            names = sorted(path.name for path in (Path(folder) / "out").iterdir())
            self.assertEqual(names, ["rank0.json.gz", "rank1.json.gz"])

    def test_a_report_takes_the_form_its_name_ends_in(self) -> None:
        begins = {
            "r.html": "<!doctype html>",
            "r.md": "# Bottlenecks of",
            "r.json": "{",
            "r.txt": "resnet50_v100",
            "r": "resnet50",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, begin in begins.items():
                run("analyze", SAMPLE, "-o", f"{folder}/{name}")
                self.assertTrue((Path(folder) / name).read_text(encoding="utf-8").startswith(begin), name)
            run("analyze", SAMPLE, "--format", "json", "-o", f"{folder}/r.html")
            self.assertTrue(
                (Path(folder) / "r.html").read_text(encoding="utf-8").startswith("{"), "what is said goes first"
            )

    def test_no_verb_writes_over_what_it_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "in.json.gz"
            shutil.copy(SAMPLE, copy)
            before = copy.read_bytes()
            verbs = (
                ["analyze", str(copy)],
                ["query", str(copy), "SELECT 1"],
                ["convert", str(copy), "-o", f"{folder}/o.json"],
            )
            for words in verbs:
                for option in (f"--json={copy}", f"--output={folder}/../{Path(folder).name}/in.json.gz"):
                    done = run(*words, option)
                    self.assertEqual(done.returncode, 2, [*words, option])
                    self.assertIn("replace an input", done.stderr)
            self.assertEqual(copy.read_bytes(), before)

    def test_no_input_is_written_over_by_any_name(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy, link = Path(folder) / "in.json.gz", Path(folder) / "link.json.gz"
            shutil.copy(SAMPLE, copy)
            link.symlink_to(copy)
            before = copy.read_bytes()
            for words in ([str(copy), "-o", str(link)], [f"3={link}", "-o", str(copy)], [folder, "-o", f"{folder}/"]):
                done = run("convert", *words)
                self.assertEqual(done.returncode, 2, words)
                self.assertIn("replace an input", done.stderr)
            self.assertEqual(copy.read_bytes(), before)
            self.assertEqual(len(list(Path(folder).iterdir())), 2)

    def test_a_full_disk_is_told(self) -> None:
        for words in (["-o", "/dev/full"], []):
            with open("/dev/full", "w", encoding="utf-8") as full:
                command = [PROGRAM, "convert", SAMPLE, *words]
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 4)
            self.assertIn(b"No space left", done.stderr)

    def test_an_interrupt_leaves_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            ranks = [f"{rank}={SAMPLE}" for rank in range(30)]
            command = [PROGRAM, "convert", *ranks, "-o", f"{folder}/out/"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and not list(Path(folder).glob("out/*")):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, stderr)
            self.assertIn("interrupted", stderr)
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_two_streams_cannot_share_standard_output(self) -> None:
        self.assertEqual(run("convert", SAMPLE, "--json").returncode, 2)

    @unittest.skipUnless(has_terminals(), "the system has no pseudo-terminals (/dev/pts is not mounted)")
    def test_a_terminal_gets_no_recording(self) -> None:
        self.assertEqual(on_terminal("convert", SAMPLE), "")


class Options(unittest.TestCase):
    def bottlenecks(self, *words: str) -> list[str]:
        return [b["id"] for b in json.loads(run("analyze", SAMPLE, "--json", *words).stdout)["bottlenecks"]]

    def test_rules_can_be_chosen(self) -> None:
        every = self.bottlenecks()
        self.assertGreater(len(every), 1)
        self.assertEqual(self.bottlenecks("--only", every[0]), [every[0]])
        self.assertCountEqual(self.bottlenecks("--without", every[0]), every[1:])  # another plan may have another order

    def test_ranks_can_be_chosen(self) -> None:
        path = str(DATA / "two_ranks")
        self.assertEqual(json.loads(run("analyze", path, "--json").stdout)["run"]["ranks"], [0, 1])
        self.assertEqual(json.loads(run("analyze", path, "--json", "--rank", "1").stdout)["run"]["ranks"], [1])

    def test_the_cache_changes_no_answer(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            environment = {"XDG_CACHE_HOME": folder}
            first, second = (run("analyze", SAMPLE, "--json", env=environment).stdout for _ in range(2))
            self.assertEqual(first, second)
            self.assertEqual(first, run("analyze", SAMPLE, "--json", "--no-cache").stdout)

    def test_completions_are_accepted_by_their_shells(self) -> None:
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                script = run("completion", shell).stdout
                done = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False)
                self.assertEqual(done.stderr, "")

    def test_bash_completes_verbs_options_and_values(self) -> None:
        def complete(*words: str) -> list[str]:
            line = f"COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}"
            script = f"{run('completion', 'bash').stdout}\n{line}; _gapless; echo ${{COMPREPLY[@]}}"
            return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()

        self.assertEqual(complete("gapless", "ana"), ["analyze"])
        self.assertEqual(complete("gapless", "query", "--ta"), ["--tables"])
        self.assertEqual(complete("gapless", "analyze", "--format", "j"), ["json"])
        self.assertEqual(complete("gapless", "completion", ""), ["bash", "zsh", "fish"])


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    VERBS = [command["name"] for command in json.loads(run("help", "--json").stdout)["commands"]]
    unittest.main()
