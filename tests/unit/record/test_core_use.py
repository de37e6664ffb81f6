"""What a process used of the cores: never a reason to fail, and None where the system will not say."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from rlprof.record.core_use import core_use

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own counts")


@LINUX
def test_what_was_used_only_grows() -> None:
    before = core_use()
    deadline = time.process_time() + 0.05
    while time.process_time() < deadline:
        pass
    after = core_use()
    for name in ("at_ns", "cpu_seconds", "machine_busy_seconds"):
        assert after[name] >= before[name], name
    assert after["cpu_seconds"] >= before["cpu_seconds"] + 0.04


@LINUX
def test_threads_that_stand_beside_the_work_are_not_at_work() -> None:
    stop = threading.Event()
    idle = [threading.Thread(target=stop.wait) for _ in range(3)]
    for thread in idle:
        thread.start()
    try:
        found = core_use()
    finally:
        stop.set()
        for thread in idle:
            thread.join()
    assert found["threads"] >= 4
    assert found["threads_at_work"] <= found["threads"] - 3


@LINUX
def test_threads_of_ours_are_none_of_the_programs() -> None:
    stop = threading.Event()
    before = core_use()["threads"]
    ours = threading.Thread(target=stop.wait, name="rlprof-writer")
    ours.start()
    try:
        assert core_use()["threads"] <= before  # a thread that has ended may still be counted before
    finally:
        stop.set()
        ours.join()


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError("refused")


@pytest.mark.parametrize(
    ("holder", "name"),
    [(os, "listdir"), (os, "sched_getaffinity"), (Path, "read_text"), (Path, "read_bytes"), (os, "sysconf")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_system_that_will_not_say_leaves_a_gap(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str) -> None:
    monkeypatch.setattr(holder, name, refuse, raising=False)
    assert core_use()["at_ns"] > 0
