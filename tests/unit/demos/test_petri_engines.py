"""The two engines of the Petri net go through the same states, token for token."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rlprof.demos.petri_engines import Engine, PlainEngine, State, TurboEngine
from rlprof.demos.petri_net import CellSize, Net, random_cell

WAIT = -1


@st.composite
def nets(draw: st.DrawFn) -> tuple[Net, State]:
    """Any net: arcs of several tokens, loops, sources, sinks, places with and without delay, tokens in work."""
    places = draw(st.integers(1, 6))
    transitions = draw(st.integers(1, 6))
    arcs = st.lists(st.sampled_from([0, 0, 0, 1, 1, 2]), min_size=places, max_size=places)
    matrix = st.lists(arcs, min_size=transitions, max_size=transitions)
    delays = draw(st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=places, max_size=places))
    net = Net(
        tuple(f"p{number}" for number in range(places)),
        tuple(f"t{number}" for number in range(transitions)),
        np.array(draw(matrix), dtype=np.int64),
        np.array(draw(matrix), dtype=np.int64),
        np.array(delays, dtype=np.int64),
    )
    now = draw(st.integers(0, 3))
    ready = draw(st.lists(st.integers(0, 4), min_size=places, max_size=places))
    pending = tuple(
        tuple(sorted(draw(st.lists(st.integers(now + 1, now + delay), max_size=2)))) if delay else ()
        for delay in delays
    )
    return net, State(now, tuple(ready), pending)


def assert_same(plain: Engine, turbo: Engine) -> None:
    assert turbo.state() == plain.state()
    assert turbo.now == plain.now
    assert turbo.enabled().tolist() == plain.enabled().tolist()
    assert turbo.is_working() == plain.is_working()
    assert turbo.observe(3.0, 7.0).tobytes() == plain.observe(3.0, 7.0).tobytes()
    every_place = range(len(plain.state().ready))
    assert turbo.ready_in(list(every_place)) == plain.ready_in(list(every_place)) == sum(plain.state().ready)


def play(plain: Engine, turbo: Engine, choice: int) -> None:
    """The same action for both: one of the enabled transitions, or waiting."""
    actions = [*np.flatnonzero(plain.enabled()).tolist(), WAIT]
    action = actions[choice % len(actions)]
    if action == WAIT:
        assert turbo.wait() == plain.wait()
    else:
        plain.fire(action)
        turbo.fire(action)


@settings(max_examples=150, deadline=None)
@given(nets(), st.lists(st.integers(0, 99), max_size=25))
def test_any_net_and_any_actions_give_the_same_tokens(drawn: tuple[Net, State], choices: list[int]) -> None:
    net, state = drawn
    plain, turbo = PlainEngine(net), TurboEngine(net)
    plain.load(state)
    turbo.load(state)
    assert plain.state() == state
    assert_same(plain, turbo)
    for choice in choices:
        play(plain, turbo, choice)
        assert_same(plain, turbo)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), *[st.integers(1, 5)] * 3, st.randoms(use_true_random=False))
def test_random_cells_keep_their_machines_slots_and_jobs(
    seed: int, types: int, stages: int, machines: int, random: Random
) -> None:
    cell = random_cell(seed, CellSize(types, stages, machines, slots=2, jobs=6))
    marking = cell.empty.copy()
    marking[cell.raw] = 2
    plain, turbo = PlainEngine(cell.net), TurboEngine(cell.net)
    for engine in (plain, turbo):
        engine.load(State(0, tuple(marking.tolist()), ((),) * len(marking)))
    for _ in range(60):
        play(plain, turbo, random.randrange(1000))
        assert_same(plain, turbo)
        state = plain.state()
        held = {
            name: ready + len(pending)
            for name, ready, pending in zip(cell.net.places, state.ready, state.pending, strict=True)
        }
        jobs = [count for name, count in held.items() if not name.startswith(("machine", "slots"))]
        assert sum(jobs) == 2 * types
        for machine in range(machines):
            at_work = sum(
                held[f"working {job}.{stage}"]
                for job in range(types)
                for stage in range(stages)
                if cell.routes[job, stage] == machine
            )
            assert held[f"machine {machine}"] + at_work == 1


@settings(max_examples=30, deadline=None)
@given(nets(), st.lists(st.integers(0, 99), min_size=1, max_size=10), st.integers(0, 10))
def test_a_game_goes_on_in_the_other_engine_as_if_nothing_had_happened(
    drawn: tuple[Net, State], choices: list[int], change: int
) -> None:
    net, state = drawn
    stays: Engine = PlainEngine(net)
    moves: Engine = PlainEngine(net)
    stays.load(state)
    moves.load(state)
    for number, choice in enumerate(choices):
        if number == change:
            other = TurboEngine(net)
            other.load(moves.state())
            moves = other
        play(stays, moves, choice)
        assert moves.state() == stays.state()


def test_the_incidence_matrix_says_what_a_firing_changes() -> None:
    cell = random_cell(3, CellSize())
    engine = PlainEngine(cell.net)
    marking = cell.empty + 1  # enough of everything
    engine.load(State(0, tuple(marking.tolist()), ((),) * len(marking)))
    for transition in range(len(cell.net.transitions)):
        before = engine.state()
        engine.fire(transition)
        after = engine.state()
        change = [
            a + len(c) - b - len(d)
            for a, b, c, d in zip(after.ready, before.ready, after.pending, before.pending, strict=True)
        ]
        assert change == cell.net.incidence[transition].tolist()
        engine.load(before)
