"""Spans that do not end as they should, threads and tasks that come and go: all ordinary cases."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from rlprof import _core
from support import dtypes
from support.alone import run_alone
from support.reference import Hands, Stats, a_clean_core, path_keys, read_window, switch_on


def spend(nanoseconds: int) -> None:
    _core.set_fake_clock(_core.clock_ns() + nanoseconds)


@pytest.fixture
def core() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        yield


@pytest.fixture
def hands() -> Iterator[Hands]:
    hands = Hands(threads=1, contexts=3)
    yield hands
    hands.close()


def rows() -> dict[str, Stats]:
    """Statistics of all lanes by the names of the path; the root's are left out."""
    found = read_window().rows
    return {"/".join(label[0] for label in labels): stats for (_, labels), stats in found.items() if labels}


def counts() -> dict[str, int]:
    return {path: stats.count for path, stats in rows().items() if stats.count}


# --- ordinary use -----------------------------------------------------------------------------------------------------


def test_an_exception_passes_through_and_its_span_is_counted(core: None) -> None:
    with pytest.raises(ZeroDivisionError), _core.profile("a"):
        raise ZeroDivisionError
    assert counts() == {"a": 1}


def test_entering_a_span_gives_the_span(core: None) -> None:
    span = _core.profile("a")
    with span as entered:
        assert entered is span


def test_one_span_may_be_used_again_and_inside_itself(core: None) -> None:
    span = _core.profile("a")
    with span:
        spend(1)
        with span:
            spend(2)
    with span:
        spend(4)
    found = rows()
    assert (found["a"].count, found["a"].total, found["a"].own) == (2, 7, 5)
    assert (found["a/a"].count, found["a/a"].total) == (1, 2)


def test_a_span_works_in_an_exit_stack(core: None) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(_core.profile("a"))
        stack.enter_context(_core.profile("b"))
    assert counts() == {"a": 1, "a/b": 1}


def test_a_span_works_in_an_exit_stack_while_recording_is_off() -> None:
    with a_clean_core(), contextlib.ExitStack() as stack:
        stack.enter_context(_core.profile("a"))
        stack.enter_context(_core.iteration())


def test_a_span_is_closed_by_its_type_s_methods_as_by_its_own(core: None) -> None:
    span = _core.profile("a")
    type(span).__enter__(span)
    type(span).__exit__(span, None, None, None)
    assert counts() == {"a": 1}


def test_the_same_name_with_another_phase_is_another_path(core: None) -> None:
    for phase in (None, "env.step", "learn.loss", "env.step"):
        with _core.profile("a", phase=phase):
            pass
    found = {labels[0][1]: stats.count for (_, labels), stats in read_window().rows.items() if labels}
    assert found == {None: 1, "env.step": 2, "learn.loss": 1}


def test_an_unknown_phase_is_reported_and_left_out() -> None:
    said: list[tuple[str, object]] = []
    with a_clean_core(bad_phase=lambda name, phase: said.append((name, phase))):
        switch_on()
        with _core.profile("a", phase="env.stepp"):
            pass
        found = [labels[0] for _, labels in path_keys().values() if labels]
    assert said == [("a", "env.stepp")]
    assert found == [("a", None, 0)]


@pytest.mark.parametrize("phase", [3, ["env.step"], {"a": 1}, object()], ids=lambda phase: type(phase).__name__)
def test_a_phase_that_is_no_text_never_stops_the_program(core: None, phase: Any) -> None:
    with _core.profile("a", phase=phase):
        pass
    assert counts() == {"a": 1}


@pytest.mark.parametrize("name", [3, None, ("a", 1), b"bytes"], ids=lambda name: type(name).__name__)
def test_a_name_that_is_no_text_is_written_as_text(core: None, name: Any) -> None:
    with _core.profile(name):
        pass
    assert counts() == {str(name): 1}


# --- spans that end badly ---------------------------------------------------------------------------------------------


def test_a_span_thrown_away_while_open_is_counted_as_abandoned(core: None) -> None:
    span = _core.profile("a")
    span.__enter__()
    spend(5)
    del span
    spend(2)
    window = read_window()
    assert window.totals["spans_abandoned"] == 1
    assert window.totals["spans_emitted"] == 0
    assert window.open_spans == []
    assert {labels: stats.own for (_, labels), stats in window.rows.items()} == {(("a", None, 0),): 5, (): 2}


