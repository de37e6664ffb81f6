"""A decorated function is the function it was, with a span around every stretch in which it runs."""

from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any

import pytest

from rlprof import _core
from rlprof.model import kinds
from rlprof.record.decorate import profile_function
from support.reference import a_clean_core, read_window, switch_on


def spend(nanoseconds: int) -> None:
    _core.set_fake_clock(_core.clock_ns() + nanoseconds)


@pytest.fixture(params=["on", "off"])
def state(request: pytest.FixtureRequest) -> Iterator[str]:
    """What a decorated function does must not depend on whether recording is on."""
    with a_clean_core():
        if request.param == "on":
            switch_on()
        yield request.param


@pytest.fixture
def on() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        yield


def calls() -> dict[str, tuple[int, int]]:
    """Count and total by path."""
    rows = read_window().rows
    return {"/".join(x[0] for x in labels): (s.count, s.total) for (_, labels), s in rows.items() if s.count}


@profile_function("module function")
def module_function(a: int, b: int = 2, *rest: int, key: str = "k") -> tuple[Any, ...]:
    """Says what it got."""
    return a, b, rest, key


@profile_function
def bare(a: int) -> int:
    return a + 1


# --- functions and methods --------------------------------------------------------------------------------------------


def test_a_call_passes_its_arguments_and_its_result(state: str) -> None:
    assert module_function(1, 3, 4, key="x") == (1, 3, (4,), "x")
    assert bare(1) == 2


def test_an_error_passes_through(state: str) -> None:
    @profile_function("f")
    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        fails()


def test_name_signature_and_documentation_stay() -> None:
    assert module_function.__name__ == "module_function"
    assert module_function.__doc__ == "Says what it got."
    assert list(inspect.signature(module_function).parameters) == ["a", "b", "rest", "key"]


def test_a_decorated_function_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(module_function)) is module_function


def test_each_call_is_a_span_of_its_kind(on: None) -> None:
    module_function(1)
    module_function(1)
    bare(1)
    found = {labels[-1]: stats.count for (_, labels), stats in read_window().rows.items() if labels}
    assert found == {("module function", None, kinds.FUNCTION): 2, ("bare", None, kinds.FUNCTION): 1}


def test_without_a_name_the_function_s_own_is_used(on: None) -> None:
    class Agent:
        @profile_function(phase="learn.loss")
        def update(self) -> None:
            def inner() -> None: ...

            profile_function()(inner)()

    Agent().update()
    names = {labels[-1][:2] for (_, labels) in read_window().rows if labels}
    place = "test_without_a_name_the_function_s_own_is_used"
    assert names == {(f"{place}.Agent.update", "learn.loss"), (f"{place}.Agent.update.inner", None)}


def test_methods_of_all_kinds_work(state: str) -> None:
    class Agent:
        @profile_function("plain")
        def plain(self, a: int) -> tuple[Any, int]:
            return self, a

        @classmethod
        @profile_function("of the class, below")
        def below(cls, a: int) -> tuple[Any, int]:
            return cls, a

        @profile_function("of the class, above")
        @classmethod
        def above(cls, a: int) -> tuple[Any, int]:
            return cls, a

        @profile_function
        @staticmethod
        def static(a: int) -> int:
            return a

        @property
        @profile_function("property")
        def prop(self) -> int:
            return 5

    agent = Agent()
    assert agent.plain(1) == (agent, 1)
    assert agent.below(2) == Agent.above(2) == (Agent, 2)
    assert agent.static(3) == Agent.static(3) == 3
    assert agent.prop == 5


def test_a_callable_without_a_name_of_its_own_can_be_decorated(state: str) -> None:
    class Policy:
        def __call__(self, a: int) -> int:
            return a * 2

    assert profile_function("policy")(Policy())(3) == 6
    assert profile_function("partial")(functools.partial(int, base=2))("11") == 3


