# SPDX-License-Identifier: Apache-2.0
"""Pipelines of torch.distributed.pipelining with more microbatches or another schedule: every case trains on two ranks, and next to it on
each rank the same model without a pipeline, which the weights are held against."""

from __future__ import annotations

import unittest
from pathlib import Path

from cases import in_ci
from harness import Done, patched
from test_fixes import ON, REFUSED, FixTest, losses, of

PIPE = """
    import copy, os, torch, torch.distributed as dist
    from torch.distributed.pipelining import *
    from torch.distributed.pipelining.microbatch import TensorChunkSpec
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method="file://" + os.environ["STORE"], rank=int(os.environ["RANK"]), world_size=2)
    rank, device = dist.get_rank(), torch.device("cpu")
    order = []
    class Part(torch.nn.Module):
        def __init__(self, *also):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), *also)
            self.watched = False
        def forward(self, x):
            y = self.layers(x)
            if self.watched and y.requires_grad:
                order.append("F")
                y.register_hook(lambda gradient: order.append("B"))
            return y
    def parts(count=2, also=()):
        return [Part(*also) for _ in range(count)]
    def stages(parts, **how):
        return [PipelineStage(part, at, len(parts), device, **how) for at, part in enumerate(parts) if at % 2 == rank]
    def counted(call):
        def counting(*args, **kwargs):
            order.append("W")
            return call(*args, **kwargs)
        return counting
    def close(ours, theirs):
        return all(torch.allclose(one, other, rtol=1e-5, atol=1e-7) for one, other in zip(ours.parameters(), theirs.parameters()))
    def train(name, make, parts, loss_fn=None, steps=4, batch=8, count=None, clear=True, step=None, wrapped=None):
        # `count`: by how much a program divides what it adds up, where that is not the number of its own microbatches
        loss_fn = loss_fn or torch.nn.functional.mse_loss
        alone = torch.nn.Sequential(*copy.deepcopy(parts))
        mine = stages(parts) if wrapped is None else wrapped
        for stage in mine:
            stage.backward_weight_one_chunk = counted(stage.backward_weight_one_chunk)
        schedule = make(mine, loss_fn)
        step = step or (lambda schedule, **given: schedule.step(*given.pop("x"), **given))
        ours = torch.optim.SGD([each for stage in mine for each in stage.submod.parameters()], lr=0.05)
        theirs = torch.optim.SGD(alone.parameters(), lr=0.05)
        data = torch.Generator().manual_seed(2)
        for at in range(steps):
            x, y = torch.randn(batch, 8, generator=data), torch.randn(batch, 8, generator=data)
            if clear:
                ours.zero_grad()
                theirs.zero_grad()
            order.clear()
            for part in parts:
                part.watched = at == steps - 1
            found = []
            step(schedule, x=(x,) if rank == 0 else (), **({"target": y, "losses": found} if rank == 1 else {}))
            loss = loss_fn(alone(x), y)
            (loss if count is None else loss / count).backward()
            ours.step()
            theirs.step()
        own = [alone[at] for at in range(len(parts)) if at % 2 == rank]
        same = all(close(part, other) for part, other in zip([stage.submod for stage in mine], own))
        said = torch.stack(found).mean().item() if found else None
        texts = [None, None]
        dist.all_gather_object(texts, f"{name} {rank} {''.join(order)} {'same' if same else 'other'} {len(found)}"
                               + (f" {abs(said - loss.item()) < 1e-5}" if found else ""))
        if rank == 0:
            print(*texts, sep="\\n")
        return schedule, mine
    CASES
    dist.barrier()
    dist.destroy_process_group()
"""

GPIPE = 'train("gpipe", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts())'
ONE_F = 'train("1f1b", lambda mine, loss: Schedule1F1B(mine[0], n_microbatches=2, loss_fn=loss), parts())'
MANY = 'train("many", lambda mine, loss: ScheduleInterleaved1F1B(mine, 2, loss_fn=loss), parts(4))'

