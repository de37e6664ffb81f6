"""`process-wait` speaks where talk with the program's own processes takes longer than these work."""

from __future__ import annotations

import pytest

from rlprof.model.report import Finding
from support.advice import MAIN, found, train
from support.recordings import FrameSpec, a_child, a_recording, span

RECEIVING = FrameSpec("Connection._recv", "/usr/lib/python3.11/multiprocessing/connection.py", 379)
POOL = FrameSpec("ApplyResult.wait", "/usr/lib/python3.11/multiprocessing/pool.py", 765)
WAITING = FrameSpec("Condition.wait", "/usr/lib/python3.11/threading.py", 327)
STARTING = FrameSpec("Popen.poll", "/usr/lib/python3.11/multiprocessing/popen_fork.py", 27)
BOOTSTRAP = FrameSpec("BaseProcess._bootstrap", "/usr/lib/python3.11/multiprocessing/process.py", 314)
VECTOR = FrameSpec("SubprocVecEnv.step_wait", "/venv/lib/python3.11/site-packages/stable_baselines3/vec_env.py", 130)


def talking(*stack: FrameSpec, working: int = 10) -> Finding | None:
    """Ten seconds, of which six are on line 64; each of two workers works in so many of a hundred samples."""
    builder = a_recording(seconds=10.0).spans(span("loss", self_seconds=6.0), span("forward", self_seconds=4.0))
    builder.sample("loss", 100, MAIN, train(64), *stack).sample("forward", 66, train(60))
    for _ in range(2):
        child = a_child(10.0).spans(span("serve", self_seconds=10.0))
        child.sample("serve", working, BOOTSTRAP, train(30, "serve"), train(12, "Game.pull"))
        builder.child(child.sample("serve", 100 - working, BOOTSTRAP, train(31, "serve"), RECEIVING))
    return found(builder, "process-wait")


@pytest.mark.parametrize("stack", [(RECEIVING,), (POOL, WAITING)])
def test_the_line_that_talks_to_processes_is_named(stack: tuple[FrameSpec, ...]) -> None:
    finding = talking(*stack)
    assert finding is not None
    assert [place.line for place in finding.where] == [64]
    assert finding.evidence["talk_seconds"] == pytest.approx(6.0, rel=0.02)
    assert finding.evidence["workers_worked_seconds"] == pytest.approx(2.0)
    assert finding.gain.sps_ratio == pytest.approx(10 / 4, rel=0.25)


def test_workers_that_work_meanwhile_are_what_processes_are_for() -> None:
    assert talking(RECEIVING, working=60) is None


def test_workers_that_nobody_looked_into_say_nothing() -> None:
    builder = a_recording(seconds=10.0).spans(span("loss", self_seconds=10.0)).child(a_child(10.0))
    assert found(builder.sample("loss", 100, MAIN, train(64), RECEIVING), "process-wait") is None


@pytest.mark.parametrize("stack", [(WAITING,), (STARTING,), (VECTOR, RECEIVING), ()])
def test_other_waits_and_a_librarys_workers_are_not_meant(stack: tuple[FrameSpec, ...]) -> None:
    assert talking(*stack) is None
