"""Calls that were counted and not timed are put where they belong, and nothing is added or lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.analyse.ledger import open_account
from rlprof.analyse.operations import operations_of
from rlprof.analyse.report import build_report
from rlprof.analyse.thinned import relative_error
from rlprof.model.histogram import bucket_of, variation
from rlprof.model.kinds import LEVEL, SITE
from rlprof.model.recording import Recording
from rlprof.model.report import Operation
from support.recordings import SpanSpec, a_recording, span


def recorded(*specs: SpanSpec) -> Recording:
    return a_recording(seconds=sum(spec.total_ns for spec in specs) / 1e9).spans(*specs).build()


def operation(spec: SpanSpec, name: str) -> Operation:
    account = open_account(recorded(spec).main)
    return next(found for found in operations_of(account) if found.path[-1] == name)


def test_one_call_in_four_timed_gives_four_times_its_time() -> None:
    step = span("step", span("item", count=100, untimed=300, self_ns=10_000, kind=SITE), self_ns=90_000)
    item = operation(step, "item")
    assert (item.calls, item.self_seconds, item.total_seconds) == (400, pytest.approx(40e-6), pytest.approx(40e-6))
    assert item.avg_seconds == pytest.approx(100e-9)
    assert operation(step, "step").self_seconds == pytest.approx(60e-6)
    assert operation(step, "step").total_seconds == pytest.approx(100e-6)


def test_what_ran_inside_an_untimed_call_grows_with_it() -> None:
    inner = span("Inner", count=10, self_ns=7_000, kind=LEVEL)
    step = span("step", span("Outer", inner, count=10, untimed=10, self_ns=3_000, kind=LEVEL), self_ns=40_000)
    assert (operation(step, "Inner").calls, operation(step, "Inner").self_seconds) == (20, pytest.approx(14e-6))
    assert operation(step, "Outer").self_seconds == pytest.approx(6e-6)
    assert operation(step, "step").self_seconds == pytest.approx(30e-6)


def test_thinned_inside_thinned_grows_by_both() -> None:
    inner = span("Inner", count=10, untimed=10, self_ns=1_000, kind=LEVEL)
    step = span("step", span("Outer", inner, count=10, untimed=20, self_ns=9_000, kind=LEVEL), self_ns=100_000)
    assert operation(step, "Inner").calls == 60
    assert operation(step, "Inner").self_seconds == pytest.approx(6e-6)
    assert operation(step, "step").total_seconds == pytest.approx(110e-6)


def test_no_more_is_moved_than_the_span_around_has() -> None:
    step = span("step", span("item", count=10, untimed=990, self_ns=50_000, kind=SITE), self_ns=1_000)
    assert operation(step, "step").self_seconds == pytest.approx(0.0)
    assert operation(step, "item").self_seconds == pytest.approx(51e-6)
    assert operation(step, "item").calls == 1000


def rested(asleep_seconds: float) -> Operation:
    """A level that was looked at in 100 of 1,000 steps, of 10 ms each, 8 of them its own; the others took so long."""
    step = span("step", span("Slow", count=100, untimed=900, self_seconds=0.8, kind=LEVEL), count=1000)
    step = replace(step, self_ns=round((1.0 + asleep_seconds - 0.8) * 1e9))
    recording = a_recording(seconds=1.0 + asleep_seconds).spans(step)
    recording.slice_of_time(0, 1, {"step": 1.0, "Slow": 0.8}, calls={"step": 100, "Slow": 100})
    recording.slice_of_time(1, 1 + asleep_seconds, {"step": asleep_seconds}, calls={"step": 900})
    return next(found for found in operations_of(open_account(recording.build().main)) if found.path[-1] == "Slow")


def test_levels_that_rest_are_taken_to_slow_down_as_the_step_around_them_does() -> None:
    assert rested(9.0).total_seconds == pytest.approx(8.0)
    assert rested(18.0).total_seconds == pytest.approx(0.8 + 2 * 7.2)
    assert rested(4.5).total_seconds == pytest.approx(0.8 + 0.5 * 7.2)


def trees(depth: int = 3) -> st.SearchStrategy[SpanSpec]:
    inside = st.lists(trees(depth - 1), max_size=3) if depth else st.just([])
    return st.builds(
        lambda name, below, own, count, untimed: span(
            name, *below, count=count, untimed=untimed, self_ns=own, kind=LEVEL
        ),
        st.sampled_from("abcd"),
        inside,
        st.integers(0, 10**9),
        st.integers(1, 1000),
        st.sampled_from([0, 0, 3, 10_000]),
    )


@given(st.lists(trees(), min_size=1, max_size=3))
def test_time_is_moved_and_never_made_or_lost(specs: list[SpanSpec]) -> None:
    process = recorded(*specs).main
    account = open_account(process)
    assert all(own >= -1e-3 for own in account.self_ns.values())
    whole = sum(account.self_ns.values()) + sum(account.taken_ns.values())
    assert whole == pytest.approx(sum(stats.self_ns for stats in process.stats.values()), rel=1e-9, abs=1)


def test_the_report_says_what_was_thinned_and_how_sure_the_figure_is() -> None:
    step = span("step", span("item", count=100, untimed=300, self_ns=10_000_000, kind=SITE), self_ns=90_000_000)
    (note,) = (w for w in build_report(recorded(step)).warnings if w.code == "note-thinned")
    assert "`item` (1 in 4, 40.0 ms ±" in note.message
    assert "--budget" in note.remedy


def test_where_nearly_all_calls_were_timed_it_says_how_few_were_not() -> None:
    step = span("step", span("item", count=998, untimed=2, self_ns=10_000_000, kind=SITE), self_ns=90_000_000)
    (note,) = (w for w in build_report(recorded(step)).warnings if w.code == "note-thinned")
    assert "`item` (all but 0.2%, 10.0 ms ±" in note.message


def test_nothing_is_said_where_all_calls_were_timed() -> None:
    report = build_report(recorded(span("step", count=5, self_ns=1000)))
    assert not [warning for warning in report.warnings if "thinned" in warning.code]


def test_the_error_shrinks_with_the_root_of_the_timed_calls() -> None:
    def error(timed: int) -> float:
        process = recorded(span("a", count=timed, untimed=9 * timed, self_ns=timed * 100)).main
        stats = next(s for s in process.stats.values() if s.untimed)
        spread = {bucket_of(100): timed // 2, bucket_of(1000): timed - timed // 2}
        object.__setattr__(stats, "histogram", spread)
        path = next(number for number, s in process.stats.items() if s is stats)
        return relative_error(process, path)

    assert error(1000) == pytest.approx(error(100) / 10**0.5, rel=0.01)
    assert error(1) == 1.0


def test_the_variation_of_equal_durations_is_nothing_and_of_two_sizes_is_theirs() -> None:
    assert variation({bucket_of(100): 7}) == 0.0
    assert variation({}) == 0.0
    assert variation({bucket_of(1 << 10): 50, bucket_of(3 << 10): 50}) == pytest.approx(0.5, abs=0.05)
