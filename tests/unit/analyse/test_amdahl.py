"""What a faster part brings the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.analyse.amdahl import Gain


@given(st.floats(0.0, 0.99), st.floats(0.2, 100.0), st.floats(0.1, 1e4))
def test_it_is_the_time_before_through_the_time_after(share: float, faster: float, seconds: float) -> None:
    after = seconds * (1 - share) + seconds * share / faster
    assert Gain(share, faster).expected == pytest.approx(seconds / after)


def test_no_speed_up_of_a_part_beats_leaving_it_out() -> None:
    gain = Gain(0.25, 1e12)
    assert gain.bound == pytest.approx(4 / 3)
    assert gain.expected <= gain.bound


def test_a_part_that_is_everything_has_no_bound() -> None:
    assert Gain(1.0, 5.0).bound is None
    assert Gain(1.0, 5.0).expected == pytest.approx(5.0)
