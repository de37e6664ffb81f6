"""Whether a process that never said goodbye still runs: never mistaken for another that has its number."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil
import pytest

from rlprof.recording import liveness
from rlprof.recording.liveness import birth_mark, is_alive, settled_status
from support.parts import DEAD_PID


def test_this_process_is_alive() -> None:
    assert is_alive(os.getpid(), birth_mark(os.getpid()))


def test_a_process_that_does_not_exist_is_not_alive() -> None:
    assert birth_mark(DEAD_PID) is None
    assert not is_alive(DEAD_PID, "anything")


def test_another_process_with_the_same_number_is_not_taken_for_the_one_that_ended() -> None:
    assert not is_alive(os.getpid(), "another boot:12345")
    assert not is_alive(os.getpid(), None)


def test_a_process_that_ended_and_was_not_waited_for_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    birth = birth_mark(child.pid)
    assert is_alive(child.pid, birth)
    child.kill()
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    assert not is_alive(child.pid, birth)
    child.communicate()
    assert not is_alive(child.pid, birth)


def test_a_birth_mark_is_the_same_each_time() -> None:
    assert birth_mark(os.getpid()) == birth_mark(os.getpid())


def test_where_there_is_no_proc_the_start_time_has_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: object) -> liveness.Path:
        return type(here)("/nowhere")

    here = liveness.Path()
    monkeypatch.setattr(liveness, "Path", nowhere)
    mark = birth_mark(os.getpid())
    assert mark is not None
    assert float(mark) == pytest.approx(psutil.Process().create_time(), abs=1)
    assert is_alive(os.getpid(), mark)


@pytest.mark.parametrize("status", ["completed", "failed", "interrupted", "killed"])
def test_a_process_that_said_how_it_ended_is_believed(status: str) -> None:
    assert settled_status(status, os.getpid(), birth_mark(os.getpid())) == status


def test_a_process_that_said_nothing_runs_or_was_killed() -> None:
    assert settled_status("running", os.getpid(), birth_mark(os.getpid())) == "running"
    assert settled_status("running", DEAD_PID, None) == "killed"
    assert settled_status("nonsense", DEAD_PID, None) == "killed"
