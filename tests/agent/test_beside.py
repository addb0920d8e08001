# SPDX-License-Identifier: Apache-2.0
"""Work beside the training: checkpoints, logging, images and metrics, in small stand-ins for their libraries."""

from __future__ import annotations

import textwrap

from cases import in_ci
from harness import AgentTest, Done, Ring, layout

LIBRARIES = {
    "PIL/__init__.py": "",
    "PIL/Image.py": """
        import time
        class Image:
            def save(self, path, fails=False):
                "Writes it."
                time.sleep(0.003)
                if fails: raise OSError("no such folder")
        """,
    "sklearn/__init__.py": "",
    "sklearn/metrics/__init__.py": """
        from ._scores import accuracy_score, f1_score
        __all__ = ["accuracy_score", "f1_score"]
        """,
    "sklearn/metrics/_scores.py": """
        import time
        def accuracy_score(wanted, found): time.sleep(0.0001); return 1.0
        def f1_score(wanted, found): accuracy_score(wanted, found); time.sleep(0.002); return 0.5
        """,
    "torchmetrics/__init__.py": "from .metric import Metric",
    "torchmetrics/metric.py": """
        import functools, time
        class Metric:
            def __init__(self):
                self.update, self.compute = self._wrap_update(self.update), self._wrap_compute(self.compute)
            def _wrap_update(self, update): return functools.wraps(update)(lambda *given: update(*given))
            def _wrap_compute(self, compute): return functools.wraps(compute)(lambda: compute())
            def forward(self, value): self.update(value); return self.compute()
        """,
}  # fmt: skip
START = """
    import time, torch
    from PIL.Image import Image
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    def step():
        optimizer.zero_grad()
        net(torch.ones(8, 4)).square().mean().backward()
        optimizer.step()
"""


