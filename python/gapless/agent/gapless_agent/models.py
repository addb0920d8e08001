# SPDX-License-Identifier: Apache-2.0
"""The models that train, for the fixes that work on one: known before their first forward pass, and with something around each call.

A root is an outermost module that is called with gradients and holds parameters of an optimiser; without any optimiser, one that was
called several times without gradients. They are looked for only when a fix asks, through the wrapper of `roots.py`, until every
optimiser's parameters are found or STEPS have passed. Then only the class of a root is wrapped. The root itself stays what it was: no
attribute, no other class, so that it can be saved, copied and compared as before.

The first call of a root decides: when it fails with the fixes and succeeds without them, the fixes that made it fail are refused.
Random numbers and buffers are put back for the second attempt.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any, Callable

from . import edits
from .context import Context
from .layers import Call, Known, Layer, Root, State
from .optim import Optimizers, parameters_of
from .patches import hide
from .reports import Reports

STEPS = 3
SURE_CALLS = 4  # as in roots.py: 4 calls without gradients and without an optimiser are inference


class Models:
    def __init__(self, context: Context, optimizers: Optimizers, reports: Reports) -> None:
        self.context, self.optimizers, self.reports = context, optimizers, reports
        self.guard = context.guard("the models that fixes change", "Fixes that work on a model may find none.")
        self.look: Callable[[], None] = lambda: None
        self.layers: list[Layer] = []
        self.searches = False
        self.handlers: dict[int, tuple[Any, Callable[..., Any]]] = {}  # by id of a module
        self.wrapped: dict[type, tuple[Any, Any]] = {}  # by class: its own __call__ before, and ours
        self.roots: dict[int, Root] = {}
        self.installed = False
        self.reset()

    def install(self) -> None:
        """Part of the agent; does nothing until a fix asks."""

    def reset(self) -> None:
        self.depth = 0
        self.calls: dict[int, int] = {}
        self.covered: set[int] = set()
        self.known: list[Known] = []
        if self.layers:
            self.search()

    # Methods that fixes call.

    def add(self, layer: Layer) -> None:
        self.layers.append(layer)
        if not self.installed:
            self.installed = True
            self.optimizers.when_made.append(self._optimizer_made)
        for identity, root in list(self.roots.items()):
            module = root.module()
            if module is not None and identity in self.handlers:
                self._attach(root, module, layer)
        if not self.roots:
            self.search()

    def remove(self, fix: str) -> None:
        for layer in [layer for layer in self.layers if layer.fix == fix]:
            self.layers.remove(layer)
            for root in self.roots.values():
                if layer in root.layers:
                    self._detach(root, layer)

    def around(self, module: Any, handler: Callable[..., Any]) -> None:
        """`module(…)` becomes `handler(call, module, args, kwargs)`, and nothing of the module changes."""
        identity, kind = id(module), type(module)
        self.handlers[identity] = (weakref.ref(module, lambda _: self._gone(identity)), handler)
        if kind not in self.wrapped:
            self._wrap(kind)

    def leave_alone(self, module: Any) -> None:
        self.handlers.pop(id(module), None)

    def compiles(self, function: Any) -> None:
        """The program gives a function to torch.compile that may call the model: what is traced must be torch's own."""
        if isinstance(getattr(function, "__self__", None), self.context.torch.nn.Module) or self.roots:
            return  # Module.compile: the model itself
        self.searches = False
        for layer in self.layers:
            self.reports.pass_over(layer.fix, "the program compiles a function that may call its model")

    def nothing(self) -> str:
        return "no model was called whose parameters an optimiser has"

    # Finding.

    def search(self) -> None:
        self.searches, self.until = True, self.context.step + STEPS
        self.look()

    def _optimizer_made(self) -> None:
        if not self.layers:
            return
        made = list(self.optimizers.alive.values())[-1]()
        frame = edits.caller(made)
        place = edits.place_of(frame)
        if frame is not None and place is not None:
            self.known.append(Known(place, edits.names_in(frame, self.context.torch.nn.Module)))
        self.search()

    def meets(self, module: Any) -> bool:
        """An outermost module is called; whether it is a new root. Not by torch.jit.trace, which compares two calls with each other."""
        try:
            return not self.context.torch.jit.is_tracing() and self._meets(module)
        except Exception as error:
            self.searches = False
            for layer in list(self.layers):
                self.reports.failed(layer.fix, error)
            return False

    def _meets(self, module: Any) -> bool:
        if id(module) in self.roots:
            return False
        # Calls are asked for of a program that infers, though it may have forgotten to switch gradients off.
        trains = self.context.torch.is_grad_enabled() and not self.context.options.calls
        if self.optimizers.made_any:
            if not trains:
                return False
            wanted = self._uncovered()
            if self.context.step > self.until:
                self.searches = False
            if not any(id(parameter) in wanted for parameter in module.parameters()):
                return False
            self.covered.update(id(parameter) for parameter in module.parameters())
            self.searches = bool(self._uncovered())
        else:
            if trains or self.context.backwards or next(iter(module.parameters()), None) is None:
                return False
            count = self.calls[id(module)] = self.calls.get(id(module), 0) + 1
            if count < SURE_CALLS:
                return False
            self.searches = False
        self._found(module, trains)
        return True

    def _uncovered(self) -> set[int]:
        wanted: set[int] = set()
        for reference in list(self.optimizers.alive.values()):
            optimizer = reference()
            wanted.update(id(parameter) for parameter in parameters_of(optimizer))
        return wanted - self.covered

    def _found(self, module: Any, trains: bool) -> None:
        root = self.roots[id(module)] = Root(module, trains)
        frame = edits.caller()
        if frame is not None:
            root.call_place = edits.place_of(frame)
            root.call_name = edits.names_in(frame, self.context.torch.nn.Module).get(id(module), "")
        for known in self.known:
            if id(module) in known.names:
                root.setup = (known.place, known.names[id(module)])
        if not trains and root.setup is None and root.call_name:
            loop = edits.same_loop(root.call_place)  # in front of it the model is there, as a rule; the patch is tried
            root.setup = None if loop is None else (loop, root.call_name)
        for layer in list(self.layers):
            self._attach(root, module, layer)
        self.around(module, self.through)

    def _attach(self, root: Root, module: Any, layer: Layer) -> None:
        try:
            reason = layer.found(root, module)
        except Exception as error:
            self.reports.failed(layer.fix, error)
            return
        if reason:
            self.reports.pass_over(layer.fix, reason)
        else:
            root.layers.append(layer)

    def _detach(self, root: Root, layer: Layer) -> None:
        if layer in root.layers:
            root.layers.remove(layer)
        root.tried.discard(layer)
        module = root.module()
        if module is not None:
            with contextlib.suppress(Exception):  # it is on its way out
                layer.lost(root, module)

    def _gone(self, identity: int) -> None:
        self.handlers.pop(identity, None)
        self.roots.pop(identity, None)

    # Calling.

    def _wrap(self, kind: type) -> None:
        own = vars(kind).get("__call__")
        self.context.patches.wrap(kind, "__call__", lambda _: self._around_class(kind))
        self.wrapped[kind] = (own, vars(kind)["__call__"])

    def _plain(self, kind: type) -> Call:
        """Returns the call of the class without the agent's hook, looked up each time because others wrap it, too."""
        parents: Any = super(kind, kind)  # type: ignore[arg-type,misc,unused-ignore]
        call: Call = self.wrapped[kind][0] or parents.__call__
        return call

    def _take_away(self) -> list[type]:
        """For the duration of a call; not where someone else has put a wrapper around ours."""
        away = [kind for kind, (_, ours) in self.wrapped.items() if vars(kind).get("__call__") is ours]
        for kind in away:
            own = self.wrapped[kind][0]
            if own is None:
                del kind.__call__
            else:
                kind.__call__ = own  # type: ignore[method-assign,unused-ignore]
        return away

    def _put_back(self, away: list[type]) -> None:
        for kind in away:
            kind.__call__ = self.wrapped[kind][1]  # type: ignore[method-assign,unused-ignore]

    def _around_class(self, kind: type) -> Callable[..., Any]:
        handlers, ident, thread = self.handlers, threading.get_ident, self.context.main_thread
        models = self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            entry = handlers.get(id(self))
            plain = models._plain(kind)
            try:
                if entry is None or type(self) is not kind or not models.context.on or ident() != thread:
                    return plain(self, *args, **kwargs)
                return entry[1](plain, self, args, kwargs)
            except BaseException as error:
                hide(error)
                raise

        return __call__

    def through(self, plain: Call, module: Any, args: Any, kwargs: Any) -> Any:
        """A call of a root, also the one at which it was found; `plain` calls it without fixes."""
        root = self.roots.get(id(module))
        if root is None or not root.layers or self.depth or self.context.torch.jit.is_tracing():
            return plain(module, *args, **kwargs)
        every = not root.trains or self.context.torch.is_grad_enabled()
        layers = [
            layer for layer in root.layers if (every or not layer.training_only) and self.reports.is_on(layer.fix)
        ]
        if not layers:
            return plain(module, *args, **kwargs)
        self.depth += 1
        away = self._take_away() if any(layer.traces for layer in layers) else []
        try:
            if all(layer in root.tried for layer in layers):
                return self._layered(layers, plain, module, args, kwargs)
            return self._first(root, layers, plain, module, args, kwargs)
        except BaseException as error:
            hide(error)
            raise
        finally:
            self.depth -= 1
            self._put_back(away)

    def _layered(self, layers: list[Layer], plain: Call, module: Any, args: Any, kwargs: Any) -> Any:
        call = plain
        with contextlib.ExitStack() as stack:
            for layer in layers:
                args, kwargs = layer.before(module, args, kwargs)
                context = layer.context(module)
                if context is not None:
                    stack.enter_context(context)
                call = layer.call(module, call)
            result = call(module, *args, **kwargs)
        for layer in layers:
            result = layer.after(module, result)
        return result

    def _first(self, root: Root, layers: list[Layer], plain: Call, module: Any, args: Any, kwargs: Any) -> Any:
        state = State(self.context.torch, module)
        try:
            result = self._layered(layers, plain, module, args, kwargs)
        except Exception as error:
            problem = error
        else:
            self._work(root, layers, module)
            return result
        for left_out in reversed(layers if len(layers) > 1 else []):
            others = [layer for layer in layers if layer is not left_out]
            self._leave_out(root, module, [left_out])
            state.restore()
            try:
                result = self._layered(others, plain, module, args, kwargs)
            except Exception:
                self._take_in(root, module, [left_out])
                continue
            self._drop(root, [left_out], problem)
            self._work(root, others, module)
            return result
        self._leave_out(root, module, layers)
        state.restore()
        try:
            result = plain(module, *args, **kwargs)
        except BaseException:  # the program's own error
            self._take_in(root, module, layers)
            raise
        self._drop(root, layers, problem)
        return result

    def _leave_out(self, root: Root, module: Any, layers: list[Layer]) -> None:
        for layer in reversed(layers):
            layer.lost(root, module)

    def _take_in(self, root: Root, module: Any, layers: list[Layer]) -> None:
        for layer in layers:
            if layer.found(root, module) and layer in root.layers:
                root.layers.remove(layer)

    def _work(self, root: Root, layers: list[Layer], module: Any) -> None:
        for layer in layers:
            if layer not in root.tried:
                root.tried.add(layer)
                try:
                    layer.works(root, module)
                except Exception as error:
                    self._leave_out(root, module, [layer])
                    self._drop(root, [layer], error)

    def _drop(self, root: Root, layers: list[Layer], error: Exception) -> None:
        """Layers that were left out already."""
        for layer in layers:
            root.tried.discard(layer)
            if layer in root.layers:
                root.layers.remove(layer)
            self.reports.failed(layer.fix, error)
