"""What makes two sets of runs comparable, and how they are put side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlprof.experiments.comparable import environment_differences, refusal
from rlprof.experiments.compare import Circumstances, Incomparable
from rlprof.experiments.measurements import Measurement, measure_run
from rlprof.experiments.recorded_pairs import match
from rlprof.model.comparison import Comparison
from rlprof.model.recording import Recording, Status
from support.recordings import FACTS, STARTED, a_recording, iteration, span


def recording(at: float = 0.0, seconds: float = 10.0, status: Status = "completed", **facts: Any) -> Recording:
    builder = a_recording(seconds=seconds, facts={**FACTS, **facts}, status=status, source=f"run-{at:g}.rlprof")
    builder.spans(iteration(span("env.step", count=100, self_seconds=0.6 * seconds), count=10))
    builder.counter("env_steps", 1000)
    return replace(builder.build(), started=STARTED + at)


def facts_that_differ(a: Recording, b: Recording) -> dict[str, bool]:
    return {found.fact: found.incomparable for found in environment_differences([a], [b])}


def test_runs_of_one_machine_and_one_environment_do_not_differ() -> None:
    assert environment_differences([recording(), recording(1)], [recording(2)]) == ()


@pytest.mark.parametrize("fact", ["host", "cpu", "cores", "cores_usable", "cpu_quota", "memory_bytes"])
def test_another_machine_is_refused(fact: str) -> None:
    a, b = recording(**{fact: 1}), recording(**{fact: 2})
    assert facts_that_differ(a, b) == {fact: True}
    with pytest.raises(Incomparable, match=f"{fact}: 1 against 2.*--force"):
        match([a], [b], ("a", "b"), Circumstances())


def test_force_compares_them_and_is_noted_only_where_it_was_needed() -> None:
    forced = match([recording(host="x")], [recording(host="y")], ("a", "b"), Circumstances(forced=True)).compare()
    assert forced.forced
    assert [d.fact for d in forced.environment_differences] == ["host"]
    assert not match([recording()], [recording()], ("a", "b"), Circumstances(forced=True)).compare().forced


@pytest.mark.parametrize("fact", ["python", "torch", "torch_threads", "git_commit"])
def test_other_software_may_be_the_change_itself_and_is_shown(fact: str) -> None:
    assert facts_that_differ(recording(**{fact: "1"}), recording(**{fact: "2"})) == {fact: False}


def test_variables_that_steer_libraries_are_shown() -> None:
    a, b = recording(environment={"OMP_NUM_THREADS": "1"}), recording(environment={"OMP_NUM_THREADS": "8"})
    assert facts_that_differ(a, b) == {"OMP_NUM_THREADS": False}
    assert facts_that_differ(a, recording(environment="?")) == {"OMP_NUM_THREADS": False}


def test_what_one_side_does_not_know_is_no_reason_to_refuse() -> None:
    assert refusal(environment_differences([recording(gpu="A100")], [recording(gpu=None)])) is None


def test_runs_are_paired_in_order_of_time_and_the_rest_is_said() -> None:
    a = [recording(at, 10.0) for at in (4, 0, 2)]
    b = [recording(1, 5.0), recording(3, 5.0, status="failed"), recording(5, 5.0)]
    found = match(a, b, ("a", "b"), Circumstances()).compare()
    assert found.pairs == 2
    assert found.baseline.recordings == ("run-0.rlprof", "run-2.rlprof")
    assert {(entry.trial, entry.why) for entry in found.left_out} == {
        ("run-3.rlprof", "the run failed"),
        ("run-4.rlprof", "the other side has no run to pair it with"),
    }
    assert found.overall.ratio == pytest.approx(2.0)


def test_one_side_after_the_other_is_warned_of() -> None:
    early, late = [recording(at) for at in range(5)], [recording(10 + at) for at in range(5)]
    codes = [warning.code for warning in match(early, late, ("a", "b"), Circumstances()).compare().warnings]
    assert codes == ["not-interleaved"]
    turns = match([recording(2 * at) for at in range(5)], [recording(2 * at + 1) for at in range(5)], ("", ""),
                  Circumstances())  # fmt: skip
    assert turns.compare().warnings == ()


def measured_with_load(recording: Recording) -> Measurement:
    """As measured, others using what the recording's `load` says."""
    return replace(measure_run(recording), other_load=recording.main.facts.get("load"))


def with_loads(a: float | None, b: float | None) -> Comparison:
    sides = [[recording(at, load=load) for at in range(3)] for load in (a, b)]
    return match(sides[0], sides[1], ("a", "b"), Circumstances(), measure=measured_with_load).compare()


def test_what_others_used_is_shown_of_recordings_and_where_it_differs_between_the_sides() -> None:
    found = with_loads(0.02, 0.40)
    assert found.other_load == pytest.approx(0.21)
    (difference,) = found.environment_differences
    assert (difference.fact, difference.baseline, difference.candidate) == ("load of others", "2%", "40%")
    assert not difference.incomparable
    assert "busy-machine" in {warning.code for warning in found.warnings}


def test_load_that_is_alike_or_unknown_is_no_difference() -> None:
    assert with_loads(0.02, 0.05).environment_differences == ()
    assert with_loads(0.02, 0.05).other_load == pytest.approx(0.035)
    assert with_loads(None, 0.4).environment_differences == ()
    assert with_loads(None, None).other_load is None


def test_without_windows_the_whole_run_is_measured_per_env_step() -> None:
    pair = match([recording()], [recording(1)], ("a", "b"), Circumstances()).pairs[0][0]
    assert (pair.per, pair.amount) == ("env step", 1000)
    assert pair.phases["env.step"] == pytest.approx(6.0 / 1000)
    assert pair.seconds == pytest.approx(10.0 / 1000)


def test_treatments_that_took_effect_are_shown_as_a_difference() -> None:
    entries = [
        {"text": "threads=1", "applied": True, "why": None},
        {"text": "gc-freeze", "applied": False, "why": "no"},
    ]
    (found,) = environment_differences([recording()], [recording(treatments=entries)])
    assert (found.fact, found.baseline, found.candidate, found.incomparable) == ("treatments", "-", "threads=1", False)