def test_a_callable_without_a_name_is_called_after_its_type(on: None) -> None:
    assert profile_function()(functools.partial(int, base=2))("11") == 3
    assert calls() == {"partial": (1, 0)}


def test_recursion_nests(on: None) -> None:
    @profile_function("f")
    def factorial(n: int) -> int:
        spend(1)
        return n * factorial(n - 1) if n else 1

    assert factorial(2) == 2
    assert calls() == {"f": (1, 3), "f/f": (1, 2), "f/f/f": (1, 1)}


def test_a_tracked_function_is_measured_by_a_memory_span() -> None:
    entered: list[tuple[str, str | None]] = []

    class Stand:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    def memory_span(name: str, phase: str | None) -> Any:
        entered.append((name, phase))
        return Stand()

    with a_clean_core(memory_span=memory_span):
        switch_on()
        assert profile_function("f", phase="env.step", track_memory=True)(lambda: 3)() == 3
    assert entered == [("f", "env.step")]


# --- generators -------------------------------------------------------------------------------------------------------


def conversation(log: list[Any]) -> Generator[Any, Any, str]:
    """Notes all that happens to it."""
    received: Any = None
    try:
        for number in range(3):
            try:
                received = yield (number, received)
                log.append(received)
            except ValueError as error:
                log.append(repr(error))
                received = "caught"
        return "done"
    finally:
        log.append("finally")


timed_conversation = profile_function("talk")(conversation)


def play(make: Callable[[list[Any]], Generator[Any, Any, Any]], moves: list[Any]) -> list[Any]:
    """All that an outsider sees of a generator."""
    log: list[Any] = []
    generator = make(log)
    seen: list[Any] = []
    for move in moves:
        try:
            match move:
                case "next":
                    seen.append(next(generator))
                case "close":
                    seen.append(generator.close())
                case ("send", value):
                    seen.append(generator.send(value))
                case ("throw", error):
                    seen.append(generator.throw(error))
        except BaseException as error:
            seen.append((type(error), str(error), getattr(error, "value", None)))
    return [seen, log]


SCRIPTS: list[list[Any]] = [
    ["next", "next", "next", "next", "next"],
    ["next", ("send", "a"), ("send", "b"), ("send", "c")],
    ["next", ("throw", ValueError("v")), "next", ("throw", KeyError("k")), "next"],
    ["next", ("throw", GeneratorExit()), "next"],
    ["next", "close", "close", "next"],
    ["close", "next"],
    [("throw", ValueError("early")), "next"],
    [("send", "too early"), "next"],
]


@pytest.mark.parametrize("moves", SCRIPTS, ids=str)
def test_a_generator_behaves_as_without_a_span(state: str, moves: list[Any]) -> None:
    assert play(timed_conversation, moves) == play(conversation, moves)


def test_a_generator_that_ignores_its_end_is_an_error_as_ever(state: str) -> None:
    def stubborn() -> Iterator[int]:
        try:
            yield 1
        except GeneratorExit:
            yield 2

    generator: Any = profile_function("g")(stubborn)()
    next(generator)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        generator.close()


def test_only_the_time_in_which_a_generator_runs_is_counted(on: None) -> None:
    @profile_function("g")
    def numbers() -> Iterator[int]:
        for number in range(3):
            spend(5)
            yield number
        spend(1)

    for _ in numbers():
        spend(100)
    assert calls() == {"g": (4, 16)}


def test_spans_opened_around_a_generator_s_steps_are_not_mixed_up(on: None) -> None:
    @profile_function("g")
    def numbers() -> Iterator[int]:
        yield 1
        yield 2

    generator = numbers()
    with _core.profile("one"):
        next(generator)
    with _core.profile("two"):
        next(generator)
    generator.close()  # type: ignore[attr-defined]
    assert calls() == {"one": (1, 0), "one/g": (1, 0), "two": (1, 0), "two/g": (1, 0), "g": (1, 0)}


