"""What the order of events says about the loop, said by one thread and not by another."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from rlprof import _core
from rlprof.model.phases import PHASES
from rlprof.probes.groups import LOSS
from rlprof.probes.loop import Loop


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
    loop, place = Loop(), (test_an_env_step_ends_the_loss_and_makes_its_place_one_that_acts.__code__, 1)
    loop.begin_loss(place)
    assert _core.is_busy(LOSS)
    loop.env_step()
    assert not _core.is_busy(LOSS)
    assert loop.acts(place)


@pytest.mark.usefixtures("recording")
def test_an_env_step_in_another_thread_leaves_the_loss_alone() -> None:
    loop, place = Loop(), (test_an_env_step_in_another_thread_leaves_the_loss_alone.__code__, 1)
    loop.begin_loss(place)
    collector = threading.Thread(target=loop.env_step)
    collector.start()
    collector.join()
    assert _core.is_busy(LOSS)
    assert not loop.acts(place)
    loop.end_loss()