# Each keeps its microbatches; the numbers behind the names are what the model without a pipeline is divided by, to be the same.
KEPT = """
import torch.nn.functional as f
train("odd", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts(), batch=6)
train("split", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts(), step=lambda schedule, x, target=None, losses=None: schedule.step(
    arg_mbs=[(each,) for each in x[0].chunk(2)] if x else None, target_mbs=None if target is None else list(target.chunk(2)), losses=losses))
train("dimension", lambda mine, loss: ScheduleGPipe(mine[0], 2, lambda out, y: loss(out.transpose(0, 1), y), args_chunk_spec=(TensorChunkSpec(1),)),
      parts(), step=lambda schedule, x, target=None, **given: schedule.step(
          *(each.reshape(2, 4, 8) for each in x), **({} if target is None else {"target": target.reshape(2, 4, 8).transpose(0, 1)}), **given))
net = parts()
shapes = dict(input_args=torch.zeros(4, 8, requires_grad=rank > 0), output_args=torch.zeros(4, 8, requires_grad=True))
train("shapes", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), net, wrapped=stages(net, **shapes))
train("larger", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss, scale_grads=False), parts(), count=0.5)
train("smaller", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts(), lambda out, y: 0.01 * f.mse_loss(out, y, reduction="sum"), count=2)
class Own(ScheduleGPipe):
    pass
train("own", lambda mine, loss: Own(mine[0], 2, loss), parts())
net = parts()
both = stages(net)
kept = ScheduleGPipe(both[0], 2, f.mse_loss)
train("shared", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), net, wrapped=both)
"""
UNLIKE = """
train("norm", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), [Part(), Part(torch.nn.BatchNorm1d(8))])
train("compared", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts(), lambda out, y: (out - y).mean(0).square().mean())
train("left", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts(), clear=False)
def labels(y):  # the first sample has none
    return torch.cat([torch.tensor([-100]), y.argmax(1)[1:]])
def labelled(schedule, x, **given):
    return schedule.step(*x, **({**given, "target": labels(given["target"])} if given else {}))
def without_first(out, y):
    return torch.nn.functional.cross_entropy(out, labels(y) if y.is_floating_point() else y)
train("labels", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts(), without_first, step=labelled)
"""
TRACED = """
pipe = pipeline(torch.nn.Sequential(*parts()), mb_args=(torch.randn(4, 8),), split_spec={"1": SplitPoint.BEGINNING})
schedule = ScheduleGPipe(pipe.build_stage(rank, device), 2, torch.nn.functional.mse_loss)
optimizer = torch.optim.SGD(pipe.get_stage_module(rank).parameters(), lr=0.05)
for _ in range(3):
    optimizer.zero_grad()
    schedule.step(*([torch.randn(8, 8)] if rank == 0 else []), **({"target": torch.randn(8, 8)} if rank == 1 else {}))
    optimizer.step()
"""

# No stage for a schedule that computes the gradients of weights apart.
WHOLE = (
    """
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
def held(change):
    net = parts()
    mine = stages(net)
    mine[0].submod = change(mine[0].submod)
    return dict(parts=net, wrapped=mine)
one = [dist.new_group([each]) for each in range(2)][rank]
gpipe = lambda mine, loss: ScheduleGPipe(mine[0], 2, loss)
train("ddp", gpipe, **held(lambda part: torch.nn.parallel.DistributedDataParallel(part, process_group=one, find_unused_parameters=True)))
train("checkpoint", gpipe, **held(checkpoint_wrapper))
train("compiled", gpipe, **held(lambda part: part.compile(backend="eager") or part))
hooked = held(lambda part: part)
for each in hooked["wrapped"][0].submod.parameters():
    each.register_post_accumulate_grad_hook(lambda parameter: None)
train("hooks", gpipe, **hooked)
train("five", lambda mine, loss: ScheduleGPipe(mine[0], 5, loss), parts(), batch=10)
"""
    + MANY
)

# Between steps that train, a batch of another size, which the program's microbatches divide and ours do not.
EVALUATED = """
schedule, mine = train("evaluated", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss), parts())
step = schedule.step
def given(count):
    x, y = torch.randn(count, 8), torch.randn(count, 8)
    return ((x,) if rank == 0 else ()), ({"target": y} if rank == 1 else {})
optimizer = torch.optim.SGD(mine[0].submod.parameters(), lr=0.05)
for _ in range(2):
    args, kwargs = given(6)
    with torch.no_grad():
        out = schedule.eval(*args, **kwargs)
    for _ in range(2):
        args, kwargs = given(8)
        optimizer.zero_grad()
        step(*args, **kwargs)
        optimizer.step()
sums = [each.detach().double().sum().item() for each in [*mine[0].submod.parameters(), *([out] if rank == 1 else [])]]
texts = [None, None]
dist.all_gather_object(texts, (rank, sums))
if rank == 0:
    print(*(f"sum {each}" for _, sums in texts for each in sums), sep="\\n")
"""


