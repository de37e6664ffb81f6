"""Spans in every shape a program may give them: counted exactly, timed truly, self times adding up."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import struct
import sys
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Protocol

import pytest

from rlprof import _core, count, get_profiler, iteration, profile, profile_function
from rlprof.analyse.ledger import gap_share, open_account
from rlprof.analyse.operations import operations_of
from rlprof.model.recording import Process
from rlprof.model.report import Operation


class Recorded:
    """What was recorded, by the last name of its path."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.account = open_account(process)
        self.operations = operations_of(self.account)

    def __getitem__(self, name: str) -> Operation:
        (found,) = [operation for operation in self.operations if operation.path[-1] == name]
        return found

    def calls(self, name: str) -> int:
        return sum(operation.calls for operation in self.operations if operation.path[-1] == name)

    def lost(self, kind: str) -> int:
        return self.process.losses[kind]


class Finish(Protocol):
    def __call__(self, *, closes: bool = True) -> Recorded: ...


@pytest.fixture
def finish() -> Iterator[Finish]:
    """Recording is on; calling it ends the recording and gives what is in it."""
    profiler = get_profiler()
    profiler.enable()

    def end(*, closes: bool = True) -> Recorded:
        profiler.stop()
        recorded = Recorded(profiler._recording().main)
        # Whatever was done, the self times of a thread add up to its time.
        assert not closes or abs(gap_share(recorded.account)) < 1e-3
        emitted = recorded.process.tally["spans_emitted"]
        assert sum(stats.count for stats in recorded.process.stats.values()) == emitted
        return recorded

    try:
        yield end
    finally:
        profiler.stop()


def busy(seconds: float) -> None:
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        pass


# --- decorators -------------------------------------------------------------------------------------------------------


class Agent:
    scale = 3

    @profile_function("method", phase="policy.forward")
    def act(self, x: int) -> int:
        return self.scale * x

    @classmethod
    @profile_function("inner_class_method")
    def make(cls) -> Agent:
        return cls()

    @profile_function("outer_class_method")
    @classmethod
    def build(cls) -> Agent:
        return cls()

    @profile_function("static_method")
    @staticmethod
    def twice(x: int) -> int:
        return 2 * x


def test_a_decorated_function_keeps_its_name_its_arguments_and_its_result(finish: Finish) -> None:
    @profile_function("work", phase="env.step")
    def add(a: int, /, b: int, *rest: int, c: int = 0, **named: int) -> tuple[int, dict[str, int]]:
        """Adds."""
        return a + b + sum(rest) + c, named

    assert add(1, 2, 3, c=4, d=5) == (10, {"d": 5})
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    recorded = finish()
    assert (recorded["work"].calls, recorded["work"].phase) == (1, "env.step")


def test_methods_of_every_kind_are_timed(finish: Finish) -> None:
    agent = Agent.make()
    assert Agent.build().act(2) == agent.act(2) == 6
    assert Agent.twice(2) == agent.twice(2) == 4
    recorded = finish()
    names = ("method", "inner_class_method", "outer_class_method", "static_method")
    assert [recorded.calls(name) for name in names] == [2, 1, 1, 2]


def test_a_decorator_without_parentheses_or_name_uses_the_functions_own(finish: Finish) -> None:
    @profile_function
    def plain() -> int:
        return 1

    @profile_function()
    def called() -> int:
        return 2

    assert plain() + called() == 3
    recorded = finish()
    names = [operation.path[-1] for operation in recorded.operations]
    assert sum(name.endswith("plain") for name in names) == sum(name.endswith("called") for name in names) == 1


def test_a_decorated_generator_is_timed_only_while_it_runs(finish: Finish) -> None:
    @profile_function("produce")
    def produce() -> Generator[int, str, str]:
        busy(0.01)
        sent = yield 1
        busy(0.01)
        assert sent == "hello"
        with contextlib.suppress(KeyError):
            yield 2
        return "end"

    generator = produce()
    assert next(generator) == 1
    time.sleep(0.1)
    assert generator.send("hello") == 2
    with pytest.raises(StopIteration) as stop:
        generator.throw(KeyError("k"))
    assert stop.value.value == "end"
    recorded = finish()
    assert recorded["produce"].calls == 3
    assert 0.019 <= recorded["produce"].total_seconds < 0.1


def test_a_decorated_coroutine_is_timed_only_while_it_runs(finish: Finish) -> None:
    @profile_function("think")
    async def think() -> int:
        busy(0.01)
        await asyncio.sleep(0.1)
        busy(0.01)
        return 5

    assert asyncio.run(think()) == 5
    recorded = finish()
    assert recorded["think"].calls == 2
    assert 0.019 <= recorded["think"].total_seconds < 0.1


