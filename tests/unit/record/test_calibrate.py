"""The cost of a span, measured here and now: plausible figures, and nothing left in the recorder."""

from __future__ import annotations

import pytest

from rlprof import _core
from rlprof.model import kinds
from rlprof.model.recording import SpanCost
from rlprof.record.calibrate import calibrate
from support.reference import a_clean_core


@pytest.fixture(scope="module")
def costs() -> dict[int, SpanCost]:
    with a_clean_core():
        _core.set_fake_clock(None)
        costs = calibrate().costs
        assert not _core.is_on()
        assert _core.paths_since(0) == []
        assert _core.drain()[6]["spans_emitted"] == 0
    return costs


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_each_kind_of_span_costs_something_and_less_than_a_tenth_of_a_millisecond(
    costs: dict[int, SpanCost], kind: int
) -> None:
    cost = costs[kind]
    assert 0 <= cost.inside_ns < 100_000
    assert 0 <= cost.outside_ns < 100_000
    assert cost.inside_ns + cost.outside_ns > 0
    assert 0 <= cost.error_ns < 100_000