class PipelineTest(FixTest):
    def ranks(self, *fixes: str, cases: str = "", text: str = "", **more: object) -> Done:
        indented = cases.replace("\n", "\n    ")
        script = self.script(text or PIPE.replace("CASES", indented))
        self.started += 1
        env = {"WORLD_SIZE": "2", "STORE": str(self.folder / f"store-{self.started}")}
        options = {"record": {"on": False}, "fixes": list(fixes), **more}
        both = [self.start(script, options=options, env={**env, "RANK": str(rank)}) for rank in range(2)]
        done = [self.finish(process) for process in both]
        self.assertEqual([one.code for one in done], [0, 0], "".join(one.err[-4000:] for one in done))
        return done[0]

    def setUp(self) -> None:
        super().setUp()
        self.started = 0

    def needs_pipelining(self) -> None:
        if not self.has_pipelining():
            self.skipTest("this torch has no torch.distributed.pipelining")

    def has_pipelining(self) -> bool:
        """The oldest torch that is supported has none. To import it takes seconds."""
        asked = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
        return (Path(self.execute("-c", asked, agent=False).out.strip()) / "distributed" / "pipelining").is_dir()

    def reasons(self, done: Done) -> list[str]:
        """The reason of each rank why it kept every schedule."""
        found = [of(ring, "pipeline") for ring in done.rings()]
        self.assertEqual([[value for value, _ in one] for one in found], [[REFUSED], [REFUSED]], found)
        return [one[0][1]["what"] for one in found]


