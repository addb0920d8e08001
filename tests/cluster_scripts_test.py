#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts that `gapless slurm-script` and `gapless kubernetes-job` print: names of users are never run, and each rank is in one task.

usage: cluster_scripts_test.py PROGRAM [unittest options]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import cluster_job
from cluster_job import has
from corpus import ROOT

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else str(ROOT / "build/gapless")
# The fields of batch/v1 Job of Kubernetes 1.29, reduced by hand to what a manifest of ours may have; nothing else may be in it.
CONTAINER = {
    "type": "object", "additionalProperties": False, "required": ["name", "image"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}, "image": {"type": "string", "minLength": 1},
        "command": {"type": "array", "items": {"type": "string"}},
        "resources": {
            "type": "object", "additionalProperties": False,
            "properties": {name: {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[0-9.]+[a-zA-Z]*$"}} for name in ("requests", "limits")},
        },
        "envFrom": {"type": "array", "items": {
            "type": "object", "additionalProperties": False, "properties": {"secretRef": {"type": "object", "required": ["name"]}}}},
        "volumeMounts": {"type": "array", "items": {"type": "object", "additionalProperties": False, "required": ["name", "mountPath"],
                                                    "properties": {"name": {"type": "string"}, "mountPath": {"type": "string"}}}},
    },
}  # fmt: skip
POD = {
    "type": "object", "additionalProperties": False, "required": ["restartPolicy", "containers"],
    "properties": {
        "restartPolicy": {"const": "Never"},  # backoffLimitPerIndex wants it
        "containers": {"type": "array", "minItems": 1, "items": CONTAINER},
        "volumes": {"type": "array", "items": {
            "type": "object", "additionalProperties": False, "required": ["name"],
            "properties": {"name": {"type": "string"}, "persistentVolumeClaim": {
                "type": "object", "additionalProperties": False, "required": ["claimName"], "properties": {"claimName": {"type": "string"}}}}}},
    },
}  # fmt: skip
NUMBER = {"type": "integer", "minimum": 0}
JOB_SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "batch/v1"}, "kind": {"const": "Job"},
        "metadata": {"type": "object", "required": ["name"], "additionalProperties": False,
                     "properties": {"name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}}},
        "spec": {
            "type": "object", "additionalProperties": False, "required": ["template", "completionMode", "completions"],
            "properties": {
                "completionMode": {"enum": ["Indexed", "NonIndexed"]}, "completions": NUMBER, "parallelism": NUMBER,
                "backoffLimitPerIndex": NUMBER, "maxFailedIndexes": NUMBER,
                "template": {"type": "object", "additionalProperties": False, "required": ["spec"], "properties": {"spec": POD}},
            },
        },
    },
}  # fmt: skip


