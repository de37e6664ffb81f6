"""Functions that the core times itself: calls, calls by place, forward passes, and calls that go untimed."""

from __future__ import annotations

import functools
import inspect
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.model.phases import PHASES
from rlprof.record.layout import ROW
from support.reference import a_clean_core, path_keys, switch_on

GROUP, OTHER = 30, 29


@pytest.fixture(autouse=True)
def _recording() -> Iterator[None]:
    with a_clean_core():
        _core.configure(phases=PHASES)
        switch_on()
        yield


def drained() -> dict[tuple[str, ...], dict[str, int]]:
    """What each path has since the last time, by its names."""
    names = {number: tuple(name for name, *_ in keys) for number, (_, keys) in path_keys().items()}
    rows = ROW.columns(_core.drain()[1])
    return {
        names[path]: {name: column[at] for name, column in rows.items()}
        for at, path in enumerate(rows["path"])
        if names[path] and rows["count"][at]
    }


def counts() -> dict[tuple[str, ...], int]:
    return {path: row["count"] for path, row in drained().items()}


def work(a: int, b: int = 0, *, c: int = 0) -> int:
    """Add."""
    if a < 0:
        raise ValueError(a)
    return a + b + c


def timed(name: str | None = "work", phase: str | None = None, group: int = 0, **hooks: Any) -> Any:
    return functools.update_wrapper(_core.Timed(work, name, phase, PROBE, group, **hooks), work)


# --- whole calls ------------------------------------------------------------------------------------------------------


def test_every_call_is_a_span_and_arguments_arrive_in_every_form() -> None:
    ours = timed()
    assert [ours(1), ours(1, 2), ours(1, b=2), ours(1, c=3), ours(*(1,), c=2), ours(a=1)] == [1, 3, 3, 4, 3, 1]
    assert functools.partial(ours, 1)(2) == 3
    assert list(map(ours, [1, 2])) == [1, 2]
    assert counts() == {("work",): 9}


def test_an_error_comes_out_as_it_was_and_closes_the_span() -> None:
    with pytest.raises(ValueError, match="-1"):
        timed(group=GROUP)(-1)
    assert _core.open_path_here() == 0
    assert not _core.is_busy(GROUP)
    with pytest.raises(TypeError, match="missing 1 required"):
        timed()()


def test_only_the_outermost_call_of_a_group_is_a_span() -> None:
    inner = timed("inner", None, GROUP)
    outer = _core.Timed(lambda: inner(1), "outer", None, PROBE, GROUP)
    assert outer() == 1
    assert counts() == {("outer",): 1}


def test_without_a_name_it_is_the_class_and_only_the_outermost_has_the_phase() -> None:
    class Base:
        def step(self) -> int:
            return 1

    class Wrapper(Base):
        def __init__(self, inner: Base) -> None:
            self.inner = inner

        def step(self) -> int:
            return self.inner.step() + 1

    for cls in (Base, Wrapper):
        cls.step = _core.Timed(cls.__dict__["step"], None, "env.step", PROBE, GROUP)  # type: ignore[method-assign]
    assert Wrapper(Base()).step() == 2
    keys = {tuple((name, phase) for name, phase, *_ in names) for _, names in path_keys().values() if names}
    assert keys == {(("Wrapper", "env.step"),), (("Wrapper", "env.step"), ("Base", None))}


def test_hooks_are_called_around_the_outermost_call_and_their_time_is_ours() -> None:
    told: list[Any] = []
    ours = timed("w", None, GROUP, before=lambda: told.append("before"), after=lambda *seen: told.append(seen))
    _core.set_fake_clock(None)
    assert ours(4) == 4
    assert told == ["before", (4, 4)]
    with _core.guarded_span("around", None, PROBE, GROUP):
        ours(5)
    assert len(told) == 2
    assert ours(a=7) == 7
    assert told[3] == (None, 7)
    rows = ROW.columns(_core.drain()[1])
    assert rows["charged"][rows["path"].index(0)] > 0  # beside the span, in its parent


def test_a_step_is_told_only_while_somebody_waits_for_it() -> None:
    told: list[str] = []
    ours = timed("w", "env.step", GROUP, before=lambda: told.append("step"), after=lambda *_: None, steps=True)
    begun = _core.env_steps_here()
    ours(1)
    _core.settle_steps(True)
    ours(1)
    _core.settle_steps(False)
    ours(1)
    assert told == ["step", "step"]
    assert _core.env_steps_here() == begun + 3


def test_it_looks_like_the_function_it_stands_for() -> None:
    class Thing:
        shown = functools.update_wrapper(_core.Timed(work, "w", None, PROBE), work)

    assert str(inspect.signature(timed())) == str(inspect.signature(work))
    assert timed().__doc__ == "Add."
    assert Thing.shown is not work
    assert inspect.ismethod(Thing().shown)


