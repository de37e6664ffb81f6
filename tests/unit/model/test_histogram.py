"""The logarithmic histogram and its quantiles."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.model.histogram import BUCKETS, bounds_of, bucket_of, quantile

DURATIONS = st.integers(min_value=0, max_value=1 << 44)


@given(DURATIONS)
def test_a_duration_lies_within_the_bounds_of_its_bucket(duration: int) -> None:
    bucket = bucket_of(duration)
    low, high = bounds_of(bucket)
    assert 0 <= bucket < BUCKETS
    assert low <= duration
    assert duration < high or bucket == BUCKETS - 1


def test_buckets_follow_each_other_without_a_gap() -> None:
    bounds = [bounds_of(bucket) for bucket in range(BUCKETS)]
    assert all(above[0] == below[1] for below, above in pairwise(bounds))


@given(st.lists(DURATIONS, min_size=1, max_size=60), st.floats(0, 1))
def test_a_quantile_stays_within_the_observed_range(durations: list[int], q: float) -> None:
    histogram: dict[int, int] = {}
    for duration in durations:
        histogram[bucket_of(duration)] = histogram.get(bucket_of(duration), 0) + 1
    assert min(durations) <= quantile(histogram, q, min(durations), max(durations)) <= max(durations)


@given(st.lists(DURATIONS, min_size=1, max_size=60), st.floats(0, 1), st.floats(0, 1))
def test_quantiles_rise_with_their_rank(durations: list[int], a: float, b: float) -> None:
    histogram: dict[int, int] = {}
    for duration in durations:
        histogram[bucket_of(duration)] = histogram.get(bucket_of(duration), 0) + 1
    low, high = min(durations), max(durations)
    assert quantile(histogram, min(a, b), low, high) <= quantile(histogram, max(a, b), low, high)


def test_no_observation_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="at least one"):
        quantile({}, 0.5, 0, 1)
