"""Signs of a shortage of memory: noted when they change, bounded, and never a reason to fail."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from rlprof.record import memory_use as module
from rlprof.record.memory_use import MOST_MOMENTS, Course, allocated_bytes, memory_use


def test_a_moment_is_kept_only_where_pages_were_read_since() -> None:
    counts = iter([5, 5, 7, None, 9])
    course = Course(lambda: next(counts))
    for at in range(5):
        course.note(at)
    assert course.fact() == [[0, 5], [2, 7], [4, 9]]


def test_a_long_course_keeps_its_ends() -> None:
    count = iter(range(10_000))
    course = Course(lambda: next(count))
    for at in range(5000):
        course.note(at)
    fact = course.fact()
    assert len(fact) <= MOST_MOMENTS
    assert (fact[0], fact[-1]) == ([0, 0], [4999, 4999])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it at once")
def test_what_is_allocated_counts_before_it_is_written_to() -> None:
    before = allocated_bytes()
    with mmap.mmap(-1, 64_000_000):
        during = allocated_bytes()
    assert before is not None
    assert during is not None
    assert during - before >= 32_000_000


def test_where_no_system_tells_what_is_allocated_nothing_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SIZES", "/nowhere")
    course = Course(allocated_bytes)
    course.note(1)
    assert course.fact() == []


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError("refused")


def test_a_system_that_will_not_say_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr(psutil, "virtual_memory", refuse)
    found = memory_use()
    assert (found["swapped_bytes"], found["machine_available_bytes"]) == (None, None)