def test_a_decorated_async_generator_takes_what_is_sent_and_thrown(finish: Finish) -> None:
    closed = []

    @profile_function("stream")
    async def stream() -> AsyncIterator[int]:
        try:
            got: object = yield 1
            assert got == "sent"
            try:
                yield 2
            except KeyError:
                await asyncio.sleep(0)
                yield 3
            yield 4
        finally:
            closed.append(True)

    async def main() -> list[int]:
        items = stream()
        seen = [await items.asend(None), await items.asend("sent"), await items.athrow(KeyError("k"))]  # type: ignore[attr-defined]
        await items.aclose()  # type: ignore[attr-defined]
        return [*seen, *[item async for item in _head(stream())]]

    assert asyncio.run(main()) == [1, 2, 3, 1]
    assert closed == [True, True]
    assert finish()["stream"].calls >= 5


async def _head(items: AsyncIterator[int]) -> AsyncIterator[int]:
    async for item in items:
        yield item
        break
    await items.aclose()  # type: ignore[attr-defined]


def test_what_is_decorated_raises_its_own_errors(finish: Finish) -> None:
    @profile_function("fails")
    def fails() -> None:
        raise ValueError("own")

    @profile_function("fails_later")
    async def fails_later() -> None:
        await asyncio.sleep(0)
        raise ValueError("own")

    for start in (fails, lambda: asyncio.run(fails_later())):
        with pytest.raises(ValueError, match="own"):
            start()
    recorded = finish()
    assert recorded["fails"].calls == 1
    assert not recorded["fails_later"].open


# --- asyncio ----------------------------------------------------------------------------------------------------------


def test_tasks_that_interleave_keep_their_spans_apart(finish: Finish) -> None:
    async def task(name: str, seconds: float) -> None:
        with profile(name):
            for _ in range(3):
                with profile("turn"):
                    busy(0.005)
                    await asyncio.sleep(seconds)

    async def main() -> None:
        with profile("gather"):
            await asyncio.gather(task("slow", 0.06), task("quick", 0.02), task("quick", 0.02))

    started = time.perf_counter()
    with profile("loop"):
        asyncio.run(main())
    lasted = time.perf_counter() - started
    recorded = finish()
    paths = {operation.path: operation for operation in recorded.operations}
    assert {path: operation.calls for path, operation in paths.items()} == {
        ("loop",): 1,
        ("loop", "gather"): 1,
        ("loop", "slow"): 1,
        ("loop", "slow", "turn"): 3,
        ("loop", "quick"): 2,
        ("loop", "quick", "turn"): 6,
    }
    # Durations are what each task saw; self times are what the one thread had to give.
    assert paths["loop", "slow", "turn"].total_seconds >= 3 * 0.065 * 0.98
    assert paths["loop", "quick", "turn"].total_seconds >= 6 * 0.025 * 0.98
    assert 0.95 * lasted <= sum(operation.self_seconds for operation in recorded.operations) <= lasted
    assert paths["loop",].total_seconds <= lasted


def test_a_cancelled_task_closes_its_spans(finish: Finish) -> None:
    async def forever() -> None:
        with profile("forever"):
            await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.create_task(forever())
        await asyncio.sleep(0.02)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())
    recorded = finish()
    assert recorded["forever"].calls == 1
    assert not recorded["forever"].open
    assert 0.015 < recorded["forever"].total_seconds < 5


# --- recursion, exceptions, generators --------------------------------------------------------------------------------