class Microbatches(PipelineTest):
    @in_ci
    def test_more_of_them(self) -> None:
        """Twice as many run in every schedule; weights and the mean of the losses are those of a model without a pipeline."""
        self.needs_pipelining()
        done = self.ranks("pipeline=2", cases=f"{GPIPE}\n{ONE_F}\n{MANY}")
        lines = sorted(done.out.splitlines())
        one_f, gpipe = (
            ["1f1b 0 FFBFBFBB same 0", "1f1b 1 FBFBFBFB same 4 True"],
            ["gpipe 0 FFFFBBBB same 0", "gpipe 1 FFFFBBBB same 4 True"],
        )
        self.assertEqual(lines[:4], [*one_f, *gpipe])
        for line, rest in zip(lines[4:], (["0"], ["4", "True"])):
            self.assertEqual(self.counts(line), ("many", 8, 8, 0, ["same", *rest]))
        for ring in done.rings():
            found = of(ring, "pipeline")
            self.assertEqual([value for value, _ in found], [ON] * 3, found)
            kinds = ("ScheduleGPipe", "Schedule1F1B", "ScheduleInterleaved1F1B")
            for (_, change), kind, count in zip(found, kinds, (2, 2, 4)):
                self.assertEqual(change["what"], f"{kind}: 4 microbatches instead of 2; {count} stages")

    def counts(self, line: str) -> tuple[str, int, int, int, list[str]]:
        """The name, how many forward passes, backward passes and gradients of weights alone there were, and the rest."""
        name, _, acts, *rest = line.split()
        return name, acts.count("F"), acts.count("B"), acts.count("W"), rest

    def test_a_sum(self) -> None:
        """It is the same where gradients are not divided by the number of microbatches."""
        self.needs_pipelining()
        summed = "lambda out, y: 0.01 * torch.nn.functional.mse_loss(out, y, reduction='sum')"
        case = f'train("sum", lambda mine, loss: ScheduleGPipe(mine[0], 2, loss, scale_grads=False), parts(), {summed})'
        done = self.ranks("pipeline=4", cases=case)
        self.assertEqual(
            done.out.splitlines(), ["sum 0 FFFFFFFFBBBBBBBB same 0", "sum 1 FFFFFFFFBBBBBBBB same 8 False"]
        )

    def test_evaluation_between_steps(self) -> None:
        self.needs_pipelining()
        found = []
        for fixes in ([], ["pipeline=2"], ["pipeline=zero_bubble"]):
            self.again()
            done = self.ranks(*fixes, cases=EVALUATED)
            found.append([float(line.split()[1]) for line in done.out.splitlines() if line.startswith("sum")])
            self.assertEqual(
                [value for ring in done.rings() for value, _ in of(ring, "pipeline")], [ON, ON] if fixes else []
            )
        self.assertEqual(len(found[0]), 5)
        for other in found[1:]:
            for one, two in zip(found[0], other):
                self.assertAlmostEqual(one, two, places=4)

    def test_losses_of_the_recording(self) -> None:
        """The recording has the losses of the program's microbatches, whatever runs."""
        self.needs_pipelining()
        found = []
        for fixes in ([], ["pipeline=2"], ["pipeline=zero_bubble"]):
            self.again()
            done = self.ranks(*fixes, cases=GPIPE, every_loss=True)
            found.append([losses(ring) for ring in done.rings()])
        for other in found[1:]:
            self.assertEqual([len(one) for one in other], [len(one) for one in found[0]])
            for one, two in zip(found[0][1], other[1]):
                self.assertAlmostEqual(one, two, places=5)

    def test_where_they_stay(self) -> None:
        self.needs_pipelining()
        done = self.ranks("pipeline=2", cases=KEPT)
        names = ("odd", "split", "dimension", "shapes", "larger", "smaller", "own", "shared")
        self.assertEqual(
            [line.split()[0] for line in done.out.splitlines()], [name for name in names for _ in range(2)]
        )
        for line in done.out.splitlines():
            self.assertIn(" FFBB same", line)
        both = [
            "a batch of 6 is no multiple of 4 microbatches", "(input_args or output_args)", "Own: it is a class of the program's own",
            "another schedule of the program has the same stages", "along another dimension than the first",
        ]  # fmt: skip
        first, last = self.reasons(done)
        for part in (*both, "microbatches (arg_mbs=), not a batch", "another rank of the pipeline cannot"):
            self.assertIn(part, first)
        for part in (
            *both,
            "microbatches (target_mbs=), not a batch",
            "is a mean and scale_grads=False",
            "is a sum and scale_grads=True",
        ):
            self.assertIn(part, last)

    def test_where_smaller_ones_are_another_training(self) -> None:
        self.needs_pipelining()
        done = self.ranks("pipeline=2", cases=UNLIKE + TRACED)
        for line in done.out.splitlines():
            self.assertIn(" FFBB ", line)
        first, last = self.reasons(done)
        for part in (
            "BatchNorm1d has other statistics",
            "neither the mean nor the sum",
            "labels below 0 are left out of its loss",
            "gradients of an earlier step",
            "a traced model",
        ):
            self.assertIn(part, last)
        for part in ("another rank of the pipeline cannot", "gradients of an earlier step", "a traced model"):
            self.assertIn(part, first)

    def test_the_patch(self) -> None:
        """Arguments by position and by name, a number and an expression; the script then runs as many, from its first step on."""
        self.needs_pipelining()
        spread = (
            ONE_F.replace("n_microbatches=2", "n_microbatches=rank * 0 + 2")
            .replace("stage", "stage")
            .replace(", loss_fn", ",\n  loss_fn")
        )
        done = self.ranks("pipeline=2", cases=f"{GPIPE}\n{spread}")
        text = (self.folder / "train.py").read_text()
        edits = [change["edit"] for _, change in of(done.rings()[0], "pipeline")]
        for edit in edits:
            text = patched(text, edit)
        self.assertIn("ScheduleGPipe(mine[0], 4, loss)", text)
        self.assertIn("n_microbatches=(rank * 0 + 2) * 2,\n", text)
        self.again()
        self.assertEqual(self.ranks(text=text).out, done.out)


