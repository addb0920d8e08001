# SPDX-License-Identifier: Apache-2.0
"""Role of a process in a job of several programs: by Ray's title of it, by its name in multiprocessing, by its server."""

from __future__ import annotations

import unittest
from unittest import mock

from cases import in_ci
from gapless_agent import job_role


@in_ci
class TestJobRole(unittest.TestCase):
    def test_actors_of_ray_have_the_role_of_their_class(self) -> None:
        for title, role in (("ray::Trainer.update", "Trainer"), ("ray::Trainer", "Trainer"), ("ray::IDLE", "")):
            with self.subTest(title), mock.patch.object(job_role, "_title", return_value=title):
                self.assertEqual(job_role.role(), role)

    def test_names_that_a_program_gave_are_roles_without_their_numbers(self) -> None:
        for name, role in (
            ("MainProcess", ""),
            ("SpawnProcess-3", ""),
            ("ForkProcess-1:2", ""),
            ("SpawnPoolWorker-4", ""),
            ("rollout-0", "rollout"),
            ("EngineCore_DP0", "EngineCore_DP"),
        ):
            process = mock.Mock()
            process.configure_mock(name=name)
            with self.subTest(name), mock.patch("multiprocessing.process.current_process", return_value=process):
                self.assertEqual(job_role.role(), role)

    def test_servers_of_models_are_known_by_their_program(self) -> None:
        with mock.patch.object(job_role, "program", return_value="vllm.entrypoints.openai.api_server"):
            self.assertEqual(job_role.role(), "vllm")
