#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gapless.cluster on real engines, each with a job of many ranks of which one recording is bad and one worker is killed: Ray on three nodes
of which one is removed while it works, Dask, submitit, and Slurm on two nodes with the script that `gapless slurm-script` prints. The
report has the bytes of one that processes of this machine made, the bad recording is named, and a second call runs no task.

Ray outside of a network namespace binds the machine's own address, so its tests run in one where that is allowed. Slurm needs root and
the packages slurmctld, slurmd, slurm-client and munge.

usage: cluster_engines_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import cluster_job
from cluster_job import forget_tries, has, report_of, stand_in, tries, write_job
from corpus import ROOT

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
RANKS, BAD, KILLED = 64, 7, 5
KILL = "kill -9 $PPID; exit 9"  # the worker, which started the program
INSIDE = "GAPLESS_TEST_IN_NAMESPACE"
SLURM = ("slurmctld", "slurmd", "sbatch", "squeue", "munged")
LIMIT = 180  # seconds for the jobs of Slurm


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Case(unittest.TestCase):
    job: Path
    folder: tempfile.TemporaryDirectory[str]
    expected: Any  # the report that processes make

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory(prefix="gt-")  # sockets have short names
        cls.addClassCleanup(cls.folder.cleanup)
        cls.job = write_job(Path(cls.folder.name) / "job", RANKS, BAD)
        cls.expected = cluster.analyze(cls.job, on="processes")

    def setUp(self) -> None:
        here = tempfile.TemporaryDirectory()
        self.addCleanup(here.cleanup)
        self.here = Path(here.name)
        program = stand_in(PROGRAM, self.here, KILLED, KILL, pause=0.2)
        changed = mock.patch.dict(os.environ, {"GAPLESS_PROGRAM": program})
        changed.start()
        self.addCleanup(changed.stop)

    def check(self, engine: str, on: Any, **more: Any) -> None:
        """One call that makes everything, with faults, and one that makes nothing."""
        began = time.monotonic()
        report = cluster.analyze(self.job, on=on, summaries=self.here / "s", **more)
        took = time.monotonic() - began
        self.assertEqual(report.text, self.expected.text)
        self.assertEqual(json.loads(report.json), json.loads(self.expected.json))
        self.assertEqual(list(report.lost), [str(self.job / f"rank{BAD}.json")])
        self.assertEqual(tries(self.here, BAD), 1)
        self.assertEqual(tries(self.here, KILLED), 2)
        print(
            f"{engine}: {len(report.summarized)} of {RANKS} ranks in {took:.1f} s, {tries(self.here)} tasks began, "
            f"rank {KILLED} {tries(self.here, KILLED)} times", file=sys.stderr,
        )  # fmt: skip
        forget_tries(self.here)
        again = cluster.analyze(self.job, on=on, summaries=self.here / "s")
        self.assertEqual((again.summarized.made, again.text), (0, report.text))
        self.assertEqual((tries(self.here), tries(self.here, BAD)), (1, 1))  # of the bad one there is no summary
        left = sorted(path.name for path in (self.here / "s").iterdir())
        self.assertEqual((len(left), all(name.startswith("rank-") for name in left)), (RANKS - 1, True))


@unittest.skipUnless(has("ray"), "not installed: ray (tools/cluster_env.sh all)")
class Ray(Case):
    @contextlib.contextmanager
    def nodes(self) -> Iterator[list[Any]]:
        import ray
        from ray.cluster_utils import Cluster

        size = {"num_cpus": 1, "object_store_memory": 80 << 20}
        nodes = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
        try:
            more = [nodes.add_node(**size) for _ in range(2)]
            ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
            nodes.wait_for_nodes()
            yield [nodes, *more]
        finally:
            ray.shutdown()
            nodes.shutdown()

    def test_three_nodes_of_which_one_is_removed(self) -> None:
        with self.nodes() as (nodes, first, _):
            removed: list[int] = []

            def remove(done: int, _: int) -> None:
                if done >= RANKS // 4 and not removed:
                    removed.append(done)
                    nodes.remove_node(first, allow_graceful=False)

            self.check("Ray, three nodes, one removed", "ray", progress=remove, memory=100 << 20)
            self.assertEqual(len(removed), 1)
            self.assertIs(type(engines.engine_for(None, None, 3)), engines.Ray)  # it is connected, so it is taken

    def test_a_cluster_that_the_environment_names(self) -> None:
        with self.nodes() as (nodes, *_):
            import ray

            ray.shutdown()  # only this process's connection
            with mock.patch.dict(os.environ, {"RAY_ADDRESS": nodes.address}):
                report = cluster.analyze(self.job / "rank0.json")
            self.assertEqual(report.ranks, [0])
            self.assertFalse(ray.is_initialized())


@unittest.skipUnless(has("distributed"), "not installed: distributed (tools/cluster_env.sh all)")
class Dask(Case):
    def test_a_local_cluster(self) -> None:
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
            Client(workers) as client,
        ):
            self.check("Dask, two workers", client.get_executor())


@unittest.skipUnless(has("submitit"), "not installed: submitit (tools/cluster_env.sh all)")
class Submitit(Case):
    def test_the_local_executor(self) -> None:
        import submitit

        executor = submitit.AutoExecutor(folder=self.here / "jobs", cluster="local")
        self.check("submitit, local", executor)


