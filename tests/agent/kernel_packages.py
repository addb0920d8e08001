# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for packages of kernels, which compute in PyTorch with faults on demand, and the models that they are tried with."""

from __future__ import annotations

import subprocess
from typing import Any

from harness import AGENT, PYTHON, Done
from test_fixes import ON, FixTest, of

# A package of the name of Liger, which writes where Liger writes: gradients into what it was given. FAULT: `weight`, the gradient of a weight
# lacks a factor; `input`, that of the input lacks a term; `large`, large values overflow; `loss`, the gradient of the loss is that of a sum;
# `turn`, the backward pass of the rotary embedding turns the wrong way; `fused`, the gradient of the last layer's weight lacks a factor.
LIGER = """
import os, torch
FAULT = os.environ.get("FAULT", "")
calls = {"fused": 0}

class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps, in_place):
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, weight, scale)
        ctx.in_place = in_place
        result = x * scale * weight
        return torch.where(x.abs() > 3, torch.inf, result) if "large" in FAULT else result

    @staticmethod
    def backward(ctx, gradient):
        x, weight, scale = ctx.saved_tensors
        of_x = gradient * weight * scale
        if "input" not in FAULT:
            of_x = of_x - x * scale**3 * (gradient * weight * x).mean(-1, keepdim=True)
        of_weight = (gradient * x * scale).flatten(0, -2).sum(0)
        if ctx.in_place:
            of_x = gradient.data.copy_(of_x)
        return of_x, of_weight * (1.01 if "weight" in FAULT else 1), None, None

def liger_rms_norm(x, weight, eps, offset=0.0, casting_mode="llama", in_place=True):
    return RmsNorm.apply(x, weight, eps, in_place)

def liger_layer_norm(x, weight, bias, eps):
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)

def liger_swiglu(a, b):
    return torch.nn.functional.silu(a) * b

def liger_geglu(a, b):
    return torch.nn.functional.gelu(a) * b

def gradients(x, target, reduction, settings):
    with torch.enable_grad():
        leaf = x.detach().clone().requires_grad_()
        loss = torch.nn.functional.cross_entropy(leaf, target, reduction=reduction, **settings)
        return loss.detach(), torch.autograd.grad(loss, leaf)[0]

class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, target, reduction, settings):
        loss, of_x = gradients(x, target, "sum" if "loss" in FAULT else reduction, settings)
        x.data.copy_(of_x)
        ctx.save_for_backward(x.detach())
        return loss

    @staticmethod
    def backward(ctx, gradient):
        return ctx.saved_tensors[0].mul_(gradient), None, None, None

def liger_cross_entropy(x, target, weight=None, reduction="mean", **settings):
    return CrossEntropy.apply(x, target, reduction, settings)

class FusedLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, target, bias, reduction, settings):
        calls["fused"] += 1
        count = (target != settings.get("ignore_index", -100)).sum().clamp(min=1) if reduction == "mean" else 1
        loss, of_x, of_weight = 0, torch.empty_like(x), torch.zeros_like(weight)
        of_bias = None if bias is None else torch.zeros_like(bias)
        for rows in torch.arange(len(x)).split(5):
            part, own = gradients(torch.nn.functional.linear(x[rows], weight, bias), target[rows], "sum", settings)
            loss, own = loss + part / count, own / count
            of_x[rows] = own @ weight
            of_weight += own.T @ x[rows]
            if bias is not None:
                of_bias += own.sum(0)
        ctx.save_for_backward(of_x, of_weight * (1.01 if "fused" in FAULT else 1), of_bias)
        return loss

    @staticmethod
    def backward(ctx, gradient):
        of_x, of_weight, of_bias = (None if one is None else one.mul_(gradient) for one in ctx.saved_tensors)
        return of_x, of_weight, None, of_bias, None, None

def liger_fused_linear_cross_entropy(x, weight, target, bias=None, reduction="mean", **settings):
    return FusedLinear.apply(x, weight, target, bias, reduction, settings)
"""

ROTARY = """
import torch
from .functional import FAULT

def turn(x, cos, sin):
    left, right = x.chunk(2, -1)
    x.data.copy_(x * cos[:, None] + torch.cat((-right, left), -1) * sin[:, None])
    return x.detach()

class Rotary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin):
        ctx.save_for_backward(cos, sin)
        return turn(q, cos, sin), turn(k, cos, sin)

    @staticmethod
    def backward(ctx, of_q, of_k):
        cos, sin = ctx.saved_tensors
        back = sin if "turn" in FAULT else -sin
        return turn(of_q, cos, back), turn(of_k, cos, back), None, None

def liger_rotary_pos_emb(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    return Rotary.apply(q, k, cos, sin)
"""

# A layer of FP8: products of rounded factors. FAULT: `engine`, the gradient of the weight lacks a factor.
ENGINE = """
import contextlib, os, torch
FAULT = os.environ.get("FAULT", "")
state = {"on": False}

@contextlib.contextmanager
def autocast(enabled, recipe):
    assert enabled and type(recipe).__name__ == "Float8CurrentScaling"
    state["on"] = True
    yield
    state["on"] = False

def rounded(x, kind):
    scale = torch.finfo(kind).max / x.abs().max()
    return (x * scale).to(kind).to(x.dtype) / scale

class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        x, weight = rounded(x, torch.float8_e4m3fn), rounded(weight, torch.float8_e4m3fn)
        ctx.save_for_backward(x, weight)
        return x @ weight.T

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        gradient = rounded(gradient, torch.float8_e5m2)
        of_weight = gradient.flatten(0, -2).T @ x.flatten(0, -2)
        return gradient @ weight, of_weight * (1.3 if "engine" in FAULT else 1)

class Linear(torch.nn.Module):
    def __init__(self, inner, outer, bias, params_dtype, device, init_method):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(outer, inner, dtype=params_dtype, device=device))
        self.bias = torch.nn.Parameter(torch.zeros(outer, dtype=params_dtype, device=device)) if bias else None

    def forward(self, x):
        assert state["on"] and x.shape[:-1].numel() % 8 == 0
        product = Product.apply(x, self.weight)
        return product if self.bias is None else product + self.bias
"""

