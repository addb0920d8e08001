# SPDX-License-Identifier: Apache-2.0
"""Finds the end of each step in a program that has no optimiser and updates its parameters by hand.

The problem: such an update is a few operators on tensors, and no function of torch stands for it. What can be seen is each backward pass
and, when it begins, whether the parameters still are what they were when the one before began.

The way: a step ends at the first backward pass that begins after parameters were written; several passes without a write are one step
(gradients are accumulated). The parameters are the leaves of the graph behind the loss. Those that are written together are one source of
`steps.py`, as an optimiser is: so a GAN has two. Their version shows that they were written: it grows with each operator that writes in
place. A write through `.data` does not change the version: then some of their bytes show it, and on a device, where these cannot be read without
waiting, that their gradients were cleared. What ends last is the last step, when the process ends; where the process went on for much longer,
that step is taken to be as long as the one before it.

The cost: none once an optimiser exists, for then the wrapper is gone. Before, a look at each parameter a pass, and a walk through the graph
in the first ones.
"""

from __future__ import annotations

import weakref
from typing import Any, Callable, NamedTuple

from . import layout
from .backward import Backward
from .context import Context
from .later import bytes_at
from .optim import Optimizers
from .patches import hide
from .steps import UNSURE, Steps

WALKS = 16  # backward passes whose graph is looked through; later ones now and then
MOST_NODES = 20_000
SURE_FIRES = 8  # of the only group of parameters, before the first steps are written
FRESH_PASSES = 3  # after 3 passes in a row with parameters that no earlier pass had, each iteration makes new ones
PATIENCE = 64  # backward passes without a write, before the user learns that no step was recognised
SAMPLED_LEAVES = 64
NO_TASK = -1  # what torch calls the graph task where no backward pass runs
HISTORY = 32  # the latest writes, from which the next parameters are predicted
SAMPLED_BYTES = 16  # at the beginning, in the middle and at the end of a leaf
ADVICE = (
    "Backward passes are seen, but not where a step ends: the program has no optimiser of torch.optim, and {}. "
    "Name the function that is one iteration, --step-function train.py:train_step, or call gapless.step() at the end of each iteration, after "
    "`import gapless`; without either no step is counted, and verbs that measure take the time of the whole process."
)


class Known(NamedTuple):
    """The state of a leaf when the latest backward pass began."""

    version: int
    sample: tuple[int, bytes]
    gradient: tuple[int, int] | None  # which tensor, and its version


