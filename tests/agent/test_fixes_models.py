# SPDX-License-Identifier: Apache-2.0
"""Fixes that work on the model: around its calls, without changing what it is; and those of DistributedDataParallel."""

from __future__ import annotations

import unittest

from harness import Done, layout, patched
from test_fixes import ON, REFUSED, FixTest, changes, latest, losses, of

MODEL = """
    import copy, pickle, sys, torch
    torch.manual_seed(1)
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.drop = torch.nn.Conv2d(4, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.Dropout(0.1)
        def forward(self, x, scale=1.0):
            return x + scale * self.drop(torch.relu(self.norm(self.conv(x))))
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks, self.out = torch.nn.ModuleList(Block() for _ in range(4)), torch.nn.Linear(4, 1)
        def forward(self, x):
            for block in self.blocks:
                x = block(x, scale=0.5)
            return self.out(x.mean((2, 3)))
    net = Net()
    before = sorted(vars(net)), list(net.state_dict()), type(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    criterion = torch.nn.MSELoss()
    x, y = torch.randn(8, 4, 8, 8), torch.randn(8, 1)
    for step in range(6):
        optimizer.zero_grad()
        out = net(x)
        loss = criterion(out, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    pickle.dumps(net)
    assert before == (sorted(vars(copy.deepcopy(net))), list(net.state_dict()), type(net)), vars(net).keys()
    assert out.dtype == torch.float32
    SHOW
"""

# Each sample says whether the call of modules was torch's own when it was made.
WORKER = """class Data(torch.utils.data.Dataset):
        transform = torch.nn.Flatten()
        def __len__(self):
            return 25
        def __getitem__(self, index):
            own = torch.nn.Module.__call__.__code__.co_filename == torch.nn.Module.apply.__code__.co_filename
            return self.transform(torch.tensor([[float(own)]]))
    own = 0.0
    batches = iter(torch.utils.data.DataLoader(Data(), batch_size=1, num_workers=1))
"""


