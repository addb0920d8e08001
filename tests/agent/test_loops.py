# SPDX-License-Identifier: Apache-2.0
"""The optimiser that ends a step: the loops that are read from bytecode, and what a lane makes of the places of its sources.

Needs no torch. The programs are functions whose optimisers ask the lane where they are, as the agent does.
"""

from __future__ import annotations

import unittest
from typing import Any, Callable

from cases import in_ci
from gapless_agent import layout, loops
from gapless_agent.step_writer import Totals
from gapless_agent.steps import HOLD, Lane

Fire = Callable[..., None]


class Optimizer:
    def __init__(self, fire: Fire, name: int) -> None:
        self.fire, self.name = fire, name

    def step(self, flags: int = 0) -> None:
        self.fire(self.name, flags)


class Run:
    """Drives a lane as Steps does, and keeps which event of which source ended each step."""

    def __init__(self, sources: int) -> None:
        self.lane = Lane(self.look)
        self.looks = 0
        self.events = 0
        self.ended: list[int] = []
        self.awaited = set(range(1, sources + 1))
        self.optimizers = [Optimizer(self.fire, name) for name in range(1, sources + 1)]

    def look(self) -> Any:
        self.looks += 1
        return loops.here()

    def fire(self, name: int, flags: int = 0) -> None:
        self.awaited.discard(name)
        self.events += 1
        when = Totals(self.events, 0, 0, 0, 0.0, 0)
        self.ended += [here.perf_ns for here, _ in self.lane.fired(name, when, flags, not self.awaited)]

    def steps(self) -> int:
        if self.lane.marker is None:
            self.ended += [here.perf_ns for here, _ in self.lane.rest()]
        return len(self.ended)


def steps_of(program: Callable[..., Any], sources: int = 2) -> int:
    run = Run(sources)
    program(*run.optimizers)
    steps = run.steps()
    assert sorted(set(run.ended)) == run.ended, "each event ends one step at most, in order"
    return steps


def flat(every: int, offset: int, count: int = 100) -> Callable[..., None]:
    def program(first: Any, second: Any) -> None:
        for index in range(count):
            first.step()
            if index % every == offset:
                second.step()

    return program


def inner_loop(often: int, count: int = 60) -> Callable[..., None]:
    def program(critic: Any, generator: Any) -> None:
        for _ in range(count):
            for _ in range(often):
                critic.step()
            generator.step()

    return program


def policy(every: int, count: int = 101) -> Callable[..., None]:
    def program(critic: Any, actor: Any) -> None:
        for index in range(1, count + 1):
            critic.step()
            if index % every == 0:
                for _ in range(every):
                    actor.step()

    return program


def in_a_method(inner: int) -> Callable[..., None]:
    class Learner:
        def __init__(self, critic: Any, actor: Any) -> None:
            self.critic, self.actor = critic, actor

        def update(self, index: int) -> None:
            for _ in range(inner):
                self.critic.step()
            if inner > 1 or index % 3 == 0:
                self.actor.step()

        def flat(self, index: int) -> None:
            self.critic.step()
            if index % 3 == 0:
                self.actor.step()

    def program(critic: Any, actor: Any) -> None:
        learner, index = Learner(critic, actor), 0
        while True:
            if index >= 60:
                break
            learner.update(index) if inner > 1 else learner.flat(index)
            index += 1

    return program


def twice_unrolled(discriminator: Any, generator: Any) -> None:
    for _ in range(50):
        discriminator.step()
        discriminator.step()
        generator.step()


def by_source(first: Any, second: Any) -> None:
    """Updates of one optimiser after the other, several of the first, all from the same line."""
    for _ in range(30):
        for optimizer, often in ((first, 5), (second, 1)):
            repeat(optimizer, often)


def repeat(optimizer: Any, often: int) -> None:
    for _ in range(often):
        optimizer.step()


def all_in_a_loop(*optimizers: Any) -> None:
    for _ in range(30):
        for optimizer in optimizers:
            optimizer.step()


def made_anew(run: Run, outer: Any) -> None:
    """Meta-learning: an optimiser for each task, whose number is soon that of another one."""
    for _ in range(30):
        for task in range(4):
            name = 10 + task % 2
            run.lane.gone(name)
            repeat(Optimizer(run.fire, name), 6)
        outer.step()


def handlers(first: Any, second: Any) -> None:
    """Compilers put the handler behind the loops, from where it leads back."""
    for index in range(40):
        for _ in range(3):
            try:
                if index == 7:
                    raise ValueError
                first.step()
            except ValueError:
                continue
        second.step()


def folds(*optimizers: Any) -> None:
    """Each fold has optimisers of its own, and those of the others stay."""
    for first, second in zip(optimizers[::2], optimizers[1::2]):
        for _ in range(20):
            first.step()
            second.step()


def phases(first: Any, second: Any) -> None:
    """A long phase with one optimiser, then one with both."""
    for _ in range(40):
        first.step()
    for _ in range(40):
        first.step()
        second.step()


def once_per_epoch(rare: Any, main: Any) -> None:
    for _ in range(3):
        rare.step()
        for _ in range(200):
            main.step()


