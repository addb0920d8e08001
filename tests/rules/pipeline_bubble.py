# SPDX-License-Identifier: Apache-2.0
"""Two stages of a pipeline with four microbatches a step (GPipe), or with 32."""

from recording import Event, Rank, Run

FORWARD, BACKWARD, MESSAGE = 100.0, 200.0, 5.0  # µs of a microbatch


def _message(rank: Rank, kind: str, own: int, launch: float, start: float, end: float) -> None:
    sends, stream = kind == "send", 20 if kind == "send" else 24
    args: Event = {
        "dtype": "Float",
        "Collective name": kind,
        "In msg nelems": 1 << 20,
        "Out msg nelems": 1 << 20,
        "Group size": 2,
        "Process Group Name": "1",
        "Src Rank": own if sends else 1 - own,
        "Dst Rank": 1 - own if sends else own,
    }
    name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
    rank.kernel(name, launch, start, end - start, stream=stream, **args)


def _trains(run: Run, microbatches: int) -> None:
    first, last = run.rank(0), run.rank(1)
    turn = (microbatches + 1) * FORWARD + MESSAGE  # the last stage begins the backward pass
    length = turn + (microbatches + 1) * BACKWARD + MESSAGE + 10
    for step, same in zip(first.steps(4, length), last.steps(4, length)):
        calls = (step + 1 + 5 * call for call in range(8 * microbatches))  # one after the other
        # Each stage asks for the next message when it is done: the last one with the step before.
        free = [same - BACKWARD - MESSAGE if same else same, step + microbatches * FORWARD]
        for at in range(microbatches):
            done = step + (at + 1) * FORWARD
            first.kernel("embedding", next(calls), done - FORWARD, FORWARD)
            _message(first, "send", 0, next(calls), done, done + MESSAGE)
            _message(
                last,
                "recv",
                1,
                min(next(calls), free[0] - 5) if same else next(calls),
                min(free[0], done),
                done + MESSAGE,
            )
            last.kernel("softmax", next(calls), done + MESSAGE, FORWARD)
            free[0] = done + MESSAGE + FORWARD
        for at in range(microbatches):
            done = step + turn + (at + 1) * BACKWARD
            last.kernel("softmax", next(calls), done - BACKWARD, BACKWARD)
            _message(last, "send", 1, next(calls), done, done + MESSAGE)
            _message(first, "recv", 0, next(calls), min(free[1], done), done + MESSAGE)
            first.kernel("embedding", next(calls), done + MESSAGE, BACKWARD)
            free[1] = done + MESSAGE + BACKWARD


def fires(run: Run) -> None:
    _trains(run, 4)


def silent(run: Run) -> None:
    _trains(run, 32)
