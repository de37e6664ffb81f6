"""The budget thins what costs most, in order, and leaves the program's own spans alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof import _core
from rlprof.model.kinds import LEVEL, PROBE, ROOT, SITE, WITH
from rlprof.model.recording import SpanCost
from rlprof.record.budget import FEWEST_TIMED, NEVER, SETTLED_CALLS, SETTLED_EVERY, Budget, even_part

#: A microsecond for each span: a flush of one second with 2% to spend can time 20,000 calls.
COSTS = {kind: SpanCost(400.0, 600.0, 0.0) for kind in (WITH, PROBE, SITE, LEVEL)}


class FakeCore:
    """Notes what is thinned, and lets everything be thinned that is not the program's own."""

    def __init__(self) -> None:
        self.every: dict[int, int] = {}
        self.can: set[int] = set()
        self.in_full_before_a_look: int | None = None

    def thin(self, path: int, every: int) -> None:
        self.every[path] = every

    def thinnable(self) -> list[tuple[int, int]]:
        return [(path, self.every.get(path, 1)) for path in self.can]

    def thin_unjudged_above(self, calls: int) -> None:
        self.in_full_before_a_look = calls


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    fake = FakeCore()
    monkeypatch.setattr(_core, "thin", fake.thin)
    monkeypatch.setattr(_core, "thinnable", fake.thinnable)
    monkeypatch.setattr(_core, "thin_unjudged_above", fake.thin_unjudged_above)
    return fake


def a_budget(core: FakeCore, *paths: tuple[int, int | None, int], share: float = 0.02) -> Budget:
    """Paths are (number, parent, kind) below a root with number 0."""
    budget = Budget(share)
    budget.know(COSTS)
    budget.learn_paths([(0, None, 0, "", None, ROOT), *((n, up, 0, f"p{n}", None, kind) for n, up, kind in paths)])
    core.can = {number for number, _, kind in paths if kind != WITH}
    return budget


def flush(
    budget: Budget, counts: dict[int, int], charged: int = 0, times: int = 30, lengths: dict[int, int] | None = None
) -> None:
    """So many calls of each path, of 10 us unless told."""
    rows = {
        "path": [0, *counts],
        "count": [0, *counts.values()],
        "untimed": [0] * (1 + len(counts)),
        "total": [0, *(calls * (lengths or {}).get(path, 10_000) for path, calls in counts.items())],
        "charged": [charged, *[0] * len(counts)],
    }
    for _ in range(times):
        budget.follow(1.0, rows)


def test_what_fits_is_timed_in_full(core: FakeCore) -> None:
    flush(a_budget(core, (1, 0, SITE), (2, 0, PROBE)), {1: 9_000, 2: 9_000})
    assert set(core.every.values()) <= {1}


def test_the_hottest_is_thinned_until_all_fits_and_the_others_are_not(core: FakeCore) -> None:
    flush(a_budget(core, (1, 0, SITE), (2, 0, SITE)), {1: 1_000_000, 2: 1_000})
    assert core.every.get(2, 1) == 1
    assert core.every[1] == pytest.approx(1_000_000 / 19_000, abs=1)


def test_whole_calls_are_thinned_only_when_the_fine_ones_are_not_enough(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, PROBE), (2, 1, LEVEL), (3, 0, SITE))
    flush(budget, {1: 10_000, 2: 100_000, 3: 100_000})
    assert core.every.get(1, 1) == 1
    assert core.every[2] == core.every[3] == pytest.approx(100_000 / 5_000, abs=1)
    flush(budget, {1: 1_000_000, 2: 100_000, 3: 100_000})
    assert core.every[1] > 50


def test_levels_are_thinned_at_the_outermost_one(core: FakeCore) -> None:
    flush(a_budget(core, (1, 0, PROBE), (2, 1, LEVEL), (3, 2, LEVEL), (4, 3, LEVEL)), dict.fromkeys((2, 3, 4), 50_000))
    assert core.every[2] == pytest.approx(150_000 / 20_000, abs=1)
    assert core.every.get(3, 1) == core.every.get(4, 1) == 1


def test_nothing_around_a_span_of_the_program_is_thinned(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, PROBE), (2, 1, LEVEL), (3, 2, WITH), (4, 0, SITE))
    flush(budget, dict.fromkeys((1, 2, 3, 4), 1_000_000))
    assert core.every.get(1, 1) == core.every.get(2, 1) == 1
    assert core.every[4] > 100


def test_a_span_of_the_program_that_comes_later_brings_back_the_full_timing_around_it(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, LEVEL))
    flush(budget, {1: 1_000_000})
    assert core.every[1] > 10
    budget.learn_paths([(2, 1, 0, "mine", None, WITH)])
    assert core.every[1] == 1
    flush(budget, {1: 1_000_000, 2: 10})
    assert core.every[1] == 1


def test_some_calls_are_timed_however_many_there_are(core: FakeCore) -> None:
    flush(a_budget(core, (1, 0, SITE), share=1e-9), {1: 1_000})
    assert core.every[1] <= 1_000 / FEWEST_TIMED + 1


def test_what_else_rlprof_costs_is_part_of_the_budget(core: FakeCore) -> None:
    flush(a_budget(core, (1, 0, SITE)), {1: 20_000}, charged=10_000_000)
    assert core.every[1] == 2


def test_calls_that_take_hundreds_of_times_what_timing_does_are_kept_whatever_all_else_costs(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, PROBE), (2, 0, PROBE))
    flush(budget, {1: 1000, 2: 20_000}, charged=30_000_000, lengths={1: 300_000})
    assert core.every[1] == 1
    assert core.every[2] > 1


def test_a_place_that_is_known_and_takes_little_of_the_time_is_thinned_within_the_budget(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, SITE), (2, 0, SITE), (3, 0, PROBE))
    flush(budget, {1: 2_000, 2: 2_000, 3: 2_000}, lengths={1: 5_000, 2: 50_000, 3: 5_000})
    assert core.every[1] == SETTLED_EVERY
    assert core.every[2] == core.every[3] == 1  # a tenth of the time; a whole call


def test_a_place_is_timed_in_full_until_it_is_known(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, SITE))
    flush(budget, {1: 2_000}, lengths={1: 5_000}, times=SETTLED_CALLS // 2_000)
    assert core.every[1] == 1


def test_when_the_storm_is_over_all_is_timed_again(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, SITE))
    flush(budget, {1: 1_000_000})
    assert core.every[1] > 10
    flush(budget, {1: 1_000})
    assert core.every[1] == 1


def test_what_the_core_thinned_before_the_first_look_is_judged_by_it(core: FakeCore) -> None:
    budget = a_budget(core, (1, 0, SITE))
    core.every[1] = 16
    flush(budget, {1: 9_000}, times=1)
    assert core.every[1] == 1


def test_a_budget_of_everything_thins_nothing(core: FakeCore) -> None:
    flush(a_budget(core, (1, 0, SITE), share=1.0), {1: 100_000_000})
    assert core.every == {}
    assert core.in_full_before_a_look == NEVER


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(1, 1e6))
def test_an_even_part_uses_all_there_is_or_all_that_is_wanted(wanted: list[float], room: float) -> None:
    part = even_part(wanted, room)
    given_out = sum(min(want, part) for want in wanted)
    assert given_out == pytest.approx(min(sum(wanted), room), rel=1e-6, abs=1e-6)
