"""What the order of events says about the loop, said by one thread and not by another."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from typing import Final

import pytest

from rlprof import _core
from rlprof.model.kinds import PROBE, WITH
from rlprof.model.phases import PHASES
from rlprof.probes import stages
from rlprof.probes.groups import LOSS, OPTIMIZER
from rlprof.probes.loop import Loop, loop
from rlprof.record.layout import ROW, TURN
from rlprof.record.turns import listen


@pytest.fixture
def recording() -> Iterator[None]:
    _core.wipe()
    _core.configure(phases=PHASES)
    _core.switch_on(threading.main_thread().ident)
    yield
    _core.switch_off()
    _core.wipe()


@pytest.mark.usefixtures("recording")
def test_an_env_step_ends_the_loss_and_makes_its_place_one_that_acts() -> None:
    own, place = Loop(), (test_an_env_step_ends_the_loss_and_makes_its_place_one_that_acts.__code__, 1)
    own.begin_loss(place)
    assert _core.is_busy(LOSS)
    own.env_step()
    assert not _core.is_busy(LOSS)
    assert own.acts(place)


@pytest.mark.usefixtures("recording")
def test_an_env_step_in_another_thread_leaves_the_loss_alone() -> None:
    own, place = Loop(), (test_an_env_step_in_another_thread_leaves_the_loss_alone.__code__, 1)
    own.begin_loss(place)
    collector = threading.Thread(target=own.env_step)
    collector.start()
    collector.join()
    assert _core.is_busy(LOSS)
    assert not own.acts(place)
    _core.end_loss()


def test_a_pickled_loop_is_the_one_of_the_process_that_reads_it() -> None:
    assert pickle.loads(pickle.dumps(loop)) is loop


@pytest.mark.usefixtures("recording")
def test_once_nobody_wants_to_be_told_the_core_follows_the_loop_by_itself() -> None:
    told: list[str] = []
    own = Loop()
    own.give_up_stages()
    steps = _core.OptimizerSteps(OPTIMIZER, met=told.append, updated=own.update)
    for _ in range(3):
        own.env_step()
        _core.begin_loss(LOSS)
        assert _core.is_busy(LOSS)
        steps.before()
        assert not _core.is_busy(LOSS)
        assert _core.is_busy(OPTIMIZER)
        steps.after("adam")
        assert not _core.is_busy(OPTIMIZER)
        assert _core.is_updated()
    assert told == ["adam"]
    assert not _core.begin_env_step(), "the core does not ask anybody"
    assert not _core.is_updated()
    _, _, _, _, counters, turns, _ = _core.drain()
    assert {name: amount for name, amount, _ in counters}["updates"] == 3
    assert len(TURN.columns(turns)["start"]) == 2  # the first step begins none, the last ends the second


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests may have loaded one that runs the loop itself: then nothing is inferred."""
    monkeypatch.setattr(stages, "LOOPS", ())


class Optimizer:
    param_groups: Final = [{"params": [object()]}]


def iterate(own: Loop, steps: _core.OptimizerSteps, adam: Optimizer) -> bool:
    """An env step, a loss and an update. Whether Python was asked what the env step means."""
    asked = _core.begin_env_step()
    if asked:
        own.look()
    own.begin_loss(None)
    steps.before()
    steps.after(adam)
    return asked


def calls_of_paths() -> dict[str, int]:
    names = {number: name for number, _, _, name, _, _ in _core.paths_since(0)}
    rows = ROW.columns(_core.drain()[1])
    found: dict[str, int] = {}
    for path, count in zip(rows["path"], rows["count"], strict=True):
        found[names[path]] = found.get(names[path], 0) + count
    return found


@pytest.mark.usefixtures("recording", "no_library")
def test_collecting_and_learning_take_turns_without_asking_python() -> None:
    own = Loop()
    steps = _core.OptimizerSteps(OPTIMIZER, met=lambda _: None, updated=own.update)
    adam = Optimizer()
    asked = [iterate(own, steps, adam) for _ in range(20)]
    assert asked[0]
    assert not any(asked[5:])
    own.end_stages()
    found = calls_of_paths()
    assert (found["learning"], found["collecting"]) == (20, 19)
    assert found["optimizer"] == found["loss"] == 20


@pytest.mark.usefixtures("recording", "no_library")
def test_a_span_of_the_programs_own_ends_what_the_core_follows() -> None:
    own = Loop()
    steps = _core.OptimizerSteps(OPTIMIZER, met=lambda _: None, updated=own.update)
    adam = Optimizer()
    for _ in range(10):
        iterate(own, steps, adam)
    own.end_stages()
    with _core.span_of_kind("mine", None, WITH):
        pass
    for _ in range(10):
        iterate(own, steps, adam)
    own.end_stages()
    found = calls_of_paths()
    assert found["learning"] == 10
    assert found["collecting"] == 9
    assert found["optimizer"] == 20


@pytest.mark.usefixtures("recording")
def test_who_listens_to_turns_hears_every_one() -> None:
    heard: list[str] = []

    class Listener:
        def ending(self) -> None:
            heard.append("ending")

        def begun(self) -> None:
            heard.append("begun")

    own = Loop()
    own.give_up_stages()
    own.env_step()
    listen(Listener())
    try:
        for _ in range(2):
            _core.set_updated(True)
            own.env_step()
    finally:
        listen(None)
    _core.set_updated(True)
    own.env_step()
    assert heard == ["ending", "begun"] * 2


@pytest.mark.usefixtures("recording")
def test_updates_inside_calls_that_are_not_looked_into_are_counted() -> None:
    own = Loop()
    own.give_up_stages()
    steps = _core.OptimizerSteps(OPTIMIZER, met=lambda _: None, updated=own.update)

    def train() -> None:
        for _ in range(3):
            steps.before()
            steps.after(Optimizer())

    timed_train = _core.Timed(train, "train", "learn.other", PROBE)
    timed_train()
    (path,) = (number for number, _, _, name, _, _ in _core.paths_since(0) if name == "train")
    _core.thin(path, 1000)
    for _ in range(50):
        timed_train()
    _, rows, _, _, counters, _, _ = _core.drain()
    columns = ROW.columns(rows)
    untimed = dict(zip(columns["path"], columns["untimed"], strict=True))[path]
    assert untimed > 40
    assert {name: amount for name, amount, _ in counters}["updates"] == 3 * 51
