# SPDX-License-Identifier: Apache-2.0
"""--step-function: each return of one function of the program ends a step, wherever it is defined and however it is reached."""

from __future__ import annotations

import textwrap

from cases import in_ci
from harness import PYTHON, AgentTest, Ring, layout

NET = """\
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
def update():
    net(torch.zeros(1, 4)).sum().backward()
    optimizer.step()"""


class StepFunction(AgentTest):
    def ring_of(self, given: str, text: str, *words: str, **files: str) -> Ring:
        for name, body in files.items():
            self.script(body, f"{name}.py")
        text = textwrap.dedent(text).replace("NET", NET)
        done = self.execute(
            *words or (self.script(text),), options={"step_function": given, "record": {"on": False}}, cwd=self.folder
        )
        self.assertEqual(done.code, 0, done.err)
        return done.ring()

    def messages(self, ring: Ring) -> list[str]:
        return [ring.text(record.a) for record in ring.of("message")]

    def counts(self, steps: int, given: str, text: str, *words: str, **files: str) -> None:
        ring = self.ring_of(given, text, *words, **files)
        self.assertEqual(self.messages(ring), [])
        self.assertEqual(len(ring.of("step")), steps)
        self.assertTrue(all(record.flags & layout.FLAG_EXPLICIT for record in ring.of("step")))

    @in_ci
    def test_in_the_script_behind_the_optimiser(self) -> None:
        """The function is used on the line after its end; it takes three updates, and the program calls gapless.step(), too."""
        self.counts(
            5,
            "train.py:train_step",
            """
            import torch
            NET
            def train_step():
                for _ in range(3): update()
            kept = train_step
            import gapless
            for _ in range(5):
                kept()
                gapless.step()
            """,
        )

    def test_where_torch_is_imported_late(self) -> None:
        self.counts(
            4,
            "train.py:Loop.run",
            """
            class Loop:
                def run(self):
                    self.net(self.torch.zeros(1, 4)).sum().backward()
            def main():
                import torch
                loop = Loop()
                loop.torch, loop.net = torch, torch.nn.Linear(4, 1)
                for _ in range(4): loop.run()
            main()
            """,
        )

    def test_in_a_module_that_is_imported_later(self) -> None:
        work = "import torch\nnet = torch.nn.Linear(4, 1)\ndef work():\n    net(torch.zeros(1, 4)).sum().backward()\n"
        self.counts(6, "work.py:work", "import torch\nfrom work import work\nfor _ in range(6): work()\n", work=work)

    def test_in_the_module_that_imports_torch(self) -> None:
        work = "import torch\nnet = torch.nn.Linear(4, 1)\ndef work():\n    net(torch.zeros(1, 4)).sum().backward()\n"
        self.counts(6, "work:work", "from work import work\nfor _ in range(6): work()\n", work=work)

    def test_methods_of_each_kind(self) -> None:
        for decorator, first in (("", "self"), ("@staticmethod", ""), ("@classmethod", "cls")):
            with self.subTest(decorator):
                self.setUp()
                self.counts(
                    3,
                    "train:Trainer.step",
                    "",
                    "-m",
                    "train",
                    train=f"""
                    import torch
                    net = torch.nn.Linear(4, 1)
                    class Trainer:
                        {decorator}
                        def step({first}):
                            net(torch.zeros(1, 4)).sum().backward()
                    class Other(Trainer): pass
                    for _ in range(3): Other().step()
                    """,
                )

    def test_wrapped_and_compiled(self) -> None:
        if not PYTHON or self.execute("-c", "import torch; torch.compile(print)", agent=False).code:
            self.skipTest("this torch cannot compile on this Python")
        self.counts(
            3,
            "train.py:step",
            """
            import functools, torch
            def twice(function):
                @functools.wraps(function)
                def both(x): return function(function(x))
                return both
            @twice
            def step(x): return x * 2
            fast = torch.compile(step, backend="eager", fullgraph=True)
            weight = torch.ones(1, requires_grad=True)
            for _ in range(3): fast(weight).sum().backward()
            """,
        )

    def test_a_program_that_is_traced_already(self) -> None:
        """Its tracer stays, and sees all that it would; the function is found when the optimiser is made."""
        text = """
            import sys
            seen = []
            def tracer(frame, event, argument):
                if frame.f_code.co_filename == __file__ and frame.f_code.co_name == "update": seen.append(frame.f_lineno)
            sys.settrace(tracer)
            import torch
            def train_step(): update()
            NET
            for _ in range(3): train_step()
            assert sys.gettrace() is tracer and len(seen) == 3, seen
            """
        self.counts(3, "train.py:train_step", text)

    def test_tracing_is_over_when_the_program_trains(self) -> None:
        text = """
            import sys, torch
            def train_step(): update()
            assert sys.gettrace() is None
            NET
            for _ in range(3): train_step()
            """
        self.counts(3, "train.py:train_step", text)

    def test_an_error_in_the_function(self) -> None:
        text = """
            import traceback, torch
            NET
            def train_step(fails):
                update()
                if fails: raise ValueError("as asked")
            for index in range(4):
                try: train_step(index == 2)
                except ValueError as error: assert "step_function.py" not in traceback.format_exc(), traceback.format_exc()
            """
        self.counts(3, "train.py:train_step", text)

    def test_what_is_not_there_is_said_once(self) -> None:
        program = "import torch\nNET\nclass Loop:\n    def train(self): pass\nfor _ in range(3): update()\n"
        for given, words in (
            ("train.py:updates", "has no updates; similar names: update"),
            ("train.py:Loop.trin", "similar names: Loop.train"),
            ("trin.py:update", "the program loaded no trin.py; similar names: train.py"),
            ("train.py:Loop.train", "was never called"),
            ("train.py:net.weight", "has no net.weight"),
        ):
            with self.subTest(given):
                self.setUp()
                ring = self.ring_of(given, program)
                (said,) = self.messages(ring)
                self.assertIn(words, said)
                self.assertIn("the time of the whole process", said)
                self.assertEqual(ring.of("step"), [])
