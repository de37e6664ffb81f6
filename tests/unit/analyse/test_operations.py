"""The operations table and the bottleneck score."""

from __future__ import annotations

import pytest

from rlprof.analyse.bottlenecks import bottlenecks_of
from rlprof.analyse.ledger import open_account
from rlprof.analyse.operations import labels_of, operations_of
from rlprof.analyse.report import build_report
from rlprof.model.kinds import MEMORY
from rlprof.model.report import Operation
from support.recordings import SpanSpec, a_child, a_recording, iteration, span


def operations(*spans: SpanSpec, seconds: float = 100.0) -> dict[str, Operation]:
    account = open_account(a_recording(seconds=seconds).spans(*spans).build_process())
    return {operation.path[-1]: operation for operation in operations_of(account)}


def test_operations_with_the_most_time_of_their_own_come_first() -> None:
    names = list(
        operations(span("outer", span("inner", self_seconds=5.0), self_seconds=2.0), span("b", self_seconds=3))
    )
    assert names == ["inner", "b", "outer"]


def test_the_main_process_comes_first_whatever_the_others_took() -> None:
    child = a_child(seconds=10.0).spans(span("env.step", self_seconds=9.0))
    recording = a_recording(seconds=10.0).spans(span("env.wait", self_seconds=1.0)).child(child).build()
    assert [operation.process for operation in build_report(recording).operations] == [1, 2]


def test_total_includes_what_runs_inside_and_self_does_not() -> None:
    found = operations(span("outer", span("inner", self_seconds=5.0), self_seconds=2.0))
    assert found["outer"].total_seconds == pytest.approx(7.0)
    assert found["outer"].self_seconds == pytest.approx(2.0)
    assert found["inner"].path == ("outer", "inner")


def test_total_is_corrected_for_the_cost_of_everything_inside() -> None:
    builder = a_recording(seconds=10.0).cost(inside=100.0, outside=200.0)
    builder.spans(span("outer", span("inner", count=1000, self_seconds=1.0), count=10, self_seconds=1.0))
    found = {op.path[-1]: op for op in operations_of(open_account(builder.build_process()))}
    assert found["outer"].total_seconds == pytest.approx(2.0 - (10 * 100 + 1000 * 300) / 1e9)
    assert found["inner"].total_seconds == pytest.approx(1.0 - 1000 * 100 / 1e9)
    assert found["inner"].avg_seconds == pytest.approx(1e-3 - 100e-9)
    assert found["inner"].min_seconds == pytest.approx(1e-3 - 100e-9)


def test_a_span_still_open_counts_up_to_the_end() -> None:
    found = operations(span("train", count=0, open_calls=1, self_seconds=40.0))
    assert found["train"].open
    assert found["train"].calls == 1
    assert found["train"].total_seconds == pytest.approx(40.0)
    assert found["train"].avg_seconds is None
    assert found["train"].p99_seconds is None


def test_the_mean_of_closed_calls_is_not_blurred_by_an_open_one() -> None:
    found = operations(span("train", count=3, open_calls=1, self_seconds=40.0))
    assert found["train"].calls == 4
    assert found["train"].avg_seconds == pytest.approx(10.0)


def test_memory_is_absent_where_it_was_not_measured() -> None:
    found = operations(span("a", self_seconds=1.0), span("b", self_seconds=1.0, rss_rise=250_000_000, rss_exact=True))
    assert found["a"].memory_peak_mb is None
    assert found["b"].memory_peak_mb == pytest.approx(250.0)
    assert found["b"].labels == ("SLOW", "MEMORY")


def test_labels_follow_the_thresholds() -> None:
    assert labels_of(0.31, 0.01, None, None) == ("CRITICAL",)
    assert labels_of(0.30, 0.10, 100.0, 100.0) == ()
    assert labels_of(0.01, 0.11, 101.0, 101.0) == ("SLOW", "MEMORY", "GPU MEMORY")


def test_nothing_is_blamed_for_what_runs_inside_it() -> None:
    found = operations(iteration(span("outer", span("inner", self_seconds=60.0)), self_seconds=35.0))
    assert found["inner"].labels == ("CRITICAL", "SLOW")
    assert found["outer"].labels == ()
    assert found["iteration"].labels == ()


def test_the_score_weighs_share_and_time_per_call_when_nothing_else_is_known() -> None:
    found = operations(span("often", count=1000, self_seconds=50.0), span("once", count=1, self_seconds=25.0))
    scores = {b.operation: b.score for b in bottlenecks_of(found.values(), {1: 100.0})}
    assert scores["often"] == pytest.approx(100 * (40 * 1.0 + 30 * 0.05 / 25) / 70)
    assert scores["once"] == pytest.approx(100 * (40 * 0.5 + 30 * 1.0) / 70)


def test_the_score_counts_memory_where_it_was_measured() -> None:
    found = operations(
        span("a", self_seconds=50.0, rss_rise=10, device_rise=4),
        span("b", self_seconds=50.0, rss_rise=5, device_rise=4),
    )
    scores = {b.operation: b.score for b in bottlenecks_of(found.values(), {1: 100.0})}
    assert scores["a"] == pytest.approx(100.0)
    assert scores["b"] == pytest.approx(92.5)


def test_the_same_operation_in_several_workers_is_one_bottleneck() -> None:
    builder = a_recording(seconds=10.0).spans(span("env.wait", self_seconds=5.0))
    for _ in range(3):
        builder.child(a_child(seconds=10.0).spans(span("env.step", count=10, self_seconds=8.0)))
    entries = {entry.operation: entry for entry in build_report(builder.build()).bottlenecks}
    assert set(entries) == {"env.wait", "env.step"}
    assert entries["env.step"].share == pytest.approx(0.8)
    assert entries["env.step"].calls == 30


def test_scores_lie_between_0_and_100() -> None:
    found = operations(*(span(f"s{n}", count=n + 1, self_seconds=n) for n in range(12)))
    scores = [b.score for b in bottlenecks_of(found.values(), {1: 100.0})]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 100 for score in scores)
    assert len(scores) == 10


def test_spans_of_one_name_but_different_kinds_share_one_wall_clock() -> None:
    account = open_account(
        a_recording(seconds=100.0)
        .spans(span("env_step", self_seconds=30.0), span("env_step", self_seconds=10.0, kind=MEMORY))
        .build_process()
    )
    (entry,) = bottlenecks_of(operations_of(account), {1: 100.0})
    assert entry.share == pytest.approx(0.4)
    assert entry.calls == 2