class Beside(AgentTest):
    def libraries(self) -> None:
        for name, text in LIBRARIES.items():
            path = self.folder / "lib/site-packages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def train(self, text: str, before: str = "", recorded: bool = False) -> Done:
        self.libraries()
        path = "import os, sys; sys.path.append(os.path.dirname(os.path.abspath(__file__)) + '/lib/site-packages')\n"
        text = path + before + textwrap.dedent(START) + textwrap.dedent(text)
        record = {"on": recorded, "wait": 1, "warmup": 1, "active": 3}
        done = self.succeed(text, options={"record": record})
        return done

    def found(self, text: str, before: str = "") -> tuple[Ring, list[tuple[str, str, int, int]]]:
        """The ring, and label, line, number and flags of the calls."""
        ring = self.train(text, before).ring()
        self.assertEqual([ring.text(message.a) for message in ring.of("message")], [])
        return ring, [
            (ring.text(record.a), ring.text(record.y), record.value, record.flags) for record in ring.of("beside")
        ]

    @in_ci
    def test_name_line_time_and_calls_inside_of_calls(self) -> None:
        ring, found = self.found(
            """
    from sklearn.metrics import f1_score
    for number in range(6):
        step()
        if number % 3 == 2:
            Image().save("a.png")
            f1_score([1], [1])
"""
        )
        calls = [
            ("images: Image.save", "train.py:16", 1, 0),
            ("metrics: sklearn.metrics.f1_score", "train.py:17", 1, 0),
        ]
        self.assertEqual(found, calls * 2)
        steps = {record.a: record for record in ring.of("step")}
        for record in ring.of("beside")[:2]:
            self.assertTrue(2e6 <= record.dur_ns < 200e6, record)
            self.assertEqual(record.x, record.dur_ns)
            self.assertEqual(record.b, 3)
            self.assertGreaterEqual(record.ts_ns + 1e6, steps[3].ts_ns)
            self.assertLessEqual(record.ts_ns + record.dur_ns, steps[3].ts_ns + steps[3].dur_ns + 1e6)

    def test_short_calls_are_added_up(self) -> None:
        ring, found = self.found(
            """
    import sklearn.metrics
    step()
    step()
    for number in range(100): sklearn.metrics.accuracy_score([1], [1])
"""
        )
        self.assertEqual(
            {(label, line) for label, line, _, _ in found}, {("metrics: sklearn.metrics.accuracy_score", "train.py:15")}
        )
        self.assertEqual(sum(count for _, _, count, _ in found), 100)
        self.assertLess(len(found), 40)
        self.assertGreaterEqual(sum(record.dur_ns for record in ring.of("beside")), 100 * 100_000)

    def test_names_that_were_imported_before_torch(self) -> None:
        _, found = self.found(
            """
    class Mean(torchmetrics.Metric):
        def update(self, value): time.sleep(0.002)
        def compute(self): return 1
    mean = Mean()
    for number in range(3):
        step()
        score([1], [1])
    mean.update(1)
    mean.compute()
    mean.forward(1)
""",
            before="from sklearn.metrics import f1_score as score\nimport torchmetrics\n",
        )
        scores = [entry for entry in found if entry[0] == "metrics: sklearn.metrics.f1_score"]
        self.assertEqual(scores, [("metrics: sklearn.metrics.f1_score", "train.py:20", 1, 0)] * 3)
        names = [label for label, _, _, _ in found if "f1" not in label]
        self.assertEqual(names, ["metrics: Metric.update", "metrics: Metric.forward", "metrics: Metric.compute"])

    def test_other_threads_do_not_hold_up_the_steps(self) -> None:
        ring, found = self.found(
            """
    import threading
    step(); step()
    def work():
        Image().save("a.png")
        torch.save(net.state_dict(), "a.pt")
    thread = threading.Thread(target=work)
    thread.start(); thread.join()
    Image().save("a.png")
    torch.save(net.state_dict(), "b.pt")
"""
        )
        self.assertEqual([flags for _, _, _, flags in found], [layout.FLAG_IN_THREAD, 0])
        self.assertEqual([record.flags for record in ring.of("save")], [layout.FLAG_IN_THREAD, 0])
        self.assertEqual([ring.text(record.a) for record in ring.of("save")], ["a.pt", "b.pt"])
        self.assertEqual([ring.text(record.y) for record in ring.of("save")], ["train.py:16", "train.py:20"])
        self.assertGreater(ring.of("save")[0].x, 0)

    def test_the_program_sees_its_libraries_as_they_are(self) -> None:
        text = """
    import inspect, pickle, sklearn.metrics
    from sklearn.metrics import f1_score
    step()
    print(inspect.signature(f1_score), f1_score.__module__, f1_score.__qualname__, pickle.loads(pickle.dumps(f1_score)) is f1_score)
    print(sklearn.metrics._scores.f1_score is f1_score, inspect.signature(Image.save), Image.save.__doc__, f1_score([1], [1]))
    print(pickle.loads(pickle.dumps(torch.save)) is torch.save)
    try:
        Image().save("a.png", fails=True)
    except OSError as error:
        frame = error.__traceback__
        while frame is not None:
            print(os.path.basename(frame.tb_frame.f_code.co_filename), frame.tb_lineno)
            frame = frame.tb_next
    try: Image().save()
    except TypeError as error: print(error)
"""
        watched = self.train(text)
        plain = self.execute(self.folder / "train.py", agent=False)
        self.assertEqual(watched.out, plain.out)

    def test_a_window_goes_on_behind_an_evaluation(self) -> None:
        done = self.train(
            """
    for number in range(20):
        step()
        if number == 3:
            net.eval(); time.sleep(0.05); net.train()
""",
            recorded=True,
        )
        ring = done.ring()
        said = [ring.text(message.a) for message in ring.of("message")]
        self.assertEqual(len(said), 1)
        self.assertIn("analysed of the recorded steps: steps 5 to 7; step 4 has an evaluation", said[0])
        costs = {record.flags for record in ring.of("recorder") if record.value == layout.RECORDER_COST}
        self.assertEqual(costs, {layout.COST_START, layout.COST_STOP, layout.COST_EXPORT, layout.COST_END})