@unittest.skipUnless(all(shutil.which(one) for one in SLURM), f"not installed: {', '.join(SLURM)}")
@unittest.skipUnless(os.geteuid() == 0, "only root starts the daemons of Slurm")
class Slurm(Case):
    state: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        made = tempfile.TemporaryDirectory(prefix="gs-")
        cls.addClassCleanup(made.cleanup)
        cls.state = Path(made.name)
        for name in ("state", "spool_n1", "spool_n2", "munge"):
            (cls.state / name).mkdir()
        ports = free_ports(3)
        host = socket.gethostname().split(".")[0]
        munge = cls.state / "munge"
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o400)
        cls.state.chmod(0o755)
        munge.chmod(0o755)
        (cls.state / "slurm.conf").write_text(f"""
ClusterName=t
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge}/socket
StateSaveLocation={cls.state}/state
SlurmdSpoolDir={cls.state}/spool_%n
SlurmctldPidFile={cls.state}/slurmctld.pid
SlurmdPidFile={cls.state}/slurmd_%n.pid
SlurmctldLogFile={cls.state}/slurmctld.log
SlurmdLogFile={cls.state}/slurmd_%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=p Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
""")
        daemons = [
            ["munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
             f"--log-file={munge}/log", f"--seed-file={munge}/seed"],
            ["slurmctld", "-D", "-c", "-f", str(cls.state / "slurm.conf")],
            *(["slurmd", "-D", "-N", node, "-f", str(cls.state / "slurm.conf")] for node in ("n1", "n2")),
        ]  # fmt: skip
        for words in daemons:
            log = (cls.state / f"{words[0]}.out").open("ab")
            cls.addClassCleanup(log.close)
            # slurmd ends its process group, in which this process must not be.
            daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            cls.addClassCleanup(daemon.wait, 20)
            cls.addClassCleanup(daemon.terminate)
            time.sleep(1)
        end = time.monotonic() + 30
        while cls.slurm("sinfo", "-h", "-o", "%T %D").strip() != "idle 2":
            if time.monotonic() > end:
                os.system(f"tail -n 30 {cls.state}/*.log {cls.state}/*.out {cls.state}/munge/log >&2")
                raise unittest.SkipTest(f"Slurm does not come up here: {cls.slurm('sinfo').strip()}")
            time.sleep(0.5)

    @classmethod
    def environment(cls, program_folder: str = "") -> dict[str, str]:
        return {
            **os.environ,
            "SLURM_CONF": str(cls.state / "slurm.conf"),
            "PATH": f"{program_folder}:{os.environ['PATH']}",
        }

    @classmethod
    def slurm(cls, *words: str) -> str:
        return subprocess.run(
            words, env=cls.environment(), capture_output=True, text=True, timeout=60, check=False
        ).stdout

    def test_an_array_and_the_report_behind_it(self) -> None:
        tools = self.here / "bin"
        tools.mkdir()
        (tools / "gapless").symlink_to(PROGRAM)
        began = time.monotonic()
        script = subprocess.run(
            [PROGRAM, "slurm-script", str(self.job / "rank{}.json"), "--ranks", str(RANKS), "--per-task", "4", "--summaries",
             str(self.here / "s"), "--report", str(self.here / "report.txt"), "--time", "10"], capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        said = subprocess.run(
            ["sh"],
            input=script,
            env=self.environment(str(tools)),
            cwd=self.here,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        while self.slurm("squeue", "-h").strip():
            self.assertLess(time.monotonic() - began, LIMIT, self.slurm("squeue"))
            time.sleep(0.5)
        took = time.monotonic() - began
        self.assertIn(f"of {RANKS // 4} tasks", said)
        self.assertEqual(len(list((self.here / "s").glob("rank-*.gapsum"))), RANKS - 1)
        logs = "".join(path.read_text() for path in (self.here / "s").glob("slurm-*"))
        self.assertIn(f"rank{BAD}.json: ", logs)
        good = [path for path in sorted(self.job.iterdir()) if path.name != f"rank{BAD}.json"]
        with mock.patch.dict(os.environ, {"GAPLESS_PROGRAM": PROGRAM}):
            cluster.summarize(good, on="processes", summaries=self.here / "p")
        report_of(PROGRAM, self.here / "p", "-o", self.here / "processes.txt")
        self.assertEqual((self.here / "report.txt").read_text(), (self.here / "processes.txt").read_text())
        print(
            f"Slurm, two nodes: {RANKS - 1} of {RANKS} ranks in {RANKS // 4} tasks, {took:.1f} s with the report",
            file=sys.stderr,
        )


def ray_in_a_namespace() -> int | None:
    """Runs the tests of Ray where the loopback address is the only one; None: that cannot be done here, or is done already."""
    inside = ["unshare", "--net", "--map-root-user"][: 2 if os.geteuid() == 0 else 3]
    if INSIDE in os.environ or not shutil.which("ip"):
        return None
    if subprocess.run([*inside, "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode != 0:
        return None
    script = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv[:2], "Ray"]
    return subprocess.run([*inside, *script], env={**os.environ, INSIDE: "1"}, check=False).returncode


if __name__ == "__main__":
    cluster_job.in_its_environment()
    cluster_job.use(PROGRAM)

from gapless import cluster
from gapless.cluster import engines

if __name__ == "__main__":
    wanted = sys.argv[2:] or ["Ray", "Dask", "Submitit", "Slurm"]
    status = ray_in_a_namespace() if "Ray" in wanted else None
    if status is not None:
        wanted.remove("Ray")
    if status or not wanted:
        sys.exit(status)
    unittest.main(argv=[sys.argv[0], *wanted])
