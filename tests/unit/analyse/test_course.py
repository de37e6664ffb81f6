"""What is shared between passes is computed once, and forgotten with its recording."""

from __future__ import annotations

import gc

from rlprof.analyse import course
from support.courses import Run, always

LOOP = {"env.step": always(1e-4), "policy.forward": always(3e-4)}


def test_the_same_recording_has_the_same_course() -> None:
    recording = Run(LOOP).build().build()
    assert course.course_of(recording) is course.course_of(recording)
    assert course.course_of(recording) is not course.course_of(Run(LOOP).build().build())


def test_nothing_is_kept_of_a_recording_that_is_gone() -> None:
    recording = Run(LOOP).build().build()
    course.course_of(recording)
    key = id(recording)
    assert key in course._known
    del recording
    gc.collect()
    assert key not in course._known


def test_stretches_follow_each_other_and_hold_all_steps_after_the_first_slice() -> None:
    recording = Run(LOOP, slices=300).build().build()
    pace = course.course_of(recording).pace
    assert pace is not None
    assert len(pace) <= 48
    assert (pace.end_ns[:-1] == pace.start_ns[1:]).all()
    assert (pace.steps > 0).all()
    whole = recording.main.counters["env_steps"].amount
    assert 0.98 * whole < pace.steps.sum() < whole