class Schedules(PipelineTest):
    def test_zero_bubble(self) -> None:
        self.needs_pipelining()
        four = ONE_F.replace("n_microbatches=2", "n_microbatches=4")
        done = self.ranks("pipeline=zero_bubble", cases=f"{GPIPE}\n{four}")
        found = [Microbatches.counts(self, line) for line in done.out.splitlines()]  # type: ignore[arg-type]
        rests = [["same", "0"], ["same", "2", "True"], ["same", "0"], ["same", "4", "True"]]
        expected = [
            ("gpipe", 2, 2, 2, rests[0]),
            ("gpipe", 2, 2, 2, rests[1]),
            ("1f1b", 4, 4, 4, rests[2]),
            ("1f1b", 4, 4, 4, rests[3]),
        ]
        self.assertEqual(found, expected, done.out)
        for ring in done.rings():
            what = [change["what"] for _, change in of(ring, "pipeline")]
            kinds = ("ScheduleGPipe", "Schedule1F1B")
            self.assertEqual(what, [f"ScheduleInterleavedZeroBubble instead of {kind}; 2 stages" for kind in kinds])

    def test_one_forward_one_backward(self) -> None:
        """And the patch of such a change."""
        self.needs_pipelining()
        case = GPIPE.replace("mine[0], 2, loss", "mine[0], 4, loss")
        done = self.ranks("pipeline=1f1b", cases=case)
        self.assertEqual(done.out.splitlines(), ["gpipe 0 FFBFBFBB same 0", "gpipe 1 FBFBFBFB same 4 True"])
        change = of(done.rings()[0], "pipeline")[0][1]
        self.assertEqual(change["what"], "Schedule1F1B instead of ScheduleGPipe; 2 stages")
        text = patched((self.folder / "train.py").read_text(), change["edit"])
        self.again()
        self.assertEqual(self.ranks(text=text).out, done.out)

    def test_the_patch_of_zero_bubble(self) -> None:
        self.needs_pipelining()
        case = GPIPE.replace(
            "ScheduleGPipe(mine[0], 2, loss)", "ScheduleGPipe(loss_fn=loss, stage=mine[0], n_microbatches=2)"
        )
        done = self.ranks("pipeline=zero_bubble", cases=case)
        text = patched((self.folder / "train.py").read_text(), of(done.rings()[0], "pipeline")[0][1]["edit"])
        self.assertIn("ScheduleInterleavedZeroBubble(loss_fn=loss, stages=[mine[0]], n_microbatches=2)", text)
        self.again()
        self.assertEqual(self.ranks(text=text).out, done.out)

    def test_where_the_schedule_stays(self) -> None:
        self.needs_pipelining()
        done = self.ranks("pipeline=zero_bubble", cases=WHOLE)
        for line in done.out.splitlines():
            self.assertNotIn("W", line.split()[2], line)
            self.assertIn("same", line)
        reasons = self.reasons(done)
        for what in reasons:
            for part in (
                "DistributedDataParallel would not exchange", "computed again serve one backward pass", "torch.compile has its backward",
                "hooks of parameters would not be called", "multiple of the number of rounds (2)", "several stages on a rank",
            ):  # fmt: skip
                self.assertIn(part, what)
        self.again()
        one = GPIPE.replace("mine[0], 2, loss", "mine[0], 1, loss")
        for what in self.reasons(self.ranks("pipeline=1f1b", cases=f"{ONE_F}\n{one}\n{MANY}")):
            for part in (
                "it is that already",
                "must be greater than or equal to the number of stages",
                "several stages on a rank",
            ):
                self.assertIn(part, " ".join(what.split()))


class Elsewhere(PipelineTest):
    @in_ci
    def test_without_a_pipeline(self) -> None:
        """A torch that has none, and a program that has none."""
        none = "no schedule of torch.distributed.pipelining trained"
        part = none if self.has_pipelining() else "has no torch.distributed.pipelining"
        self.assertIn(part, self.the(self.train("pipeline=2").ring(), "pipeline", REFUSED)["what"])

    def test_values(self) -> None:
        for value in ("65", "gpipe"):
            self.again()
            self.assertIn(
                "is none of", self.the(self.train(f"pipeline={value}").ring(), "pipeline", REFUSED)["what"], value
            )

    def test_a_torch_without_the_class(self) -> None:
        self.needs_pipelining()
        text = """
            import torch
            from gapless_agent.fixes import _pipeline
            schedules = _pipeline.schedules(torch)
            for name in ("ScheduleInterleavedZeroBubble", "PipelineScheduleMulti"):
                delattr(schedules, name)
                print(_pipeline.missing(torch, ""), _pipeline.missing(torch, "ScheduleInterleavedZeroBubble"))
        """
        zero, base = (
            f"torch.distributed.pipelining.{name}"
            for name in ("ScheduleInterleavedZeroBubble", "PipelineScheduleMulti")
        )
        self.assertEqual(self.succeed(text).out.splitlines(), [f" {zero}", f"{base} {base}"])


if __name__ == "__main__":
    unittest.main()
