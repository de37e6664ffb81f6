"""The stack sampler: where each thread is while a path is innermost, in bounded memory."""

from __future__ import annotations

import importlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rlprof import _core
from rlprof.record.stacks import FrameRow, drain_stacks
from support.reference import a_clean_core, path_keys, switch_on

MOST_PLACES = 20_000
DEEPEST = 100


@pytest.fixture(autouse=True)
def _recording() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        yield


def sample() -> None:
    _core.sample_stacks(sys._current_frames)


def chain(frames: list[FrameRow], place: int) -> list[str]:
    """Functions from the outermost caller to the place."""
    known = {frame[0]: frame for frame in frames}
    names: list[str] = []
    at: int | None = place
    while at is not None:
        names.insert(0, known[at][2])
        at = known[at][1]
    return names


def test_a_sample_has_the_innermost_path_and_the_stack() -> None:
    def inner() -> None:
        sample()

    with _core.profile("work"):
        inner()
    frames, samples = drain_stacks()
    ((path, place, count),) = samples
    assert path_keys()[path][1][-1][0] == "work"
    assert count == 1
    assert [name.rpartition(".")[2] for name in chain(frames, place)[-3:]] == [
        "test_a_sample_has_the_innermost_path_and_the_stack",
        "inner",
        "sample",
    ]


def test_a_caller_always_comes_before_the_places_it_calls() -> None:
    sample()
    frames, _ = drain_stacks()
    assert [frame[0] for frame in frames] == list(range(len(frames)))
    assert all(caller is None or caller < place for place, caller, *_ in frames)


def test_the_same_place_is_counted_and_named_once() -> None:
    for _ in range(5):
        sample()
    _, samples = drain_stacks()
    assert sum(count for _, _, count in samples) == 5
    assert max(count for _, _, count in samples) == 5
    for _ in range(2):
        sample()
    frames, _ = drain_stacks()
    assert len(frames) <= 2


def test_every_thread_that_records_is_sampled_and_no_other() -> None:
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
    sample()
    go.set()
    for thread in threads:
        thread.join()
    _, samples = drain_stacks()
    assert sorted(path_keys()[path][1] for path, _, _ in samples) == [(), (("there", None, 0),)]


def nested(depth: int, action: Callable[[], None]) -> None:
    if depth:
        nested(depth - 1, action)
    else:
        action()


def test_a_deep_stack_is_cut_at_its_outer_end() -> None:
    nested(300, sample)
    frames, samples = drain_stacks()
    names = chain(frames, samples[0][1])
    assert len(names) == DEEPEST
    assert names[0] == "nested"


def many_functions(count: int) -> list[Callable[[Callable[[], None]], None]]:
    made: dict[str, Any] = {}
    source = "\n".join(f"def f{number}(action): action()" for number in range(count))
    exec(compile(source, "made up", "exec"), made)
    return [made[f"f{number}"] for number in range(count)]


def test_places_beyond_the_limit_are_booked_on_their_caller() -> None:
    functions = many_functions(MOST_PLACES + 500)
    for function in functions:
        function(sample)
    frames, samples = drain_stacks()
    assert len(frames) == MOST_PLACES
    assert sum(count for _, _, count in samples) == len(functions)
    known = {frame[0] for frame in frames}
    assert all(place in known for _, place, _ in samples)


def test_a_sample_keeps_no_variable_of_the_program_alive() -> None:
    class Big:
        pass

    def work() -> weakref.ref[Big]:
        big = Big()
        sample()
        return weakref.ref(big)

    assert work()() is None


def test_nothing_is_sampled_while_recording_is_off() -> None:
    _core.switch_off()
    sample()
    assert drain_stacks() == ([], [])


def test_after_a_reset_places_are_named_again() -> None:
    sample()
    drain_stacks()
    _core.wipe()
    switch_on()
    sample()
    frames, samples = drain_stacks()
    assert frames[0][0] == 0
    assert {place for _, place, _ in samples} <= {frame[0] for frame in frames}


def test_of_each_import_one_frame_of_the_import_system_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a dozen to each of hundreds of modules would leave no places for the program."""
    (tmp_path / "outer_module.py").write_text("import inner_module\n")
    (tmp_path / "inner_module.py").write_text("import sys\nsys.take_a_sample()\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "take_a_sample", sample, raising=False)
    with _core.profile("work"):
        importlib.import_module("outer_module")
    frames, ((_, place, _),) = drain_stacks()
    known = {frame[0]: frame for frame in frames}
    stack: list[FrameRow] = []
    at: int | None = place
    while at is not None:
        stack.insert(0, known[at])
        at = known[at][1]
    modules = [frame[3] for frame in stack if frame[3].startswith(str(tmp_path))]
    assert [Path(file).stem for file in modules] == ["outer_module", "inner_module"]
    assert sum(frame[3].startswith("<frozen importlib") for frame in stack) == 2
    for name in ("outer_module", "inner_module"):
        sys.modules.pop(name, None)
