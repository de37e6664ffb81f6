"""`serial-env-idle-cores` speaks where dear environments share one core and the others have nothing to do."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.advise.rules.serial_env_idle_cores import serial_env_idle_cores
from rlprof.analyse.report import build_report
from rlprof.model.report import Finding
from support.recordings import FACTS, FrameSpec, RecordingBuilder, a_recording, span

MAIN = FrameSpec("main", "/home/ann/project/train.py", 80)
VECTOR = FrameSpec("SyncVectorEnv.step", "/venv/lib/python3.11/site-packages/gymnasium/vector/sync.py", 120)
STEP = FrameSpec("Traffic.step", "/home/ann/project/traffic.py", 30)
DRIVE = FrameSpec("Traffic.drive", "/home/ann/project/traffic.py", 44)


def a_run(
    env: float = 8.0, envs: int = 4, calls: int = 1000, cpu: float = 10.0, cores: int = 4, **facts: Any
) -> RecordingBuilder:
    """Ten seconds, of which `env` are in calls that each step `envs` environments."""
    start = {"at_ns": 0, "cpu_seconds": 0.0, "core_wait_ns": 0, "machine_busy_seconds": 0.0}
    now = {"at_ns": 10_000_000_000, "cpu_seconds": cpu, "core_wait_ns": 0, "machine_busy_seconds": cpu + 5.0}
    known = {**FACTS, "cores_usable": cores, "core_use_at_start": start, "core_use": now, **facts}
    builder = a_recording(seconds=10.0, facts=known)
    builder.spans(span("env.step", count=calls, self_seconds=env, phase="env.step"))
    return builder.counter("env_steps", calls * envs).sample("env.step", 100, MAIN, VECTOR, STEP, DRIVE)


def findings(builder: RecordingBuilder) -> list[Finding]:
    recording = builder.build()
    return list(serial_env_idle_cores(recording, build_report(recording)))


def test_it_points_to_the_line_that_steps_and_not_to_the_one_that_computes() -> None:
    (finding,) = findings(a_run())
    assert [(place.file, place.line) for place in finding.where] == [(MAIN.file, MAIN.line)]
    assert finding.evidence["environments"] == 4
    assert finding.evidence["env_step_seconds"] == pytest.approx(2e-3)
    assert finding.evidence["cores_used_by_others"] == pytest.approx(0.5)
    assert not finding.changes_learning
    assert finding.gain.high == pytest.approx(10 / (2 + 8 / 4))


def test_cores_that_others_keep_busy_make_it_a_matter_of_information() -> None:
    use = {"at_ns": 10_000_000_000, "cpu_seconds": 10.0, "core_wait_ns": 0}
    (taken,) = findings(a_run(core_use={**use, "machine_busy_seconds": 36.0}))
    (free,) = findings(a_run(core_use={**use, "machine_busy_seconds": 34.0}))
    assert (taken.severity, free.severity) == ("info", "critical")
    assert "Others kept 2.60 cores busy" in taken.cure
    assert "Others" not in free.cure


@pytest.mark.parametrize(
    ("run", "high"),
    [
        (a_run(cores=2), 10 / (2 + 8 / 2)),
        (a_run(envs=2, calls=2000, cores=16), 10 / (2 + 8 / 2)),
        (a_run(cores=16, cpu_quota=2.5), 10 / (2 + 8 / 2.5)),
        (a_run(cores=2, cpu=1.0), 10 / (2 + 8 / 4)),
    ],
    ids=["few cores", "few environments", "a quota", "environments that wait"],
)
def test_the_bound_is_by_what_can_run_at_once(run: RecordingBuilder, high: float) -> None:
    assert findings(run)[0].gain.high == pytest.approx(high)


def test_single_environments_that_take_turns_count_as_those_of_a_vector() -> None:
    (finding,) = findings(a_run(envs=1, calls=4000, envs_in_turn=4.02))
    assert finding.evidence["environments"] == 4
    assert not finding.changes_learning
    assert finding.severity == "critical"


def test_a_single_environment_has_to_become_several_which_changes_learning() -> None:
    (finding,) = findings(a_run(envs=1, calls=4000, envs_in_turn=1.0))
    assert finding.changes_learning
    assert finding.severity == "info"
    assert finding.gain.high == pytest.approx(10 / (2 + 8 / 4))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(env=4.9), id="less than half"),
        pytest.param(a_run(calls=4000), id="cheap steps"),
        pytest.param(a_run(cpu=31.0), id="cores are in use"),
        pytest.param(a_run(cores=1), id="one core"),
        pytest.param(a_run(calls=20), id="few steps"),
        pytest.param(a_run(core_use=None), id="cores are not known"),
        pytest.param(a_run(core_use="x", core_use_at_start=[1]), id="a fact of another form"),
    ],
)
def test_it_is_silent_where_it_cannot_know_or_it_does_not_matter(run: RecordingBuilder) -> None:
    assert findings(run) == []


def test_environments_that_are_in_workers_already_are_left_in_peace() -> None:
    builder = a_run(env=0.0)
    builder.paths.clear()
    builder.stats.clear()
    builder.threads.clear()
    builder.sample_rows.clear()
    builder.spans(
        span("env.step", span("env.wait", count=1000, self_seconds=4.0), count=1000, self_seconds=5.2, phase="env.step")
    )
    assert findings(builder) == []


def test_a_stack_without_a_step_names_no_line() -> None:
    builder = a_run()
    builder.sample_rows.clear()
    (finding,) = findings(builder.sample("env.step", 50, MAIN, DRIVE))
    assert finding.where == ()


@pytest.mark.parametrize(
    ("run", "pays"),
    [
        pytest.param(a_run(calls=2500, cores=2), True, id="0.8 ms on two cores"),
        pytest.param(a_run(calls=3200, cores=2), True, id="0.63 ms on two cores"),
        pytest.param(a_run(calls=2500, cores=2, cpu_quota=1.3), False, id="0.8 ms where little can run at once"),
        pytest.param(a_run(calls=3400, cores=8), False, id="0.59 ms on however many"),
    ],
)
def test_steps_of_less_than_a_millisecond_pay_where_messages_leave_a_gain(run: RecordingBuilder, pays: bool) -> None:
    assert bool(findings(run)) == pays
