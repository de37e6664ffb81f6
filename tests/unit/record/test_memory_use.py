"""Signs of a shortage of memory: noted when they change, bounded, and never a reason to fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import pytest

from rlprof.record import memory_use as module
from rlprof.record.memory_use import MOST_MOMENTS, FaultCourse, memory_use


def test_a_moment_is_kept_only_where_pages_were_read_since(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([5, 5, 7, None, 9])
    monkeypatch.setattr(module, "major_faults", lambda: next(counts))
    course = FaultCourse()
    for at in range(5):
        course.note(at)
    assert course.fact() == [[0, 5], [2, 7], [4, 9]]


def test_a_long_course_keeps_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    count = iter(range(10_000))
    monkeypatch.setattr(module, "major_faults", lambda: next(count))
    course = FaultCourse()
    for at in range(5000):
        course.note(at)
    fact = course.fact()
    assert len(fact) <= MOST_MOMENTS
    assert (fact[0], fact[-1]) == ([0, 0], [4999, 4999])


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError("refused")


def test_a_system_that_will_not_say_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr(psutil, "virtual_memory", refuse)
    found = memory_use()
    assert (found["swapped_bytes"], found["machine_available_bytes"]) == (None, None)
