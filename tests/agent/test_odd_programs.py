# SPDX-License-Identifier: Apache-2.0
"""Some fifty programs that do odd things (odd_programs.py) print the same, and end with the same status, with the agent and without."""

from __future__ import annotations

from pathlib import Path

from cases import in_ci
from harness import AgentTest

HERE = Path(__file__).resolve().parent
ODD = HERE / "odd_programs.py"
FEWEST = 40

# A module of the program's own hides one of the standard library's, which the agent uses, too.
OWN_MODULE = "import json, torch\nprint(json.dumps({}), torch.ones(1).item())\n"
# Files of the interpreter that are closed before it starts.
NO_STREAMS = """
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
open("done", "w").write("done")
"""


class OddPrograms(AgentTest):
    @in_ci
    def test_each_does_what_it_does_without(self) -> None:
        without = self.execute(ODD, agent=False)
        done = self.execute(ODD, options={"record": {"wait": 2, "warmup": 2, "active": 8}})
        self.assertEqual((without.code, done.code), (0, 0), done.err)
        before, after = without.out.splitlines(), done.out.splitlines()
        self.assertGreaterEqual(len(before), FEWEST)
        self.assertEqual([line for line in after if line not in before], [])
        self.assertEqual(len(before), len(after))

    def test_options_that_keep_the_agent_out(self) -> None:
        script = self.script(
            "import sys; print(sys.flags.isolated, sys.flags.no_site, sys.flags.ignore_environment); sys.exit(4)"
        )
        for option in ("-I", "-E", "-S", "-Im", "-B", "-O", "-u"):
            words = (option, "this") if option == "-Im" else (option, script)
            both = [self.execute(*words, agent=agent) for agent in (False, True)]
            self.assertEqual(*[(done.code, done.out, done.err) for done in both])

    def test_a_module_of_the_programs_own(self) -> None:
        (self.folder / "json.py").write_text("def dumps(_):\n    return 'own'\n", encoding="utf-8")
        both = [self.execute(self.script(OWN_MODULE), agent=agent) for agent in (False, True)]
        self.assertEqual(*[(done.code, done.out) for done in both])

    def test_started_without_standard_streams(self) -> None:
        script = self.script(NO_STREAMS)
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            for agent in (False, True):
                done = self.execute(script, agent=agent, shell=f'exec "$0" "$@" {closed}')
                self.assertEqual((done.code, (self.folder / "done").read_text()), (0, "done"), done.err)
                (self.folder / "done").unlink()