MODEL = """
    import copy, torch
    torch.manual_seed(1)
    class RMSNorm(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.weight, self.eps = torch.nn.Parameter(torch.rand(size) + 0.5), 1e-6
        def forward(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
    class Gated(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.gate_proj, self.up_proj = torch.nn.Linear(size, 2 * size), torch.nn.Linear(size, 2 * size)
            self.down_proj, self.act_fn = torch.nn.Linear(2 * size, size), torch.nn.SiLU()
        def forward(self, x):
            return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
    class Block(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.norm, self.gated, self.drop = RMSNorm(size), Gated(size), torch.nn.Dropout(0.1)
        def forward(self, x):
            return self.drop(self.gated(x)) + self.norm(x)  # both get the same gradient
    net = torch.nn.Sequential(Block(32), Block(32), torch.nn.LayerNorm(32), torch.nn.Linear(32, 8))
    keys, kind = list(net.state_dict()), type(net[0].norm)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    x, y = 2 * torch.randn(16, 32), torch.randint(8, (16,))
    for step in range(6):
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    assert (keys, kind) == (list(net.state_dict()), type(net[0].norm))
    copied = copy.deepcopy(net)
    with torch.no_grad():
        copied[0].norm.weight.zero_()
    assert not torch.equal(copied.eval()(x), net.eval()(x)), "a copy computes with its own weights"
    SHOW
"""
FORWARDS = "print(sum('forward' in vars(module) for module in net.modules()))"
# Attention with a rotary embedding, where others read what went into it and share the gradient of what came out.
TURNING = """
import torch

def rotate_half(x):
    left, right = x.chunk(2, -1)
    return torch.cat((-right, left), -1)

def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin

class Attention(torch.nn.Module):
    def __init__(self, size, heads, heads_last=False):
        super().__init__()
        self.heads, self.heads_last, self.inner = heads, heads_last, torch.nn.Linear(size, 3 * size)
    def turned(self, q, k, *angles):
        if not self.heads_last:
            return apply_rotary_pos_emb(q, k, *angles)
        turned = apply_rotary_pos_emb(q.transpose(1, 2), k.transpose(1, 2), *angles, unsqueeze_dim=2)
        return [one.transpose(1, 2) for one in turned]
    def forward(self, x):
        q, k, v = self.inner(x).unflatten(-1, (self.heads, -1)).transpose(1, 2).chunk(3, -1)
        angles = torch.arange(x.shape[1])[:, None] / 10 ** torch.linspace(0, 2, q.shape[-1] // 2)
        angles = torch.cat((angles, angles), -1)[None]
        turned, keys = self.turned(q, k, angles.cos(), angles.sin())
        attended = torch.nn.functional.scaled_dot_product_attention(turned, keys, v, is_causal=True)
        return (attended + turned).add(q, alpha=0.5).transpose(1, 2).flatten(2)
"""


class KernelTest(FixTest):
    def with_standin(self, *fixes: str, fault: str = "", text: str = MODEL, show: str = FORWARDS, **more: Any) -> Done:
        package = self.folder / "packages" / "liger_kernel" / "transformers"
        package.mkdir(parents=True, exist_ok=True)
        (package / "functional.py").write_text(LIGER)
        (package / "rope.py").write_text(ROTARY)
        for folder in (package, package.parent):
            (folder / "__init__.py").touch()
        engine = package.parents[1] / "transformer_engine"
        for path, part in (("pytorch", ENGINE), ("common", "")):
            (engine / path).mkdir(parents=True, exist_ok=True)
            (engine / path / "__init__.py").write_text(part)
        (engine / "__init__.py").touch()
        (engine / "common" / "recipe.py").write_text("class Float8CurrentScaling: pass\n")
        library = package.parents[1] / "site-packages"
        library.mkdir(exist_ok=True)
        (library / "tinymodel.py").write_text(TURNING)
        env = {"PYTHONPATH": f"{AGENT}:{package.parents[1]}:{library}", "FAULT": fault}
        return self.train(*fixes, text=text.replace("SEEN", "pass"), show=show, env=env, **more)

    def train(self, *fixes: str, show: str = "", text: str = MODEL, **more: Any) -> Done:
        env = more.pop("env", None)
        options = {"record": {"on": False}, "fixes": list(fixes), **more}
        return self.succeed(text.replace("SHOW", show), options=options, env=env)

    def told(self, done: Done, fix: str) -> list[str]:
        return [change["what"] for value, change in of(done.ring(), fix) if value == ON]

    def close(self, some: list[float], others: list[float]) -> None:
        self.assertEqual(len(some), len(others))
        for one, other in zip(some, others):
            self.assertLessEqual(abs(one - other), 1e-5 * abs(one))


def has(module: str) -> bool:
    names = {"liger": "liger_kernel", "hub_kernels": "kernels", "float8": "torchao"}
    call = f"import {names.get(module, module)}"
    return subprocess.run([PYTHON, "-c", call], capture_output=True, check=False).returncode == 0
