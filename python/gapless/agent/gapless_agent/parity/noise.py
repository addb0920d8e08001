# SPDX-License-Identifier: Apache-2.0
"""The probe's noise: what rounding of a known size does to gradients.

Each weight is multiplied by 1 + u × noise after a step, and put back before its optimiser steps. So the first step of a probe has no noise:
it repeats the baseline's. A wide probe also puts noise on the state that a recurrent layer carries from one time step to the next, where
rounding adds up over the sequence: the layer then runs one time step at a time, which computes the same.
"""

from __future__ import annotations

from typing import Any


class Noise:
    def __init__(self, torch: Any, size: float) -> None:
        self.torch, self.size = torch, size
        self.generator = torch.Generator().manual_seed(17)
        self.kept: dict[int, tuple[Any, Any, Any]] = {}  # by id: parameter, its value, its value with noise
        self.layers: list[Any] = []

    def _noisy(self, tensor: Any) -> Any:
        """Returns the tensor with noise; of at least one unit in the last place, which weights in half precision need to change at all."""
        torch = self.torch
        drawn = (
            torch.rand(tensor.shape, generator=self.generator, dtype=torch.float32).mul_(2).sub_(1).to(tensor.device)
        )
        size = max(self.size, torch.finfo(tensor.dtype).eps)
        return (tensor * (1 + size * drawn.to(torch.promote_types(tensor.dtype, torch.float32)))).to(tensor.dtype)

    def put_on(self, parameters: list[Any]) -> None:
        for parameter in parameters:
            if parameter.is_floating_point() and not hasattr(parameter, "to_local") and id(parameter) not in self.kept:
                value = parameter.data.clone()
                parameter.data.copy_(self._noisy(parameter.data))
                self.kept[id(parameter)] = (parameter, value, parameter.data.clone())

    def take_off(self, parameters: list[Any]) -> None:
        """Puts the values back, but for elements that the program has written since (clipped weights, say)."""
        for parameter in parameters:
            _, value, noisy = self.kept.pop(id(parameter), (None, None, None))
            if value is not None:
                parameter.data.copy_(self.torch.where(parameter.data == noisy, value, parameter.data))

    def widen(self, layers: list[Any]) -> None:
        """Puts noise on the state of recurrent layers too, where running them by time step computes the same."""
        for layer in layers:
            if not layer.bidirectional and not layer.dropout and "forward" not in vars(layer):
                self.layers.append(layer)
                layer.forward = self._by_time_step(layer, layer.forward)

    def end(self) -> None:
        self.take_off([parameter for parameter, _, _ in list(self.kept.values())])
        for layer in self.layers:
            del layer.forward
        self.layers.clear()

    def _by_time_step(self, layer: Any, forward: Any) -> Any:
        torch, noisy = self.torch, self._noisy

        def by_time_step(inputs: Any, state: Any = None) -> Any:
            if not isinstance(inputs, torch.Tensor):  # a packed sequence
                return forward(inputs, state)
            dim = 1 if layer.batch_first and inputs.dim() == 3 else 0
            outputs = []
            for part in inputs.split(1, dim):
                output, state = forward(part, state)
                state = tuple(noisy(part) for part in state) if isinstance(state, tuple) else noisy(state)
                outputs.append(output)
            return torch.cat(outputs, dim), state

        return by_time_step
