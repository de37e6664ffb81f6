"""`vecenv-ipc` and `straggler` judge the steps of vector environments with worker processes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlprof.advise.report import complete_report
from rlprof.advise.rules.straggler import straggler
from rlprof.advise.rules.thread_oversubscription import thread_oversubscription
from rlprof.advise.rules.vecenv_ipc import vecenv_ipc
from rlprof.analyse.report import build_report
from rlprof.model.recording import Process, Recording
from rlprof.model.report import Finding
from support.vector_envs import Step, recording_of, vector_recording

MICROSECOND = 1_000


def steps_of(*busy: int, step: int, count: int = 200) -> list[Step]:
    """Steps of so many microseconds in the parent, in which each worker's environment is busy for its own time."""
    found = []
    for index in range(count):
        at = index * 2 * step * MICROSECOND
        workers = tuple((((at + 20_000), own * MICROSECOND),) for own in busy)
        found.append(Step((at, 10_000), (at + 10_000, (step - 10) * MICROSECOND), workers))
    return found


def recorded(*busy: int, step: int, count: int = 200, seconds: float | None = None) -> Recording:
    taken = count * step * MICROSECOND / 1e9
    return recording_of(steps_of(*busy, step=step, count=count), seconds=seconds or max(1.25 * taken, 1.5))


def of_ipc(recording: Recording) -> list[Finding]:
    return list(vecenv_ipc(recording, build_report(recording)))


def of_straggler(recording: Recording) -> list[Finding]:
    return list(straggler(recording, build_report(recording)))


def test_cheap_environments_in_processes_are_found_with_the_crossover() -> None:
    (finding,) = of_ipc(recorded(50, 50, 50, 50, step=2000, count=1000))
    assert finding.severity == "critical"
    assert finding.evidence["expected_serial_step_seconds"] == pytest.approx(200e-6)
    assert finding.evidence["simulator_share"] == pytest.approx(0.025)
    # Of 2.5 s, 2 s are in steps: expected are 0.2 s, at least half of it.
    assert finding.gain.low == pytest.approx(2.5 / (0.5 + 0.2), rel=1e-3)
    assert finding.gain.high == pytest.approx(2.5 / (0.5 + 0.1), rel=1e-3)
    assert "DummyVecEnv" in finding.cure
    assert not finding.changes_learning
    assert finding.evidence["phases"] == ["env.wait", "env.ipc"]


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(recorded(1500, 1500, step=2000), id="simulators run most of the time"),
        pytest.param(recorded(500, 500, 500, 500, step=2000), id="one after the other would take as long"),
        pytest.param(recorded(50, 50, step=2000, count=99), id="few steps"),
        pytest.param(recorded(50, 50, step=100, seconds=60.0), id="not worth a line"),
    ],
)
def test_workers_that_pay_are_left_in_peace(recording: Recording) -> None:
    assert of_ipc(recording) == []


def test_spans_that_are_longer_than_the_worker_was_busy_are_not_believed() -> None:
    recording = recorded(50, 50, 50, 50, step=2000)
    dear = tuple(_with_stats(process, "env.step", 20.0) for process in recording.processes[1:])
    assert of_ipc(recording)
    assert of_ipc(replace(recording, processes=(recording.main, *dear))) == of_ipc(recording)


def _with_stats(process: Process, name: str, times: float) -> Process:
    number = next(path.id for path in process.paths.values() if path.name == name)
    stats = process.stats[number]
    longer = replace(stats, total_ns=round(stats.total_ns * times), self_ns=round(stats.self_ns * times))
    return replace(process, stats={**process.stats, number: longer})


def test_a_bound_lets_the_main_thread_off_waiting_for_cores_between_steps() -> None:
    recording = recorded(50, 50, 50, 50, step=2000, count=1000)
    waiting = with_core_use(recording, core_wait_ns=1_250_000_000)
    (without,), (with_wait,) = of_ipc(recording), of_ipc(waiting)
    assert with_wait.gain.low == without.gain.low
    assert with_wait.gain.high == pytest.approx(2.5 / (0.5 * 0.5 + 0.1), rel=1e-3)
    # All sixteen cores were somebody else's: the cure gives the main thread none of them back.
    beside = with_core_use(recording, core_wait_ns=1_250_000_000, machine_busy_seconds=16 * 2.5)
    assert of_ipc(beside)[0].gain == without.gain


def test_cores_that_others_had_are_no_fault_of_processes() -> None:
    recording = recorded(300, 300, 300, 300, step=2000, count=1000)
    workers = []
    for process in recording.processes[1:]:
        fact = {**process.facts["vector_worker"], "core_wait_ns": 800_000_000}
        workers.append(replace(process, facts={**process.facts, "vector_worker": fact}))
    waiting = replace(recording, processes=(recording.main, *workers))
    # Two of sixteen cores, then all of them, were somebody else's for 2.5 s.
    assert of_ipc(with_core_use(waiting, machine_busy_seconds=5.0))
    assert of_ipc(with_core_use(waiting, machine_busy_seconds=40.0)) == []


def with_core_use(recording: Recording, **use: Any) -> Recording:
    nothing = {"at_ns": 0, "cpu_seconds": 0.0, "core_wait_ns": 0, "machine_busy_seconds": 0.0}
    facts = {
        **recording.main.facts,
        "core_use_at_start": nothing,
        "core_use": {**nothing, "at_ns": 2_500_000_000, **use},
    }
    return replace(recording, processes=(replace(recording.main, facts=facts), *recording.processes[1:]))


