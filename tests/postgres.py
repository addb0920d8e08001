# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of the test's own: in a temporary folder, on the loopback address, stopped and gone at its end."""

from __future__ import annotations

import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def binaries() -> str | None:
    """Returns where initdb and pg_ctl are."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    def __init__(self, folder_of_programs: str) -> None:
        self.bin = folder_of_programs
        self.folder = Path(tempfile.mkdtemp(prefix="gapless-pg-"))
        self.port = free_port()
        self.databases = 0
        # PostgreSQL refuses to run as root.
        root = os.geteuid() == 0
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if root else []
        if root:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-D", str(self.data), "-U", "gapless", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _run(self, program: str, *words: str) -> None:
        command = [*self.user, f"{self.bin}/{program}", *words]
        subprocess.run(command, cwd="/", check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        log = str(self.folder / "log")
        for attempts_left in range(50, -1, -1):  # after kill() processes of before may still hold its memory
            try:
                return self._run("pg_ctl", "-w", "-t", "60", "-D", str(self.data), "-l", log, "-o", options, "start")
            except subprocess.CalledProcessError:
                if attempts_left == 0:
                    raise
                time.sleep(0.2)

    def kill(self) -> None:
        """SIGKILL to the server and all of its processes, as when the machine fails."""
        master = int((self.data / "postmaster.pid").read_text().split()[0])
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(master)], capture_output=True, text=True, check=False
        )
        for pid in [master, *map(int, children.stdout.split())]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def new_database(self) -> str:
        self.databases += 1
        name = f"history{self.databases}"
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "gapless", name)
        return f"postgresql://gapless@127.0.0.1:{self.port}/{name}"

    def stop(self) -> None:
        try:
            self._run("pg_ctl", "-w", "-m", "immediate", "-D", str(self.data), "stop")
        except subprocess.CalledProcessError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