def test_pickled_a_function_of_a_module_is_found_by_its_name_and_any_other_is_the_original(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = timed()
    assert pickle.loads(pickle.dumps(ours)) is work  # it is in the place of nothing
    monkeypatch.setattr(sys.modules[__name__], "work", ours)
    assert pickle.loads(pickle.dumps(ours)) is ours


def test_while_recording_is_off_only_the_original_is_called() -> None:
    _core.switch_off()
    assert timed()(3) == 3
    _core.switch_on(0)
    assert counts() == {}


def test_a_group_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="99"):
        _core.Timed(work, "w", None, PROBE, 99)
    with pytest.raises(ValueError, match="99"):
        _core.Forward(work, bool, bool, bool, bool, (1, 2, 3, 99))


# --- calls counted by place -------------------------------------------------------------------------------------------


class Value(float):
    is_cpu = True


class Away(Value):
    is_cpu = False


def find(frame: Any) -> tuple[str | None, bool]:
    return f"hex {frame.f_lineno}", True


def counted(**options: Any) -> None:
    defaults = {"is_watched": lambda it: False, "is_away": lambda it: False, "phase_away": "transfer.sync"}
    ours = _core.Counted(float.hex, options.pop("find", find), **(defaults | options))
    Value.hex = ours  # type: ignore[method-assign,assignment]


@pytest.fixture(autouse=True)
def _plain_values() -> Iterator[None]:
    yield
    if "hex" in vars(Value):
        del Value.hex


def test_each_place_has_its_own_name_however_often_it_calls() -> None:
    counted()
    value = Value(0.5)
    for _ in range(3):
        value.hex()
    there = sys._getframe().f_lineno + 1
    value.hex(), value.hex()
    assert counts() == {(f"hex {there - 2}",): 3, (f"hex {there}",): 2}
    assert Value.hex is float.hex


def test_a_place_is_asked_for_once_and_passed_over_if_it_has_no_name() -> None:
    asked: list[int] = []

    def nobody(frame: Any) -> tuple[str | None, bool]:
        asked.append(frame.f_lineno)
        return None, True

    counted(find=nobody)
    for _ in range(3):
        assert Value(0.5).hex() == (0.5).hex()
    assert len(asked) == 1
    assert counts() == {}


def test_a_place_that_is_not_to_be_remembered_is_asked_for_each_time() -> None:
    asked: list[int] = []

    def forgotten(frame: Any) -> tuple[str | None, bool]:
        asked.append(frame.f_lineno)
        return "hex", False

    counted(find=forgotten)
    for _ in range(3):
        Value(0.5).hex()
    assert (len(asked), counts()) == (3, {("hex",): 3})


def test_many_places_are_told_apart() -> None:
    counted()
    source = "def run(value):\n" + "    value.hex()\n" * 150
    scope: dict[str, Any] = {}
    exec(source, scope)
    scope["run"](Value(0.5))
    scope["run"](Value(0.5))
    assert counts() == {(f"hex {line}",): 2 for line in range(2, 152)}


def test_tensors_that_are_elsewhere_have_their_phase_and_watched_ones_are_asked_for() -> None:
    def phases() -> set[str | None]:
        return {names[-1][1] for _, names in path_keys().values() if names}

    counted()
    Value(0.5).hex()
    assert phases() == {None}
    Away(0.5).hex()
    assert phases() == {None, "transfer.sync"}
    counted(is_watched=lambda it: True, is_away=lambda it: False, find=lambda frame: ("watched", True))
    Away(0.5).hex()
    assert ("watched", None) in {names[-1][:2] for _, names in path_keys().values() if names}


def test_a_call_that_turns_out_to_be_nothing_is_no_span() -> None:
    counted(moves=lambda it: False)
    assert Value(0.5).hex() == (0.5).hex()
    assert counts() == {}


def test_a_caller_is_told_by_its_code_and_place() -> None:
    def calls() -> list[tuple[Any, int]]:
        return [_core.caller(), _core.caller()]

    (code, first), (again, second) = calls()
    assert code is again is calls.__code__
    assert first != second
    assert calls()[0][1] == first


# --- calls that go untimed --------------------------------------------------------------------------------------------


def thin_all(every: int) -> None:
    for path, _ in _core.thinnable():
        _core.thin(path, every)


def test_all_calls_are_counted_and_one_in_so_many_is_timed() -> None:
    ours = timed()
    ours(1)
    thin_all(10)
    drained()
    for _ in range(10_000):
        ours(1)
    row = drained()[("work",)]
    assert row["count"] == 10_000
    assert 800 < row["count"] - row["untimed"] < 1_250
    thin_all(1)
    ours(1)
    assert drained()[("work",)]["untimed"] == 0


@pytest.fixture
def _soon_thinned() -> Iterator[None]:
    _core.thin_unjudged_above(1_000)
    yield
    _core.thin_unjudged_above(2**63)


@pytest.mark.usefixtures("_soon_thinned")
def test_a_storm_from_one_place_is_thinned_before_anybody_looks_at_its_cost() -> None:
    counted()
    value = Value(0.5)

    def storm() -> dict[str, int]:
        for _ in range(20_000):
            value.hex()
        (row,) = drained().values()
        return row

    first = storm()
    assert first["count"] == 20_000
    assert 1_000 + 19_000 / 16 * 0.7 < first["count"] - first["untimed"] < 1_000 + 19_000 / 16 * 1.4
    thin_all(1)  # somebody looked, and found that it may cost that much
    assert storm()["untimed"] == 0


