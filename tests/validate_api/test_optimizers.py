# SPDX-License-Identifier: Apache-2.0
"""The optimisers of the package on small models: what they change, that the losses stay, and what they measure."""

from __future__ import annotations

import copy
import time
import unittest
from typing import Any
from unittest import mock

import gapless
from cases import in_ci
from gapless.host import cores

try:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader
except ImportError:
    raise unittest.SkipTest("no PyTorch in this Python") from None


def conv_net() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.2), nn.Conv2d(8, 8, 3, bias=False),
        nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4),
    )  # fmt: skip


class Residual(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.ReLU()) for _ in range(4))
        self.head = nn.Linear(16, 4)

    def forward(self, inputs: Any) -> Any:
        for block in self.blocks:
            inputs = inputs + block(inputs)
        return self.head(inputs)


class Branching(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.layers = conv_net()

    def forward(self, inputs: Any) -> Any:
        return self.layers(inputs if inputs.sum() > 0 else -inputs)


def learn(model: Any, inputs: Any, steps: int = 4) -> tuple[list[float], dict[str, Any]]:
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(inputs), torch.arange(len(inputs)) % 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model.state_dict()


def kept_for_backward(model: Any, inputs: Any) -> int:
    """Numbers that the forward pass keeps, weights aside."""
    own = {one.data_ptr() for one in model.parameters()}
    found: list[int] = []

    def pack(tensor: Any) -> Any:
        if tensor.data_ptr() not in own:
            found.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(inputs)
    return sum(found)


class Slow(torch.utils.data.Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __len__(self) -> int:
        return 512

    def __getitem__(self, index: int) -> tuple[Any, int]:
        time.sleep(self.seconds)
        return torch.full((16,), float(index % 7)), index % 4


class Busy(torch.utils.data.Dataset):  # type: ignore[misc,type-arg,unused-ignore]
    """Computes for about 2 ms a sample, whatever the machine."""

    def __len__(self) -> int:
        return 512

    def __getitem__(self, index: int) -> tuple[Any, int]:
        ends = time.thread_time() + 0.002
        while time.thread_time() < ends:
            pass
        return torch.full((16,), float(index % 7)), index % 4


class MixedPrecision(unittest.TestCase):
    @in_ci
    def test_a_step_learns_as_in_32_bits_and_weights_stay_there(self) -> None:
        losses = {}
        for mixed in (False, True):
            torch.manual_seed(0)
            model = Residual()
            inputs, targets = torch.randn(64, 16), torch.arange(64) % 4
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            if mixed:
                step = gapless.MixedPrecisionOptimizer().wrap_training_step(
                    model, nn.functional.cross_entropy, optimizer
                )
            else:
                step = self.plain(model, optimizer)
            losses[mixed] = [step(inputs, targets) for _ in range(20)]
            self.assertEqual({one.dtype for one in model.parameters()}, {torch.float32})
        self.assertNotEqual(losses[True], losses[False])
        self.assertAlmostEqual(losses[True][-1], losses[False][-1], delta=0.02)
        self.assertLess(losses[True][-1], losses[True][0])

    @staticmethod
    def plain(model: Any, optimizer: Any) -> Any:
        def step(inputs: Any, targets: Any) -> Any:
            loss = nn.functional.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()

        return step

    def test_the_estimate_is_measured_and_leaves_nothing_behind(self) -> None:
        model = conv_net()
        optimizer = gapless.MixedPrecisionOptimizer()
        self.assertGreater(optimizer.estimate_speedup(model, torch.randn(4, 3, 16, 16)), 0)
        self.assertEqual(optimizer.estimate_source, "measured")
        self.assertTrue(all(one.grad is None for one in model.parameters()))

    def test_the_estimate_of_the_operator_mix(self) -> None:
        optimizer = gapless.MixedPrecisionOptimizer()
        for layers, speedup in (
            ([nn.Linear(2, 2)], 2.5),
            ([nn.LayerNorm(2)], 1.5),
            ([nn.ReLU()], 1.2),
            ([nn.Linear(2, 2), nn.LayerNorm(2), nn.Dropout()], 2.0),  # a dropout counts nothing
            ([], 1.0),
        ):
            self.assertAlmostEqual(optimizer.estimate_speedup(nn.Sequential(*layers)), speedup)
        self.assertEqual(optimizer.estimate_source, "operator mix")

    @in_ci
    def test_kinds_of_batches_give_the_same_loss_as_a_number(self) -> None:
        inputs, targets = torch.randn(8, 16), torch.arange(8) % 4
        losses = []
        for batch in (
            ({"input": inputs, "target": targets},),
            ((inputs, targets),),
            (inputs, targets),
            ({"x": inputs, "labels": targets},),
        ):
            torch.manual_seed(0)
            model = Residual()
            mixed = gapless.MixedPrecisionOptimizer()
            step = mixed.wrap_training_step(model, nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.1))
            losses.append([step(*batch) for _ in range(3)])
            self.assertEqual(mixed.scaler.is_enabled(), False)  # of a CPU: nothing is scaled
        self.assertTrue(all(found == losses[0] for found in losses))
        self.assertIs(type(losses[0][0]), float)
        self.assertLess(losses[0][-1], losses[0][0])
        with self.assertRaisesRegex(ValueError, "no target"):
            step(inputs)


class Checkpointing(unittest.TestCase):
    def check(self, plain: Any, changed: Any, inputs: Any) -> None:
        self.assertLess(kept_for_backward(changed, inputs), kept_for_backward(copy.deepcopy(plain), inputs))
        (losses, state), (other, after) = learn(plain, inputs), learn(changed, inputs)
        self.assertEqual(losses, other)
        self.assertEqual(list(state), list(after))

    def test_a_chain_in_segments_keeps_losses_and_statistics(self) -> None:
        inputs = torch.randn(8, 3, 16, 16)
        plain = conv_net()
        (losses, state) = learn(plain, inputs)
        changed = gapless.GradientCheckpointingOptimizer().apply_checkpointing(conv_net(), 3)
        other, after = learn(changed, inputs)
        self.assertEqual(losses, other)
        for name, tensor in state.items():
            self.assertTrue(torch.equal(tensor, after[name]), name)
        self.assertLess(kept_for_backward(changed, inputs), kept_for_backward(plain, inputs) / 2)

    @in_ci
    def test_blocks_of_a_list(self) -> None:
        inputs = torch.randn(8, 16)
        torch.manual_seed(0)
        plain = Residual()
        changed = gapless.GradientCheckpointingOptimizer().apply_checkpointing(copy.deepcopy(plain))
        self.check(plain, changed, inputs)

    def test_a_share_of_the_blocks(self) -> None:
        inputs = torch.randn(8, 16)
        sizes = [
            kept_for_backward(gapless.MemoryOptimizer().enable_activation_checkpointing(Residual(), ratio), inputs)
            for ratio in (0, 0.5, 1)
        ]
        self.assertTrue(sizes[0] > sizes[1] > sizes[2], sizes)
        with self.assertRaisesRegex(ValueError, "between 0 and 1"):
            gapless.MemoryOptimizer().enable_activation_checkpointing(Residual(), 2)

    @in_ci
    def test_a_model_that_can_do_it_itself(self) -> None:
        class OfHuggingFace(nn.Module):  # type: ignore[misc,unused-ignore]
            def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs: Any = None) -> None:
                self.asked = gradient_checkpointing_kwargs

        model = OfHuggingFace()
        self.assertIs(gapless.GradientCheckpointingOptimizer().apply_checkpointing(model), model)
        self.assertEqual(model.asked, {"use_reentrant": False})

    def test_a_model_without_blocks(self) -> None:
        with self.assertRaisesRegex(ValueError, "no nn.Sequential"):
            gapless.GradientCheckpointingOptimizer().apply_checkpointing(nn.Linear(2, 2))


