"""What the order of events says about the loop, said by one thread and not by another."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator

import pytest

from rlprof import _core
from rlprof.model.phases import PHASES
from rlprof.probes.groups import LOSS
from rlprof.probes.loop import Loop, loop


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
    own.end_loss()


def test_a_pickled_loop_is_the_one_of_the_process_that_reads_it() -> None:
    assert pickle.loads(pickle.dumps(loop)) is loop
