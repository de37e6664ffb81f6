"""Quantities as a person reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.model.units import (
    format_bytes,
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
    format_ratio,
)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "-"),
        (0.0, "0 s"),
        (4.2e-8, "42 ns"),
        (9.996e-7, "1.00 µs"),
        (1.24e-6, "1.24 µs"),
        (0.0123, "12.3 ms"),
        (0.9996, "1.00 s"),
        (62.04, "62.0 s"),
        (99.94, "99.9 s"),
        (120.0, "2m 00s"),
        (725.4, "12m 05s"),
        (3599.6, "1h 00m"),
        (11_220.0, "3h 07m"),
        (1_051_200.0, "12d 04h"),
        (-0.5, "-500 ms"),
    ],
)
def test_a_duration_has_three_digits_and_the_unit_that_fits(seconds: float | None, said: str) -> None:
    assert format_duration(seconds) == said


@given(st.floats(min_value=0, max_value=86_000, allow_nan=False))
def test_a_duration_below_a_day_takes_at_most_seven_characters(seconds: float) -> None:
    assert len(format_duration(seconds)) <= 7


def test_counts_are_whole_until_they_are_too_long_to_read() -> None:
    assert format_count(1_234_567) == "1,234,567"
    assert format_count(12_345_678) == "12.3 M"
    assert format_count(0) == "0"
    assert format_count(None) == "-"


def test_rates_name_their_unit() -> None:
    assert format_rate(12_345.4) == "12,345 steps/s"
    assert format_rate(3.214) == "3.21 steps/s"
    assert format_rate(0.0) == "0 steps/s"
    assert format_rate(None) == "-"


def test_sizes_are_decimal() -> None:
    assert format_bytes(1_500_000_000) == "1.50 GB"
    assert format_bytes(999) == "999 B"
    assert format_bytes(0) == "0 B"
    assert format_megabytes(131.0) == "131 MB"
    assert format_megabytes(None) == "-"


def test_shares_and_ratios_read_as_such() -> None:
    assert format_percent(0.1234) == "12.3%"
    assert format_percent(None) == "-"
    assert format_ratio(1.254) == "1.25x"
