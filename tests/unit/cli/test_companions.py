"""Who goes along with a run sees it grow and end, and a fault of one costs neither the others nor the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.analyse.over_time import Moment
from rlprof.cli import look as looking
from rlprof.cli.companions import Companion, Companions
from rlprof.cli.loggers import _Logger
from rlprof.cli.look import Look, Lookout, pause_after
from rlprof.model.errors import EmptyRecording
from rlprof.model.recording import Recording
from support.programs import wait_for
from support.recordings import a_child, a_recording, span


def run_of(seconds: int, *, steps: bool = True, workers: int = 0) -> Recording:
    builder = a_recording(seconds=float(seconds)).spans(span("step", phase="env.step", self_seconds=float(seconds)))
    for second in range(seconds):
        builder.slice_of_time(second, second + 1.0, {"step": 1.0})
    if steps:
        builder.counter("env_steps", 10.0 * seconds)
    for _ in range(workers):
        builder.child(a_child(float(seconds)))
    return builder.build()


class Noting(Companion):
    def __init__(self, fails_at: str = "") -> None:
        self.fails_at = fails_at
        self.calls: list[str] = []

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if call == self.fails_at:
            raise RuntimeError("\x1b[31mdisk full")

    def begin(self, parts: Path) -> None:
        self._note("begin")

    def see(self, look: Look) -> None:
        self._note("see")

    def see_last(self, look: Look) -> None:
        self._note("last")

    def close(self) -> None:
        self._note("close")


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "open_recording", lambda name: run_of(4))


@pytest.mark.usefixtures("recorded")
def test_each_sees_the_beginning_the_growth_and_the_end() -> None:
    member = Noting()
    group = Companions(Path("run.rlprof"), [member], every=0.01)
    group()
    wait_for(lambda: member.calls.count("see") >= 2, "two looks")
    group.close()
    assert (member.calls[0], member.calls[-2:]) == ("begin", ["last", "close"])
    assert set(member.calls[1:-2]) == {"see"}


@pytest.mark.usefixtures("recorded")
def test_a_program_that_ended_at_once_is_seen_all_the_same() -> None:
    member = Noting()
    Companions(Path("run.rlprof"), [member]).close()
    assert member.calls == ["begin", "last", "close"]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("moment", ["begin", "see", "last", "close"])
def test_who_fails_is_let_go_with_one_line_and_the_others_stay(moment: str, capsys: pytest.CaptureFixture[str]) -> None:
    failing, other = Noting(moment), Noting()
    group = Companions(Path("run.rlprof"), [failing, other], every=0.01)
    group()
    wait_for(lambda: other.calls.count("see") >= 3, "three looks")
    group.close()
    assert other.calls[-2:] == ["last", "close"]
    assert failing.calls[-1] == moment
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("rlprof: no more companion: ")
    assert "\x1b" not in line


def test_a_run_that_recorded_nothing_has_no_last_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: object) -> Recording:
        raise EmptyRecording("nothing")

    monkeypatch.setattr(looking, "open_recording", nothing)
    member = Noting()
    Companions(Path("run.rlprof"), [member]).close()
    assert member.calls == ["begin", "close"]


class Listing(_Logger):
    def __init__(self) -> None:
        super().__init__()
        self.logged: list[tuple[int, float]] = []

    def _log(self, started: float, fresh: list[tuple[int, Moment]]) -> None:  # type: ignore[override]
        self.logged += [(number, moment.end_s) for number, moment in fresh]


def test_each_moment_is_logged_once_and_in_order() -> None:
    logger = Listing()
    for seconds in (2, 2, 5):
        logger.see(Look(run_of(seconds)))
    logger.see_last(Look(run_of(6)))
    assert logger.logged == [(number, number + 1.0) for number in range(6)]


def test_before_the_first_env_step_nothing_is_logged_and_at_the_end_everything_is() -> None:
    logger = Listing()
    logger.see(Look(run_of(3, steps=False)))
    assert logger.logged == []
    logger.see_last(Look(run_of(3, steps=False)))
    assert len(logger.logged) == 3


def test_with_workers_the_last_seconds_wait_for_them() -> None:
    logger = Listing()
    logger.see(Look(run_of(6, workers=2)))
    assert [number for number, _ in logger.logged] == [0, 1, 2]


def test_a_lookout_keeps_its_last_answer_while_a_recording_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Recording] = []

    def read(name: object) -> Recording:
        if not found:
            raise EmptyRecording("its parts are being merged")
        return found.pop()

    monkeypatch.setattr(looking, "open_recording", read)
    lookout = Lookout("run.rlprof", lambda look: f"{look.recording.main.end_ns}", every=0.0)
    with pytest.raises(EmptyRecording):
        lookout.text()
    found.append(run_of(3))
    first = lookout.text()
    lookout._next = 0.0
    assert lookout.text() == first


def test_looking_takes_a_tenth_of_the_time_at_most() -> None:
    assert pause_after(0.01, 1.0) == pytest.approx(0.99)
    assert pause_after(3.0, 1.0) == pytest.approx(30.0)
