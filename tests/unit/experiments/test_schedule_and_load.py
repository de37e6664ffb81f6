"""Who goes first, and who else was using the machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.load import Moment, now, other_share
from rlprof.experiments.schedule import order_of_pair


@given(st.integers(0, 2**31), st.integers(1, 50))
def test_each_side_goes_first_as_often_as_the_other(seed: int, twos: int) -> None:
    firsts = [order_of_pair(seed, pair)[0] for pair in range(2 * twos)]
    assert firsts.count("a") == firsts.count("b") == twos


@given(st.integers(0, 2**31), st.integers(0, 100))
def test_a_pair_holds_both_sides_and_the_same_seed_gives_the_same_order(seed: int, pair: int) -> None:
    assert set(order_of_pair(seed, pair)) == {"a", "b"}
    assert order_of_pair(seed, pair) == order_of_pair(seed, pair)


def test_the_order_is_chance() -> None:
    assert len({order_of_pair(seed, 0) for seed in range(40)}) == 2


def test_what_others_used_is_the_machines_time_less_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert other_share(Moment(0, 100.0, 5.0), Moment(10, 130.0, 15.0)) == pytest.approx(0.5)
    assert other_share(Moment(0, 100.0, 5.0), Moment(10, 109.0, 15.0)) == 0.0
    assert other_share(Moment(0, None, 5.0), Moment(10, 130.0, 15.0)) is None
    assert other_share(Moment(3, 1.0, 1.0), Moment(3, 1.0, 1.0)) is None


def test_the_clocks_can_be_read_here() -> None:
    assert now().clock <= now().clock
