# SPDX-License-Identifier: Apache-2.0
"""The agent writes only below the run folder, for its owner only; a failed write loses that file alone."""

from __future__ import annotations

import stat
from pathlib import Path

from harness import AgentTest, layout

TRAINS = """
    import os, torch
    os.umask(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(30):
        net(torch.randn(8, 4)).sum().backward()
        optimizer.step()
    print("trained")
"""


def rights(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


class OwnFiles(AgentTest):
    def test_files_and_folders_are_for_their_owner(self) -> None:
        done = self.succeed(TRAINS, options={"python": "sample"})
        found = done.files("main/*")
        self.assertGreaterEqual({path.suffix for path in found}, {".ring", ".gz", ".json"})
        self.assertEqual({path.name: rights(path) for path in found}, {path.name: 0o600 for path in found})
        self.assertEqual(rights(done.run / "main"), 0o700)

    def test_a_link_in_the_place_of_the_folder_leads_nowhere(self) -> None:
        other = self.folder / "other"
        other.mkdir()
        (self.run_folder / "main").symlink_to(other)
        done = self.succeed(TRAINS, options={"python": "sample"})
        self.assertEqual(done.out, "trained\n")
        self.assertEqual(list(other.iterdir()), [])

    def test_a_python_profile_that_cannot_be_written_is_told(self) -> None:
        script = self.script(
            TRAINS + "    os.mkdir(os.environ['GAPLESS_RUN'] + f'/main/python-{os.getpid()}.host.json')\n"
        )
        done = self.execute(script, options={"python": "sample"})
        self.assertEqual((done.code, done.out), (0, "trained\n"))
        ring = done.ring()
        told = [ring.text(record.a) for record in ring.of("message")]
        self.assertEqual(
            [text for text in told if "the Python profile could not be written: IsADirectory" in text], told
        )
        self.assertEqual(len(told), 1)
        self.assertEqual(ring.state, layout.STATE_ENDED)
        self.assertEqual(done.files("main/*.part"), [])
