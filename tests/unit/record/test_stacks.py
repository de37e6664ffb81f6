"""The stack sampler: where each thread is while a path is innermost, in bounded memory."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rlprof import _core
from rlprof.record.stacks import FrameRow, StackSampler
from support.reference import a_clean_core, path_keys, switch_on

MOST_PLACES = 20_000
DEEPEST = 100


@pytest.fixture
def sampler() -> Iterator[StackSampler]:
    with a_clean_core():
        switch_on()
        yield StackSampler()


def chain(frames: list[FrameRow], place: int) -> list[str]:
    """Functions from the outermost caller to the place."""
    known = {frame[0]: frame for frame in frames}
    names: list[str] = []
    at: int | None = place
    while at is not None:
        names.insert(0, known[at][2])
        at = known[at][1]
    return names


def test_a_sample_has_the_innermost_path_and_the_stack(sampler: StackSampler) -> None:
    def inner() -> None:
        sampler.sample()

    with _core.profile("work"):
        inner()
    frames, samples = sampler.drain()
    ((path, place, count),) = samples
    assert path_keys()[path][1][-1][0] == "work"
    assert count == 1
    assert [name.rpartition(".")[2] for name in chain(frames, place)[-3:]][:2] == [
        "test_a_sample_has_the_innermost_path_and_the_stack",
        "inner",
    ]


def test_a_caller_always_comes_before_the_places_it_calls(sampler: StackSampler) -> None:
    sampler.sample()
    frames, _ = sampler.drain()
    assert [frame[0] for frame in frames] == list(range(len(frames)))
    assert all(caller is None or caller < place for place, caller, *_ in frames)


def test_the_same_place_is_counted_and_named_once(sampler: StackSampler) -> None:
    for _ in range(5):
        sampler.sample()
    _, samples = sampler.drain()
    assert sum(count for _, _, count in samples) == 5
    assert max(count for _, _, count in samples) == 5
    for _ in range(2):
        sampler.sample()
    frames, _ = sampler.drain()
    assert len(frames) <= 2


def test_every_thread_that_records_is_sampled_and_no_other(sampler: StackSampler) -> None:
    ready, go = threading.Barrier(3), threading.Event()

    def recording() -> None:
        with _core.profile("there"):
            ready.wait()
            go.wait()

    def silent() -> None:
        ready.wait()
        go.wait()

    threads = [threading.Thread(target=work) for work in (recording, silent)]
    for thread in threads:
        thread.start()
    ready.wait()
    sampler.sample()
    go.set()
    for thread in threads:
        thread.join()
    _, samples = sampler.drain()
    assert sorted(path_keys()[path][1] for path, _, _ in samples) == [(), (("there", None, 0),)]


def nested(depth: int, action: Callable[[], None]) -> None:
    if depth:
        nested(depth - 1, action)
    else:
        action()


def test_a_deep_stack_is_cut_at_its_outer_end(sampler: StackSampler) -> None:
    nested(300, sampler.sample)
    frames, samples = sampler.drain()
    names = chain(frames, samples[0][1])
    assert len(names) == DEEPEST
    assert names[0] == "nested"


def many_functions(count: int) -> list[Callable[[Callable[[], None]], None]]:
    made: dict[str, Any] = {}
    source = "\n".join(f"def f{number}(action): action()" for number in range(count))
    exec(compile(source, "made up", "exec"), made)
    return [made[f"f{number}"] for number in range(count)]


def test_places_beyond_the_limit_are_booked_on_their_caller(sampler: StackSampler) -> None:
    functions = many_functions(MOST_PLACES + 500)
    for function in functions:
        function(sampler.sample)
    frames, samples = sampler.drain()
    assert len(frames) == MOST_PLACES
    assert sum(count for _, _, count in samples) == len(functions)
    known = {frame[0] for frame in frames}
    assert all(place in known for _, place, _ in samples)


def test_a_sample_keeps_no_variable_of_the_program_alive(sampler: StackSampler) -> None:
    class Big:
        pass

    def work() -> weakref.ref[Big]:
        big = Big()
        sampler.sample()
        return weakref.ref(big)

    assert work()() is None


def test_nothing_is_sampled_while_recording_is_off(sampler: StackSampler) -> None:
    _core.switch_off()
    sampler.sample()
    assert sampler.drain() == ([], [])


def test_after_a_reset_places_are_named_again(sampler: StackSampler) -> None:
    sampler.sample()
    sampler.drain()
    _core.wipe()
    switch_on()
    sampler.sample()
    frames, samples = sampler.drain()
    assert frames[0][0] == 0
    assert {place for _, place, _ in samples} <= {frame[0] for frame in frames}