def test_what_kind_of_function_it_is_can_still_be_told() -> None:
    async def coroutine() -> None: ...

    async def async_generator() -> AsyncIterator[int]:
        yield 1

    decorate = profile_function("x")
    assert inspect.isgeneratorfunction(decorate(conversation))
    assert inspect.iscoroutinefunction(decorate(coroutine))
    assert asyncio.iscoroutinefunction(decorate(coroutine))
    assert inspect.isasyncgenfunction(decorate(async_generator))
    assert not inspect.isgeneratorfunction(decorate(lambda: None))


# --- coroutines -------------------------------------------------------------------------------------------------------


def test_a_coroutine_gives_its_result(state: str) -> None:
    @profile_function("c")
    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    assert asyncio.run(add(1, b=2)) == 3


def test_a_coroutine_s_error_passes_through(state: str) -> None:
    @profile_function("c")
    async def fails() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        asyncio.run(fails())


def test_an_error_is_delivered_into_a_coroutine(state: str) -> None:
    @profile_function("c")
    async def waits(inner: Awaitable[int]) -> str:
        try:
            await inner
        except ValueError as error:
            return f"caught {error}"
        return "nothing"

    async def fails() -> int:
        await asyncio.sleep(0)
        raise ValueError("v")

    assert asyncio.run(waits(fails())) == "caught v"


def test_a_cancelled_coroutine_cleans_up(state: str) -> None:
    log: list[str] = []

    @profile_function("c")
    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            log.append("finally")

    async def main() -> None:
        task = asyncio.ensure_future(waits())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert log == ["finally"]


def test_only_the_time_in_which_a_coroutine_runs_is_counted(on: None) -> None:
    @profile_function("c")
    async def work() -> None:
        spend(5)
        await asyncio.sleep(0)
        spend(5)

    async def other() -> None:
        spend(100)

    async def main() -> None:
        await asyncio.gather(work(), other())

    asyncio.run(main())
    assert calls() == {"c": (2, 10)}


# --- asynchronous generators ------------------------------------------------------------------------------------------


async def async_conversation(log: list[Any]) -> AsyncIterator[Any]:
    received: Any = None
    try:
        for number in range(3):
            try:
                await asyncio.sleep(0)
                received = yield (number, received)
                log.append(received)
            except ValueError as error:
                log.append(repr(error))
                received = "caught"
    finally:
        log.append("finally")


timed_async_conversation = profile_function("talk")(async_conversation)


async def play_async(make: Callable[[list[Any]], Any], moves: list[Any]) -> list[Any]:
    log: list[Any] = []
    generator = make(log)
    seen: list[Any] = []
    for move in moves:
        try:
            match move:
                case "next":
                    seen.append(await generator.__anext__())
                case "close":
                    seen.append(await generator.aclose())
                case ("send", value):
                    seen.append(await generator.asend(value))
                case ("throw", error):
                    seen.append(await generator.athrow(error))
        except BaseException as error:
            seen.append((type(error), str(error)))
    return [seen, log]


@pytest.mark.parametrize("moves", SCRIPTS, ids=str)
def test_an_asynchronous_generator_behaves_as_without_a_span(state: str, moves: list[Any]) -> None:
    timed = asyncio.run(play_async(timed_async_conversation, moves))
    assert timed == asyncio.run(play_async(async_conversation, moves))


def test_only_the_time_in_which_an_asynchronous_generator_runs_is_counted(on: None) -> None:
    @profile_function("g")
    async def numbers() -> AsyncIterator[int]:
        for number in range(2):
            spend(5)
            yield number

    async def main() -> None:
        async for _ in numbers():
            spend(100)

    asyncio.run(main())
    count, total = calls()["g"]
    assert total == 10
    assert count >= 3


def test_a_generator_begun_while_off_may_be_finished_while_on() -> None:
    with a_clean_core():
        generator = timed_conversation([])
        assert next(generator) == (0, None)
        switch_on()
        assert generator.send("a") == (1, "a")
        _core.switch_off()
        assert [next(generator), *generator] == [(2, None)]
