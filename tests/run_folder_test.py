#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The run folder against who shares the machine, against a full disk, and shared by several launchers of one job.

usage: run_folder_test.py PROGRAM [--ci] [--only PATTERN...]    needs no PyTorch; what needs root is skipped without it
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cases
from corpus import ROOT

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
PYTHON = Path(os.environ.get("GAPLESS_TORCH", ROOT / "build/torch/bin/python"))
OURS = 125  # the exit status of a failure of our own
LIMIT_S = 60
# A program that plays the agent: a ring of three steps in the folder of its rank. `ring_records` is its capacity.
PLAYS_AGENT = """
import os, struct, sys, time
rank = int(os.environ.get("SLURM_PROCID", os.environ.get("RANK", "-1")))
folder = os.path.join(os.environ["GAPLESS_RUN"], f"rank{rank}" if rank >= 0 else "main")
os.makedirs(folder, 0o700, exist_ok=True)
steps, now = 3, time.time_ns()
head = struct.pack("<8sIIIIqqiiiiII", b"GAPLRING", 1, 4096, 64, 16, os.getpid(), now, rank, 4, -1, -1, 0, 2)
head += struct.pack("<8Q", steps, steps, 0, now, 0, 0, 0, int(os.environ.get("GAPLESS_LAUNCHER", "0")))
head += os.uname().nodename.encode()[:63].ljust(64, b"\\0") + b"python 3 torch 2".ljust(64, b"\\0")
body = b"".join(struct.pack("<QHHiqqqqdd", n + 1, 1, 0, 0, now + n * 10**7, 10**7, n, 8, 0.0, 0.0) for n in range(steps))
path = os.path.join(folder, f"agent-{os.getpid()}.ring")
with open(path + ".part", "wb") as file:
    file.write(head.ljust(4096, b"\\0") + body.ljust(16 * 64, b"\\0"))
os.rename(path + ".part", path)
time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0.2)
print("rank", rank)
"""

