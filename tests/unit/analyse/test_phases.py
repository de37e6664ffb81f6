"""Which phase a span's time counts towards, and the split of collecting and training."""

from __future__ import annotations

import pytest

from rlprof.analyse.ledger import open_account
from rlprof.analyse.phases import phase_entries
from rlprof.analyse.sampling import sampling_of
from rlprof.model.report import PhaseEntry
from support.recordings import SpanSpec, a_recording, iteration, span


def phases(*spans: SpanSpec, env_steps: float | None = None) -> dict[str, PhaseEntry]:
    account = open_account(a_recording(seconds=100.0).spans(*spans).build_process())
    return {entry.phase: entry for entry in phase_entries(account, env_steps)}


def test_an_explicit_phase_wins_over_the_name() -> None:
    assert set(phases(span("env.step", phase="env.render", self_seconds=1.0))) == {"env.render"}


def test_a_name_out_of_the_vocabulary_is_its_phase() -> None:
    assert set(phases(span("advantage", self_seconds=1.0))) == {"advantage"}


def test_a_span_without_a_phase_subdivides_its_parent() -> None:
    found = phases(span("step", span("physics", count=5, self_seconds=2.0), phase="env.step", self_seconds=1.0))
    assert found["env.step"].seconds == pytest.approx(3.0)
    assert found["env.step"].calls == 1


def test_the_nearest_phase_above_counts() -> None:
    tree = span("a", span("b", span("c", self_seconds=1.0), phase="log"), phase="env.step")
    assert phases(tree)["log"].seconds == pytest.approx(1.0)


def test_a_span_below_no_phase_is_other() -> None:
    assert phases(span("setup", span("more", self_seconds=1.0), self_seconds=1.0))["other"].calls == 1


def test_an_unknown_phase_counts_as_none() -> None:
    assert set(phases(span("mine", phase="nonsense", self_seconds=1.0))) == {"other"}


def test_iterations_are_looked_through() -> None:
    found = phases(span("outer", iteration(span("mine", count=3, self_seconds=2.0)), phase="evaluate"))
    assert found["evaluate"].seconds == pytest.approx(2.0)
    assert found["evaluate"].calls == 1


def test_calls_count_entries_into_a_phase_even_where_the_phase_nests_in_itself() -> None:
    found = phases(span("env.step", span("env.step", count=7, self_seconds=1.0), count=7, self_seconds=1.0))
    assert found["env.step"].calls == 7


def test_time_per_env_step_needs_env_steps() -> None:
    assert phases(span("log", self_seconds=2.0), env_steps=1000)["log"].seconds_per_env_step == pytest.approx(0.002)
    assert phases(span("log", self_seconds=2.0))["log"].seconds_per_env_step is None


def test_shares_are_of_the_wall_clock() -> None:
    assert phases(span("log", self_seconds=25.0))["log"].share == pytest.approx(0.25)


def test_collecting_training_and_the_rest_add_up_to_the_wall_clock() -> None:
    found = phases(
        span("env.step", self_seconds=10.0),
        span("policy.forward", self_seconds=5.0),
        span("buffer.add", self_seconds=1.0),
        span("buffer.sample", self_seconds=2.0),
        span("learn.loss", self_seconds=2.0),
        span("advantage", self_seconds=4.0),
        span("log", self_seconds=3.0),
    )
    split = sampling_of(found.values(), 100.0)
    assert split.collect_seconds == pytest.approx(16.0)
    assert split.train_seconds == pytest.approx(8.0)
    assert split.other_seconds == pytest.approx(76.0)
    assert split.ratio == pytest.approx(2.0)


def test_without_training_there_is_no_ratio() -> None:
    assert sampling_of((), 10.0).ratio is None
