"""Many workers on few cores are written and sampled more seldom."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from rlprof.record import background, crowd
from rlprof.record.background import Sampler
from rlprof.record.options import Options


def write_parts(folder: Path, writing: int, ended: int = 0) -> Path:
    for number in range(writing + ended):
        (folder / f"{number}.part").touch()
        if number < writing:
            (folder / f"{number}.part-wal").touch()
            (folder / f"{number}.part-shm").touch()
    return folder / "0.part"


@pytest.mark.parametrize(
    ("processes", "times"), [(1, 1), (2, 1), (8, 1), (9, 2), (16, 2), (17, 4), (200, 32), (5000, 32)]
)
def test_processes_beyond_a_few_to_a_core_take_turns_as_much_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int, times: int
) -> None:
    monkeypatch.setattr(crowd, "usable_cores", lambda: 2)
    assert crowd.times_slower(write_parts(tmp_path, processes)) == times


def test_processes_that_have_ended_are_in_nobodys_way(tmp_path: Path) -> None:
    assert crowd.processes_beside(write_parts(tmp_path, 3, ended=500)) == 3


def test_what_cannot_be_counted_is_one(tmp_path: Path) -> None:
    assert crowd.processes_beside(None) == 1
    assert crowd.processes_beside(tmp_path / "gone" / "0.part") == 1


class Beats:
    """The core's beat, without the core: how it was begun, and whether it was ended once each time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[float] = []
        self.going = False
        for name in ("begin_beat", "end_beat", "keep_beat"):
            monkeypatch.setattr(background._core, name, getattr(self, name))

    def begin_beat(self, seconds: float, *_: object) -> None:
        assert not self.going
        self.going = True
        self.begun.append(seconds)

    def end_beat(self) -> None:
        assert self.going  # to end what has ended would free its lock twice
        self.going = False

    def keep_beat(self) -> bool:
        while self.going:
            time.sleep(0.001)
        return False


def wait_for(beats: Beats, begun: int) -> None:
    deadline = time.monotonic() + 5
    while len(beats.begun) < begun and time.monotonic() < deadline:
        time.sleep(0.001)


def test_a_sampler_slows_down_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    beats, failures = Beats(monkeypatch), []
    sampler = Sampler(Options(sampler_hz=100, memory=False), None, failures.append)  # type: ignore[arg-type]
    sampler.start()
    sampler.slow_down(8)
    wait_for(beats, 2)
    sampler.slow_down(8)
    assert sampler.stop()
    assert beats.begun == pytest.approx([0.01, 0.08])
    assert not beats.going
    assert not failures


def test_a_sampler_that_nobody_set_takes_half_as_many_stacks_once_there_are_plenty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beats, now = Beats(monkeypatch), [0.0]
    monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: now[0]))
    settling, fixed = (
        Sampler(Options(sampler_hz=hz, memory=False), None, lambda _: None)  # type: ignore[arg-type]
        for hz in (None, 50.0)
    )
    for sampler in (settling, fixed):
        for second in (1.0, 9.0, 11.0, 12.0):
            now[0] = second
            sampler.slow_down(1)
            sampler._end()
            sampler._begin()
        sampler._end()
    assert beats.begun == pytest.approx([1 / 97, 1 / 97, 2 / 97, 2 / 97] + [0.02] * 4)


def test_a_sampler_that_was_stopped_does_not_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    beats = Beats(monkeypatch)
    sampler = Sampler(Options(sampler_hz=100, memory=False), None, lambda _: None)  # type: ignore[arg-type]
    sampler.start()
    assert sampler.stop()
    sampler.slow_down(8)
    assert sampler.stop()
    assert len(beats.begun) == 1


def test_the_core_keeps_a_beat_that_was_changed_many_times() -> None:
    failures: list[Exception] = []
    sampler = Sampler(Options(sampler_hz=1000, memory=False), None, failures.append)  # type: ignore[arg-type]
    sampler.start()
    for times in [2, 1, 4, 1] * 50:
        sampler.slow_down(times)
        time.sleep(0.0005)
    assert sampler.stop()
    assert not failures
