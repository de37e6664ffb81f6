"""What a step of a vector environment consists of, from the moments that parent and workers noted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.analyse.report import build_report
from rlprof.model.noted_slots import ALL_SLOTS, SLOT_BITS
from rlprof.model.report import StepSplit, VectorEnvEntry
from support.examples import ppo_recording
from support.recordings import SECOND, a_recording
from support.vector_envs import Step, Stretch, recording_of, vector_recording

MS = 1_000_000


def entry_of(steps: list[Step], **changes: Any) -> VectorEnvEntry:
    workers = build_report(recording_of(steps, **changes)).workers
    assert workers is not None
    (entry,) = workers.vector_envs
    return entry


def split_of(*steps: Step) -> StepSplit:
    split = entry_of(list(steps)).split
    assert split is not None
    return split


def in_ms(split: StepSplit) -> tuple[float, ...]:
    parts = (split.simulator_seconds, split.straggler_seconds, split.staggered_seconds, split.interprocess_seconds)
    return tuple(round(part * 1e3, 6) for part in parts)


def test_equal_workers_at_once_leave_only_the_simulator_and_what_is_between_processes() -> None:
    step = Step((0, MS), (MS, 9 * MS), (((2 * MS, 5 * MS),), ((2 * MS, 5 * MS),)))
    assert in_ms(split_of(step)) == (5, 0, 0, 5)


def test_a_slow_worker_is_waited_for_beyond_the_mean() -> None:
    step = Step((0, MS), (MS, 9 * MS), (((2 * MS, 2 * MS),), ((2 * MS, 6 * MS),)))
    assert in_ms(split_of(step)) == (4, 2, 0, 4)


def test_workers_one_after_the_other_are_staggered_and_neither_slow_nor_communication() -> None:
    step = Step((0, MS), (MS, 9 * MS), (((MS, 4 * MS),), ((5 * MS, 4 * MS),)))
    assert in_ms(split_of(step)) == (4, 0, 4, 2)


def test_the_slowest_is_that_of_each_step_and_not_that_of_the_run() -> None:
    first = Step((0, 0), (0, 4 * MS), (((0, 4 * MS),), ((0, 2 * MS),)))
    second = Step((10 * MS, 0), (10 * MS, 4 * MS), (((10 * MS, 2 * MS),), ((10 * MS, 4 * MS),)))
    entry = entry_of([first, second])
    assert entry.split is not None
    assert in_ms(entry.split) == (6, 2, 0, 0)  # over the run both workers took the same
    assert [worker.slowest_share for worker in entry.members] == [0.5, 0.5]


def test_stretches_of_a_worker_that_lie_in_one_step_add_up_and_overlapping_ones_count_once() -> None:
    step = Step((0, 0), (0, 10 * MS), (((0, 2 * MS), (3 * MS, 4 * MS), (4 * MS, MS)),))
    assert in_ms(split_of(step)) == (6, 0, 0, 4)


def test_what_workers_do_while_the_parent_is_elsewhere_is_not_the_parents_time() -> None:
    step = Step((0, MS), (8 * MS, 2 * MS), (((MS, 8 * MS),),))
    assert in_ms(split_of(step)) == (1, 0, 0, 2)


def test_a_worker_that_is_done_before_the_parent_waits_took_part_in_the_step() -> None:
    step = Step((0, MS), (8 * MS, 2 * MS), (((2 * MS, 5 * MS),),))
    entry = entry_of([step])
    assert entry.steps_measured == 1
    assert entry.split is not None
    assert in_ms(entry.split) == (0, 0, 0, 3)


def test_a_call_that_sends_and_waits_counts_its_wait_once() -> None:
    step = Step((0, 10 * MS), (2 * MS, 7 * MS), (((3 * MS, 5 * MS),),))
    split = entry_of([step], total_ns=10 * MS).split
    assert split is not None
    assert in_ms(split) == (5, 0, 0, 5)


def test_steps_that_were_not_noted_count_like_those_that_were_and_leave_an_error() -> None:
    workers = build_report(vector_recording()).workers
    assert workers is not None
    entry = workers.vector_envs[0]
    assert (entry.steps, entry.steps_measured) == (1000, 500)
    assert entry.split is not None
    assert entry.split.simulator_seconds / 1000 == pytest.approx(2.015e-3, rel=0.01)
    assert entry.split.straggler_seconds / 1000 == pytest.approx(1.015e-3, rel=0.02)
    assert entry.split.error_seconds is not None
    assert 0 < entry.split.error_seconds < 0.02


def test_a_late_slot_stands_for_as_many_as_were_left_out() -> None:
    late = (ALL_SLOTS + 1) << SLOT_BITS  # half of the slots are noted there
    steps = [
        Step((0, 0), (0, 4 * MS), (((0, 4 * MS),),)),
        Step((late, 0), (late, 4 * MS), (((late, MS),),)),
    ]
    entry = entry_of(steps, seconds=20.0)
    assert entry.split is not None
    assert entry.split.simulator_seconds / entry.step_seconds == pytest.approx((4 + 2 * 1) / (4 + 2 * 4))


def test_a_step_that_a_worker_was_not_seen_in_is_not_measured() -> None:
    whole = Step((0, 0), (0, 4 * MS), (((0, 4 * MS),), ((0, 2 * MS),)))
    half = Step((10 * MS, 0), (10 * MS, 4 * MS), (((10 * MS, 2 * MS),), ()))
    entry = entry_of([whole, half])
    assert (entry.steps, entry.steps_measured) == (2, 1)


def test_idle_is_what_lies_between_the_first_and_the_last_step() -> None:
    steps = [Step((at, 0), (at, 4 * MS), (((at, 4 * MS),), ((at, MS),))) for at in (SECOND, SECOND + 16 * MS)]
    entry = entry_of(steps)
    assert [worker.idle_share for worker in entry.members] == pytest.approx([1 - 8 / 20, 1 - 2 / 17])
    assert entry.idle_in_step_share == pytest.approx(1 - 10 / 16)


def test_without_all_workers_the_parents_time_is_not_split() -> None:
    recording = recording_of([Step((0, 0), (0, 4 * MS), (((0, 4 * MS),), ((0, 2 * MS),)))])
    workers = build_report(replace(recording, processes=recording.processes[:2])).workers
    assert workers is not None
    (entry,) = workers.vector_envs
    assert entry.split is None
    assert entry.idle_in_step_share is None
    assert entry.env_steps == 2
    assert entry.worker_env_steps == 1


def test_a_program_without_worker_processes_has_none() -> None:
    assert build_report(ppo_recording()).workers is None


@pytest.mark.parametrize("fact", [None, 3, [None], [{}], [{"pids": "x", "steps": 1, "total_ns": 1}], {"a": 1}])
def test_a_fact_of_another_form_is_passed_over(fact: Any) -> None:
    recording = a_recording(1.0, facts={"vector_envs": fact}).build()
    assert build_report(recording).workers is None


# --- for any steps ----------------------------------------------------------------------------------------------------

MOMENTS = st.integers(0, 2000)


@st.composite
def steps_of(draw: st.DrawFn) -> list[Step]:
    """Steps one after the other, of which the workers know at any moment whatever they like."""
    workers = draw(st.integers(1, 4))
    steps = []
    for index in range(draw(st.integers(1, 4))):
        at = index * 10_000
        sent, between, waited = draw(MOMENTS), draw(MOMENTS), draw(MOMENTS) + 1

        def stretch(at: int = at) -> Stretch:
            return at + draw(MOMENTS), draw(MOMENTS)

        own = tuple(tuple(stretch() for _ in range(draw(st.integers(1, 3)))) for _ in range(workers))
        steps.append(Step((at, sent), (at + sent + between, waited), own))
    return steps


def reference(step: Step) -> tuple[int, list[int], int] | None:
    """Nanosecond by nanosecond: the parent's time, each worker's in it, and that in which any worker is busy.

    None where a worker was not seen between the beginning and the end of the step.
    """
    whole = set(range(step.sent[0], sum(step.waited)))
    parent = {*range(*_edges(step.sent)), *range(*_edges(step.waited))}
    busy = [whole & {ns for stretch in own for ns in range(*_edges(stretch))} for own in step.workers]
    if not all(busy):
        return None
    inside = [parent & own for own in busy]
    return len(parent), [len(own) for own in inside], len(set().union(*inside))


def _edges(stretch: Stretch) -> tuple[int, int]:
    return stretch[0], stretch[0] + stretch[1]


@given(steps_of())
def test_the_parts_are_those_of_a_count_by_the_nanosecond_and_add_up_exactly(steps: list[Step]) -> None:
    seen = [found for step in steps if (found := reference(step)) is not None]
    entry = entry_of(steps)
    assert entry.steps_measured == len(seen)
    if not seen:
        assert entry.split is None
        return
    split = entry.split
    assert split is not None
    parent = sum(p for p, _, _ in seen)
    mean = sum(sum(own) / len(own) for _, own, _ in seen)
    slowest = sum(max(own) for _, own, _ in seen)
    anybody = sum(busy for _, _, busy in seen)
    parts = (
        split.simulator_seconds,
        split.straggler_seconds,
        split.staggered_seconds,
        split.interprocess_seconds,
    )
    expected = (mean, slowest - mean, anybody - slowest, parent - anybody)
    shares = [part / entry.step_seconds for part in parts]
    assert shares == pytest.approx([part / parent for part in expected], abs=1e-9)
    assert min(parts) >= -1e-15
    assert sum(parts) == pytest.approx(entry.step_seconds, rel=1e-12)
