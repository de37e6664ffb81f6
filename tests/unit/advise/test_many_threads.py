"""`thread-oversubscription` of a training process that has no workers: by what torch was told, and waits for cores."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.advise.report import complete_report
from rlprof.advise.rules.thread_oversubscription import thread_oversubscription
from rlprof.analyse.report import build_report
from rlprof.model.recording import Recording
from support.recordings import FACTS, a_child, a_recording, span


def a_run(
    threads: int | None = 16, waited: float = 3.0, blocked: float = 2.0, others: float = 0.0, **facts: Any
) -> Recording:
    """Ten seconds of learning on two cores; the main thread was ready without a core, and stood still, for so long."""
    seconds = 10.0
    start = dict.fromkeys(("at_ns", "cpu_seconds", "core_wait_ns", "machine_busy_seconds", "main_run_ns"), 0)
    now = {
        "at_ns": round(seconds * 1e9),
        "cpu_seconds": 15.0,
        "core_wait_ns": round(waited * 1e9),
        "main_run_ns": round((seconds - waited - blocked) * 1e9),
        "machine_busy_seconds": 15.0 + others * seconds,
    }
    known = {**FACTS, "cores_usable": 2, "core_use_at_start": start, "core_use": now, "torch_threads": threads, **facts}
    builder = a_recording(seconds=seconds, facts=known)
    builder.spans(span("env.step", count=1000, self_seconds=1.0), span("learn.backward", count=1000, self_seconds=9.0))
    return builder.counter("env_steps", 1000).build()


def of_threads(recording: Recording) -> list[Any]:
    return list(thread_oversubscription(recording, build_report(recording)))


def test_more_threads_than_cores_are_named_with_what_the_main_thread_waited() -> None:
    (finding,) = of_threads(a_run())
    assert finding.severity == "critical"
    assert finding.evidence["threads_per_core"] == 8.0
    assert finding.gain.high == pytest.approx(10.0 / (10.0 - 5.0), rel=0.01)
    assert "set_num_threads(2)" in finding.cure


def test_a_bound_is_no_longer_than_what_is_computed() -> None:
    (finding,) = of_threads(a_run(waited=5.0, blocked=4.9))
    assert finding.gain.high == pytest.approx(10.0 / (10.0 - 9.0), rel=0.01)


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(a_run(threads=2), id="as many threads as cores"),
        pytest.param(a_run(threads=None), id="nobody knows how many"),
        pytest.param(a_run(waited=1.0), id="it hardly waits"),
        pytest.param(a_run(others=1.5), id="others had the cores"),
        pytest.param(a_run(cpu_quota=2.0), id="a quota, which has a rule of its own"),
        pytest.param(a_run(core_use="x"), id="a fact of another form"),
    ],
)
def test_it_is_silent_where_threads_are_not_the_reason(recording: Recording) -> None:
    assert not of_threads(recording)


def test_with_workers_it_is_the_workers_that_are_judged() -> None:
    recording = a_run()
    builder = a_recording(seconds=10.0, facts=dict(recording.main.facts))
    builder.spans(span("learn.backward", count=1000, self_seconds=10.0)).counter("env_steps", 1000)
    assert not of_threads(builder.child(a_child(10.0)).build())


def test_many_updates_are_not_blamed_for_it() -> None:
    findings = complete_report(a_run(waited=4.0, blocked=4.0)).findings
    assert findings[0].rule == "thread-oversubscription"
    assert "update-ratio" not in [finding.rule for finding in findings]