class Models(FixTest):
    def pair(self, *fixes: str, delta: float, text: str = MODEL, show: str = "") -> Done:
        """Trains without and with; the losses are equal, or differ by `delta` of themselves at most."""
        self.again()
        plain = losses(self.train(text=text).ring())
        self.again()
        done = self.train(*fixes, text=text, show=show)
        found = losses(done.ring())
        self.assertEqual(len(found), len(plain))
        for one, other in zip(plain, found):
            self.assertLessEqual(abs(one - other), delta * abs(one))
        if delta:
            self.assertNotEqual(plain, found, "nothing computes differently")
        return done

    def test_checkpoint(self) -> None:
        show = "print(net.blocks[0].norm.num_batches_tracked.item(), net.blocks[0].norm.momentum)"
        done = self.pair("checkpoint", delta=0, show=show)
        self.assertEqual(done.out, "6 0.1\n")
        made = self.edit(done.ring(), "checkpoint", "before", "optimizer =")
        check = 'lambda module: type(module).__name__ == "Block"'
        self.assertEqual(made["lines"], [f"apply_activation_checkpointing(net, check_fn={check})"])
        self.assertIn("4 × Block", self.the(done.ring(), "checkpoint")["what"])

    def test_checkpoint_computes_again(self) -> None:
        text = MODEL.replace("return x +", "calls.append(1)\n            return x +").replace(
            "class Block", "calls = []\n    class Block"
        )
        for value, calls in (("", 48), ("=0.5", 36), ("=2", 36), ("=4", 30)):
            done = self.train("checkpoint" + value, text=text, show="print(len(calls))")
            self.assertEqual(int(done.out), calls, value)
        done = self.train("checkpoint=0", text=text, show="print(len(calls))")
        self.assertEqual(int(done.out), 24)
        self.assertEqual(of(latest(done), "checkpoint")[0][0], REFUSED)

    def test_bf16(self) -> None:
        ring = self.pair("amp", delta=0.02).ring()
        first, second = (change for _, change in of(ring, "amp"))
        script = (self.folder / "train.py").read_text().splitlines()
        for change, kind, lines in (
            (first, "with", ['with torch.autocast("cpu", dtype=torch.bfloat16):']), (second, "after", ["out = out.float()"]),
        ):  # fmt: skip
            self.assertEqual((change["edit"]["kind"], change["edit"]["lines"]), (kind, lines))
            self.assertIn("out = net(x)", script[change["edit"]["line"] - 1])

    def test_fp16(self) -> None:
        """If the processor computes in fp16, losses are reported as the program computed them, and clipping sees gradients unscaled."""
        done = self.train("amp=fp16", text=MODEL, show="print(torch.__version__)")
        value, change = of(done.ring(), "amp")[0]
        if done.out.startswith("2.0"):
            self.assertEqual((value, "bf16 only" in change["what"]), (REFUSED, True))
            return
        self.assertEqual(value, ON)
        self.assertNotIn("edit", change)
        self.again()
        text = MODEL.replace("Dropout(0.1)", "Dropout(0.0)")
        ring = self.train("amp=fp16", text=text).ring()
        skipped = sum(
            record.flags for record in ring.of("scale")
        )  # the first scale is high: such a step changes nothing
        self.assertLess(skipped, 4)
        self.again()
        plain = losses(self.train(text=text).ring())
        for one, other in zip(plain, losses(ring)[skipped:]):
            self.assertLessEqual(abs(one - other), 0.02 * abs(one))
        self.assertNotEqual(plain, losses(ring))

    def test_fp16_skips_what_is_not_finite(self) -> None:
        text = """
            import torch
            net = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for step in range(5):
                before = net.weight.detach().clone()
                optimizer.zero_grad()
                loss = net(torch.ones(8, 4)).mean() * 0.01
                (loss * (float("inf") if step == 2 else 1)).backward()
                optimizer.step()
                print(torch.equal(before, net.weight), bool(torch.isfinite(net.weight).all()))
            print(torch.__version__)
        """
        done = self.train("amp=fp16", text=text)
        *rows, version = done.out.splitlines()
        if version.startswith("2.0"):
            return
        self.assertEqual(rows, ["False True"] * 2 + ["True True"] + ["False True"] * 2)
        [scale] = done.ring().of("scale")
        self.assertEqual((scale.flags, scale.x), (1, 32768.0))

    def test_programs_that_do_it_themselves(self) -> None:
        own = 'with torch.autocast("cpu", dtype=torch.bfloat16):\n            out = net(x)\n        out = out.float()'
        inside = MODEL.replace(
            "            for block in",
            '            with torch.autocast("cpu", dtype=torch.bfloat16): x = x * 1\n            for block in',
        )
        half = MODEL.replace("net = Net()", "net = Net().bfloat16()").replace("= net(x)", "= net(x.bfloat16()).float()")
        for text, part in (
            (MODEL.replace("out = net(x)", own), "uses autocast itself"), (inside, "uses autocast itself"), (half, "16 bits already"),
        ):  # fmt: skip
            self.again()
            self.assertIn(part, self.the(self.train("amp", text=text).ring(), "amp", REFUSED)["what"])

    def test_compile(self) -> None:
        done = (
            self.pair(
                "compile",
                delta=1e-3,
                text=MODEL.replace("Dropout(0.1)", "Dropout(0.0)"),
                show="print(torch.__version__)",
            )
            if self.compiles()
            else self.train("compile", text=MODEL)
        )
        value, change = of(done.ring(), "compile")[0]
        if value == ON:
            self.assertEqual(self.edit(done.ring(), "compile", "before", "optimizer =")["lines"], ["net.compile()"])
            self.assertGreater(len(done.ring().of("compile")), 0, "nothing was compiled")
        else:
            self.assertIn("compiles nothing", change["what"])
        self.assertIn("no mode", self.the(latest(self.train("compile=no", text=MODEL)), "compile", REFUSED)["what"])

    def compiles(self) -> bool:
        done = self.execute(
            "-c", "import sys, torch; print(sys.version_info < (3, 11) or hasattr(torch, 'cond'))", agent=False
        )
        return done.out == "True\n"

    def test_channels_last(self) -> None:
        show = "print(net.blocks[0].conv.weight.is_contiguous(memory_format=torch.channels_last))"
        done = self.pair("channels_last", delta=0.01, text=MODEL.replace("Dropout(0.1)", "Dropout(0.0)"), show=show)
        self.assertEqual(done.out, "True\n")
        made = self.edit(done.ring(), "channels_last", "before", "optimizer =")
        self.assertEqual(made["lines"], ["net.to(memory_format=torch.channels_last)"])

    def test_the_workers_of_a_loader_look_for_no_model(self) -> None:
        """Their transforms are modules, too. Looking at each call would change the class of all modules twice for each of them."""
        text = MODEL.replace("net = Net()", WORKER + "    net = Net()").replace(
            "range(6):", "range(6):\n        own += next(batches).sum().item()"
        )
        done = self.train("channels_last", text=text, show="print(own)")
        self.assertEqual(done.out, "5.0\n")  # all of six but the first
        self.the(latest(done), "channels_last")

    def test_a_model_that_was_traced(self) -> None:
        """torch.jit.trace (as SummaryWriter.add_graph) calls a model twice and compares: it sees the model as it is."""
        text = MODEL.replace("torch.nn.Dropout(0.1)", "torch.nn.Identity()")
        text = text.replace("    for step", "    torch.jit.trace(net, x)\n    for step", 1)
        done = self.pair("channels_last", delta=1e-4, text=text)
        self.assertIn("channels_last", self.the(done.ring(), "channels_last")["what"])

    def test_what_does_not_fit_is_taken_back(self) -> None:
        """`view` cannot look at channels_last: the call is made again without, with the same random numbers and statistics."""
        text = MODEL.replace("x.mean((2, 3))", "x.view(len(x), -1).view(len(x), 4, -1).mean(2)")
        ring = self.pair("checkpoint", "channels_last", delta=0, text=text).ring()
        self.assertIn("view size", self.the(ring, "channels_last", REFUSED)["what"])
        self.the(ring, "checkpoint")

    def test_attention_of_a_library(self) -> None:
        text = """
            import torch
            class Config:
                _attn_implementation = "eager"
            class Attention(torch.nn.Linear):
                def __init__(self):
                    super().__init__(4, 1)
                    self.config = Config()
                def set_attn_implementation(self, name):
                    self.config._attn_implementation = name
            net = Attention()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            net(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            print(net.config._attn_implementation)
        """
        done = self.train("sdpa", text=text)
        self.assertEqual(done.out, "sdpa\n")
        self.assertEqual(
            self.edit(done.ring(), "sdpa", "before", "optimizer =")["lines"], ['net.set_attn_implementation("sdpa")']
        )

    HUGGING_FACE = """
            import torch
            from torch.utils.data import DataLoader, TensorDataset
            class Model(torch.nn.Module):
                supports_gradient_checkpointing = True
                is_gradient_checkpointing = False
                def __init__(self):
                    super().__init__()
                    self.blocks = torch.nn.ModuleList(torch.nn.Sequential(torch.nn.Linear(4, 4)) for _ in range(3))
                def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs=None):
                    print("on", gradient_checkpointing_kwargs)
                    self.is_gradient_checkpointing = True
                def gradient_checkpointing_disable(self):
                    self.is_gradient_checkpointing = False
                def forward(self, x):
                    for block in self.blocks:
                        x = block(x)
                    return x
            net = Model()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for (x,) in DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2):
                optimizer.zero_grad()
                net(x).sum().backward()
                optimizer.step()
                print(len(x), net.is_gradient_checkpointing)
        """

    def test_checkpointing_by_the_models_own_switch(self) -> None:
        done = self.train("checkpoint", text=self.HUGGING_FACE)
        self.assertEqual(done.out.splitlines(), ["on {'use_reentrant': False}", *["2 True"] * 4])
        made = self.edit(done.ring(), "checkpoint", "before", "optimizer =")
        self.assertEqual(made["lines"], ["net.gradient_checkpointing_enable()"])
        self.again()
        done = self.train("checkpoint=0.5", text=self.HUGGING_FACE)
        self.assertEqual(done.out.splitlines(), ["2 False"] * 4, "the switch is for all blocks")
        self.assertIn("2 × Sequential", self.the(done.ring(), "checkpoint")["what"])

    def test_memory_for_a_larger_batch(self) -> None:
        done = self.train("checkpoint_batch=2", text=self.HUGGING_FACE)
        self.assertEqual(done.out.splitlines(), ["on {'use_reentrant': False}", *["4 True"] * 2])
        what = [change["what"] for _, change in of(done.ring(), "checkpoint_batch")]
        self.assertIn("DataLoader: batch_size 2 → 4", what)
        self.assertIn("Model: gradient_checkpointing_enable(), computed again in the backward pass", what)

    def test_two_models(self) -> None:
        """A generator and a discriminator both train; a module of the same class inside of one is none of its own."""
        text = """
            import torch
            nets = [torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(4, 4)), torch.nn.Linear(4, 4)) for _ in range(2)]
            optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
            for _ in range(3):
                made = nets[0](torch.ones(2, 4))
                judged = nets[1](made)
                judged.sum().backward()
                for optimizer in optimizers: optimizer.step()
            print(made.grad_fn.name() == judged.grad_fn.name(), made.grad_fn.name())
        """
        done = self.train("amp", text=text)
        self.assertEqual(done.out.split()[0], "True")
        self.assertIn("ToCopy", done.out)

    def test_conv_bn(self) -> None:
        text = """
            import torch
            torch.manual_seed(1)
            net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
            x = torch.randn(2, 3, 8, 8)
            net(x)
            net.eval()
            keys, sums = list(net.state_dict()), []
            with torch.no_grad():
                for _ in range(8): sums.append(net(x).sum().item())
                net[1].running_mean.zero_()
                changed = net(x).sum().item()
            calls = []
            hook = net[1].register_forward_hook(lambda *_: calls.append(1))
            with torch.no_grad(): net(x)
            assert keys == list(net.state_dict())
            print(max(sums) - min(sums) < 1e-3, abs(changed - sums[0]) > 1, len(calls))
        """
        done = self.train("conv_bn", text=text)
        self.assertEqual(done.out, "True True 0\n")
        self.assertIn("1 × batch norm", self.the(done.ring(), "conv_bn")["what"])
        self.assertIn(
            "this program trains", self.the(latest(self.train("conv_bn", text=MODEL)), "conv_bn", REFUSED)["what"]
        )

    def test_offload(self) -> None:
        """Tests what the fix does with activations, on those of the host: there are no others here."""
        fake = (
            "    import gapless_agent.fixes._devices as devices\n    devices.has_cuda = lambda torch: True\n"
            "    import torch\n    import gapless_agent.fixes.offload as offload\n"
            "    offload.Moved.device, offload.Moved.least_bytes = 'cpu', 0\n"
        )
        script = MODEL.replace("    import copy, pickle, sys, torch\n", "    import copy, pickle, sys\n" + fake)
        done = self.train("offload", text=script)
        plain = self.train(text=MODEL)
        self.assertEqual(losses(latest(plain)), losses(done.rings()[0]))
        self.assertIn("activations of Net", of(done.rings()[0], "offload")[0][1]["what"])