def test_an_exit_without_an_entry_is_counted(core: None) -> None:
    _core.profile("a").__exit__(None, None, None)
    totals = read_window().totals
    assert (totals["exits_unmatched"], totals["spans_emitted"]) == (1, 0)


def test_an_exit_too_many_is_counted(core: None) -> None:
    span = _core.profile("a")
    with span:
        pass
    span.__exit__(None, None, None)
    totals = read_window().totals
    assert (totals["exits_unmatched"], totals["spans_emitted"]) == (1, 1)


def test_closing_out_of_order_leaves_the_other_span_open(core: None) -> None:
    outer, inner = _core.profile("outer"), _core.profile("inner")
    outer.__enter__()
    spend(1)
    inner.__enter__()
    spend(2)
    outer.__exit__(None, None, None)
    spend(4)
    inner.__exit__(None, None, None)
    found = rows()
    assert (found["outer"].total, found["outer"].own) == (3, 1)
    assert (found["outer/inner"].total, found["outer/inner"].own) == (6, 6)


def test_a_span_may_be_closed_in_another_thread(core: None, hands: Hands) -> None:
    span = _core.profile("a")
    hands.do(1, 0, lambda: span.__enter__() and None)
    spend(3)
    span.__exit__(None, None, None)
    window = read_window()
    assert [(lane, stats.count, stats.total) for (lane, labels), stats in window.rows.items() if labels] == [(1, 1, 3)]
    assert window.totals["exits_unmatched"] == 0


def test_a_span_open_at_a_reset_is_forgotten_and_its_exit_does_no_harm(core: None) -> None:
    span = _core.profile("a")
    with span:
        _core.wipe()
        switch_on()
    assert counts() == {}
    with span:
        pass
    assert counts() == {"a": 1}


def test_a_generator_thrown_away_closes_the_spans_inside_it(core: None) -> None:
    def numbers() -> Iterator[int]:
        with _core.profile("inside"):
            yield 1

    generator = numbers()
    next(generator)
    spend(7)
    del generator
    found = rows()
    assert (found["inside"].count, found["inside"].total) == (1, 7)


def a_cycle_with_an_open_span() -> None:
    """Rubbish that only a collection finds, and that closes a span when it is found."""

    def waiting(holder: list[Any]) -> Iterator[None]:
        with _core.profile("collected"):
            _core.count("env_steps")
            yield

    holder: list[Any] = []
    generator = waiting(holder)
    holder.append(generator)
    next(generator)


def test_spans_closed_by_a_collection_in_the_middle_of_a_drain_are_counted_once(core: None) -> None:
    thresholds = gc.get_threshold()
    made, closed, steps = 0, 0, 0.0
    gc.collect()
    try:
        for number in range(300):
            gc.disable()
            for _ in range(number % 7):
                a_cycle_with_an_open_span()
                made += 1
            gc.set_threshold(1 + number % 5, 1, 1)
            gc.enable()
            window = read_window()
            closed += sum(stats.count for stats in window.rows.values())
            steps += window.counters.get("env_steps", (0.0, 0))[0]
            _core.drain_slow_iterations()
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()
    gc.collect()
    last = read_window()
    assert closed + sum(stats.count for stats in last.rows.values()) == last.totals["spans_emitted"] == made
    assert steps + last.counters.get("env_steps", (0.0, 0))[0] == made
    assert last.open_spans == []


