# SPDX-License-Identifier: Apache-2.0
"""After each of twelve nodes of the backward pass its gradient is searched for NaN, and the forward pass keeps the stack of an
operator; or the program looks at its loss once."""

from recording import Run


def _trains(run: Run, nodes_that_search: int) -> None:
    rank = run.rank()
    for step in rank.steps(4, 1000):
        rank.operator("aten::mm", step + 10, 380)
        if nodes_that_search > 1:
            rank.python("torch/fx/traceback.py(504): format_stack", step + 20, 250)
        for node in range(12):
            at = step + 400 + 45 * node
            rank.operator("autograd::engine::evaluate_function: MulBackward0", at, 40)
            rank.operator("MulBackward0", at + 1, 10)
            if node < nodes_that_search:
                rank.operator("aten::isnan", at + 12, 12)
                rank.operator("aten::_is_any_true", at + 25, 12)
                rank.operator("aten::item", at + 38, 1)


def fires(run: Run) -> None:
    _trains(run, 12)


def silent(run: Run) -> None:
    _trains(run, 1)
