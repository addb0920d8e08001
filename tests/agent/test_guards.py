# SPDX-License-Identifier: Apache-2.0
"""An error in one hook ends that observation alone: the training computes the same, the run says what is missing, all else is there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness import AgentTest, Ring, layout, read_ring

HERE = Path(__file__).resolve().parent
STEPS = 12
ALL = {"loader", "items", "optimizer", "loss", "step", "scale", "gc", "digest", "save", "evaluation"}


class Case(NamedTuple):
    program: str
    function: str  # of gapless_agent, that raises
    says: str  # in "Gapless no longer watches …"
    lost: set[str]  # kinds of records that are missing
    steps: int = STEPS


CASES = [
    Case("train", "loader:Loaders.number_of", "DataLoaders", {"loader"}),
    Case("train", "loader:Loaders.install", "DataLoaders", {"loader"}),
    Case("train", "optim:Optimizers._made", "which optimisers the program makes", {"digest", "evaluation"}),
    Case("train", "optim:Optimizers.install", "which optimisers the program makes", {"optimizer", "digest", "evaluation"}),
    Case("train", "optim:Optimizers._seen", "the kinds of the optimisers", {"optimizer"}),
    Case("train", "steps:Steps.fired", "where steps end", {"step", "gc", "digest"}, 0),
    Case("train", "steps:Steps._between", "where steps end", {"gc", "digest"}, 2),
    Case("train", "backward:Backward._root", "losses", {"loss"}),
    Case("train", "backward:Backward.install", "backward passes", {"loss"}),
    Case("train", "later:HostNumbers.read", "losses", {"loss", "scale"}),
    Case("train", "scaler:Scalers._before", "GradScaler", {"scale"}),
    Case("train", "scaler:Scalers._after", "GradScaler", {"scale"}),
    Case("train", "gc_watch:GcWatch._told", "Python's garbage collection", {"gc"}),
    Case("train", "gc_watch:GcWatch.at_step", "Python's garbage collection", {"gc"}),
    Case("train", "hooks.beside:Beside._saved", "checkpoints and other work beside the training", {"save"}),
    Case("train", "hooks.beside:Beside._look", "checkpoints and other work beside the training", {"save"}),
    Case("train", "hooks.beside:Beside._waits", "checkpoints and other work beside the training", {"save"}),
    Case("train", "hooks.evaluation:Evaluation._told", "evaluations", {"evaluation"}),
    Case("train", "hooks.evaluation:Evaluation.install", "evaluations", {"evaluation"}),
    Case("train", "items:Items._prepare", "the reading of samples", {"items"}),
    Case("train", "items:Items.write", "the reading of samples", {"items"}),
    Case("train", "recorder:Recorder._advance", "the steps that PyTorch's profiler records", {"recorder"}),
    Case("train", "recorder:Recorder._close", "the steps that PyTorch's profiler records", set()),
    Case("train", "control:Control.at_step", "the commands of its launcher", set()),
    Case("train", "python_profile:PythonProfile.install", "the Python code", set()),
    Case("train", "python_profile:PythonProfile.at_end", "the Python code", set()),
    Case("train", "failures:Failures.at_end", "why the program ends", set()),
    Case("train", "digest:Digest.at_step", "the digest of the parameters", {"digest"}),
    Case("train", "roots:Roots._look_away", "the calls of a model", set()),
    Case("by_hand", "by_hand:ByHand._begins", "updates by hand", {"step"}, 0),
    Case("infer", "roots:Roots._called", "the calls of a model", {"step"}, 0),
    Case("by_name", "step_function:StepFunction.install", "the function of --step-function", {"step"}, 0),
    Case("by_name", "step_function:StepFunction.wrap_in", "the function of --step-function", {"step"}, 0),
    Case("by_name", "step_function:StepFunction._around", "the function of --step-function", {"step"}, 0),
    Case("by_name", "steps:Steps.program_says", "where steps end", {"step"}, 0),
]  # fmt: skip
# These have less to do.
OTHERS = {"by_hand": {"loss", "step"}, "infer": {"step"}, "by_name": {"optimizer", "step"}}


class Guards(AgentTest):
    def run_all(self, words: list[str]) -> dict[str, str]:
        """Returns what each training computed, by case."""
        done = self.execute(HERE / "broken.py", self.run_folder, *words, agent=False)
        self.assertEqual(done.code, 0, done.err)
        self.assertNotIn("an error on purpose", done.err)
        lines = [line.split(" ", 2) for line in done.out.splitlines()]
        return {f"{program}/{case}": result for program, case, result in lines}

    def ring_of(self, number: int) -> Ring:
        (path,) = (self.run_folder / str(number)).glob("*/agent-*.ring")
        return read_ring(path)

    def test_an_error_in_each_hook(self) -> None:
        cases = [case for case in CASES if self.has_scaler() or case.says != "GradScaler"]
        words = [f"{case.program}/{case.function}" for case in cases]
        plain = [f"{program}/without" for program in ("train", "by_hand", "infer", "by_name")]
        results = self.run_all([*words, *plain, "train/none"])
        self.assertEqual(results["train/none"], results["train/without"])
        self.assertFalse(self.ring_of(len(cases) + len(plain)).of("message"))
        for number, (case, word) in enumerate(zip(cases, words)):
            with self.subTest(word):
                self.assertEqual(results[word], results[case.program + "/without"])
                self.look_at(case, self.ring_of(number))

    def look_at(self, case: Case, ring: Ring) -> None:
        self.assertEqual((ring.state, ring.step, len(ring.of("step"))), (layout.STATE_ENDED, case.steps, case.steps))
        said = [ring.text(message.a) for message in ring.of("message")]
        self.assertTrue(said)
        self.assertIn(f"Gapless no longer watches {case.says}, because of an error of its own: ", said[0])
        self.assertIn("RuntimeError: an error on purpose (broken.py:", said[0])
        self.assertIn("The training goes on unchanged, and all else is still watched.", said[0])
        kinds = {record.kind for record in ring.records}
        if "recorder" in case.function:
            self.assertEqual("recorder" in kinds, "recorder" not in case.lost)
        wanted = OTHERS.get(case.program, ALL if self.has_scaler() else ALL - {"scale"})
        self.assertEqual(wanted - case.lost - kinds, set())

    def has_scaler(self) -> bool:
        if not hasattr(self, "scaler"):
            text = "import torch; print(hasattr(torch.amp, 'GradScaler'))"
            self.scaler = self.execute("-c", text, agent=False).out.strip() == "True"
        return self.scaler

    def test_waits_are_unknown_without_the_loader(self) -> None:
        """Absent, not 0."""
        self.run_all(["train/loader:Loaders.number_of"])
        steps = self.ring_of(0).of("step")
        self.assertTrue(all(step.x != step.x and step.b == layout.NONE for step in steps))


class Objects(AgentTest):
    """Objects that a program may hand over: half built, of its own kind, gone."""

    def test_optimisers_in_any_state(self) -> None:
        ring = self.succeed(
            """
            import torch
            net = torch.nn.Linear(4, 1)
            class Fails(torch.optim.SGD):
                def __init__(self, params): super().__init__(params, lr=0.1); raise ValueError("half built")
            class Bare(torch.optim.Optimizer):
                def __init__(self, inner): self.inner = inner
                def step(self, closure=None): return self.inner.step(closure)
            class Late(torch.optim.SGD):
                def step(self, closure=None): return super().step(closure)
            class Slots(torch.optim.SGD):
                __slots__ = ("own",)
            class NoDefaults(torch.optim.Optimizer):
                def __init__(self, params): super().__init__(list(params), {}); del self.defaults
                def step(self, closure=None): pass
            class NoGroups(torch.optim.Optimizer):
                def __init__(self): super().__init__(list(net.parameters()), {}); del self.param_groups
                def step(self, closure=None): pass
            try: Fails(net.parameters())
            except ValueError: pass
            try: torch.optim.SGD([], lr=0.1)
            except ValueError: pass
            def train(optimizer, count=3):
                for _ in range(count):
                    net.zero_grad()
                    net(torch.randn(8, 4)).sum().backward()
                    optimizer.step()
            for make in (Late, Slots): train(make(net.parameters(), lr=0.1))
            inner = torch.optim.SGD(net.parameters(), lr=0.1)
            train(Bare(inner))
            del inner
            train(NoDefaults(net.parameters()))
            train(NoGroups())
            """
        ).ring()
        self.assertEqual([ring.text(message.a) for message in ring.of("message")], [])
        self.assertEqual(ring.step, 15)

    def test_loaders_of_odd_kinds(self) -> None:
        ring = self.succeed(
            """
            import torch
            from torch.utils.data import DataLoader, Dataset
            class Numbers(Dataset):
                def __len__(self): return 8
                def __getitem__(self, i): return torch.tensor(float(i))
            class Own(DataLoader):
                def __iter__(self):
                    for batch in super().__iter__(): yield {"x": batch}
            class Nothing(DataLoader):
                def __init__(self): pass
                def __iter__(self): return iter([torch.ones(2)])
            class Shapeless:
                shape = property(lambda self: 3)
            class Length(Numbers):
                def __len__(self): raise TypeError("no length")
            net = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            steps = 0
            loaders = [Own(Numbers(), batch_size=4), Nothing(), DataLoader(Numbers(), collate_fn=lambda items: Shapeless()),
                       DataLoader(Length(), sampler=range(3)), DataLoader(Numbers(), batch_size=None)]
            for loader in loaders:
                for batch in loader:
                    net(torch.ones(2, 1)).sum().backward()
                    optimizer.step()
                    steps += 1
            assert steps == 2 + 1 + 8 + 3 + 8, steps
            """
        ).ring()
        self.assertEqual([ring.text(message.a) for message in ring.of("message")], [])
        self.assertEqual(ring.step, 22)

    def test_a_scaler_that_is_switched_off(self) -> None:
        ring = self.succeed(
            """
            import torch, warnings
            warnings.simplefilter("ignore")
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            scaler = torch.cuda.amp.GradScaler(enabled=False)
            for _ in range(5):
                optimizer.zero_grad()
                scaler.scale(net(torch.randn(8, 4)).sum()).backward()
                scaler.step(optimizer)
                scaler.update()
            """
        ).ring()
        self.assertEqual([ring.text(message.a) for message in ring.of("message")], [])
        self.assertEqual(ring.step, 5)