def test_random_finalisers_under_the_interpreter_s_own_checks_do_no_harm() -> None:
    done = run_alone(
        """
        import gc, random, threading
        from rlprof import _core
        _core.configure(phases=(), schedule=(0, 0, 1, 0), keep_slowest=3)
        _core.switch_on(1)
        gc.set_threshold(3, 2, 2)
        class Node:
            def __del__(self):
                _core.count("env_steps")
                _core.iteration()
                with _core.profile("finaliser"):
                    pass
        def work(seed):
            rng = random.Random(seed)
            kept = []
            for _ in range(4000):
                choice = rng.randrange(6)
                if choice == 0:
                    kept.append(_core.profile(f"n{rng.randrange(9)}"))
                    kept[-1].__enter__()
                elif choice == 1 and kept:
                    kept.pop(rng.randrange(len(kept))).__exit__(None, None, None)
                elif choice == 2 and kept:
                    del kept[rng.randrange(len(kept))]
                elif choice == 3:
                    node = Node()
                    node.me = node
                elif choice == 4:
                    _core.drain(), _core.drain_events(), _core.drain_slow_iterations(), _core.paths_since(0)
                else:
                    _core.open_paths(), _core.note_rss(1000), _core.charge(1)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        _core.reap(frozenset({threading.get_ident()}))
        _core.wipe()
        """,
        "-X",
        "dev",
        PYTHONMALLOC="debug",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


# --- on and off -------------------------------------------------------------------------------------------------------


def test_time_spent_switched_off_belongs_to_no_span(core: None) -> None:
    with _core.profile("a"):
        spend(1)
        _core.switch_off()
        spend(100)
        switch_on()
        spend(2)
    window = read_window()
    assert sum(stats.own for stats in window.rows.values()) == window.totals["recorded_ns"] == 3


def test_nothing_is_recorded_while_switched_off(core: None) -> None:
    _core.switch_off()
    with _core.profile("a"), _core.iteration():
        _core.count("env_steps", 3)
        spend(5)
    window = read_window()
    assert window.rows == {}
    assert window.counters == {}
    assert window.totals["recorded_ns"] == 0


def test_an_iteration_that_ends_while_recording_is_off_does_not_run_on(core: None) -> None:
    with _core.iteration():
        spend(5)
        _core.switch_off()
    spend(100)
    switch_on()
    _core.iteration()
    assert [duration for _, duration, _ in read_window().turns] == [5]


def test_switching_on_twice_changes_nothing(core: None) -> None:
    spend(3)
    switch_on()
    spend(4)
    assert read_window().totals["recorded_ns"] == 7


def test_the_main_thread_may_be_unknown() -> None:
    with a_clean_core():
        _core.switch_on(None)
        assert [main for _, _, _, main in _core.lanes_since(0)] == [False]


# --- threads and tasks ------------------------------------------------------------------------------------------------


def in_new_thread(work: Any) -> int:
    """Run it to its end; the ident of the thread it ran in."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return thread.ident or 0


def one_span() -> None:
    with _core.profile("work"):
        pass


def test_a_thread_that_ended_is_forgotten_and_its_statistics_stay(core: None) -> None:
    ident = in_new_thread(one_span)
    assert ident in _core.open_paths()
    _core.reap(frozenset({threading.get_ident()}))
    assert list(_core.open_paths()) == [threading.get_ident()]
    assert counts() == {"work": 1}


def test_a_thread_that_ended_with_an_open_span_is_kept_until_it_is_closed(core: None, hands: Hands) -> None:
    span = _core.profile("left open")
    ident = in_new_thread(lambda: span.__enter__() and None)
    _core.reap(frozenset({threading.get_ident()}))
    assert ident in _core.open_paths()
    span.__exit__(None, None, None)
    _core.reap(frozenset({threading.get_ident()}))
    assert ident not in _core.open_paths()


def test_iterations_go_on_in_another_thread_when_the_first_one_ended(core: None) -> None:
    def loop() -> None:
        for _ in range(3):
            with _core.iteration():
                spend(2)

    in_new_thread(loop)
    _core.reap(frozenset({threading.get_ident()}))
    in_new_thread(loop)
    assert [duration for _, duration, _ in read_window().turns] == [2] * 6


def test_a_new_thread_with_the_ident_of_one_that_ended_is_not_taken_for_it(core: None) -> None:
    idents: set[int] = set()
    lanes: dict[int, int] = {}

    def look() -> None:
        with _core.profile("work"):
            ident = threading.get_ident()
            if ident in idents:
                lanes[ident] = path_keys()[_core.open_paths()[ident]][0]
                lanes[-1] = path_keys()[_core.open_path_here()][0]
            idents.add(ident)

    for _ in range(40):
        in_new_thread(look)
        if lanes:
            break
    if not lanes:
        pytest.skip("this system gave no thread's ident away again")
    seen_from_outside, seen_from_inside = lanes.values()
    assert seen_from_outside == seen_from_inside


def test_tasks_of_one_thread_have_stacks_of_their_own(core: None) -> None:
    async def task(name: str, mine: asyncio.Event, other: asyncio.Event) -> None:
        with _core.profile(name):
            other.set()
            await mine.wait()
            with _core.profile("inner"):
                spend(1)
        other.set()

    async def both() -> None:
        first, second = asyncio.Event(), asyncio.Event()
        await asyncio.gather(task("one", first, second), task("two", second, first))

    asyncio.run(both())
    found = counts()
    assert found == {"one": 1, "one/inner": 1, "two": 1, "two/inner": 1}
    assert read_window().totals["exits_unmatched"] == 0


def test_spans_of_a_task_are_below_what_is_open_around_the_event_loop(core: None) -> None:
    async def task() -> None:
        with _core.profile("inside"):
            await asyncio.sleep(0)

    with _core.profile("around"):
        asyncio.run(task())
    assert counts() == {"around": 1, "around/inside": 1}


# --- what probes use --------------------------------------------------------------------------------------------------


def test_of_a_group_of_spans_only_the_outermost_counts(core: None) -> None:
    assert not _core.is_busy(3)
    with _core.guarded_span("outer", None, 0, 3):
        assert _core.is_busy(3)
        assert not _core.is_busy(4)
        with _core.guarded_span("inner", None, 0, 3), _core.guarded_span("of another group", None, 0, 4):
            pass
    assert not _core.is_busy(3)
    assert counts() == {"outer": 1, "outer/of another group": 1}


def test_a_group_is_free_again_after_an_error_and_after_a_span_was_thrown_away(core: None) -> None:
    with pytest.raises(ZeroDivisionError), _core.guarded_span("a", None, 0, 1):
        raise ZeroDivisionError
    assert not _core.is_busy(1)
    span = _core.guarded_span("a", None, 0, 1)
    span.__enter__()
    assert _core.is_busy(1)
    del span
    assert not _core.is_busy(1)


def test_a_group_is_busy_in_its_own_thread_only(core: None) -> None:
    seen: list[bool] = []
    with _core.guarded_span("a", None, 0, 1):
        in_new_thread(lambda: seen.append(_core.is_busy(1)))
    assert seen == [False]


def test_turns_that_a_probe_saw_are_iterations_without_a_span(core: None) -> None:
    for _ in range(3):
        _core.infer_turn()
        with _core.profile("work"):
            spend(4)
    window = read_window()
    assert [duration for _, duration, _ in window.turns] == [4, 4]
    assert {labels[0][0] for (_, labels) in window.rows if labels} == {"work"}


def test_the_program_s_own_marks_win_over_a_probe_s(core: None) -> None:
    _core.infer_turn()
    spend(1)
    for _ in range(2):
        with _core.iteration():
            spend(3)
            _core.infer_turn()
            spend(3)
    assert [duration for _, duration, _ in read_window().turns][-2:] == [6, 6]


# --- memory and own cost ----------------------------------------------------------------------------------------------


def test_every_open_span_sees_a_memory_sample(core: None) -> None:
    _core.note_rss(1000)
    with _core.profile("a"):
        with _core.profile("b"):
            _core.note_rss(1500)
        _core.note_rss(1200)
    found = {path: (peak, rise) for path, peak, rise, _ in memory_rows()}
    assert found == {"a": (1500, 500), "a/b": (1500, 500)}


def test_a_path_with_exact_figures_takes_no_rise_from_samples(core: None) -> None:
    _core.note_rss(1000)
    with _core.profile("a"):
        path = _core.open_path_here()
        _core.track_memory_of(path)
        _core.note_rss(9000)
    _core.note_memory(path, 1300, 300, -1)
    assert memory_rows() == [("a", 9000, 300, 0)]


def test_a_device_that_did_not_rise_is_told_from_no_device(core: None) -> None:
    for name, device in (("none", -1), ("still", 0), ("rose", 7)):
        with _core.profile(name):
            _core.note_memory(_core.open_path_here(), 1, 0, device)
    assert {path: device for path, _, _, device in memory_rows()} == {"none": 0, "still": 1, "rose": 8}


def test_figures_of_a_path_that_does_not_exist_are_ignored(core: None) -> None:
    _core.note_memory(4000, 1, 1, 1)
    _core.track_memory_of(4_000_000_000)
    assert memory_rows() == []


def memory_rows() -> list[tuple[str, int, int, int]]:
    import numpy as np

    names = {number: "/".join(label[0] for label in labels) for number, (_, labels) in path_keys().items()}
    taken = np.frombuffer(_core.drain()[1], dtypes.ROW)
    return [
        (names[int(row["path"])], int(row["rss_peak"]), int(row["rss_rise"]), int(row["device_rise"]))
        for row in taken
        if row["rss_peak"]
    ]


def test_own_cost_is_booked_on_the_span_that_was_innermost(core: None, hands: Hands) -> None:
    import numpy as np

    idents: list[int] = []
    span = _core.profile("there")
    hands.do(1, 0, lambda: span.__enter__() and None)
    hands.do(1, 0, lambda: idents.append(threading.get_ident()))
    with _core.profile("here"):
        _core.charge(5)
        _core.charge(7, idents[0])
        _core.charge(11, 12345)  # a thread nobody knows
    names = {number: labels[-1][0] if labels else "" for number, (_, labels) in path_keys().items()}
    taken = np.frombuffer(_core.drain()[1], dtypes.ROW)
    assert {names[int(row["path"])]: int(row["charged"]) for row in taken if row["charged"]} == {"here": 5, "there": 7}
    span.__exit__(None, None, None)


# --- nothing leaks ----------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_spans_leave_no_object_behind(core: None) -> None:
    name, phase = "a name of its own", "env.step"

    def work(rounds: int) -> None:
        for _ in range(rounds):
            with _core.profile(name, phase=phase), _core.profile("inner"):
                _core.count("env_steps")

    work(100)
    _core.drain()
    references = sys.getrefcount(name), sys.getrefcount(phase)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work(50_000)
        _core.drain()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert (sys.getrefcount(name), sys.getrefcount(phase)) == references
    assert grown < 10_000


def test_spans_thrown_away_leave_no_object_behind(core: None) -> None:
    span = _core.profile("a")
    references = sys.getrefcount(span)
    for _ in range(100):
        span.__enter__()
    assert sys.getrefcount(span) == references, "an open span is not kept alive by the recorder"
    for _ in range(100):
        span.__exit__(None, None, None)
    assert sys.getrefcount(span) == references


def test_a_context_is_let_go_once_its_spans_are_closed(core: None) -> None:
    contexts = []
    for _ in range(50):
        context = contextvars.copy_context()
        context.run(one_span)
        contexts.append(weakref.ref(context))
        del context
    one_span()
    assert [context for context in contexts if context() is not None] == []


def test_a_context_is_let_go_when_its_span_is_closed_outside_of_it(core: None) -> None:
    contexts = []
    for _ in range(50):
        context = contextvars.copy_context()
        span = _core.profile("a")
        context.run(span.__enter__)
        span.__exit__(None, None, None)
        contexts.append(weakref.ref(context))
        del context
    one_span()
    assert [context for context in contexts if context() is not None] == []


def test_wiping_lets_go_of_contexts_with_open_spans(core: None) -> None:
    context = contextvars.copy_context()
    span = _core.profile("a")
    context.run(span.__enter__)
    gone = weakref.ref(context)
    del context
    _core.wipe()
    assert gone() is None


def test_no_event_is_logged_after_the_block_of_an_active_iteration(core: None) -> None:
    _core.configure(phases=(), schedule=(0, 0, 1, 1))
    with _core.iteration(), _core.profile("inside"):
        pass
    with _core.profile("outside"):
        pass
    assert read_window().totals["events_emitted"] == 2  # the span inside, and the iteration


def test_an_object_that_names_a_span_is_not_kept_alive(core: None) -> None:
    class Env:
        pass

    env = Env()
    gone = weakref.ref(env)
    with _core.profile(env):  # type: ignore[arg-type]
        pass
    del env
    assert gone() is None


@pytest.mark.parametrize("group", [32, 1000])
def test_a_group_that_does_not_exist_is_refused(core: None, group: int) -> None:
    with pytest.raises(ValueError, match=str(group)):
        _core.guarded_span("a", None, 0, group)
    with pytest.raises(ValueError, match=str(group)):
        _core.is_busy(group)


def counted(name: str) -> float:
    return sum(amount for found, amount, _ in _core.drain()[4] if found == name)


def test_what_probes_count_gives_way_to_what_the_program_counts_itself(core: None) -> None:
    _core.infer_count("env_steps", 8)
    first = counted("env_steps")
    _core.infer_count("env_steps", 8)
    _core.count("env_steps", 8)
    _core.infer_count("env_steps", 8)
    _core.count("env_steps", 8)
    assert first + counted("env_steps") == 16


def test_what_only_probes_count_is_counted(core: None) -> None:
    _core.infer_count("episodes")
    _core.infer_count("episodes", 2)
    assert counted("episodes") == 3
