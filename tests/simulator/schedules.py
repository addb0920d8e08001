# SPDX-License-Identifier: Apache-2.0
"""Random programs of several kinds, and the changes to ask about. The same number gives the same program."""

from __future__ import annotations

import random
from dataclasses import dataclass

from simulator.kineto import Recorder
from simulator.program import Machine, Program
from simulator.script import MAIN_STREAM, Layer, Pace, Script

KINDS = ("gpu bound", "launch bound", "loader bound", "many syncs", "streams", "queue full", "autograd thread", "mixed")
COPY_STREAM = 20
SIDE_STREAMS = (24, 28)

# Operator, the operator within it, kernel, its share of the launches, its length beside the others.
FAMILIES = (
    ("aten::linear", "aten::addmm", "ampere_sgemm_128x64_tn", 3, 4.0),
    ("aten::conv2d", "aten::cudnn_convolution", "sm80_xmma_fprop_implicit_gemm_tf32f32_nhwc", 2, 5.0),
    ("aten::batch_norm", "aten::cudnn_batch_norm", "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512>", 2, 1.5),
    ("aten::relu", "aten::clamp_min", "void at::native::vectorized_elementwise_kernel<4, at::native::launch_clamp_scalar>", 4, 0.6),
    ("aten::add", "", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>", 4, 0.6),
    ("aten::softmax", "aten::_softmax", "void (anonymous namespace)::softmax_warp_forward<float, float, float, 9>", 1, 1.2),
    ("aten::sum", "", "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", 1, 0.8),
)  # fmt: skip
PATTERNS = ("gemm", "elementwise", "bn_fw", "softmax|reduce")


@dataclass(frozen=True)
class Style:
    """A Style is what a schedule's steps are made of."""

    kernels: int
    kernel_ns: float  # mean
    host_ns: float  # in an operator, mean
    python_ns: float  # between operators
    loader_ns: float
    batch_bytes: int  # 0: none is copied
    pinned: bool
    prefetch: bool  # the batch is copied on a stream of its own, and waited for with an event
    item_every: int  # kernels; 0: never within a step
    item_at_end: bool
    more_share: float  # host work that depends on a value, of the step's host work, at most
    sync_scope: str  # an explicit synchronisation at the end of a step: "", "device", "stream", "event"
    streams: int  # beside the main one
    autograd: bool
    machine: Machine


@dataclass(frozen=True)
class Schedule:
    number: int
    kind: str
    program: Program
    recorder: Recorder
    changes: tuple[str, ...]


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return float(low * (high / low) ** rng.random())


def style(rng: random.Random, kind: str) -> Style:
    """The kind's own settings; the others as they come."""
    mixed = kind == "mixed"
    kernels = round(log_uniform(rng, 20, 400))
    host_ns, python_ns = log_uniform(rng, 6_000, 20_000), log_uniform(rng, 1_000, 12_000)
    kernel_ns = log_uniform(rng, 8_000, 80_000)
    if kind in ("gpu bound", "queue full"):
        kernel_ns = (host_ns + python_ns) * log_uniform(rng, 1.8, 20)
    elif kind == "launch bound":
        kernel_ns = log_uniform(rng, 1_500, 0.4 * host_ns)
    depth = 1024 if rng.random() < 0.7 else round(log_uniform(rng, 64, 1024))
    if kind == "queue full":
        large = rng.random() < 0.1
        kernels = 2_000 if large else rng.randint(150, 400)
        depth = 1024 if large else round(log_uniform(rng, 16, 128))
    busy_ns = kernels * max(kernel_ns, host_ns + python_ns)
    loader_ns = 0.0 if rng.random() < 0.2 else busy_ns * log_uniform(rng, 0.005, 0.1)
    if kind == "loader bound" or mixed and rng.random() < 0.3:
        loader_ns = busy_ns * log_uniform(rng, 0.4, 3)
    streams = rng.randint(1, 2) if kind == "streams" or mixed and rng.random() < 0.4 else 0
    every = rng.randint(4, 20) if kind == "many syncs" else rng.randint(10, 60) if mixed and rng.random() < 0.5 else 0
    batch_bytes = round(log_uniform(rng, 1e4, 2e7)) if rng.random() < 0.7 else 0
    return Style(
        kernels=kernels, kernel_ns=kernel_ns, host_ns=host_ns, python_ns=python_ns, loader_ns=loader_ns,
        batch_bytes=batch_bytes, pinned=rng.random() < 0.5, prefetch=kind in ("streams", "mixed") and rng.random() < 0.4,
        item_every=every, item_at_end=rng.random() < (0.3 if kind == "queue full" else 0.6),
        more_share=0.2 if rng.random() < 0.3 else 0.0,
        sync_scope=rng.choice(("device", "stream", "event")) if rng.random() < (0.6 if kind == "many syncs" else 0.15) else "",
        streams=streams, autograd=kind == "autograd thread" or mixed and rng.random() < 0.5,
        machine=Machine(depth, rng.choice((1, 2)) if streams and rng.random() < 0.25 else 0),
    )  # fmt: skip


def layers(rng: random.Random, style: Style, count: int) -> list[Layer]:
    chosen = rng.choices(FAMILIES, [family[3] for family in FAMILIES], k=count)
    raw = [family[4] * rng.lognormvariate(0, 0.5) for family in chosen]
    factor = style.kernel_ns * count / sum(raw)
    return [
        Layer(operator, inner, kernel, factor * length, style.host_ns * rng.lognormvariate(0, 0.3),
              style.python_ns * rng.lognormvariate(0, 0.4))
        for (operator, inner, kernel, _, _), length in zip(chosen, raw)
    ]  # fmt: skip


def side_by_side(script: Script, branches: list[list[Layer]], event: int) -> int:
    """Forks onto the side streams and joins again; gives the next free event."""
    script.record(event, MAIN_STREAM)
    for stream, branch in zip(SIDE_STREAMS, branches):
        script.wait(event, stream)
        for layer in branch:
            script.layer(layer._replace(stream=stream))
    for offset, stream in enumerate(SIDE_STREAMS[: len(branches)], 1):
        script.record(event + offset, stream)
        script.wait(event + offset, MAIN_STREAM)
    return event + len(branches) + 1


def forward(script: Script, style: Style, net: list[Layer], sequence: int) -> None:
    event, at = 10, 0
    while at < len(net):
        part = net[at : at + 12]
        if style.streams and len(part) == 12 and at // 12 % 2:
            share = 12 // (style.streams + 1)
            branches = [part[share * (1 + index) : share * (2 + index)] for index in range(style.streams)]
            event = side_by_side(script, branches, event)
            part = part[:share]
        for offset, layer in enumerate(part):
            script.layer(layer, sequence + at + offset if style.autograd else -1)
            if style.item_every and (at + offset + 1) % style.item_every == 0:
                script.item(0, pinned=style.pinned)
        at += 12


def backward(rng: random.Random, script: Script, net: list[Layer], sequence: int) -> None:
    inner = Script(rng, script.pace)
    for offset, layer in reversed(list(enumerate(net))):
        name = layer.operator.replace("aten::", "").title()
        inner.open(f"autograd::engine::evaluate_function: {name}Backward0", sequence=sequence + offset)
        inner.layer(layer)
        inner.close()
    script.backward(inner)


def step(rng: random.Random, style: Style, nets: list[list[Layer]], pace: Pace, sequence: int) -> Script:
    script = Script(rng, pace)
    script.work(5_000)
    if style.loader_ns:
        script.loader(style.loader_ns)
    if style.batch_bytes and style.prefetch:
        script.batch(style.batch_bytes, pinned=True, stream=COPY_STREAM)
        script.record(1, COPY_STREAM)
        script.wait(1, MAIN_STREAM)
    elif style.batch_bytes:
        script.batch(style.batch_bytes, pinned=style.pinned)
    forward(script, style, nets[0], sequence)
    if style.autograd:
        backward(rng, script, nets[0], sequence)
    if style.sync_scope == "event":
        script.record(2, MAIN_STREAM)
    for layer in nets[1]:  # the optimizer
        script.layer(layer)
    if style.item_at_end:
        script.item(style.more_share * rng.random() * style.kernels * style.host_ns, pinned=not style.pinned)
    if style.sync_scope:
        script.synchronize(style.sync_scope, 2 if style.sync_scope == "event" else MAIN_STREAM)
    return script


def changes(rng: random.Random) -> tuple[str, ...]:
    """Four to six: the first four each on its own, what is left in combination or for the worse."""
    factors = [rng.choice((0.4, 0.5, 0.6, 0.7, 0.8, 0.9)) for _ in range(4)]
    family = f"kernels:{rng.choice(PATTERNS)}={rng.choice((0.2, 0.4, 0.6))}"
    asked = [f"kernels={factors[0]}", family, f"host={factors[1]}", "sync"]
    both = f"kernels={factors[2]},host={factors[3]}"
    more = [both, "host=0.7,sync", f"kernels={rng.choice((1.3, 2.0))}", "host=1.5"]
    return (*asked, *rng.sample(more, rng.randint(0, 2)))


def schedule(number: int, kind: str = "") -> Schedule:
    kind = kind or KINDS[number % len(KINDS)]
    rng = random.Random(f"{number} {kind}")
    chosen = style(rng, kind)
    pace = Pace(rng.uniform(0.03, 0.25), rng.uniform(0.005, 0.05), log_uniform(rng, 3_000, 8_000))
    share = rng.uniform(0.05, 0.3)  # of the kernels, in the optimizer
    count = round(chosen.kernels * (1 - share) / (2 if chosen.autograd else 1))
    nets = [layers(rng, chosen, max(count, 4)), layers(rng, chosen, max(round(chosen.kernels * share), 2))]
    steps = 3 if chosen.kernels > 1_000 else rng.randint(3, 8) if chosen.kernels < 100 else rng.randint(3, 5)
    actions = tuple(tuple(step(rng, chosen, nets, pace, 1 + 10_000 * n).actions) for n in range(steps))
    blocks = 864 // chosen.machine.kernels_at_once if chosen.machine.kernels_at_once else 27
    recorder = Recorder(rng.random() < 1 / 3, rng.random() < 0.2, blocks)
    program = Program(chosen.machine, actions, rng.randint(1, 9), warmup=1 if steps > 3 and rng.random() < 0.4 else 0)
    return Schedule(number, kind, program, recorder, changes(rng))