def test_which_calls_are_timed_is_left_to_chance() -> None:
    """Environments that step in turns must all be timed now and then."""
    durations = (0, 4096)
    timed_ones = [0, 0]
    _core.set_fake_clock(1)
    clock = [1]

    def lasting(turn: int) -> None:
        clock[0] += durations[turn]
        _core.set_fake_clock(clock[0])

    ours = _core.Timed(lasting, "w", None, PROBE)
    ours(0)
    thin_all(2)
    drained()
    try:
        for call in range(2_000):
            ours(call % 2)
            if row := drained().get(("w",)):
                timed_ones[call % 2] += row["count"] - row["untimed"]
    finally:
        _core.set_fake_clock(None)
    assert min(timed_ones) > 300


def test_nothing_inside_an_untimed_call_is_looked_at_but_hooks_are_told() -> None:
    told: list[int] = []
    inner = _core.Timed(work, "inner", None, PROBE, OTHER, after=lambda _, result: told.append(result))

    def both(a: int) -> int:
        with _core.span_of_kind("by hand", None, PROBE), _core.guarded_span("guarded", None, PROBE, 28):
            return int(inner(a))

    outer = _core.Timed(both, "outer", None, PROBE, GROUP)
    outer(1)
    thin_all(1 << 20)
    drained()
    for number in range(50):
        assert outer(number) == number
    row = drained()
    assert row[("outer",)]["count"] == 50
    assert sum(found["count"] - found["untimed"] for path, found in row.items() if path != ("outer",)) <= 3
    assert told == [1, *range(50)]
    assert not _core.is_busy(GROUP)


def test_what_only_counts_inside_an_untimed_call_still_knows_what_is_around_it() -> None:
    """Steps of a wrapper in a wrapper count once, and those of an evaluation are its own."""
    steps: list[bool] = []
    step = _core.Timed(work, "step", None, PROBE, GROUP, after=lambda _, __: steps.append(_core.is_busy(OTHER)))
    wrapper = _core.Timed(step, "step", None, PROBE, GROUP, after=lambda _, __: steps.append(_core.is_busy(OTHER)))
    evaluate = _core.Timed(wrapper, "evaluate", None, PROBE, OTHER)
    callback = _core.Timed(lambda each: each(1), "callback", None, PROBE)
    callback(work)
    thin_all(1 << 20)
    callback(work)  # this one may be timed
    steps.clear()
    callback(wrapper)
    callback(evaluate)
    assert steps == [False, True]
    with pytest.raises(ValueError, match="-1"):
        callback(lambda _: evaluate(-1))
    assert not _core.is_busy(GROUP)
    assert not _core.is_busy(OTHER)


def test_calls_that_are_to_be_kept_whole_are_never_thinned() -> None:
    whole = _core.Timed(work, "whole", None, PROBE, whole=True)
    whole(1)
    timed()(1)
    assert len(_core.thinnable()) == 1


def test_an_error_in_an_untimed_call_leaves_nothing_behind() -> None:
    ours = timed("w", None, GROUP)
    ours(1)
    thin_all(1 << 20)
    for _ in range(3):
        with pytest.raises(ValueError, match="-1"):
            ours(-1)
    assert not _core.is_busy(GROUP)
    thin_all(1)
    drained()
    ours(1)
    assert counts() == {("w",): 1}


def test_spans_of_the_program_itself_are_never_thinned() -> None:
    with _core.profile("mine"):
        pass
    assert _core.thinnable() == []


# --- forward passes ---------------------------------------------------------------------------------------------------


def test_a_forward_acts_or_learns_by_its_gradients_and_by_what_it_is_inside_of() -> None:
    gradients, acts = [False], [False]
    asked: list[Any] = []

    def begins(code: Any, place: int) -> bool:
        asked.append(code)
        return acts[0]

    class Module:
        def __call__(self, depth: int) -> int:
            return 0 if depth == 0 else self(depth - 1)

    original = vars(Module)["__call__"]
    groups = (GROUP, OTHER, 28, 27)
    Module.__call__ = _core.Forward(original, lambda: gradients[0], bool, begins, bool, groups)  # type: ignore[method-assign]
    module = Module()

    def phase() -> Any:
        before = {names for _, names in path_keys().values()}
        module(3)
        fresh = {names for _, names in path_keys().values()} - before
        assert len(fresh) <= 1
        return fresh.pop()[-1][1] if fresh else "known"

    assert phase() == "policy.forward"
    with _core.guarded_span("train", None, PROBE, 28):
        assert phase() == "learn.loss"
    with _core.guarded_span("evaluate", None, PROBE, 27):
        assert phase() is None
    gradients[0] = True
    assert phase() == "learn.loss"
    assert asked == [None, phase.__code__]  # of no place in the middle of training
    with _core.guarded_span("loss", None, PROBE, OTHER):
        assert phase() == "learn.loss"
    assert len(asked) == 2  # inside a loss there is nothing to begin
    acts[0] = True
    assert phase() == "known"  # as acting
    assert type(module).__call__ is original