class Scripts(cluster_job.Case):
    def tasks(self, script: str, variable: str, count: int) -> list[str]:
        """The words that the tasks hand to the program."""
        bin_folder = self.here / "bin"
        bin_folder.mkdir(exist_ok=True)
        (bin_folder / "gapless").write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n')
        (bin_folder / "gapless").chmod(0o755)
        words = []
        for index in range(count):
            environment = {"PATH": f"{bin_folder}:/usr/bin:/bin", variable: str(index)}
            done = subprocess.run(
                ["sh", "-c", script], env=environment, cwd=self.here, capture_output=True, text=True, check=True
            )
            words += [line for line in done.stdout.splitlines() if "rank" in line]
        return words

    def test_slurm(self) -> None:
        odd = 'it\'s $(touch pwned) `touch pwned` "rank{}" {:03}.json'
        for ranks, per_task in ((10, 3), (10, 10), (1, 1), (9, 3)):
            done = self.written(
                "slurm-script", odd, "--ranks", ranks, "--per-task", per_task, "--summaries", "s; touch pwned"
            )
            self.assertEqual(done["tasks"], -(-ranks // per_task))
            script = done["script"].split("<<'END_OF_TASK'\n")[1].split("END_OF_TASK")[0]
            expected = [odd.replace("{}", str(rank)).replace("{:03}", f"{rank:03}") for rank in range(ranks)]
            self.assertEqual(self.tasks(script, "SLURM_ARRAY_TASK_ID", done["tasks"]), expected)
        self.assertFalse((self.here / "pwned").exists())

    def test_ten_thousand_ranks_fit_into_an_array(self) -> None:
        done = self.written("slurm-script", "rank{}", "--ranks", 10_000, "--summaries", "s")
        self.assertEqual((done["tasks"], done["per_task"]), (1000, 10))
        self.assertIn("--array=0-999 ", done["script"])
        done = self.written("slurm-script", "rank{}", "--ranks", 1001, "--summaries", "s")
        self.assertLess(done["tasks"], 1001)

    def test_recordings_that_are_here(self) -> None:
        done = self.written("slurm-script", self.job, "--summaries", "s", "--per-task", 4)
        script = done["script"].split("<<'END_OF_TASK'\n")[1].split("END_OF_TASK")[0]
        self.assertEqual(sorted(self.tasks(script, "SLURM_ARRAY_TASK_ID", 2)), sorted(map(str, self.job.iterdir())))

    def test_the_submission_is_what_sbatch_gets(self) -> None:
        (self.here / "bin").mkdir()
        (self.here / "bin/sbatch").write_text(
            f"#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done >> '{self.here}/asked'\ncat >> '{self.here}/given'\necho 77\n"
        )
        (self.here / "bin/sbatch").chmod(0o755)
        done = self.written(
            "slurm-script", "rank{}", "--ranks", 4, "--summaries", self.here / "a 100% job", "--partition", "a b", "--mem", "4G",
            "--time", "1:00:00", "--cpus", 2, "--report", "the report's.md",
        )  # fmt: skip
        ran = subprocess.run(
            ["sh"], input=done["script"], env={"PATH": f"{self.here}/bin:/usr/bin:/bin"}, capture_output=True, text=True, check=True
        )  # fmt: skip
        asked = (self.here / "asked").read_text().splitlines()
        for word in (
            "--array=0-3",
            "--partition=a b",
            "--mem=4G",
            "--time=1:00:00",
            "--cpus-per-task=2",
            "--dependency=afterany:77",
        ):
            self.assertIn(word, asked)
        self.assertIn(f"--output={self.here}/a 100%% job/slurm-%A_%a.out", asked)
        self.assertTrue((self.here / "a 100% job").is_dir())
        self.assertIn("-o 'the report'\\''s.md'", (self.here / "given").read_text())
        self.assertIn("array 77 of 4 tasks", ran.stdout)

    def test_what_cannot_be_is_refused(self) -> None:
        for words, says in (
            (["slurm-script", "rank{}", "--summaries", "s"], "how many ranks"),
            (["slurm-script", "rank0", "--ranks", "3", "--summaries", "s"], "no {} stands"),
            (["slurm-script", "rank{}", "--ranks", "3"], "no folder for the summaries"),
            (["slurm-script", "rank{}\nEND_OF_TASK", "--ranks", "3", "--summaries", "s"], "control characters"),
            (["kubernetes-job", "rank{}", "--ranks", "3", "--summaries", "s"], "no image"),
            (["kubernetes-job", "r{}", "--ranks", "3", "--summaries", "s", "--image", "i", "--name", "A_b"], "no name of Kubernetes"),
        ):  # fmt: skip
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(says, done.stderr)

    @unittest.skipUnless(has("yaml", "jsonschema"), "not installed: PyYAML, jsonschema")
    def test_kubernetes(self) -> None:
        """Against the schema of batch/v1 Job, reduced to what is used: no cluster has run it."""
        import jsonschema
        import yaml

        more: list[str | int | Path] = [
            "--claim",
            "runs",
            "--secret",
            "s3-access",
            "--mem",
            "4Gi",
            "--cpus",
            2,
            "--parallelism",
            7,
        ]
        none: list[str | int | Path] = []
        for extra in (none, more):
            done = self.written(
                "kubernetes-job", "it's: \"rank{}\" #.json", "--ranks", 12, "--summaries", "s3://r/s", "--image", "a/b:1", *extra
            )  # fmt: skip
            job = yaml.safe_load(done["script"])
            jsonschema.Draft7Validator(JOB_SCHEMA).validate(job)
            self.assertEqual((job["spec"]["completions"], done["tasks"]), (12, 12))
            script = job["spec"]["template"]["spec"]["containers"][0]["command"][2]
            self.assertEqual(
                self.tasks(script, "JOB_COMPLETION_INDEX", 12), [f'it\'s: "rank{rank}" #.json' for rank in range(12)]
            )

    def written(self, verb: str, *words: str | int | Path) -> dict[str, Any]:
        done = subprocess.run([PROGRAM, verb, *map(str, words), "--json"], capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
