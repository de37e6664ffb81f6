"""Collections are spans of the thread they interrupt, and none of rlprof's own threads is looked at."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from rlprof import get_profiler, profile
from rlprof.probes import garbage
from rlprof.probes.patching import Patches
from rlprof.record.background import OWN_THREADS


@pytest.fixture
def recording() -> Iterator[Any]:
    profiler = get_profiler()
    patches = Patches()
    profiler.enable()
    garbage.install(gc, patches)
    with profile("first"):
        pass
    yield profiler
    patches.undo()
    profiler.stop()


def collections(profiler: Any) -> dict[tuple[str, ...], int]:
    found = profiler.report().data.operations
    return {tuple(each.path): each.calls for each in found if each.path[-1].startswith("gc ")}


def test_a_collection_is_below_the_span_that_was_open(recording: Any) -> None:
    with profile("work"):
        gc.collect(1)
        gc.collect(2)
        gc.collect(2)
    found = collections(recording)
    assert found[("work", "gc generation 1")] == 1
    assert found[("work", "gc generation 2")] == 2


def test_a_finaliser_that_opens_spans_finds_them_inside_the_collection(recording: Any) -> None:
    class Knot:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            with profile("finaliser"):
                pass

    Knot()
    gc.collect()
    paths = [tuple(each.path) for each in recording.report().data.operations]
    assert ("gc generation 2", "finaliser") in paths


def test_a_collection_in_one_of_our_own_threads_is_not_the_programs(recording: Any) -> None:
    before = collections(recording).get(("gc generation 2",), 0)

    def collect(own: bool) -> None:
        if own:
            OWN_THREADS.add(threading.get_ident())
        gc.collect()
        OWN_THREADS.discard(threading.get_ident())

    for own in (True, False):
        thread = threading.Thread(target=collect, args=(own,))
        thread.start()
        thread.join()
    assert collections(recording)[("gc generation 2",)] == before + 1


def test_collections_before_the_first_span_belong_to_starting_up() -> None:
    profiler, patches = get_profiler(), Patches()
    profiler.enable()
    garbage.install(gc, patches)
    gc.collect()
    with profile("first"):
        pass
    gc.collect()
    assert collections(profiler)[("gc generation 2",)] == 1
    patches.undo()
    profiler.stop()


def test_nothing_is_left_in_the_interpreters_list() -> None:
    before = list(gc.callbacks)
    patches = Patches()
    garbage.install(gc, patches)
    assert len(gc.callbacks) == len(before) + 1
    patches.undo()
    assert gc.callbacks == before
