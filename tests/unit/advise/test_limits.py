"""`cpu-quota` and `memory-pressure` speak of what a control group, or a full memory, was seen to do to the run."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.model.report import Finding
from support.advice import found, train
from support.courses import Run, always
from support.recordings import FACTS, SECOND, START_NS, RecordingBuilder, a_child, a_recording, span

LOOP = {"env.step": always(1e-4), "policy.forward": always(3e-4), "learn.loss": always(4e-4)}


def held_up(
    throttled: float = 3.0, periods: int = 60, quota: float | None = 2.0, threads: int = 8, children: int = 0
) -> Finding | None:
    """Ten seconds with so much of it throttled, over all cores."""
    before = {"at_ns": 0, "cpu_seconds": 0.0, "throttled_seconds": 1.0, "throttled_periods": 5}
    now = {
        "at_ns": 10 * SECOND,
        "cpu_seconds": 18.0,
        "throttled_seconds": 1.0 + throttled,
        "throttled_periods": 5 + periods,
        "threads_at_work": threads,
    }
    facts = {**FACTS, "cpu_quota": quota, "core_use_at_start": before, "core_use": now}
    builder = a_recording(seconds=10.0, facts=facts)
    builder.spans(span("learn.loss", count=100, self_seconds=9.5, phase="learn.loss"))
    for _ in range(children):
        builder.child(a_child(10.0, facts={**FACTS, "core_use": {"threads_at_work": 1}}))
    return found(builder, "cpu-quota")


def test_threads_beyond_a_quota_that_stopped_them_are_named_with_the_bound() -> None:
    finding = held_up()
    assert finding is not None
    assert finding.evidence["threads_at_work"] == 8
    assert finding.gain.high == pytest.approx(10 / 7, rel=0.01)
    assert "torch.set_num_threads(2)" in finding.cure


def test_workers_count_as_threads() -> None:
    assert held_up(threads=1) is None
    assert held_up(threads=1, children=3) is not None


def test_a_bound_is_no_longer_than_the_periods_in_which_it_was_stopped() -> None:
    finding = held_up(throttled=40.0, periods=20)
    assert finding is not None
    assert finding.gain.high == pytest.approx(10 / 8, rel=0.01)


def test_a_bound_is_no_longer_than_what_the_quota_lets_all_threads_run_at_once() -> None:
    """The group was stopped for 16 of its 20 seconds of cores: two threads with a core between them run half."""
    finding = held_up(throttled=16.0, periods=100, quota=1.0, threads=2)
    assert finding is not None
    assert finding.gain.high == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize("changes", [{"quota": None}, {"throttled": 0.4}, {"threads": 2}, {"quota": 16.0}])
def test_without_a_quota_that_stops_too_many_threads_nothing_is_said(changes: dict[str, Any]) -> None:
    assert held_up(**changes) is None


# --- memory -----------------------------------------------------------------------------------------------------------


def short_of_memory(
    faults: int = 0, blocked: float = 0.0, swapped: int = 0, peak: float = 1e9, early: int = 0, **facts: Any
) -> Finding | None:
    """22 s, two of them start-up: pages read back in each, and how long the main thread stood still."""
    builder: RecordingBuilder = Run(LOOP).build()
    lasted, ran = 22.0, 22.0 - blocked
    rows = [[START_NS, 0], [START_NS + 2 * SECOND, early], [START_NS + 22 * SECOND, early + faults]]
    builder.facts = {
        **builder.facts,
        "memory_bytes": 8_000_000_000,
        "major_faults": rows,
        "core_use_at_start": {"at_ns": 0, "main_run_ns": 0, "core_wait_ns": 0, "cpu_seconds": 0.0},
        "core_use": {"at_ns": lasted * 1e9, "main_run_ns": ran * 1e9, "core_wait_ns": 0, "cpu_seconds": ran},
        "memory_use": {"swapped_bytes": swapped},
        **facts,
    }
    builder.memory([(at / 10, round(peak), -1) for at in range(220)])
    builder.sample("learn.loss", 300, train(44, "sample"))
    return found(builder, "memory-pressure")


def test_pages_that_are_read_back_while_the_main_thread_stands_still_are_named() -> None:
    finding = short_of_memory(faults=4000, blocked=11.0)
    assert finding is not None
    assert finding.severity == "critical"
    assert 1.9 < finding.gain.high < 2.4
    assert finding.where[0].line == 44
    assert "uint8" in finding.cure


def test_a_bound_is_no_more_than_a_disk_takes_for_so_many_pages() -> None:
    finding = short_of_memory(faults=450, blocked=11.0)
    assert finding is not None
    assert finding.gain.high == pytest.approx(20 / (20 - 4.5), rel=0.02)


def test_memory_that_is_nearly_full_or_swapped_out_is_a_warning_before_it_costs_anything() -> None:
    full, swapped = short_of_memory(peak=7.5e9), short_of_memory(swapped=200_000_000)
    assert full is not None
    assert swapped is not None
    assert (full.severity, full.gain.high) == (swapped.severity, swapped.gain.high) == ("warning", 1.0)
    assert "may" in full.title
    assert "swapped" in swapped.title


def test_a_control_group_may_allow_less_than_the_machine_has() -> None:
    assert short_of_memory(peak=1e9, memory_limit_bytes=1_050_000_000) is not None


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"faults": 100, "blocked": 11.0}, id="few pages"),
        pytest.param({"faults": 4000, "blocked": 0.5}, id="nobody waited"),
        pytest.param({"early": 9000, "blocked": 11.0}, id="libraries are read at the start"),
        pytest.param({"swapped": 1_000_000}, id="a little is swapped out"),
        pytest.param({"major_faults": [["x"], 3], "blocked": 11.0}, id="a fact of another form"),
    ],
)
def test_memory_that_suffices_is_left_in_peace(changes: dict[str, Any]) -> None:
    assert short_of_memory(**changes) is None
