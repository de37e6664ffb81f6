"""Methods that the core looks at itself: levels inside levels, and calls that somebody is told of."""

from __future__ import annotations

import functools
import inspect
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rlprof import _core
from rlprof.model.kinds import PROBE
from support.reference import a_clean_core, path_keys, switch_on

GROUP = 30


@pytest.fixture(autouse=True)
def _recording() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        yield


def leveled(original: Callable[..., Any], named: bool = True) -> Any:
    def outermost(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _core.guarded_span("outermost", None, PROBE, GROUP):
            return original(self, *args, **kwargs)

    return functools.update_wrapper(_core.Levels(outermost, original, GROUP, named), original)


class Inner:
    @leveled
    def step(self, action: int, times: int = 1) -> int:
        """Act."""
        if action < 0:
            raise ValueError(action)
        return action * times


class Heir(Inner):
    @leveled
    def step(self, action: int, times: int = 1) -> int:
        return int(super().step(action, times=times)) + 1


class Outer:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @leveled
    def step(self, action: int) -> int:
        return int(self.inner.step(action))


def spans() -> set[tuple[str, ...]]:
    return {tuple(name for name, *_ in names) for _, names in path_keys().values() if names}


def test_levels_are_named_by_class_below_the_outermost() -> None:
    assert Outer(Outer(Inner())).step(3) == 3
    assert spans() == {("outermost",), ("outermost", "Outer"), ("outermost", "Outer", "Inner")}


def test_a_method_that_calls_its_base_class_is_one_level() -> None:
    assert Heir().step(3) == 4
    assert Outer(Heir()).step(3) == 4
    assert spans() == {("outermost",), ("outermost", "Heir")}


def test_levels_that_are_not_to_be_named_pass() -> None:
    class Quiet(Inner):
        step = leveled(Inner.__dict__["step"].__wrapped__, named=False)

    assert Outer(Quiet()).step(2) == 2
    assert spans() == {("outermost",)}


def test_an_error_closes_every_level_and_comes_out_as_it_was() -> None:
    with pytest.raises(ValueError, match="-1"):
        Outer(Outer(Inner())).step(-1)
    assert _core.open_path_here() == 0
    assert not _core.is_busy(GROUP)
    Outer(Inner()).step(1)
    assert ("outermost", "Inner") in spans()


def test_while_recording_is_off_only_the_original_is_called() -> None:
    _core.switch_off()
    assert Outer(Inner()).step(3) == 3
    assert spans() == set()


@pytest.mark.parametrize(
    "call", [lambda e: e.step(2, 3), lambda e: e.step(action=2, times=3), lambda e: e.step(2, times=3)]
)
def test_arguments_arrive_in_every_form(call: Callable[[Inner], int]) -> None:
    env = Inner()
    assert call(env) == 6
    with _core.guarded_span("outermost", None, PROBE, GROUP):
        assert call(env) == 6
    assert functools.partial(Inner.step, env)(2, 3) == 6


def test_it_looks_like_the_method_it_stands_for() -> None:
    assert list(inspect.signature(Inner.step).parameters) == ["self", "action", "times"]
    assert list(inspect.signature(Inner().step).parameters) == ["action", "times"]
    assert Inner.step.__doc__ == "Act."
    assert inspect.ismethod(Inner().step)


def test_pickled_it_is_the_original() -> None:
    levels = _core.Levels(len, abs, GROUP)
    assert pickle.loads(pickle.dumps(levels)) is abs


def test_a_group_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="99"):
        _core.Levels(len, abs, 99)


def test_a_method_that_is_not_named_shows_classes_and_compilers_the_original() -> None:
    original = Inner.__dict__["step"].__wrapped__

    class Disguised:
        step = leveled(original, named=False)

    assert Disguised.step is original
    assert Disguised().step.__func__ is original


def test_an_observer_is_told_of_arguments_and_result_and_leaves_no_frame() -> None:
    told: list[Any] = []
    callers: list[str] = []

    def function(*args: int, **kwargs: int) -> int:
        callers.append(sys._getframe(1).f_code.co_name)
        return sum(args) + sum(kwargs.values())

    observed = _core.Observed(function, lambda args, result: told.append((args, result)))
    assert observed(1, 2, more=3) == 6
    assert told == [((1, 2), 6)]
    assert callers == ["test_an_observer_is_told_of_arguments_and_result_and_leaves_no_frame"]
