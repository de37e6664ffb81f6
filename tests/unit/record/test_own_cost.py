"""What the recorder costs in a program: what it cost in a loop, and what the program's caches add to that."""

from __future__ import annotations

from rlprof import _core
from rlprof.model.kinds import PASSED, PROBE, SITE
from rlprof.model.recording import SpanCost
from rlprof.record.own_cost import ENOUGH_LOOKS, Calibration, OwnCost, add_looks
from rlprof.record.wrap import timed
from support.reference import a_clean_core

AT_START = Calibration({PROBE: SpanCost(50.0, 100.0, 5.0), SITE: SpanCost(40.0, 90.0, 4.0)}, {PROBE: (10, 300, 800)})


def test_until_enough_calls_were_looked_at_the_loop_at_start_counts() -> None:
    own = OwnCost(AT_START)
    own.see({PROBE: (ENOUGH_LOOKS - 1, 10_000, 50_000)})
    assert own.costs() == AT_START.costs


def test_what_calls_take_more_in_the_program_than_in_the_loop_is_added() -> None:
    own = OwnCost(AT_START)
    own.see({PROBE: (30, 30 * 70, 30 * 300)})
    own.see({PROBE: (10, 10 * 70, 10 * 300)})
    assert own.costs()[PROBE] == SpanCost(50.0 + 70 - 30, 100.0 + 300 - 80, (40 + 220) / 2)


def test_calls_that_take_less_than_in_the_loop_cost_what_they_cost_there() -> None:
    own = OwnCost(AT_START)
    own.see({PROBE: (100, 100, 100)})
    assert own.costs()[PROBE] == AT_START.costs[PROBE]


def test_a_kind_that_was_not_looked_at_in_the_loop_is_left_as_it_was() -> None:
    own = OwnCost(AT_START)
    own.see({SITE: (100, 100_000, 100_000)})
    assert own.costs()[SITE] == AT_START.costs[SITE]


def test_looks_add_up_by_kind() -> None:
    assert add_looks({1: (1, 2, 3)}, {1: (10, 20, 30), 2: (5, 5, 5)}) == {1: (11, 22, 33), 2: (5, 5, 5)}


def test_the_core_looks_at_some_of_the_calls_and_hands_each_over_once() -> None:
    with a_clean_core():
        _core.set_fake_clock(None)
        probed = timed("work", None)(lambda: None)
        _core.switch_on(None)
        for _ in range(20_000):
            probed()
        looks = _core.take_looks()
        assert set(looks) == {PROBE}
        seen, inside, outside = looks[PROBE]
        assert 200 < seen < 2000  # one in 32; a few were interrupted
        assert 0 < inside < outside < seen * 20_000
        assert _core.take_looks() == {}


def test_calls_inside_another_of_their_group_are_looked_at_as_passed() -> None:
    with a_clean_core():
        _core.set_fake_clock(None)
        inner = _core.Timed(lambda: None, "inner", None, PROBE, 31)
        outer = _core.Timed(lambda: [inner() for _ in range(20_000)], "outer", None, PROBE, 31)
        _core.switch_on(None)
        outer()
        assert _core.take_looks()[PASSED][0] > 200


def test_calls_that_pass_are_charged_to_the_span_around_them() -> None:
    with a_clean_core():
        inner = _core.Timed(lambda: None, "inner", None, PROBE, 31)
        outer = _core.Timed(lambda: [inner() for _ in range(7)], "outer", None, PROBE, 31)
        _core.set_costs(100, 0)
        _core.switch_on(None)
        outer()
        charged = {path: row for path, row in _charged().items() if row}
        _core.set_costs(0, 0)
    assert charged == {"outer": 700}


def _charged() -> dict[str, int]:
    from rlprof.record.layout import ROW

    names = {path: name for path, _, _, name, _, _ in _core.paths_since(0)}
    rows = ROW.columns(_core.drain()[1])
    return {names[path]: charged for path, charged in zip(rows["path"], rows["charged"], strict=True)}