RANKS = """
    import torch, torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    net = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    torch.manual_seed(dist.get_rank())
    for step in range(7):
        optimizer.zero_grad()
        for part in range(2 if step == 6 else 3):
            out = net(torch.randn(8, 4))
            out.square().mean().backward()
        optimizer.step()
    weights = torch.cat([one.detach().flatten() for one in net.parameters()])
    other = [torch.zeros_like(weights) for _ in range(2)]
    dist.all_gather(other, weights)
    assert torch.allclose(*other, atol=1e-7), (other[0] - other[1]).abs().max()
    if dist.get_rank() == 0:
        print("weights", *[f"{one:.4f}" for one in weights.tolist()])
    dist.destroy_process_group()
    import time; time.sleep(0.5)
"""


# A model of FSDP2, which says how often its blocks were gathered in a step.
SHARDED = """
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        print("no fully_shard")
        raise SystemExit(0)
    net = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()) for _ in range(3)))
    for block in net:
        fully_shard(block)
    fully_shard(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(4):
        optimizer.zero_grad()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            net(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print("gathered", sum(event.name.startswith("FSDP::all_gather (") for event in profile.events()), "times")
        print(*[f"{one.full_tensor().sum().item():.5f}" for one in net.parameters()])
    else:
        for one in net.parameters():
            one.full_tensor()
    dist.destroy_process_group()
"""

