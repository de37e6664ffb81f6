"""Stores by hand, seen in the slot of their type: those that take turns with env steps count, and all happen."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from rlprof import _core
from support.reference import a_clean_core, path_keys, switch_on


class Buffer(list[Any]):
    """Stores as its base class does."""


class Refusing(list[Any]):
    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("no stores here")


def find(frame: FrameType) -> tuple[str, bool]:
    return f"store {frame.f_code.co_name}", True


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        assert _core.watch_stores(Buffer, _core.Counted(list.__setitem__, find, phase_here="buffer.add"))
        yield
        _core.leave_stores(Buffer)


def counted() -> set[str]:
    return {names[-1][0] for _, names in path_keys().values() if names}


def fill(buffer: Any, index: Any = 0) -> None:
    buffer[index] = 7


def test_stores_that_take_turns_with_env_steps_are_counted() -> None:
    buffer = Buffer([0])
    for _ in range(5):
        _core.begin_env_step()
        fill(buffer)
    assert counted() == {"store fill"}
    assert buffer == [7]


def test_stores_that_come_several_times_to_a_step_are_not() -> None:
    buffer = Buffer([0])
    _core.begin_env_step()
    for _ in range(5):
        fill(buffer)
    assert counted() == set()


def test_a_store_that_fails_says_so_and_leaves_nothing_open() -> None:
    buffer, before = Buffer([0]), _core.open_path_here()
    for _ in range(5):
        _core.begin_env_step()
        with pytest.raises(IndexError):
            fill(buffer, 9)
    assert counted() == {"store fill"}
    with pytest.raises(TypeError):
        buffer["a"] = 1  # type: ignore[call-overload]
    assert _core.open_path_here() == before


def test_items_are_deleted_and_slices_stored_as_before() -> None:
    buffer = Buffer([1, 2, 3])
    del buffer[0]
    buffer[0:2] = [8, 9, 10]
    assert buffer == [8, 9, 10]


def test_the_attribute_stays_and_a_class_that_stores_by_itself_is_left_alone() -> None:
    assert "__setitem__" not in vars(Buffer)
    assert Buffer.__setitem__ is list.__setitem__
    assert not _core.watch_stores(Refusing, _core.Counted(list.__setitem__, find))


def test_a_class_made_meanwhile_goes_on_to_store_when_nobody_watches() -> None:
    class Later(Buffer):
        pass

    _core.leave_stores(Buffer)
    later = Later([0])
    fill(later)
    assert later == [7]
    fill(plain := Buffer([0]))
    assert plain == [7]
