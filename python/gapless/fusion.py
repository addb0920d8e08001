# SPDX-License-Identifier: Apache-2.0
"""Fewer and larger kernels."""

from __future__ import annotations

import copy
from typing import Any


class KernelFusionOptimizer:
    """Fused layers for inference, compiled ones for training.

    >>> fused = KernelFusionOptimizer().fuse_conv_bn_relu(model.eval())  # doctest: +SKIP
    """

    def fuse_conv_bn_relu(self, model: Any) -> Any:
        """Returns a copy for inference in which a batch normalisation is part of the convolution before it, and a ReLU after that works in place.

        In `eval()` mode normalising is a fixed factor and shift. The order of layers is read from the traced model; a model that cannot
        be traced (its forward branches on values) is fused within its `nn.Sequential` parts. Outputs differ by rounding. A model in
        training, where normalising depends on the batch, is compiled instead (`apply_torch_compile`), which fuses the three at run time.
        Raises ValueError where that cannot be done.
        """
        if model.training:
            try:
                return self.apply_torch_compile(model, mode="default")
            except RuntimeError as error:  # this PyTorch cannot compile on this Python
                raise ValueError(
                    f"cannot fold a normalisation that depends on the batch: call model.eval() ({error})"
                ) from None
        from torch import fx

        fused = copy.deepcopy(model)
        try:
            graph = fx.symbolic_trace(fused)
        except Exception:  # noqa: BLE001 -- the tracer raises what the model's code makes of its placeholders
            for chain in _chains(fused):
                _fuse_chain(chain)
            return fused
        _fuse_graph(graph)
        return graph

    def apply_torch_compile(self, model: Any, mode: str = "reduce-overhead") -> Any:
        """Compiles the model at its first call. In place where PyTorch can (since 2.2), so that the names of its weights stay.

        "reduce-overhead" launches all of it as CUDA graphs, for inputs of one size; "max-autotune" also tries kernels, for minutes.
        """
        import torch

        if hasattr(model, "compile"):
            model.compile(mode=mode)
            return model
        return torch.compile(model, mode=mode)


def _is_pair(convolution: Any, norm: Any) -> bool:
    from torch import nn

    kinds = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d))
    known = any(isinstance(convolution, kind) and isinstance(norm, other) for kind, other in kinds)
    return known and norm.running_mean is not None and norm.num_features == convolution.out_channels


def _folded(convolution: Any, norm: Any) -> Any:
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    return fuse_conv_bn_eval(convolution, norm)


def _in_place(module: Any) -> bool:
    from torch import nn

    return isinstance(module, nn.ReLU) and not module.inplace


def _chains(model: Any) -> list[Any]:
    from torch import nn

    return [module for module in model.modules() if isinstance(module, nn.Sequential)]


def _fuse_chain(chain: Any) -> None:
    from torch import nn

    for at in range(len(chain) - 1):
        if _is_pair(chain[at], chain[at + 1]):
            chain[at], chain[at + 1] = _folded(chain[at], chain[at + 1]), nn.Identity()
            if at + 2 < len(chain) and _in_place(chain[at + 2]):
                chain[at + 2] = nn.ReLU(inplace=True)


def _fuse_graph(graph: Any) -> None:
    from torch import nn

    modules = dict(graph.named_modules())
    calls: dict[str, int] = {}
    for node in graph.graph.nodes:
        if node.op == "call_module":
            calls[node.target] = calls.get(node.target, 0) + 1
    for node in list(graph.graph.nodes):
        before: Any = node.args[0] if node.op == "call_module" and node.args else None
        if getattr(before, "op", "") != "call_module" or len(before.users) != 1:
            continue
        if (
            calls[node.target] > 1
            or calls[before.target] > 1
            or not _is_pair(modules[before.target], modules[node.target])
        ):
            continue
        _replace(graph, before.target, _folded(modules[before.target], modules[node.target]))
        node.replace_all_uses_with(before)
        graph.graph.erase_node(node)
        after: Any = next(iter(before.users), None)
        if (
            len(before.users) == 1
            and after.op == "call_module"
            and calls[after.target] == 1
            and _in_place(modules[after.target])
        ):
            _replace(graph, after.target, nn.ReLU(inplace=True))
    graph.delete_all_unused_submodules()
    graph.recompile()


def _replace(graph: Any, name: str, module: Any) -> None:
    parent, _, child = name.rpartition(".")
    setattr(graph.get_submodule(parent), child, module.train(False))