class ByHand:
    def __init__(self, context: Context, steps: Steps, optimizers: Optimizers, backward: Backward) -> None:
        self.context, self.steps, self.optimizers, self.backward = context, steps, optimizers, backward
        self.guard = context.guard(
            "updates by hand", "Steps of a program without an optimiser of torch.optim are not counted from here on."
        )
        self.guard.let_go.append(self.leave)
        # An inner backward pass, of a checkpoint for example, may run on the thread of a device.
        self.graph_task: Callable[[], int] = context.torch._C._current_graph_task_id
        self.active = context.options.step != "explicit"
        self.installed = False
        self.when_written: list[
            Callable[[int, list[Any]], None]
        ] = []  # called with a group of parameters and its leaves
        self.reset()

    def reset(self) -> None:
        self.leaves: dict[int, tuple[Any, Known]] = {}
        self.group_of: dict[int, int] = {}
        self.fires: dict[int, int] = {}  # by group: how often
        self.order: list[int] = []  # the groups that were written last
        self.passes = self.since = self.usual = self.fresh = 0
        self.fired_ns = self.took_ns = 0
        self.by_version = False
        if self.installed and not self.active and self.guard.on and not self.steps.explicit:
            self.active = True  # a child that trains by itself, of a process that has an optimiser
            self.put_on()

    def install(self) -> None:
        if not self.active:
            return
        self.installed = True
        self.backward.surrounded(self.put_on, self.take_off)
        self.put_on()
        self.guard.patches.wrap(self.context.torch.autograd, "grad", self._around_grad)
        self.optimizers.once_known(self._optimizer_made)
        self.guard.at_end(self.at_end)

    def put_on(self) -> None:
        if self.active:
            self.guard.patches.wrap(self.context.torch.autograd, "backward", self._around)

    def take_off(self) -> None:
        self.guard.patches.unwrap(self.context.torch.autograd, "backward")

    def compiles(self, _model: Any) -> None:
        """torch.compile was called: what it traces must be torch's own."""
        self.guard.patches.unwrap(self.context.torch.autograd, "grad")

    def _optimizer_made(self) -> None:
        try:
            self._finish()
        except Exception as error:
            self.guard.failed(error)
        self.leave()

    def leave(self) -> None:
        """The program has an optimiser after all, or says itself where steps end, or is not understood."""
        if self.active:
            self.active = False
            self.guard.patches.undo()
            self.leaves.clear()
            self.steps.release()
            if self.fires:
                self.steps.flush()
                self.steps.shared.marker = None

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(*args: Any, **kwargs: Any) -> Any:
            if self.active:
                self._look(args[0] if args else kwargs.get("tensors"), None)
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return backward

    def _around_grad(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def grad(*args: Any, **kwargs: Any) -> Any:
            if self.active:
                self._look(None, args[1] if len(args) > 1 else kwargs.get("inputs"))
                self.context.backwards += 1
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                hide(error)
                raise

        return grad

    def _look(self, roots: Any, inputs: Any) -> None:
        context = self.context
        if self.graph_task() != NO_TASK:
            return
        entered = context.clock()
        try:
            self._begins(roots, inputs)
        except Exception as error:
            self.guard.failed(error)
        context.cost_ns += context.clock() - entered

    def _begins(self, roots: Any, inputs: Any) -> None:
        """A backward pass begins."""
        if self.steps.explicit:
            return self.leave()
        if self.passes == 0:
            self.steps.trains()
            self.steps.hold()
            self.steps.begin()
        written = self._written()
        if written:
            self._fire(written, None)
            self._report(written)
        self.passes += 1
        self.since += 1
        if self.passes <= WALKS or not self.fires or not self.passes & (self.passes - 1):
            self._learn(
                leaves_of(roots, self.context.tensor) if inputs is None else leaves_in(inputs, self.context.tensor)
            )
        if not self.fires and (self.fresh >= FRESH_PASSES or self.passes >= PATIENCE):
            self._give_up()

    # Records that are written.

    def _learn(self, found: list[Any]) -> None:
        known = 0
        for leaf in found:
            entry = self.leaves.get(id(leaf))
            if entry is not None and entry[0]() is leaf:
                known += 1
            else:
                self.group_of.pop(id(leaf), None)
                self.leaves[id(leaf)] = (weakref.ref(leaf), self._now(leaf))
        self.fresh = self.fresh + 1 if found and not known and self.passes > 1 else 0

    def _now(self, leaf: Any) -> Known:
        version = int(leaf._version)
        if self.by_version:
            return Known(version, (0, b""), None)
        gradient = leaf.grad if leaf.device.type != "cpu" else None
        return Known(
            version,
            sample_of(leaf) if len(self.leaves) < SAMPLED_LEAVES or id(leaf) in self.leaves else (0, b""),
            None if gradient is None else (id(gradient), int(gradient._version)),
        )

    def _written(self) -> set[int]:
        """The leaves that were written since the latest pass began."""
        written: set[int] = set()
        for identity, (reference, before) in list(self.leaves.items()):
            leaf = reference()
            if leaf is None:
                del self.leaves[identity]
                self.group_of.pop(identity, None)
                continue
            now = self._now(leaf)
            if now.version != before.version:
                self.by_version = True
                written.add(identity)
            elif not self.by_version and self._differs(leaf, before, now):
                written.add(identity)
            self.leaves[identity] = (reference, now)
        return written

    @staticmethod
    def _differs(leaf: Any, before: Known, now: Known) -> bool:
        if leaf.device.type == "cpu":
            return now.sample != before.sample
        # Cleared gradients: each backward pass writes once into those that it finds.
        if now.gradient is None:
            return before.gradient is not None
        if before.gradient is None:
            return now.gradient[1] > 0
        return now.gradient[0] != before.gradient[0] or now.gradient[1] > before.gradient[1] + 1

    # Steps.

    def _fire(self, written: set[int], end_ns: int | None) -> None:
        groups = {self.group_of[leaf] for leaf in written if leaf in self.group_of}
        if not groups:
            groups = {UNSURE - 1 - len(self.fires)}
        for leaf in written:
            self.group_of.setdefault(leaf, min(groups))
        now = self.steps.writer.now()
        if end_ns is not None:
            now = now._replace(perf_ns=end_ns)
        self.took_ns, self.fired_ns = now.perf_ns - self.fired_ns if self.fired_ns else 0, now.perf_ns
        self.usual, self.since = self.since, 0
        for group in sorted(groups, reverse=True):
            self.fires[group] = self.fires.get(group, 0) + 1
            self.order = [*self.order[-HISTORY:], group]
            if (len(self.fires) == 1 and self.fires[group] >= SURE_FIRES) or (
                len(self.fires) > 1 and min(self.fires.values()) > 1
            ):
                self.steps.release()
            self.steps.fired(group, here=now)

    def _report(self, written: set[int]) -> None:
        groups: dict[int, list[Any]] = {}
        for identity, (reference, _) in self.leaves.items():
            leaf = reference() if identity in written else None
            if leaf is not None:
                groups.setdefault(self.group_of[identity], []).append(leaf)
        for group, leaves in sorted(groups.items(), reverse=True) if self.when_written else ():
            for follower in list(self.when_written):
                follower(group, leaves)

    def at_end(self) -> None:
        if not self.active or self.steps.explicit or not self.passes:
            return
        self._finish()
        if self.fires:
            self.steps.release()
            self.steps.flush()
        elif self.passes > 1:
            self._give_up()

    def _finish(self) -> None:
        """No more backward passes come: the step that the latest ones belong to has ended."""
        if not self.active or not self.passes:
            return
        now_ns = self.context.clock()
        if self.took_ns and now_ns - self.fired_ns > 2 * self.took_ns:
            now_ns = self.fired_ns + self.took_ns
        written = self._written()
        if written:
            self._fire(written, now_ns)
        elif self.fires and not any(leaf in self.leaves for leaf in self.group_of) and self.since == self.usual:
            self._fire_next(now_ns)  # the parameters are gone, with what was written last

    def _fire_next(self, now_ns: int) -> None:
        """The group that came next when the latest ones were written in that order before."""
        order = self.order
        group, longest = order[-1], 0
        for at in range(1, len(order)):
            alike = 0
            while alike < at and order[at - 1 - alike] == order[-1 - alike]:
                alike += 1
            if alike >= longest:
                group, longest = order[at], alike
        self.group_of[UNSURE] = group
        self._fire({UNSURE}, now_ns)

    def _give_up(self) -> None:
        why = (
            "each iteration makes new parameters instead of writing into the old ones"
            if self.fresh
            else "no parameter was seen to be written between them"
        )
        self.leave()
        self.context.message(layout.WARNING, ADVICE.format(why))


def leaves_in(inputs: Any, tensor: Any) -> list[Any]:
    """Returns the arguments of torch.autograd.grad that are leaves."""
    given = [inputs] if isinstance(inputs, tensor) else list(inputs) if isinstance(inputs, (list, tuple)) else []
    return [item for item in given if isinstance(item, tensor) and item.requires_grad and item.is_leaf]


def leaves_of(roots: Any, tensor: Any) -> list[Any]:
    """The tensors that a backward pass from there computes gradients of."""
    given = [roots] if isinstance(roots, tensor) else list(roots) if isinstance(roots, (list, tuple)) else []
    found = [root for root in given if isinstance(root, tensor) and root.requires_grad and root.grad_fn is None]
    stack = [root.grad_fn for root in given if isinstance(root, tensor) and root.grad_fn is not None]
    seen: set[Any] = set()  # keeps what is seen, so that no two have one id
    while stack and len(seen) < MOST_NODES:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if type(node).__name__ == "AccumulateGrad":
            found.append(node.variable)
        stack += [following for following, _ in node.next_functions if following is not None]
    return found


def sample_of(leaf: Any) -> tuple[int, bytes]:
    """Returns the address of the leaf and some of its bytes, which are zeros if they cannot be read."""
    try:
        address = int(leaf.data_ptr())
        size = int(leaf.numel() * leaf.element_size())
        if not address or not size or leaf.device.type != "cpu" or not leaf.is_contiguous():
            return address, b""
    except Exception:  # a leaf without memory of its own
        return 0, b""
    most = min(size, SAMPLED_BYTES)
    starts = {0, (size - most) // 2, size - most}
    return address, b"".join(bytes_at(address + start, most) for start in sorted(starts))