TRAINS = """
import os, sys, torch
if len(sys.argv) > 1: os.system(sys.argv[1])
net = torch.nn.Linear(4, 1); optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(30):
    net(torch.randn(8, 4)).sum().backward(); optimizer.step()
print("trained")
"""


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GAPLESS", "SLURM", "PMI"))}
        self.environment = {**kept, "XDG_CACHE_HOME": str(self.folder / "cache"), "LC_ALL": "C.UTF-8"}
        (self.folder / "agent.py").write_text(PLAYS_AGENT, encoding="utf-8")

    def gapless(self, *words: object, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PROGRAM), *(str(word) for word in words)], cwd=self.folder, env=self.environment, text=True,
            capture_output=True, timeout=LIMIT_S, check=False, **more,
        )  # fmt: skip

    def mode(self, path: Path) -> int:
        return stat.S_IMODE(path.lstat().st_mode)

    def analyze(self, run: object) -> dict[str, Any]:
        done = self.gapless("analyze", run, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def rows(self, run: object, sql: str) -> list[dict[str, Any]]:
        done = self.gapless("query", run, sql, "--json", "--no-cache")
        self.assertEqual(done.returncode, 0, done.stderr)
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found


class OthersOnTheMachine(Case):
    """Nobody but the one who profiles gets code into the run, or reads it."""

    def loaded_from(self, run: Path) -> Path:
        """The folder that the command's Pythons load the agent from."""
        done = self.gapless("profile", "-q", "-o", run, "--", "sh", "-c", "echo $PYTHONPATH; ls -d $PYTHONPATH")
        self.assertEqual(done.returncode, 0, done.stderr)
        return Path(done.stdout.split()[0].split(":")[0])

    def test_a_folder_that_all_can_write_is_refused_with_what_mends_it(self) -> None:
        run = self.folder / "run"
        run.mkdir()
        run.chmod(0o777)
        done = self.gapless("profile", "-o", "run", "--", "touch", "started")
        self.assertEqual(done.returncode, OURS)
        self.assertFalse((self.folder / "started").exists())
        self.assertIn("others can write", done.stderr)
        self.assertIn(f"chmod go-w {run}", done.stderr)
        self.assertEqual(list(run.iterdir()), [])
        run.chmod(0o755)
        self.assertEqual(self.gapless("profile", "-q", "-o", "run", "--", "true").returncode, 0)

    def test_a_shared_folder_can_be_asked_for_and_the_agent_is_not_loaded_from_it(self) -> None:
        for mode in (0o777, 0o1777, 0o770):
            run = self.folder / f"run{mode:o}"
            run.mkdir()
            run.chmod(mode)
            done = self.gapless(
                "profile", "-q", "--shared-folder", "-o", run, "--", "sh", "-c", "echo $PYTHONPATH; stat -c %a $PYTHONPATH"
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            agent, rights = done.stdout.split()
            self.assertFalse(agent.startswith(str(run)), agent)
            self.assertEqual(rights, "700")
            self.assertFalse(Path(agent).exists(), "it goes with the run")

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_a_folder_of_somebody_else_is_refused(self) -> None:
        run = self.folder / "run"
        run.mkdir(0o700)
        os.chown(run, 65534, 65534)
        done = self.gapless("profile", "-o", "run", "--", "true")
        self.assertEqual(done.returncode, OURS)
        self.assertIn("belongs to somebody else", done.stderr)

    def test_a_folder_above_that_others_can_rename_is_no_place_for_the_agent(self) -> None:
        open_to_all = self.folder / "open"
        open_to_all.mkdir()
        open_to_all.chmod(0o777)
        agent = self.loaded_from(open_to_all / "run")
        self.assertFalse(str(agent).startswith(str(open_to_all)), agent)
        self.assertFalse(agent.exists(), "what was unpacked elsewhere goes with the run")

    def test_a_run_is_not_led_elsewhere_by_whom_may_rename_it(self) -> None:
        """Its processes reach it by our open folder, and the end says where it is."""
        for mode in (0o777, 0o2775):
            above = self.folder / f"open{mode:o}"
            above.mkdir()
            above.chmod(mode)
            words = f"mv {above}/run {above}/moved; mkdir -m 777 {above}/run; exec {sys.executable} agent.py"
            done = self.gapless("profile", "-o", above / "run", "--", "sh", "-c", words)
            self.assertEqual(done.returncode, OURS, done.stderr)
            self.assertIn(f"somebody moved {above}/run while the command ran, to {above}/moved", done.stderr)
            self.assertEqual(list((above / "run").iterdir()), [])
            self.assertEqual(len(self.rows(above / "moved", "SELECT * FROM step")), 3)

    def test_a_folder_above_with_the_sticky_bit_is_one(self) -> None:
        sticky = self.folder / "sticky"
        sticky.mkdir()
        sticky.chmod(0o1777)
        self.assertEqual(self.loaded_from(sticky / "run"), sticky / "run/tools/agent")

    def test_only_links_of_our_own_are_followed(self) -> None:
        other, link = self.folder / "other", self.folder / "run"
        other.mkdir()
        link.symlink_to(other)
        if os.geteuid() == 0:
            os.chown(link, 65534, 65534, follow_symlinks=False)
            done = self.gapless("profile", "-o", "run", "--", "true")
            self.assertEqual(done.returncode, OURS)
            self.assertIn("a link that belongs to somebody else", done.stderr)
            self.assertEqual(list(other.iterdir()), [])
            os.chown(link, 0, 0, follow_symlinks=False)
        self.assertEqual(self.gapless("profile", "-q", "-o", "run", "--", "true").returncode, 0)
        self.assertTrue((other / "manifest.json").exists())

    def test_all_of_it_is_for_its_owner_only(self) -> None:
        for mask in (0o000, 0o022):
            run = self.folder / f"run{mask:o}"
            words = f"umask {mask:04o}; exec {PROGRAM} profile -q -o {run} --hz 20 -- {sys.executable} agent.py 1"
            done = subprocess.run(
                ["sh", "-c", words], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.mode(run), 0o700)
            for name in ("manifest.json", "telemetry.gts", "control"):
                self.assertEqual(self.mode(run / name), 0o600, name)
            events = list(run.glob("main/*.events"))
            self.assertEqual([self.mode(path) for path in events], [0o600])

    def test_links_in_a_run_folder_lead_nowhere(self) -> None:
        self.assertEqual(self.gapless("profile", "-q", "-o", "run", "--", sys.executable, "agent.py").returncode, 0)
        self.assertEqual(self.gapless("profile", "-q", "-o", "other", "--", sys.executable, "agent.py").returncode, 0)
        before = self.rows("run", "SELECT * FROM trace")
        for events in (self.folder / "other").glob("main/*.events"):
            (self.folder / "run/main/agent-1.events").symlink_to(events)
        (self.folder / "run/rank7").symlink_to(self.folder / "other/main")
        self.assertEqual(self.rows("run", "SELECT * FROM trace"), before)


class FullDisk(Case):
    """The program goes on, what is missing is named, and what is there can be analysed."""

    @contextlib.contextmanager
    def small_disk(self, kilobytes: int) -> Iterator[Path]:
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0:
            self.skipTest("only root mounts a disk")
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", disk], capture_output=True, text=True, check=False
        )  # fmt: skip
        if made.returncode != 0:
            self.skipTest(f"no disk can be mounted here: {made.stderr.strip()}")
        try:
            yield disk
        finally:
            subprocess.run(["umount", "-l", disk], check=True)

    def fill(self, disk: Path, after: str, status: int = 0, *, before: str = "") -> str:
        """The words of a shell that fills the disk up in the middle of its work."""
        return f"{before} dd if=/dev/zero of={disk}/filler bs=4k status=none 2>/dev/null; {after}; exit {status}"

    def test_of_telemetry_and_manifest(self) -> None:
        with self.small_disk(4096) as disk:
            words = self.fill(disk, "sleep 1.5", before="sleep 0.4;")
            done = self.gapless("profile", "-o", disk / "run", "--hz", 100, "--", "sh", "-c", words)
            self.assertEqual(done.returncode, OURS, done.stderr)
            self.assertIn("No space left on device", done.stderr)
            self.assertIn("telemetry.gts", done.stderr)
            self.assertIn("the record is not complete", done.stderr.splitlines()[0], "the cause comes first")
            self.assertNotIn("steps are seen where", done.stderr)
            self.assertNotIn("manifest.json", done.stderr, "its place was kept")
            manifest = json.loads((disk / "run/manifest.json").read_text(encoding="utf-8"))
            self.assertEqual(manifest["state"], "ended")
            self.assertIn("telemetry.gts", " ".join(manifest["incomplete"]))
            self.assertGreater(self.rows(disk / "run", "SELECT count(*) AS n FROM counter")[0]["n"], 0)
            self.assertEqual([path.name for path in (disk / "run").iterdir() if path.name.startswith(".")], [])

    def test_the_commands_own_status_comes_first(self) -> None:
        with self.small_disk(4096) as disk:
            words = self.fill(disk, "sleep 1", status=7)
            done = self.gapless("profile", "-q", "-o", disk / "run", "--hz", 100, "--", "sh", "-c", words)
            self.assertEqual(done.returncode, 7)
            self.assertIn("No space left on device", done.stderr)

    def test_of_what_the_agent_reports(self) -> None:
        more = PLAYS_AGENT.replace("steps, now = 3,", "steps, now = 4000,").replace("64, 16,", "64, 4096,")
        more = more.replace("16 * 64", "4096 * 64").replace("os.rename", "os.system(sys.argv[2]); os.rename")
        (self.folder / "agent.py").write_text(more, encoding="utf-8")
        with self.small_disk(4096) as disk:
            fill = f"dd if=/dev/zero of={disk}/filler bs=4k status=none 2>/dev/null"
            done = self.gapless("profile", "-o", disk / "run", "--hz", 0, "--", sys.executable, "agent.py", 1, fill)
            self.assertEqual(done.returncode, OURS, done.stderr)
            self.assertRegex(done.stderr, r"agent-\d+\.events: No space left on device")
            self.assertEqual(self.rows(disk / "run", "SELECT count(*) AS n FROM step")[0]["n"], 4000)

    def test_a_limit_on_files_is_an_error_and_no_signal(self) -> None:
        words = f"ulimit -f 8; exec {PROGRAM} profile -o run -- true"
        done = subprocess.run(
            ["sh", "-c", words], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, OURS, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_json_names_what_is_missing(self) -> None:
        with self.small_disk(4096) as disk:
            words = self.fill(disk, "sleep 1")
            done = self.gapless("profile", "-q", "--json", "-o", disk / "run", "--hz", 100, "--", "sh", "-c", words)
            self.assertEqual(done.returncode, OURS)
            self.assertIn("telemetry.gts", json.loads(done.stdout)["incomplete"][0])

    @cases.not_in_ci
    def test_the_program_with_pytorch_goes_on(self) -> None:
        if not PYTHON.exists():
            self.skipTest("no PyTorch: tools/torch_env.sh")
        script = self.folder / "train.py"
        script.write_text(TRAINS, encoding="utf-8")
        with self.small_disk(16384) as disk:
            for left in (0, 40, 1024, 4400):
                run = disk / f"run{left}"
                fill = f"dd if=/dev/zero of={disk}/filler bs=4k status=none 2>/dev/null; truncate -s -{left}K {disk}/filler"
                done = self.gapless("profile", "-o", run, "--hz", 0, "--", PYTHON, script, fill)
                self.assertIn("trained", done.stdout, done.stderr)
                complete = "No space left on device" not in done.stderr
                self.assertEqual(done.returncode, 0 if complete else OURS, done.stderr)
                self.assertEqual(
                    complete, "incomplete" not in json.loads((run / "manifest.json").read_text(encoding="utf-8"))
                )
                self.assertTrue(left or not complete, "with no space at all the ring is missing")
                self.assertEqual(list(run.glob("*/.*")), [], "nothing half made takes the space that is left")
                (disk / "filler").unlink()


class SeveralLaunchers(Case):
    """`srun gapless profile -o X -- CMD`: one run, with a rank for each task."""

    def start(
        self,
        tasks: range,
        words: list[str],
        *,
        run: str = "run",
        of: int = 0,
        variables: dict[str, str] | None = None,
        before: tuple[str, ...] = (),
    ) -> list[subprocess.Popen[str]]:
        """As `srun` starts them, all at once."""
        started = []
        for task in tasks:
            count = str(of or len(tasks))
            slurm = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(task), "SLURM_NTASKS": count}
            command = [*before, str(PROGRAM), "profile", "-o", run, "--hz", "50", "--", *words]
            environment = {**self.environment, **slurm, **(variables or {})}
            started.append(
                subprocess.Popen(
                    command, cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
                )
            )
        return started

    def job(self, tasks: range, *, sleep: float = 0.3, **more: Any) -> list[subprocess.Popen[str]]:
        return self.start(tasks, [sys.executable, "agent.py", str(sleep)], **more)

    def finish(self, started: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
        done = []
        for process in started:
            _, errors = process.communicate(timeout=LIMIT_S)
            done.append((process.returncode, errors))
        return done

    def test_are_one_run(self) -> None:
        for attempt in range(3):
            run = f"run{attempt}"
            for status, errors in self.finish(self.job(range(4), run=run)):
                self.assertEqual(status, 0, errors)
            ranks = self.rows(run, "SELECT DISTINCT rank FROM trace WHERE format = 'agent' ORDER BY rank")
            self.assertEqual([row["rank"] for row in ranks], [0, 1, 2, 3])
            self.assertEqual(self.analyze(run)["run"]["ranks"], [0, 1, 2, 3])
            self.assertEqual(self.rows(run, "SELECT count(*) AS n FROM step")[0]["n"], 12)
            manifests = sorted((self.folder / run).glob("manifest*.json"))
            self.assertEqual(len(manifests), 4)
            for path in manifests:
                manifest = json.loads(path.read_text(encoding="utf-8"))
                self.assertEqual(manifest["state"], "ended")
                self.assertEqual(len(manifest["processes"]), 1, "each launcher tells of its own processes")
            self.assertEqual(len(list((self.folder / run).glob("telemetry*.gts"))), 4)
            lost = self.rows(run, "SELECT kind FROM read_stats WHERE severity <> 'info'")
            self.assertEqual(lost, [], "no file was written by two")

    def test_of_several_hosts_are_one_run(self) -> None:
        hosts = [("unshare", "--uts", "sh", "-c", f'hostname node{n}; exec "$@"', "sh") for n in range(2)]
        if subprocess.run([*hosts[0], "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("hosts cannot be played here: that takes root and unshare")
        started = [launcher for n in range(2) for launcher in self.job(range(n, n + 1), of=2, before=hosts[n])]
        self.assertEqual([status for status, _ in self.finish(started)], [0, 0])
        found = self.rows("run", "SELECT rank, host FROM trace WHERE format = 'agent' ORDER BY rank")
        self.assertEqual([(row["rank"], row["host"]) for row in found], [(0, "node0"), (1, "node1")])
        self.assertEqual(len(self.rows("run", "SELECT DISTINCT host FROM trace WHERE format = 'telemetry'")), 2)

    def test_one_that_comes_late_joins(self) -> None:
        first = self.job(range(2), sleep=2, of=3)
        time.sleep(0.7)
        late = self.job(range(2, 3), sleep=0.1, of=3)
        self.assertEqual([status for status, _ in self.finish(first + late)], [0, 0, 0])
        self.assertEqual(self.analyze("run")["run"]["ranks"], [0, 1, 2])

    def test_another_job_does_not_join(self) -> None:
        first = self.job(range(1), sleep=2, of=2)
        time.sleep(0.7)
        for variables in ({"SLURM_STEP_ID": "1"}, {"SLURM_JOB_ID": "78"}, {"SLURM_RESTART_COUNT": "1"}):
            other = self.finish(self.job(range(1, 2), of=2, variables=variables))
            self.assertEqual(other[0][0], OURS)
            self.assertIn("not empty", other[0][1])
        self.assertEqual(self.finish(first)[0][0], 0)

    def test_a_task_joins_once(self) -> None:
        self.finish(self.job(range(2)))
        for status, errors in self.finish(self.job(range(2))):
            self.assertEqual(status, OURS)
            self.assertIn("not empty", errors)

    def test_a_launcher_without_a_job_never_joins(self) -> None:
        first = self.job(range(2), sleep=2)
        time.sleep(0.7)
        done = self.gapless("profile", "-o", "run", "--", "true")
        self.assertEqual(done.returncode, OURS)
        self.assertIn("not empty", done.stderr)
        self.finish(first)

    @cases.not_in_ci
    def test_are_one_run_of_pytorch(self) -> None:
        if not PYTHON.exists():
            self.skipTest("no PyTorch: tools/torch_env.sh")
        (self.folder / "train.py").write_text(TRAINS, encoding="utf-8")
        for status, errors in self.finish(self.start(range(4), [str(PYTHON), "train.py"])):
            self.assertEqual(status, 0, errors)
        for table in ("agent", "kineto"):
            found = self.rows("run", f"SELECT DISTINCT rank FROM all_trace WHERE format = '{table}' ORDER BY rank")
            self.assertEqual([row["rank"] for row in found], [0, 1, 2, 3], table)
        self.assertEqual(self.analyze("run")["run"]["ranks"], [0, 1, 2, 3])
        counts = self.rows("run", "SELECT rank, count(*) AS n FROM all_step WHERE source = 'agent' GROUP BY rank")
        self.assertEqual([row["n"] for row in counts], [30] * 4)

    def test_a_command_that_is_not_there_leaves_nothing(self) -> None:
        started = self.start(range(3), ["no-such-program"])
        self.assertEqual([status for status, _ in self.finish(started)], [127, 127, 127])
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    sys.exit(cases.main(sys.argv[2:]))