def test_one_worker_that_is_always_the_slowest_is_named() -> None:
    (finding,) = of_straggler(recorded(500, 1800, 500, 500, step=2000))
    assert finding.evidence["slowest_worker"] == 1
    assert finding.evidence["slowest_share"] == 1.0
    assert finding.evidence["median_step_seconds"] == pytest.approx(500e-6)
    assert "environment 1 " in finding.cure
    # Steps of 2 ms become 0.2 ms of talk and 0.5 ms of the fastest's work.
    saved = 200 * (2000 - 200 - 500) * 1e-6
    assert finding.gain.high == pytest.approx(1.5 / (1.5 - saved), rel=0.02)


def test_a_gain_counts_the_cores_that_equal_workers_would_share() -> None:
    recording = recorded(300, 1800, 300, 300, step=2000)
    facts = {**recording.main.facts, "cores": 2}
    crowded = replace(recording, processes=(replace(recording.main, facts=facts), *recording.processes[1:]))
    (finding,) = of_straggler(crowded)
    saved = 200 * (2000 - 200 - 2 * 300) * 1e-6
    assert finding.gain.high == pytest.approx(1.5 / (1.5 - saved), rel=0.02)


def test_workers_that_take_turns_in_being_slow_are_no_straggler() -> None:
    steps = []
    for index in range(200):
        at = index * 5_000_000
        busy = [1_800_000 if worker == index % 4 else 500_000 for worker in range(4)]
        workers = tuple(((at + 20_000, own),) for own in busy)
        steps.append(Step((at, 10_000), (at + 10_000, 1_990_000), workers))
    assert of_straggler(recording_of(steps)) == []


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(recorded(1000, 1400, 1000, 1000, step=2000), id="slower by less than half"),
        pytest.param(recorded(100, 300, 100, 100, step=2000), id="small beside the step"),
        pytest.param(recorded(500, 1800, step=2000, count=49), id="few steps"),
    ],
)
def test_a_small_difference_is_no_straggler(recording: Recording) -> None:
    assert of_straggler(recording) == []


def test_without_a_split_nothing_is_said() -> None:
    recording = vector_recording()
    alone = replace(recording, processes=recording.processes[:2])
    assert of_straggler(alone) == of_ipc(alone) == []


def test_a_step_that_is_all_waiting_for_one_leads_to_one_finding() -> None:
    findings = complete_report(recorded(50, 1800, 50, 50, step=2000, count=1000)).findings
    assert [finding.rule for finding in findings][:1] == ["straggler"]


def with_threads(
    recording: Recording, threads: tuple[int | None, ...], cores: int = 2, waited: float = 0.2
) -> Recording:
    """Each worker with so many threads at work, ready to run without a core for so many seconds."""
    main = replace(recording.main, facts={**recording.main.facts, "cores_usable": cores})
    workers = []
    for process, count in zip(recording.processes[1:], threads, strict=True):
        fact = {**process.facts["vector_worker"], "core_wait_ns": round(waited * 1e9)}
        facts = {**process.facts, "vector_worker": fact, "core_use": {"threads_at_work": count}}
        workers.append(replace(process, facts=facts))
    return replace(recording, processes=(main, *workers))


CROWD = recorded(300, 1800, 1800, 1800, step=2000)  # 0.4 s in steps


def of_threads(recording: Recording) -> list[Finding]:
    return list(thread_oversubscription(recording, build_report(recording)))


def test_workers_with_threads_of_their_own_on_few_cores_are_found() -> None:
    (finding,) = of_threads(with_threads(CROWD, (2, 2, 2, 2)))
    assert finding.evidence["threads_per_core"] == 4.0
    assert finding.evidence["core_wait_share"] == pytest.approx(0.5)
    assert "OMP_NUM_THREADS" in finding.cure
    assert not finding.changes_learning


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(with_threads(CROWD, (1, 1, 1, 1)), id="one thread each"),
        pytest.param(with_threads(CROWD, (1, 1, 1, 8)), id="one of them only"),
        pytest.param(with_threads(CROWD, (2, 2, 2, 2), cores=6), id="enough cores"),
        pytest.param(with_threads(CROWD, (2, 2, 2, 2), waited=0.05), id="nobody waits"),
        pytest.param(with_threads(CROWD, (2, 2, 2, None)), id="not known of all"),
    ],
)
def test_threads_that_do_no_harm_are_left_in_peace(recording: Recording) -> None:
    assert of_threads(recording) == []


def test_the_bound_is_by_the_shortest_step_and_the_cores() -> None:
    recording = with_threads(recorded(100, 1900, 1900, 1900, step=2000, count=500), (2, 2, 2, 2), waited=0.5)
    (finding,) = of_threads(recording)
    assert finding.gain.high == pytest.approx(1.5 / (1.5 - 500 * (2000 - 2 * 100) * 1e-6), rel=0.02)


def test_what_crowded_workers_look_like_besides_is_not_said() -> None:
    recording = with_threads(recorded(50, 1800, 50, 50, step=2000, count=1000), (2, 2, 2, 2), waited=1.0)
    assert [finding.rule for finding in complete_report(recording).findings][:1] == ["thread-oversubscription"]
    assert not {"straggler", "vecenv-ipc"} & {finding.rule for finding in complete_report(recording).findings}
