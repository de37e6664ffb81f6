"""Rollouts while a program runs: shown when there are enough new ones, and never at the program's expense."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rlprof.cli import rollout_watch
from rlprof.cli.rollout_watch import RolloutWatch
from rlprof.model.errors import EmptyRecording
from rlprof.model.recording import Recording
from support.recordings import a_recording, span


def recorded(rollouts: int) -> Recording:
    each = span("rollout", span("env step", self_seconds=0.5 * rollouts), count=rollouts, self_seconds=0.5 * rollouts)
    return a_recording(seconds=100).spans(span("ppo", each, count=rollouts)).build()


class Growing:
    """A recording with as many rollouts as there are by now."""

    def __init__(self) -> None:
        self.rollouts = 0
        self.opened = 0

    def __call__(self, path: Path) -> Recording:
        self.opened += 1
        if not self.rollouts:
            raise EmptyRecording("nothing yet")
        return recorded(self.rollouts)


@pytest.fixture
def growing(monkeypatch: pytest.MonkeyPatch) -> Growing:
    found = Growing()
    monkeypatch.setattr(rollout_watch, "open_recording", found)
    return found


def test_it_speaks_when_there_are_enough_new_ones(growing: Growing, capsys: pytest.CaptureFixture[str]) -> None:
    watch = RolloutWatch(Path("run.rlprof"), 10)
    headings: list[list[str]] = []
    for growing.rollouts in (0, 9, 12, 19, 45, 49, 50):
        watch()
        shown = capsys.readouterr()
        assert shown.out == ""
        headings.append([line.split(",")[0] for line in shown.err.splitlines() if "mean ms" in line])
    assert headings == [
        [], [], ["ppo rollouts 1 to 12"], [], ["ppo rollouts 13 to 45"], [], ["ppo rollouts 46 to 50"]
    ]  # fmt: skip


def test_a_progress_bar_on_the_terminal_makes_room(
    growing: Growing, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    growing.rollouts = 10
    RolloutWatch(Path("run.rlprof"), 10)()
    assert capsys.readouterr().err.startswith("ppo rollouts 1 to 10")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    RolloutWatch(Path("run.rlprof"), 10)()
    assert capsys.readouterr().err.startswith("\r\x1b[Kppo rollouts 1 to 10")


def test_a_fault_is_told_once_and_ends_only_the_watching(
    growing: Growing, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(recording: Recording) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(rollout_watch, "count_rollouts", fail)
    growing.rollouts = 10
    watch = RolloutWatch(Path("run.rlprof"), 10)
    for _ in range(3):
        watch()
    assert capsys.readouterr().err == "rlprof: no more rollouts are shown: ZeroDivisionError('oops')\n"
    assert growing.opened == 1