# Counts the exchanges of a backward pass.
COUNTED = """exchanged = 0
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
def hook(state, bucket):
    global exchanged
    exchanged += bucket.is_last()
    return allreduce_hook(state, bucket)
net.register_comm_hook(None, hook)
"""


class Ranks(FixTest):
    def ranks(self, *fixes: str, text: str = RANKS) -> Done:
        launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", self.script(text))
        done = self.execute(*launcher, options={"record": {"on": False}, "fixes": list(fixes)})
        self.assertEqual(done.code, 0, done.err)
        return done

    def test_ddp(self) -> None:
        plain = self.ranks().out
        self.again()
        done = self.ranks("ddp_bucket=1", "ddp_view", "nosync")
        self.assertEqual(done.out, plain)
        rings = done.rings()
        self.assertEqual(sorted(ring.rank for ring in rings), [0, 1], "the launcher says nothing")
        for ring in rings:
            self.assertEqual(
                [change["fix"] for value, change in changes(ring) if value == ON], ["ddp_bucket", "ddp_view", "nosync"]
            )
            self.assertIn("every 3.", of(ring, "nosync")[0][1]["what"])
            edit = of(ring, "ddp_bucket")[0][1]["edit"]
            self.assertEqual((edit["call"], edit["set"]), ("DistributedDataParallel", {"bucket_cap_mb": "1"}))

    def test_the_patch_of_nosync(self) -> None:
        """The patched script holds gradients back as the fix does, also in a step of fewer passes."""
        done = self.ranks("nosync")
        change = of(done.rings()[0], "nosync")[0][1]
        text = patched((self.folder / "train.py").read_text(), change["edit"])
        self.again()
        text = text.replace("optimizer = ", COUNTED + "optimizer = ", 1)
        text = text.replace('print("weights"', 'print("exchanged", exchanged)\n    print("weights"')
        counts, weights = self.ranks(text=text).out.splitlines()
        self.assertEqual((counts, weights), ("exchanged 6", done.out.strip()))

    def test_when_fsdp_gathers(self) -> None:
        """Numbers stay; kept parameters are gathered once a step, which takes the backward pass no exchange."""
        text = RANKS[: RANKS.index("net =")] + SHARDED
        plain = self.ranks(text=text).out.splitlines()
        if plain == ["no fully_shard"]:
            self.skipTest("this torch has no fully_shard")
        for value, calls in (("keep", 3), ("prefetch", 6)):
            self.again()
            done = self.ranks(f"fsdp={value}", text=text)
            change = of(done.rings()[0], "fsdp")[0][1]
            self.assertIn("parameters of 3 sharded modules", change["what"])
            counts, *weights = done.out.splitlines()
            self.assertEqual((weights, counts), (plain[1:], f"gathered {calls} times"), value)
            script = patched((self.folder / "train.py").read_text(), change["edit"])
            self.again()
            self.assertEqual(self.ranks(text=script).out, done.out, "the patch does the same")

    def test_without_any_exchange(self) -> None:
        """Ranks drift apart, which `gapless tune comm` measures."""
        apart = RANKS.replace("assert torch.allclose", "assert not torch.allclose")
        self.assertNotEqual(apart, RANKS)
        for ring in self.ranks("nosync=0", text=apart).rings():
            self.assertIn("not exchanged", of(ring, "nosync")[0][1]["what"])

    def test_compressed(self) -> None:
        plain = [float(word) for word in self.ranks().out.split()[1:]]
        self.again()
        done = self.ranks("ddp_compress=fp16", "ddp_static")
        for one, other in zip(plain, [float(word) for word in done.out.split()[1:]]):
            self.assertAlmostEqual(one, other, delta=0.02)
        for ring in done.rings():
            value, change = of(ring, "ddp_compress")[0]
            self.assertEqual(value, ON, change)
            self.assertEqual(
                change["edit"]["lines"], ["net.register_comm_hook(None, default_hooks.fp16_compress_hook)"]
            )
            self.assertEqual(ring.role, layout.ROLE_TRAINS)


if __name__ == "__main__":
    unittest.main()
