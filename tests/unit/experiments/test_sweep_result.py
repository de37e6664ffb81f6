"""How far the runs of a setting lie apart, judged by all of them."""

from __future__ import annotations

import numpy as np
import pytest

from rlprof.experiments.statistics import ALPHA, centre_of
from rlprof.experiments.sweep_result import interval_of


def test_few_runs_borrow_their_scatter_from_all_settings() -> None:
    rates = {str(n): centre_of([n - 0.01, n + 0.01]) for n in range(6)}
    own = rates["3"].interval(ALPHA)
    shared = interval_of(rates["3"], rates)
    assert shared is not None
    assert (shared[1] - shared[0]) < 0.3 * (own[1] - own[0])
    assert sum(shared) / 2 == pytest.approx(3)


def test_five_runs_speak_for_themselves() -> None:
    steady = centre_of([1.0, 1.001, 0.999, 1.0, 1.0005])
    wild = centre_of([2.0, 3.0, 1.0, 2.5, 1.5])
    assert interval_of(steady, {"steady": steady, "wild": wild}) == steady.interval(ALPHA)


def test_nothing_run_twice_gives_no_interval() -> None:
    once = centre_of([1.0])
    assert interval_of(once, {"once": once}) is None


def test_the_interval_holds_the_truth_nearly_always() -> None:
    source = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        rates = {str(n): centre_of((n + source.normal(0, 0.05, 2)).tolist()) for n in range(5)}
        likely = interval_of(rates["2"], rates)
        assert likely is not None
        held += likely[0] <= 2 <= likely[1]
    assert 0.92 <= held / 400 <= 0.98