def test_recursion_5000_deep_counts_every_call(finish: Finish) -> None:
    @profile_function("down")
    def down(levels: int) -> int:
        return 0 if levels == 0 else 1 + down(levels - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(30_000)
    try:
        thread_result: list[int] = []
        before = threading.stack_size(512 * 1024 * 1024)
        thread = threading.Thread(target=lambda: thread_result.append(down(5000)))
        thread.start()
        thread.join()
        threading.stack_size(before)
    finally:
        sys.setrecursionlimit(limit)
    assert thread_result == [5000]
    recorded = finish()
    assert recorded.calls("down") == 5001
    assert not any(operation.open for operation in recorded.operations)


def test_an_exception_passes_through_spans_and_closes_them(finish: Finish) -> None:
    with pytest.raises(ZeroDivisionError), profile("outer"), profile("inner"):
        _ = 1 / 0
    with profile("after"):
        pass
    recorded = finish()
    assert [operation.path for operation in recorded.operations if operation.path[-1] == "after"] == [("after",)]
    assert recorded.calls("outer") == recorded.calls("inner") == 1


def _holding(name: str) -> Iterator[int]:
    with profile(name):
        yield 1
        yield 2


def test_a_generator_closed_in_another_thread_closes_its_span(finish: Finish) -> None:
    generator = _holding("held")
    next(generator)
    closer = threading.Thread(target=generator.close)  # type: ignore[attr-defined]
    closer.start()
    closer.join()
    with profile("after"):
        pass
    recorded = finish()
    assert recorded["held"].calls == 1
    assert not recorded["held"].open
    assert recorded["after"].path == ("after",)


def test_a_generator_dropped_by_the_garbage_collector_closes_its_span(finish: Finish) -> None:
    holder: list[object] = [_holding("held")]
    next(holder[0])  # type: ignore[call-overload]
    holder.append(holder)  # a cycle: only a collection frees it
    del holder
    gc.collect()
    recorded = finish()
    assert recorded["held"].calls == 1
    assert not recorded["held"].open


def test_a_span_that_is_thrown_away_while_open_is_a_counted_loss(finish: Finish) -> None:
    span = profile("lost")
    span.__enter__()
    del span
    with profile("after"):
        pass
    recorded = finish()
    assert recorded["after"].path == ("after",)
    assert recorded.lost("spans_abandoned") == 1
    assert recorded.calls("lost") == 0


def test_spans_closed_out_of_order_keep_their_own_times(finish: Finish) -> None:
    first, second = profile("first"), profile("second")
    began = time.perf_counter()  # a machine that does other things makes each part longer than it asks to be
    first.__enter__()
    busy(0.01)
    second.__enter__()
    inner = time.perf_counter()
    busy(0.02)
    first.__exit__(None, None, None)
    left = time.perf_counter()
    busy(0.04)
    second.__exit__(None, None, None)
    ended = time.perf_counter()
    recorded = finish()
    assert recorded["first"].total_seconds == pytest.approx(left - began, rel=0.1)
    assert recorded["second"].total_seconds == pytest.approx(ended - inner, rel=0.1)
    assert recorded["second"].self_seconds == pytest.approx(ended - inner, rel=0.1)
    assert recorded["first"].self_seconds == pytest.approx(inner - began, rel=0.2)


def test_an_exit_without_an_entry_is_a_counted_loss_and_no_error(finish: Finish) -> None:
    span = profile("never")
    span.__exit__(None, None, None)
    assert finish().lost("exits_unmatched") == 1


@pytest.mark.parametrize("track_memory", [False, True])
def test_one_span_object_may_be_entered_again_inside_itself_and_after(finish: Finish, track_memory: bool) -> None:
    span = profile("again", track_memory=track_memory)
    with span, span:
        busy(0.002)
    with span:
        pass
    recorded = finish()
    assert recorded.calls("again") == 3
    assert not any(operation.open for operation in recorded.operations)


# --- threads, counters, iterations ------------------------------------------------------------------------------------


def test_threads_have_trees_of_their_own(finish: Finish) -> None:
    def work(number: int) -> None:
        for _ in range(200):
            with profile("outer"), profile(f"inner{number}"):
                pass

    threads = [threading.Thread(target=work, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorded = finish()
    assert recorded.calls("outer") == 1200
    assert [recorded[f"inner{number}"].calls for number in range(6)] == [200] * 6
    assert sum(operation.path == ("outer",) for operation in recorded.operations) == 6
    assert sum(not thread.is_main for thread in recorded.process.threads) >= 6


def test_more_threads_than_lanes_are_all_counted(finish: Finish) -> None:
    def work() -> None:
        with profile("brief"):
            pass

    for _ in range(200):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert finish(closes=False).calls("brief") == 200  # further threads share one lane, which has no one wall clock


@pytest.mark.usefixtures("finish")
def test_threads_that_have_ended_are_forgotten_though_a_new_one_reuses_their_ident() -> None:
    """The system gives a thread's ident away again at once, so an ident cannot say whether a thread has ended."""
    leave = threading.Event()

    def work(wait: bool) -> None:
        with profile("brief"):
            pass
        if wait:
            leave.wait(30)

    idents = set()
    for _ in range(60):
        thread = threading.Thread(target=work, args=[False])
        thread.start()
        thread.join()
        idents.add(thread.ident)
    alive = threading.Thread(target=work, args=[True])
    alive.start()
    try:
        assert alive.ident in idents, "the test needs an ident that is used again"
        _core.reap(frozenset(sys._current_frames()))
        _core.drain()
        time.sleep(0.05)
        rows = struct.iter_unpack("<IIQQ8q", _core.drain()[1])
        booked = sum(row[5] for row in rows)
    finally:
        leave.set()
        alive.join()
    assert booked < 3 * 0.05e9 * 1.5, "time was booked for threads that no longer live"


def test_counters_add_up_over_threads_and_refuse_what_is_no_number(finish: Finish) -> None:
    def work() -> None:
        for _ in range(1000):
            count("env_steps", 2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for nonsense in ("x", None, float("nan"), float("inf"), [1]):
        count("env_steps", nonsense)  # type: ignore[arg-type]
    recorded = finish()
    assert recorded.process.counters["env_steps"].amount == 8000
    assert recorded.lost("amounts_refused") == 5


def test_iterations_are_told_by_a_call_or_a_with_block(finish: Finish) -> None:
    for _ in range(3):
        with iteration():
            busy(0.002)
            count("env_steps", 5)
    for _ in range(3):
        iteration()
        busy(0.002)
    recorded = finish()
    assert len(recorded.process.iterations.start_ns) == 5  # the last one is still open
    assert recorded.process.iterations.env_steps.tolist() == [5, 5, 5, 0, 0]
    assert recorded["iteration"].calls == 6


def test_a_span_of_an_unknown_phase_is_recorded_without_one_and_said_once(
    finish: Finish, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        with profile("odd", phase="env.setp"):
            pass
    assert finish()["odd"].calls == 3
    assert capfd.readouterr().err.count("env.setp") == 1
