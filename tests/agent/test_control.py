# SPDX-License-Identifier: Apache-2.0
"""Commands of the launcher are obeyed at the step that all ranks agree on, and acknowledged."""

from __future__ import annotations

import signal
import struct
import time
from pathlib import Path

from cases import in_ci
from harness import AgentTest, Ring, layout, make_control, post, traces

LOOP = """
    import time, torch
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    while True:
        net(torch.randn(8, 4)).sum().backward()
        optimizer.step()
        time.sleep(0.005)
"""

RANKS = """
    import os, time, torch, torch.distributed as dist
    dist.init_process_group("gloo")
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    over = torch.zeros(1)
    for step in range(3000):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).sum().backward()
        over[0] = float(os.path.exists("over"))
        dist.all_reduce(over)
        for parameter in net.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        time.sleep(0.01 * dist.get_rank())
        if over[0] > 0: break
    dist.destroy_process_group()
    time.sleep(0.5)  # gloo's threads still let go of the last work: see examples/planted/straggler_rank.py
"""


def steps_taken(path: Path) -> int:
    return int(struct.unpack_from("<Q", path.read_bytes()[:128], 72)[0])


class Control(AgentTest):
    def wait(self, condition: object, what: str) -> None:
        assert callable(condition)
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.02)

    def acknowledged(self, sequence: int, rings: int = 1) -> bool:
        paths = list(self.run_folder.glob("*/agent-*.ring"))
        values = [struct.unpack_from("<Q", path.read_bytes()[:128], 80)[0] for path in paths]
        return len(values) == rings and min(values) >= sequence

    @in_ci
    def test_commands_of_somebody_else_are_not_obeyed(self) -> None:
        """Whoever can write the control block can shorten it, which ends a process that has mapped it."""
        control = make_control(self.run_folder)
        control.chmod(0o666)
        post(control, layout.COMMAND_STOP)
        done = self.succeed(LOOP.replace("while True:", "for step in range(40):"))
        ring = done.ring()
        self.assertEqual((ring.step, ring.of("ack")), (40, []))
        self.assertIn("can be written by others", ring.text(ring.of("message")[0].a))

    def test_commands_of_one_process(self) -> None:
        control = make_control(self.run_folder)
        post(control, layout.COMMAND_FIX_ON, text="gc_freeze", at_step=4)
        post(control, layout.COMMAND_FIX_ON, text="gc_freeze")
        post(control, layout.COMMAND_FIX_OFF, text="gc_freeze", at_step=6)
        post(control, layout.COMMAND_FIX_ON, text="../no such fix", at_step=6)
        post(control, 99, at_step=6)
        post(control, layout.COMMAND_MEMORY, at_step=6)
        post(control, layout.COMMAND_RECORD, argument=2, text="why not", at_step=8)
        process = self.start(self.script(LOOP), options={"record": {"on": False}})
        self.wait(lambda: self.acknowledged(7), "the first commands are not obeyed")
        self.wait(lambda: len(list(self.run_folder.glob("main/*.gz"))) == 1, "no window is recorded")
        late = post(control, layout.COMMAND_RECORD, argument=2, at_step=0)
        self.wait(lambda: self.acknowledged(late), "a late command is not obeyed")
        self.wait(lambda: len(list(self.run_folder.glob("main/*.gz"))) == 2, "two windows are asked for")
        post(control, layout.COMMAND_STOP, argument=3)
        done = self.finish(process)
        self.assertEqual(done.code, -signal.SIGINT, done.err)
        self.assertIn("KeyboardInterrupt", done.err)
        ring = done.ring()
        done_, unknown, none = layout.ACK_DONE, layout.ACK_UNKNOWN, layout.ACK_NOT_APPLICABLE
        acks = {record.a: record for record in ring.of("ack")}
        values = [acks[sequence].value for sequence in range(1, 10)]
        self.assertEqual(values, [none, done_, done_, unknown, unknown, none, done_, layout.ACK_LATE, done_])
        self.assertEqual([acks[sequence].b for sequence in range(1, 8)], [4, 3, 6, 6, 6, 6, 8])
        fixes = [(record.value, record.b) for record in ring.of("fix")]
        self.assertEqual(fixes, [(layout.FIX_ON, 3), (layout.FIX_REFUSED, 4), (layout.FIX_OFF, 6)])
        windows = [(record.value, record.b) for record in ring.of("recorder")][:3]
        self.assertEqual(windows, [(layout.RECORDER_ON, 8), (layout.RECORDER_KEEPS, 9), (layout.RECORDER_OFF, 11)])
        first = next(traces(done))
        names = [event["name"] for event in first["traceEvents"] if event.get("cat") == "user_annotation"]
        marks = [name for name in names if name.startswith("ProfilerStep#")]
        self.assertEqual(sorted(marks), ["ProfilerStep#10", "ProfilerStep#9"])

    def test_four_ranks_act_on_the_same_step(self) -> None:
        control = make_control(self.run_folder)
        launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4")
        process = self.start(*launcher, self.script(RANKS), options={"record": {"on": False}})

        def running() -> bool:
            paths = list(self.run_folder.glob("rank*/agent-*.ring"))
            return len(paths) == 4 and min(map(steps_taken, paths)) >= 3

        self.wait(running, "four ranks do not start")
        first = post(control, layout.COMMAND_FIX_ON, text="gc_freeze")
        self.wait(lambda: self.acknowledged(first, 4), "not all ranks obey")
        second = post(control, layout.COMMAND_RECORD, argument=2)
        self.wait(lambda: self.acknowledged(second, 4), "not all ranks obey")
        self.wait(lambda: len(list(self.run_folder.glob("rank*/*.gz"))) == 4, "not all ranks record")
        (self.folder / "over").touch()
        done = self.finish(process)
        self.assertEqual(done.code, 0, done.err)
        rings: list[Ring] = done.rings()
        self.assertEqual(sorted(ring.rank for ring in rings), [0, 1, 2, 3])
        for sequence in (first, second):
            acks = [record for ring in rings for record in ring.of("ack") if record.a == sequence]
            self.assertEqual({record.value for record in acks}, {layout.ACK_DONE})
            self.assertEqual(len({record.b for record in acks}), 1, acks)
        ranks = [trace["distributedInfo"]["rank"] for trace in traces(done)]
        self.assertEqual(sorted(ranks), [0, 1, 2, 3])
        self.assertEqual(len({ring.step for ring in rings}), 1)
