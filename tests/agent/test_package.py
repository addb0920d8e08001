# SPDX-License-Identifier: Apache-2.0
"""The Python package: `gapless.step()`, regions, and what collects from Python."""

from __future__ import annotations

import os

from cases import in_ci
from harness import AGENT, ROOT, AgentTest, layout

REGION = """
    import json, gzip, sys, torch
    assert "torch" in sys.modules
    import gapless
    net = torch.nn.Linear(4, 1)
    with gapless.profile("records") as region:
        for _ in range(3):
            net(torch.randn(8, 4)).sum().backward()
            region.step()
    @gapless.profile("decorated", stacks=False)
    def work():
        return net(torch.randn(2, 4)).shape[0]
    print(work())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        try:
            with gapless.profile("never"): pass
        except RuntimeError as error: print(error)
    print(region.path)
    tracker = gapless.PerformanceTracker()
    tracker.start_step()
    print(sorted(tracker.end_step(8).items())[0])
    loader = torch.utils.data.DataLoader(torch.randn(64, 4), batch_size=4)
    result = gapless.PyTorchProfiler().profile_training_step(net, loader, 5, "steps")
    print(result.profiler_type.value, result.summary["steps"], net.weight.grad)
"""


class Package(AgentTest):
    def test_regions_and_classes(self) -> None:
        path = os.pathsep.join([str(ROOT / "python"), str(AGENT)])
        done = self.succeed(REGION, agent=False, env={"PYTHONPATH": path, "GAPLESS_PROGRAM": "", "PATH": ""})
        lines = done.out.splitlines()
        self.assertEqual(lines[:2], ["2", "another profiler of PyTorch is already running"])
        self.assertRegex(lines[2], r"/records/main/main_\d+\.\d+\.pt\.trace\.json\.gz$")
        self.assertEqual(lines[3:], ["('memory_gb', None)", "pytorch 5 None"])
        found = sorted(file.parts[-3] for file in self.folder.glob("*/main/*.gz"))
        self.assertEqual(found, ["decorated", "records", "steps"])

    @in_ci
    def test_installed_package_and_agent(self) -> None:
        """The package is found before the agent's stand-in, and its step() reaches the agent."""
        env = {"PYTHONPATH": os.pathsep.join([str(AGENT), str(ROOT / "python")])}
        ring = self.succeed(
            """
            import gapless, torch
            assert hasattr(gapless, "PyTorchProfiler")
            for _ in range(4): gapless.step()
            """,
            env=env,
        ).ring()
        self.assertEqual([record.flags & layout.FLAG_EXPLICIT for record in ring.of("step")], [4] * 4)
