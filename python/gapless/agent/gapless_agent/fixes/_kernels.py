# SPDX-License-Identifier: Apache-2.0
"""The base of the fixes that put another package's kernels in the place of a model's modules.

Nothing is installed and nothing is downloaded: a package that cannot be imported is named with the command that installs it. A kernel is
one expression (`Kernel.expression`), from which both the running program and the patch are made. Before the first step with it the model
is called once as it is, without gradients, and every kernel is held against its module on the shapes that it met there, forward and
backward (_numerics.py). A kind of module of which one is wrong stays as it was. A module that is exchanged keeps its class, its parameters
and its keys; its attribute `forward` is the kernel.
"""

from __future__ import annotations

import importlib
import types
from typing import Any, Callable, NamedTuple

from .. import edits
from ..layers import Layer, Root, State
from ..reports import Report
from . import _numerics
from ._models import ModelFix


class Package(NamedTuple):
    module: str  # that is imported
    shown: str  # "Liger"
    install: str  # the command


class Kernel(NamedTuple):
    what: str  # the kind of module, in the report: "RMSNorm"
    takes: Callable[[Any, Any], bool]  # (torch, module): is it such a module?
    imports: tuple[str, ...]
    expression: str  # of self, the module, and x, its argument; `{eps}` stands for the epsilon of a norm


class KernelFix(ModelFix):
    unchanged = "the modules compute as the program has them"
    package: Package
    kernels: tuple[Kernel, ...]

    def why_not(self, value: str) -> str:
        try:
            importlib.import_module(self.package.module)
        except Exception as error:  # an import that fails is a package that does not fit this machine
            if isinstance(error, ModuleNotFoundError) and error.name == self.package.module:
                return f"{self.package.shown} is not installed: {self.package.install}"
            return f"{self.package.shown} cannot be imported: {type(error).__name__}: {error}"
        return ""

    def on(self, value: str) -> str:
        self.tools.models.add(Exchanged(self.torch, self.report, self.package, self.kernels))
        return ""


class Place(NamedTuple):
    module: Any
    kernel: Kernel
    forward: Callable[..., Any]


