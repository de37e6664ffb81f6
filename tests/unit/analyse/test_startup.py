"""Start-up is the unattributed time before training began."""

from __future__ import annotations

import pytest

from rlprof.analyse.report import build_report
from support.recordings import RecordingBuilder, a_recording, iteration, span


def startup(builder: RecordingBuilder) -> float | None:
    return build_report(builder.build()).ledger.startup_seconds


def spans(*children: str, own: float = 1.0) -> RecordingBuilder:
    return a_recording(seconds=10.0).spans(*(span(name, self_seconds=own) for name in children))


def test_it_ends_with_the_slice_before_the_first_span() -> None:
    builder = spans("env.step", own=4.0).slice_of_time(0, 2, {"": 2.0}).slice_of_time(2, 6, {"env.step": 4.0})
    assert startup(builder.slice_of_time(6, 10, {"": 4.0})) == pytest.approx(2.0)


def test_side_work_and_transfers_before_training_are_still_start_up() -> None:
    builder = spans("checkpoint", "log", "transfer.h2d", "env.step")
    builder.slice_of_time(0, 2, {"": 1.0, "checkpoint": 1.0}).slice_of_time(2, 4, {"log": 1.0, "transfer.h2d": 1.0})
    builder.slice_of_time(4, 6, {"": 2.0}).slice_of_time(6, 10, {"": 3.0, "env.step": 1.0})
    # Of the last slice as much is start-up as the rest of the run, of which there is none, says: nothing.
    assert startup(builder) == pytest.approx(3.0)


def test_spans_without_a_phase_do_not_begin_training_where_others_do() -> None:
    builder = spans("start workers", "env.step", own=3.0)
    builder.slice_of_time(0, 3, {"start workers": 3.0}).slice_of_time(3, 4, {"": 1.0})
    assert startup(builder.slice_of_time(4, 10, {"": 3.0, "env.step": 3.0})) == pytest.approx(1.0)


@pytest.mark.parametrize("asked", ["policy.forward", "env.ipc", "env.reset"])
def test_what_building_asks_for_does_not_begin_training_where_others_do(asked: str) -> None:
    builder = spans(asked, "env.step", own=2.0)
    builder.slice_of_time(0, 2, {"": 1.0, asked: 1.0}).slice_of_time(2, 5, {"": 3.0})
    assert startup(builder.slice_of_time(5, 10, {"": 2.0, asked: 1.0, "env.step": 2.0})) == pytest.approx(4.0)


def test_a_forward_begins_training_where_there_is_nothing_else() -> None:
    builder = spans("policy.forward", own=3.0).slice_of_time(0, 2, {"": 2.0})
    builder.slice_of_time(2, 5, {"policy.forward": 3.0})
    assert startup(builder.slice_of_time(5, 10, {"": 5.0})) == pytest.approx(2.0)


def test_spans_without_a_phase_begin_training_where_there_are_no_others() -> None:
    builder = spans("walk", own=3.0).slice_of_time(0, 2, {"": 2.0}).slice_of_time(2, 5, {"walk": 3.0})
    assert startup(builder.slice_of_time(5, 10, {"": 5.0})) == pytest.approx(2.0)


def test_time_in_spans_before_training_is_known_by_phase() -> None:
    builder = spans("start workers", "log", "env.step")
    builder.slice_of_time(0, 2, {"": 1.0, "start workers": 1.0}).slice_of_time(2, 4, {"": 1.5, "log": 0.5})
    builder.slice_of_time(4, 10, {"": 4.5, "log": 0.5, "env.step": 1.0})
    report = build_report(builder.build())
    assert {phase.phase: phase.setup_seconds for phase in report.phases} == {"other": 1.0, "log": 0.5, "env.step": 0.0}
    assert report.ledger.setup_seconds == pytest.approx(1.5)


def test_the_slice_in_which_training_begins_is_divided_as_the_rest_of_the_run_is() -> None:
    builder = spans("env.step", own=4.0).slice_of_time(0, 1, {"": 1.0})
    builder.slice_of_time(1, 2, {"": 0.8, "env.step": 0.2})
    builder.slice_of_time(2, 10, {"": 4.0, "env.step": 4.0})
    assert startup(builder) == pytest.approx(1.0 + 0.8 - 0.2)


def test_the_programs_own_mark_of_an_iteration_divides_it_exactly() -> None:
    builder = a_recording(seconds=10.0).spans(iteration(span("env.step", self_seconds=4.0), self_seconds=4.0))
    builder.slice_of_time(0, 1, {"": 0.7, "iteration": 0.2, "env.step": 0.1})
    builder.slice_of_time(1, 10, {"": 1.3, "iteration": 3.8, "env.step": 3.9})
    assert startup(builder.iterations([4.0, 4.0], first=0.7)) == pytest.approx(0.7)


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(spans("env.step"), id="no slices"),
        pytest.param(spans("env.step").slice_of_time(0, 10, {"": 9.0, "env.step": 1.0}), id="one slice"),
        pytest.param(
            spans("log").slice_of_time(0, 5, {"": 5.0}).slice_of_time(5, 10, {"": 4.0, "log": 1.0}), id="no training"
        ),
        pytest.param(a_recording(seconds=0.0), id="nothing"),
    ],
)
def test_it_is_unknown_where_nothing_tells_it_from_training(builder: RecordingBuilder) -> None:
    assert startup(builder) is None


def test_it_is_never_more_than_the_unattributed_time() -> None:
    builder = spans("env.step", own=9.5).slice_of_time(0, 2, {"": 2.0}).slice_of_time(2, 10, {"env.step": 8.0})
    ledger = build_report(builder.build()).ledger
    assert ledger.startup_seconds == ledger.unattributed_seconds == pytest.approx(0.5)


def test_a_thread_that_trains_brings_the_time_before_it_was_there() -> None:
    builder = a_recording(seconds=10.0).spans()
    builder.spans(span("env.step", self_seconds=5.0), thread="trainer", lived=6.0)
    own_root = max(path.id for path in builder.paths.values() if path.name == "")
    builder.slice_of_time(0, 4, {"": 4.0}).slice_of_time(4, 10, {"": 6.0, "env.step": 5.0})
    first, last = builder.window_rows[-1][:2]
    builder.window_rows.append((first, last, own_root, 1, 10**9))
    assert startup(builder) == pytest.approx(4.0)
