"""`too-many-workers` and `obs-transport` judge vector environments by cores, and by the size of what they send."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlprof.advise.report import complete_report
from rlprof.advise.rules.obs_transport import obs_transport
from rlprof.advise.rules.too_many_workers import too_many_workers
from rlprof.analyse.report import build_report
from rlprof.model.recording import Recording
from rlprof.model.report import Finding
from support.recordings import FrameSpec
from support.vector_envs import Step, recording_of

MICROSECOND = 1_000


def steps_of(*busy: int, step: int, count: int = 200) -> list[Step]:
    """Steps of so many microseconds in the parent; workers run one after the other where there are no more cores."""
    found = []
    for index in range(count):
        at = index * 2 * step * MICROSECOND
        workers = tuple((((at + 20_000), own * MICROSECOND),) for own in busy)
        found.append(Step((at, 10_000), (at + 10_000, (step - 10) * MICROSECOND), workers))
    return found


def crowded(workers: int = 8, waited: float = 0.3, cores: int = 2, threads: int = 1, **facts: Any) -> Recording:
    """Workers of 1 ms each, ready to run without a core for so many seconds each; a step of all takes 6 ms."""
    recording = recording_of(steps_of(*[1000] * workers, step=6000), seconds=2.0)
    main = replace(recording.main, facts={**recording.main.facts, "cores_usable": cores, **facts})
    others = []
    for process in recording.processes[1:]:
        fact = {**process.facts["vector_worker"], "core_wait_ns": round(waited * 1e9)}
        known = {**process.facts, "vector_worker": fact, "core_use": {"threads_at_work": threads}}
        others.append(replace(process, facts=known))
    return replace(recording, processes=(main, *others))


def of_workers(recording: Recording) -> list[Finding]:
    return list(too_many_workers(recording, build_report(recording)))


def test_workers_that_stand_in_line_for_cores_are_named() -> None:
    (finding,) = of_workers(crowded())
    assert finding.evidence["workers_per_core"] == 4.0
    assert finding.evidence["core_wait_by_simulator_time"] == pytest.approx(1.5)
    # Eight steps of 1 ms on two cores take 4 ms of the 6.
    assert finding.evidence["least_step_seconds"] == pytest.approx(4e-3)
    assert finding.gain.high == pytest.approx(2.0 / (2.0 - 200 * 2e-3), rel=1e-3)
    assert "start about 2 workers" in finding.cure
    assert not finding.changes_learning


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(crowded(cores=4), id="two for each core"),
        pytest.param(crowded(waited=0.1), id="they block and do not wait for a core"),
        pytest.param(crowded(threads=4), id="threads of their own"),
        pytest.param(crowded(workers=6), id="three for each core"),
    ],
)
def test_workers_that_have_their_cores_are_left_in_peace(recording: Recording) -> None:
    assert of_workers(recording) == []


def test_very_many_workers_are_judged_though_few_steps_were_measured_in_all_of_them() -> None:
    recording = crowded()
    report = build_report(recording)
    assert report.workers is not None
    few = tuple(replace(entry, steps_measured=15) for entry in report.workers.vector_envs)
    assert list(too_many_workers(recording, replace(report, workers=replace(report.workers, vector_envs=few))))


def test_a_quota_counts_as_fewer_cores() -> None:
    assert of_workers(crowded(cores=16, cpu_quota=2.0))


def test_where_this_process_alone_is_faster_it_is_not_about_their_number() -> None:
    recording = recording_of(steps_of(*[50] * 8, step=6000), seconds=2.0)
    facts = {**recording.main.facts, "cores_usable": 2}
    cheap = replace(recording, processes=(replace(recording.main, facts=facts), *recording.processes[1:]))
    assert of_workers(cheap)
    rules = [finding.rule for finding in complete_report(cheap).findings]
    assert "vecenv-ipc" in rules
    assert "too-many-workers" not in rules


def sending(
    size: Any = 400_000, shared: Any = False, simulator: int = 1500, count: int = 200, **options: Any
) -> list[Finding]:
    """Four workers whose environments run for so many of the 6,000 microseconds of a step."""
    steps = steps_of(*[simulator] * 4, step=6000, count=count)
    recording = recording_of(steps, seconds=3.0, observation_bytes=size, shared_memory=shared, **options)
    return list(obs_transport(recording, build_report(recording)))


def test_large_observations_that_come_through_pipes_are_named() -> None:
    (finding,) = sending()
    assert finding.evidence["observation_bytes_per_step"] == 1_600_000
    assert finding.evidence["interprocess_share"] == pytest.approx(0.75)
    assert finding.gain.high == pytest.approx(3.0 / (3.0 - 200 * 4.5e-3), rel=0.01)
    assert "shared memory" in finding.cure


WRITING = (
    FrameSpec("_worker", "/venv/lib/python3.11/site-packages/gymnasium/vector/async_vector_env.py", 756),
    FrameSpec("_ConnectionBase.send", "/usr/lib/python3.11/multiprocessing/connection.py", 206),
    FrameSpec("Connection._send", "/usr/lib/python3.11/multiprocessing/connection.py", 384),
)
READING = (
    WRITING[0],
    FrameSpec("_ConnectionBase.recv", "/usr/lib/python3.11/multiprocessing/connection.py", 250),
    FrameSpec("Connection._recv", "/usr/lib/python3.11/multiprocessing/connection.py", 395),
)
OWN = (FrameSpec("Belt.send", "/home/user/project/belt.py", 30),)


def quickly(written: int, of: int = 300, simulator: int = 3000, **options: Any) -> list[Finding]:
    """As much is sent in each step as memory is copied in at 5 GB/s; workers write in so many of their samples."""
    stacks = [(written, WRITING), (of // 3, OWN), (of - of // 3 - written, READING)]
    return sending(size=3_000_000, simulator=simulator, stacks=stacks, **options)


def test_where_memory_is_fast_the_time_that_workers_spend_on_sending_tells() -> None:
    (finding,) = quickly(100)  # of three seconds in which steps took 1.2
    assert finding.evidence["sending_share"] == pytest.approx(1.0 / 1.2)
    assert finding.gain.high == pytest.approx(3.0 / (3.0 - 200 * 3e-3), rel=0.01)


@pytest.mark.parametrize(
    "quick",
    [
        pytest.param(quickly(0), id="workers wake up for messages"),
        pytest.param(quickly(29), id="little of a step"),
        pytest.param(quickly(30, of=45), id="hardly looked at"),
        pytest.param(quickly(100, simulator=5700), id="they wait for a slow one of them"),
        pytest.param(quickly(100, shared=True), id="shared memory"),
    ],
)
def test_sending_that_holds_nobody_up_is_left_in_peace(quick: list[Finding]) -> None:
    assert quick == []


def test_an_environment_that_does_not_say_is_judged_by_its_time() -> None:
    assert sending(shared=None)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"size": 20_000}, id="small"),
        pytest.param({"size": None}, id="unknown"),
        pytest.param({"size": "400000"}, id="a fact of another form"),
        pytest.param({"shared": True}, id="shared memory"),
        pytest.param({"simulator": 5000}, id="simulators run most of the time"),
        pytest.param({"size": 4_000_000}, id="as fast as copying"),
        pytest.param({"count": 40}, id="few steps"),
    ],
)
def test_observations_that_cost_little_are_left_in_peace(changes: dict[str, Any]) -> None:
    assert sending(**changes) == []
