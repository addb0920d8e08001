# SPDX-License-Identifier: Apache-2.0
"""Steps counted equal steps that a framework takes. One program each in frameworks/; those whose packages are missing are skipped.

frameworks/requirements.txt names the versions; GAPLESS_FRAMEWORKS is a Python that has them (tools/torch_env.sh frameworks).
"""

from __future__ import annotations

import os
import subprocess
import unittest
from pathlib import Path

import harness
from harness import ROOT, AgentTest, layout

FOLDER = Path(__file__).resolve().parent / "frameworks"
PYTHON = os.environ.get("GAPLESS_FRAMEWORKS") or str(ROOT / "build" / "torch-frameworks" / "bin" / "python")
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text())


class Frameworks(AgentTest):
    def count(self, name: str) -> None:
        if not Path(PYTHON).exists():
            self.skipTest(f"no {PYTHON}: run tools/torch_env.sh frameworks, or set GAPLESS_FRAMEWORKS")
        given = harness.environment(self.run_folder, {"record": {"on": False}}, {"HF_HUB_OFFLINE": "1"})
        program = [PYTHON, str(FOLDER / f"{name}.py")]
        done = subprocess.run(
            program, env=given, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode and "ModuleNotFoundError" in done.stderr:
            self.skipTest(done.stderr.strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        taken = int(next(line for line in done.stdout.splitlines() if line.startswith("steps ")).split()[1])
        rings = [harness.read_ring(path) for path in sorted(self.run_folder.glob("*/agent-*.ring"))]
        rings = [ring for ring in rings if ring.role == layout.ROLE_TRAINS and ring.of("step")]
        messages = [ring.text(record.a) for ring in rings for record in ring.of("message")]
        self.assertEqual(messages, [])
        self.assertEqual([len(ring.of("step")) for ring in rings], [taken])
        for ring in rings:
            inference = [record.a for record in ring.of("step") if record.flags & layout.FLAG_INFERENCE]
            self.assertEqual(inference, [])
            self.assertEqual(ring.state, layout.STATE_ENDED)


for _name in PROGRAMS:
    setattr(Frameworks, f"test_{_name}", lambda self, name=_name: self.count(name))


if __name__ == "__main__":
    unittest.main()