class Loading(unittest.TestCase):
    def test_a_waiting_dataset_gets_workers(self) -> None:
        found = gapless.DataLoadingOptimizer().optimize_dataloader(Slow(0.002), 8, {"num_workers": 0})
        self.assertGreaterEqual(found["num_workers"], 4, "it waits: more workers than cores load faster")
        self.assertTrue(found["persistent_workers"])
        self.assertGreater(found["estimated_speedup"], 2.2)
        self.assertEqual(found["estimated_speedup"], found["measured"][found["num_workers"]] / found["measured"][0])
        names = ("num_workers", "pin_memory", "prefetch_factor", "persistent_workers")
        next(iter(DataLoader(Slow(0), batch_size=8, **{name: found[name] for name in names})))

    def test_a_dataset_that_computes_gets_no_more_than_cores(self) -> None:
        found = gapless.DataLoadingOptimizer().optimize_dataloader(Busy(), 8, {"num_workers": 0})
        self.assertLessEqual(found["num_workers"], max(2, cores()))
        self.assertLessEqual(max(found["measured"]), 2 * max(2, cores()), "the ladder ends where a rung brings nothing")

    def test_a_quick_dataset_gets_none(self) -> None:
        found = gapless.DataLoadingOptimizer().optimize_dataloader([torch.zeros(1)] * 64, 8, {"num_workers": 0})
        self.assertEqual((found["num_workers"], found["prefetch_factor"], found["estimated_speedup"]), (0, None, 1.0))

    def test_an_empty_dataset(self) -> None:
        with self.assertRaisesRegex(ValueError, "no batch"):
            gapless.DataLoadingOptimizer().optimize_dataloader([], 8, {})


