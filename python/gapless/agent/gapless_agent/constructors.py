# SPDX-License-Identifier: Apache-2.0
"""Other arguments for objects that the program makes: DataLoaders, optimisers, DistributedDataParallel.

The fixes that change one class share one wrapper around its constructor and see the arguments in the order in which they were asked
for, each as the one before it left them. When the constructor refuses what came of it, it is called as the program called it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from . import edits
from .context import Context
from .patches import hide, unseen
from .reports import Reports


class Given:
    """The arguments of a call by their names."""

    def __init__(self, signature: inspect.Signature, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.bound = signature.bind(made, *args, **kwargs)
        self.signature = signature
        self.object = made
        parameters = self.bound.arguments.get("params")
        if isinstance(parameters, Iterator):  # `model.parameters()`: it can be read once, and may be needed twice
            self.bound.arguments["params"] = list(parameters)
        self.own = dict(self.bound.arguments)

    def knows(self, name: str) -> bool:
        return name in self.signature.parameters

    def get(self, name: str) -> Any:
        """Returns the argument as given, else its default, or None if there is no such argument."""
        if name in self.bound.arguments:
            return self.bound.arguments[name]
        parameter = self.signature.parameters.get(name)
        return None if parameter is None or parameter.default is parameter.empty else parameter.default

    def set(self, **values: Any) -> None:
        self.bound.arguments.update(values)

    @unseen
    def call(self, original: Callable[..., Any], own: bool = False) -> None:
        """With the arguments as they are now, or with the program's `own`."""
        order = self.own if own else self.bound.arguments
        self.bound.arguments = {name: order[name] for name in self.signature.parameters if name in order}  # type: ignore[assignment,unused-ignore]
        original(*self.bound.args, **self.bound.kwargs)


class Plan(NamedTuple):
    what: str
    values: dict[str, str] | None = None  # arguments as one would write them; none: no edit
    after: Callable[[], None] | None = None  # once the object is made
    edit: dict[str, Any] | None = None  # instead of one of the arguments


# Changes the arguments, and says what it did; None: this object stays as it is.
Transform = Callable[[Given], "Plan | None"]


class Constructors:
    def __init__(self, context: Context, reports: Reports) -> None:
        self.context, self.reports = context, reports
        self.wanted: dict[Any, list[tuple[str, Transform]]] = {}
        self.building: set[int] = set()

    def change(self, owner: Any, fix: str, transform: Transform) -> None:
        wanted = self.wanted.setdefault(owner, [])
        if not wanted:
            self.context.patches.wrap(owner, "__init__", lambda original: self._around(original, owner))
        wanted[:] = [entry for entry in wanted if entry[0] != fix] + [(fix, transform)]

    def _around(self, original: Callable[..., Any], owner: Any) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
            try:
                if not self.context.on or id(self_) in self.building:
                    original(self_, *args, **kwargs)
                    return
                self.building.add(id(self_))
                try:
                    self._make(original, signature, owner, self_, args, kwargs)
                finally:
                    self.building.discard(id(self_))
            except BaseException as error:
                hide(error)
                raise

        return __init__

    @unseen
    def _make(
        self, original: Callable[..., Any], signature: inspect.Signature, owner: Any, made: Any,
        args: tuple[Any, ...], kwargs: dict[str, Any],
    ) -> None:  # fmt: skip
        reports = self.reports
        given, plans = self._plan(signature, self.wanted[owner], made, args, kwargs)
        if given is None:
            original(made, *args, **kwargs)
            return
        problem: Exception | None = None
        try:
            given.call(original)
        except Exception as error:
            if not plans:
                raise
            problem = error
        if problem is not None:
            given.call(original, own=True)  # raises what the program's own arguments raise
            for fix, _ in plans:
                reports.failed(fix, problem)
            return
        for fix, plan in plans:
            try:
                if plan.after is not None:
                    plan.after()
                edit = plan.edit or (edits.keywords(made, owner.__name__, plan.values) if plan.values else None)
                reports.changed(fix, f"{type(made).__name__}: {plan.what}", edit)
            except Exception as error:
                reports.failed(fix, error)

    def _plan(
        self, signature: inspect.Signature, wanted: list[tuple[str, Transform]], made: Any, args: Any, kwargs: Any
    ) -> tuple[Given | None, list[tuple[str, Plan]]]:
        plans: list[tuple[str, Plan]] = []
        try:
            given = Given(signature, made, args, kwargs)
        except TypeError:
            return None, plans
        for fix, transform in wanted:
            if not self.reports.is_on(fix):
                continue
            before = dict(given.bound.arguments)
            try:
                plan = transform(given)
            except Exception as error:
                given.bound.arguments.clear()
                given.bound.arguments.update(before)
                self.reports.failed(fix, error)
                continue
            if plan is not None:
                plans.append((fix, plan))
        return given, plans
