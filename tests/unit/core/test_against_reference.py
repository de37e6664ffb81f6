"""The compiled recorder does what the plain model of it does, whatever the program does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlprof import _core
from rlprof.model.histogram import BUCKETS, bucket_of
from support.reference import Hands, SideBySide, Step, Window, a_clean_core, added_up, read_window, switch_on

THREADS = st.integers(0, 2)
CONTEXTS = st.integers(0, 2)
SLOTS = st.integers(0, 5)
NAMES = st.sampled_from(["a", "b", "c"])
PHASES = st.sampled_from([None, "env.step"])
GAPS = st.one_of(st.integers(0, 200), st.integers(0, 1 << 43))

EVERYWHERE = st.tuples(THREADS, CONTEXTS)
STEPS = st.one_of(
    st.tuples(st.just("advance"), GAPS),
    st.builds(lambda at, s, n, p: ("open", *at, s, n, p), EVERYWHERE, SLOTS, NAMES, PHASES),
    st.builds(lambda at, s, n, p: ("open", *at, s, n, p), EVERYWHERE, SLOTS, NAMES, PHASES),
    st.builds(lambda at, s: ("close", *at, s), EVERYWHERE, SLOTS),
    st.builds(lambda at, s: ("close", *at, s), EVERYWHERE, SLOTS),
    st.builds(lambda at: ("turn", *at), EVERYWHERE),
    st.builds(lambda at: ("end_turn", *at), EVERYWHERE),
    st.tuples(st.just("drop"), SLOTS),
    st.tuples(st.just("count"), st.sampled_from(["env_steps", "updates"]), st.integers(-5, 1000)),
    st.just(("drain",)),
    st.just(("off",)),
    st.builds(lambda at: ("on", *at), EVERYWHERE),
    st.just(("wipe",)),
)
PROGRAMS = st.lists(STEPS, max_size=60)
CALM = STEPS.filter(lambda step: step[0] not in ("drain", "wipe"))


@pytest.fixture(scope="module")
def hands() -> Iterator[Hands]:
    hands = Hands(threads=2, contexts=3)
    yield hands
    hands.close()


def run(hands: Hands, program: list[Step], schedule: tuple[int, int, int, int] | None = None) -> SideBySide:
    with a_clean_core(schedule=schedule):
        both = SideBySide(hands, schedule)
        for step in [("on", 0, 0), *program, ("drain",)]:
            both.apply(step)
        both.spans.clear()
    return both


def assert_agrees(real: Window, expected: Window) -> None:
    assert real.rows == expected.rows
    assert real.open_spans == expected.open_spans
    assert real.counters == expected.counters
    assert real.turns == expected.turns
    assert real.events == expected.events
    assert real.totals == expected.totals


@settings(max_examples=300, deadline=None)
@given(program=PROGRAMS)
def test_every_window_holds_what_the_model_says(hands: Hands, program: list[Step]) -> None:
    for real, expected in run(hands, program).windows:
        assert_agrees(real, expected)


@settings(max_examples=150, deadline=None)
@given(
    program=st.lists(st.one_of(CALM, st.just(("turn", 0, 0)), st.just(("drain",))), max_size=60),
    schedule=st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 2), st.integers(0, 2)),
)
def test_events_are_logged_in_the_scheduled_iterations_and_in_no_other(
    hands: Hands, program: list[Step], schedule: tuple[int, int, int, int]
) -> None:
    for real, expected in run(hands, program, schedule).windows:
        assert_agrees(real, expected)


@settings(max_examples=100, deadline=None)
@given(program=st.lists(CALM, max_size=40), cuts=st.sets(st.integers(0, 40)))
def test_several_windows_add_up_to_one(hands: Hands, program: list[Step], cuts: set[int]) -> None:
    cut: list[Step] = []
    for number, step in enumerate(program):
        cut += [("drain",), step] if number in cuts else [step]
    whole = [real for real, _ in run(hands, program).windows]
    pieces = [real for real, _ in run(hands, cut).windows]
    assert added_up(pieces) == added_up(whole)
    assert pieces[-1].totals == whole[-1].totals
    assert [turn for window in pieces for turn in window.turns] == [turn for window in whole for turn in window.turns]


@settings(max_examples=100, deadline=None)
@given(program=st.lists(CALM, max_size=60))
def test_self_times_of_a_thread_add_up_to_its_recorded_time(hands: Hands, program: list[Step]) -> None:
    both = run(hands, program)
    rows = added_up([real for real, _ in both.windows])
    for thread in both.reference.threads:
        assert sum(stats.own for (lane, _), stats in rows.items() if lane == thread.lane) == thread.recorded


@settings(max_examples=100, deadline=None)
@given(program=st.lists(CALM, max_size=60))
def test_spans_emitted_is_the_sum_of_the_counts_of_all_rows(hands: Hands, program: list[Step]) -> None:
    windows = [real for real, _ in run(hands, program).windows]
    assert sum(stats.count for stats in added_up(windows).values()) == windows[-1].totals["spans_emitted"]


# --- well-nested programs ---------------------------------------------------------------------------------------------

Tree = tuple[str, int, list["Tree"], int]
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(NAMES, st.integers(0, 1000), st.just([]), st.integers(0, 1000)),
    lambda inner: st.tuples(NAMES, st.integers(0, 1000), st.lists(inner, max_size=4), st.integers(0, 1000)),
    max_leaves=20,
)


def play(tree: Tree, now: int = 0) -> int:
    name, before, inside, after = tree
    with _core.profile(name):
        now += before
        _core.set_fake_clock(now)
        for child in inside:
            now = play(child, now)
        now += after
        _core.set_fake_clock(now)
    return now


@settings(max_examples=150, deadline=None)
@given(tree=TREES)
def test_children_fit_into_their_parents(tree: Tree) -> None:
    with a_clean_core():
        switch_on()
        ended = play(tree)
        rows = read_window().rows
    for (_, labels), stats in rows.items():
        children = [row.total for (_, names), row in rows.items() if names[:-1] == labels and names]
        if labels:
            assert stats.total == stats.own + sum(children)
            assert stats.shortest <= stats.total / stats.count <= stats.longest
    assert sum(stats.own for stats in rows.values()) == ended


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 62))
def test_the_core_and_the_model_put_a_duration_into_the_same_bucket(duration: int) -> None:
    with a_clean_core():
        switch_on()
        with _core.profile("a"):
            _core.set_fake_clock(duration)
        (row,) = (stats for (_, labels), stats in read_window().rows.items() if labels)
    assert row.histogram == {bucket_of(duration): 1}


def test_the_core_and_the_model_agree_at_the_edge_of_every_bucket() -> None:
    edges = {0, *(edge for bit in range(63) for edge in ((1 << bit) - 1, 1 << bit, (1 << bit) * 5 // 4))}
    with a_clean_core():
        switch_on()
        for duration in sorted(edges):
            _core.set_fake_clock(0)
            with _core.profile(f"{duration}"):
                _core.set_fake_clock(duration)
        found = {labels[0][0]: stats.histogram for (_, labels), stats in read_window().rows.items() if labels}
    assert found == {f"{duration}": {bucket_of(duration): 1} for duration in edges}
    assert _core.sizes()["buckets"] == BUCKETS