class Fusion(unittest.TestCase):
    def trained(self, model: Any) -> Any:
        learn(model, torch.randn(8, 3, 16, 16))
        return model.eval()

    @in_ci
    def test_folded_in_traced_and_untraceable_models(self) -> None:
        for model in (self.trained(conv_net()), self.trained(Branching())):
            inputs = torch.randn(4, 3, 16, 16)
            before = model(inputs)
            fused = gapless.KernelFusionOptimizer().fuse_conv_bn_relu(model)
            self.assertLess((fused(inputs) - before).abs().max().item(), 1e-5)
            self.assertFalse([one for one in fused.modules() if isinstance(one, nn.BatchNorm2d)])
            self.assertTrue(all(one.inplace for one in fused.modules() if isinstance(one, nn.ReLU)))
            self.assertTrue(torch.equal(model(inputs), before))  # the model that was given is as it was

    def test_a_convolution_that_others_read_stays(self) -> None:
        class Twice(nn.Module):  # type: ignore[misc,unused-ignore]
            def __init__(self) -> None:
                super().__init__()
                self.conv, self.norm = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

            def forward(self, inputs: Any) -> Any:
                found = self.conv(inputs)
                return found + self.norm(found)

        model = Twice().eval()
        fused = gapless.KernelFusionOptimizer().fuse_conv_bn_relu(model)
        self.assertTrue([one for one in fused.modules() if isinstance(one, nn.BatchNorm2d)])

    def test_a_model_in_training_is_compiled(self) -> None:
        fusion = gapless.KernelFusionOptimizer()
        with mock.patch.object(fusion, "apply_torch_compile", side_effect=lambda model, mode: ("compiled", mode)):
            self.assertEqual(fusion.fuse_conv_bn_relu(conv_net()), ("compiled", "default"))
        failing = mock.patch.object(fusion, "apply_torch_compile", side_effect=RuntimeError("no compiler"))
        with failing, self.assertRaisesRegex(ValueError, r"call model.eval\(\) \(no compiler\)"):
            fusion.fuse_conv_bn_relu(conv_net())

    def test_compiled_keeps_the_names_of_weights(self) -> None:
        model = Residual()
        inputs = torch.randn(8, 16)
        before = model(inputs)
        names = list(model.state_dict())
        try:
            compiled = gapless.KernelFusionOptimizer().apply_torch_compile(model, mode="default")
            found = compiled(inputs)
        except Exception as error:  # noqa: BLE001 -- no compiler here
            self.skipTest(f"torch.compile does not work here: {type(error).__name__}")
        self.assertLess((found - before).abs().max().item(), 1e-5)
        if hasattr(model, "compile"):
            self.assertEqual(list(compiled.state_dict()), names)


class Memory(unittest.TestCase):
    def test_the_largest_that_fits_was_tried_and_leaves_the_model_alone(self) -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(20_000, 64), nn.ReLU(), nn.Linear(64, 20_000))
        before = copy.deepcopy(model.state_dict())
        free = gapless.MemoryOptimizer()
        self.assertEqual(free.find_optimal_batch_size(model, torch.randn(1, 20_000), max_batch_size=8), 8)
        self.assertIn(8, free.tried)
        top = max(peak for peak in free.tried.values() if peak is not None)
        tight = gapless.MemoryOptimizer(limit_gb=(top + 0.15) / 0.9)
        found = tight.find_optimal_batch_size(model, torch.randn(1, 20_000), max_batch_size=1 << 14)
        self.assertTrue(8 <= found < 1 << 14, tight.tried)
        peak = tight.tried[found]
        assert peak is not None and tight.limit_gb is not None
        self.assertLessEqual(peak, 0.9 * tight.limit_gb)
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[name]), name)

    def test_nothing_fits(self) -> None:
        self.assertEqual(
            gapless.MemoryOptimizer(limit_gb=0.001).find_optimal_batch_size(Residual(), torch.randn(1, 16)), 0
        )

    def test_running_out_of_memory_is_not_fitting_and_other_errors_are_raised(self) -> None:
        class Limited(nn.Module):  # type: ignore[misc,unused-ignore]
            def __init__(self) -> None:
                super().__init__()
                self.weight = nn.Parameter(torch.ones(1))

            def forward(self, inputs: Any) -> Any:
                if len(inputs) > 23:
                    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
                return inputs * self.weight

        self.assertEqual(gapless.MemoryOptimizer().find_optimal_batch_size(Limited(), torch.ones(1, 4), 512), 23)
        with self.assertRaisesRegex(RuntimeError, "shapes"):
            gapless.MemoryOptimizer().find_optimal_batch_size(Residual(), torch.ones(1, 5))


if __name__ == "__main__":
    unittest.main()