class Exchanged(Layer):
    def __init__(self, torch: Any, report: Report, package: Package, kernels: tuple[Kernel, ...]) -> None:
        super().__init__(torch, report)
        self.package, self.kernels = package, kernels
        self.places: dict[int, list[Place]] = {}  # by id of a root
        self.open: set[int] = set()  # roots whose kernels were not held against their modules yet

    def found(self, root: Root, module: Any) -> str:
        places = self.find(module)
        if not places:
            kinds = ", ".join(dict.fromkeys(kernel.what for kernel in self.kernels))
            return f"{type(module).__name__} has no module that {self.package.shown} has a kernel for ({kinds})"
        self.places[id(module)] = places
        self.open.add(id(module))
        return ""

    def find(self, root: Any) -> list[Place]:
        places = []
        for module in root.modules():
            kernel = next((kernel for kernel in self.kernels if self._fits(kernel, module)), None)
            if kernel is not None:
                places.append(self.place_of(kernel, module))
        return places

    def place_of(self, kernel: Kernel, module: Any) -> Place:
        return Place(module, kernel, function_of(kernel, module))

    def _fits(self, kernel: Kernel, module: Any) -> bool:
        return "forward" not in vars(module) and kernel.takes(self.torch, module)

    def before(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if id(module) in self.open:
            self.open.discard(id(module))
            self._decide(module, args, kwargs)
        return args, kwargs

    def _decide(self, root: Any, args: Any, kwargs: Any) -> None:
        """Puts those kernels in place that compute what their modules compute; an error where none does and the fix has no more to give."""
        samples = self._samples(root, args, kwargs)
        wrong: dict[str, str] = {}
        for place in self.places[id(root)]:
            for sample in samples.get(id(place.module), {}).values():
                problem = self.problem_of(place, sample)
                if problem:
                    wrong.setdefault(place.kernel.what, problem)
        right = [
            place for place in self.places[id(root)] if place.kernel.what not in wrong and id(place.module) in samples
        ]
        problems = [f"{self.package.shown}'s {what} is wrong here: {problem}" for what, problem in wrong.items()]
        if not right and not self.has_others(root):
            raise ValueError("; ".join(problems) or "none of the modules is called with a tensor alone")
        for problem in problems:
            self.report.pass_over(problem)
        for place in self.places[id(root)]:
            if place not in right:
                self.take_out(place)
        self.places[id(root)] = right
        for place in right:
            place.module.forward = types.MethodType(place.forward, place.module)

    def has_others(self, root: Any) -> bool:
        """Returns true if the fix changes more of the model than its modules."""
        return False

    def problem_of(self, place: Place, sample: _numerics.Sample) -> str:
        return _numerics.difference_or_error(self.torch, place.module, place.forward, sample)

    def take_out(self, place: Place) -> None:
        vars(place.module).pop("forward", None)

    def _samples(self, root: Any, args: Any, kwargs: Any) -> dict[int, dict[Any, _numerics.Sample]]:
        """Calls the model once; returns the arguments of each module that is to be exchanged, one of each shape."""
        torch, state = self.torch, State(self.torch, root)
        samples: dict[int, dict[Any, _numerics.Sample]] = {}
        seen: set[Any] = set()

        def note(module: Any, args: Any, kwargs: Any) -> None:
            sample = _numerics.sample_of(torch, args, kwargs)
            key = type(module), _numerics.shapes_of(torch, sample)
            of_module = samples.setdefault(id(module), {})
            if key not in seen:  # modules of one class that meet the same shapes are one case
                seen.add(key)
                of_module[key] = sample

        hooks = [place.module.register_forward_pre_hook(note, with_kwargs=True) for place in self.places[id(root)]]
        try:
            with torch.no_grad():
                root._call_impl(*args, **kwargs)
        finally:
            for hook in hooks:
                hook.remove()
            state.restore()
        return samples

    def works(self, root: Root, module: Any) -> None:
        places = self.places.get(id(module), [])
        for what in dict.fromkeys(place.kernel.what for place in places):
            of_kind = [place for place in places if place.kernel.what == what]
            edit = self.edit_of(root, module, of_kind)
            self.report.changed(f"{len(of_kind)} × {what} by {self.package.shown}", edit)

    def edit_of(self, root: Root, module: Any, places: list[Place]) -> dict[str, Any] | None:
        """The statements that put the kernels in: before the optimiser is made, as long as one kind of module has one class."""
        classes = {type(place.module) for place in places}
        if root.setup is None or len(classes) != 1:
            return None
        place, name = root.setup
        kernel, first = places[0].kernel, places[0].module
        method = f"types.MethodType(lambda self, x: {text_of(kernel, first)}, layer)"
        return edits.lines(
            "before",
            place,
            f"for layer in {name}.modules():",
            f'    if type(layer).__name__ == "{type(first).__name__}":',
            f"        layer.forward = {method}",
            imports=("import types", *kernel.imports),
        )

    def lost(self, root: Root, module: Any) -> None:
        self.open.discard(id(module))
        for place in self.places.pop(id(module), []):
            self.take_out(place)


def text_of(kernel: Kernel, module: Any) -> str:
    name = "eps" if hasattr(module, "eps") else "variance_epsilon"
    is_torchs_own = name == "eps" and module.eps is None
    return kernel.expression.replace("{eps}", "torch.finfo(x.dtype).eps" if is_torchs_own else f"self.{name}")


def function_of(kernel: Kernel, module: Any) -> Callable[..., Any]:
    text = f"kernel = lambda self, x: {text_of(kernel, module)}"
    return function_from("kernel", text, ("import torch", *kernel.imports))


def function_from(name: str, text: str, imports: tuple[str, ...]) -> Callable[..., Any]:
    """Returns the function that a text defines, which may be the patch's, too. The text is one of those in this folder."""
    names: dict[str, Any] = {}
    exec("\n".join((*imports, text)), names)
    function: Callable[..., Any] = names[name]
    return function


# Tests of modules that several packages have kernels for.


def is_rms_norm(torch: Any, module: Any) -> bool:
    """One of torch's, or of a model's own: by its name, with one weight for each feature."""
    weight = getattr(module, "weight", None)
    has_eps = hasattr(module, "eps") or hasattr(module, "variance_epsilon")
    one_dimension = isinstance(weight, torch.nn.Parameter) and weight.dim() == 1
    return type(module).__name__.endswith("RMSNorm") and has_eps and one_dimension and not any(module.children())


def is_layer_norm(torch: Any, module: Any) -> bool:
    is_torchs = type(module) is torch.nn.LayerNorm and len(module.normalized_shape) == 1
    return is_torchs and module.weight is not None and module.bias is not None


def has_gate(torch: Any, module: Any, activation: str) -> bool:
    """A gated block of transformers: down_proj(act_fn(gate_proj(x)) * up_proj(x))."""
    parts = [getattr(module, name, None) for name in ("gate_proj", "up_proj", "down_proj")]
    return all(isinstance(part, torch.nn.Linear) for part in parts) and activation in (
        type(getattr(module, "act_fn", None)).__name__.lower()
    )