def skipped(first: Any, second: Any) -> None:
    """The skipped step of a loss scaler is told at the end of the iteration."""
    for index in range(60):
        skips = index % 20 == 5
        if not skips:
            first.step()
        second.step()
        if skips:
            first.step(layout.FLAG_SKIPPED)


@in_ci
class Lanes(unittest.TestCase):
    def test_the_iteration_not_the_rarest(self) -> None:
        for every in (2, 3, 5, 8):
            for offset in range(every):
                self.assertEqual(steps_of(flat(every, offset)), 100, (every, offset))

    def test_a_loop_of_updates_is_no_iteration(self) -> None:
        for often in (2, 5, 8):
            self.assertEqual(steps_of(inner_loop(often)), 60, often)

    def test_the_critic_of_a_delayed_policy(self) -> None:
        for every in (1, 2, 5, 8, HOLD):
            self.assertEqual(steps_of(policy(every)), 101, every)

    def test_updates_in_a_method(self) -> None:
        for inner in (1, 4):
            self.assertEqual(steps_of(in_a_method(inner)), 60, inner)

    def test_twice_from_two_lines(self) -> None:
        self.assertEqual(steps_of(twice_unrolled), 50)

    def test_from_one_line(self) -> None:
        self.assertEqual(steps_of(by_source), 30)
        self.assertEqual(steps_of(all_in_a_loop, 5), 30)

    def test_optimizers_made_anew_in_each_iteration(self) -> None:
        run = Run(2)
        run.awaited = {2}
        made_anew(run, run.optimizers[1])
        self.assertEqual(run.steps(), 30)

    def test_handlers_of_exceptions(self) -> None:
        self.assertEqual(steps_of(handlers), 40)

    def test_another_fold(self) -> None:
        self.assertEqual(steps_of(folds, 4), 40)

    def test_another_phase(self) -> None:
        self.assertEqual(steps_of(phases), 80)

    def test_a_long_loop_further_in_has_the_steps(self) -> None:
        self.assertAlmostEqual(steps_of(once_per_epoch), 600, delta=2)

    def test_a_skipped_step_is_no_iteration(self) -> None:
        self.assertEqual(steps_of(skipped), 60)

    def test_the_last_of_equals_ends_the_step(self) -> None:
        run = Run(2)
        flat(1, 0, 10)(*run.optimizers)
        self.assertEqual(run.ended, list(range(2, 21, 2)))

    def test_where_the_program_is_is_asked_seldom(self) -> None:
        for program, most in ((flat(1, 0), 4), (policy(2), 8), (inner_loop(5), 8)):
            run = Run(2)
            program(*run.optimizers)
            self.assertLessEqual(run.looks, most)
        run = Run(1)
        repeat(run.optimizers[0], 50)
        self.assertEqual((run.looks, run.steps()), (0, 50))

    def test_without_places(self) -> None:
        """As of models that are called: the one that fires least often."""
        lane = Lane(lambda: ())
        ended = [lane.fired(name, Totals(0, 0, 0, 0, 0.0, 0), 0, name == 2) for name in (1, 1, 2, 1, 1, 2)]
        self.assertEqual([len(one) for one in ended], [0, 0, 1, 0, 0, 1])


def depths(program: Callable[..., Any], *given: Any) -> dict[int, int]:
    """Runs a program that is given a probe; by what it calls that with: how many loops are around the call."""
    found: dict[int, int] = {}

    def probe(name: int) -> int:
        code, position = loops.here()[-2]
        found[name] = sum(position in loop.body for loop in loops.loops_of(code))
        return name

    program(probe, *given)
    return found


def conditions(probe: Any) -> None:
    count = 0
    while count < 4 and probe(1):
        count += 1
        if count == 3 and probe(1):
            for _ in range(2):
                if probe(2):
                    continue
                probe(2)
            while True:
                if probe(2):
                    break
        probe(1)
    probe(0)


def exceptions(probe: Any) -> None:
    for index in range(3):
        try:
            probe(1)
            if index == 1:
                raise ValueError
        except ValueError:
            continue
        finally:
            probe(1)
        probe(1)
    probe(0)
    try:
        probe(0)
    except ValueError:
        pass
    for _ in range(2):
        probe(1)


@in_ci
class Bytecode(unittest.TestCase):
    def test_depths_of_loops(self) -> None:
        for program in (conditions, exceptions):
            found = depths(program)
            self.assertEqual(found, {name: name for name in found}, program)

    def test_awaiting_is_no_loop(self) -> None:
        async def inner(probe: Any) -> None:
            probe(0)

        async def outer(probe: Any) -> int:
            await inner(probe)
            return len(loops.loops_of(outer.__code__))

        found: list[int] = []
        try:
            outer(lambda _: found.append(1)).send(None)
        except StopIteration as ended:
            self.assertEqual((ended.value, found), (0, [1]))

    def test_torch_and_the_agent_are_passed_over(self) -> None:
        codes = [code.co_filename for code, _ in loops.here()]
        self.assertTrue(codes and codes[-1] == __file__)
        self.assertFalse([file for file in codes if "gapless_agent" in file])

    def test_deep_recursion_is_not_followed(self) -> None:
        def down(level: int) -> Any:
            return down(level - 1) if level else loops.here()

        self.assertEqual(down(loops.DEPTH), ())


if __name__ == "__main__":
    unittest.main()
