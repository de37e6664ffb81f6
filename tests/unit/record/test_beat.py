"""The sampler's beat: who takes the sample, and that the program is not stopped for it."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rlprof import _core
from rlprof.record.stacks import drain_stacks
from support.reference import a_clean_core, path_keys, switch_on

BEAT = 0.005


@pytest.fixture(autouse=True)
def _recording() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        yield


@contextmanager
def a_beat(memory: float = 0.0, stacks: bool = True, seconds: float = BEAT) -> Iterator[threading.Thread]:
    _core.begin_beat(seconds, memory, stacks, sys._current_frames)
    thread = threading.Thread(target=lambda: [None for _ in iter(_core.keep_beat, False)])
    thread.start()
    try:
        yield thread
    finally:
        _core.end_beat()
        thread.join(5)
        assert not thread.is_alive()


def turn_for(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def samples_by_span() -> dict[str, int]:
    keys = path_keys()
    found: dict[str, int] = {}
    for path, _, count in drain_stacks()[1]:
        names = [name for name, *_ in keys[path][1]]
        found[names[-1] if names else ""] = found.get(names[-1] if names else "", 0) + count
    return found


def test_a_main_thread_that_runs_python_is_sampled_where_it_is() -> None:
    with a_beat():
        with _core.profile("one"):
            turn_for(0.4)
        with _core.profile("two"):
            turn_for(0.2)
    found = samples_by_span()
    assert found["one"] > 20
    assert 0.25 < found["two"] / found["one"] < 1.0


def test_a_main_thread_inside_a_long_call_is_sampled_too() -> None:
    block = bytes(1 << 20)

    def digest() -> None:
        for _ in range(40):
            hashlib.pbkdf2_hmac("sha256", block[:64], b"salt", 40_000)  # about 10 ms without the interpreter lock

    with a_beat(), _core.profile("call"):
        started = time.perf_counter()
        digest()
        seconds = time.perf_counter() - started
    found = samples_by_span()["call"]
    assert found > 0.4 * seconds / BEAT


def test_a_sleeping_main_thread_is_sampled_too() -> None:
    with a_beat(), _core.profile("sleep"):
        time.sleep(0.4)
    assert samples_by_span()["sleep"] > 20


def test_threads_beside_the_main_one_are_sampled() -> None:
    def beside() -> None:
        with _core.profile("beside"):
            turn_for(0.4)

    thread = threading.Thread(target=beside)
    with a_beat():
        thread.start()
        thread.join()
    assert samples_by_span()["beside"] > 15


def test_sampling_does_not_take_the_lock_from_a_running_program() -> None:
    with a_beat(seconds=0.02):
        turn_for(1.0)
    by_main, from_beside = _core.beats_taken()
    assert by_main > 30
    assert from_beside < by_main / 2  # only where the system ran something else meanwhile


def test_a_sample_is_of_the_moment_it_was_due_and_not_of_the_next_call_that_gives_up_the_lock() -> None:
    """Four fifths of the time are plain Python: calls that give up the lock must not draw its samples to them."""
    block = bytes(3000)  # so much of it that hashing gives up the lock
    with a_beat():
        end = time.perf_counter() + 1.5
        while time.perf_counter() < end:
            with _core.profile("python"):
                turn_for(0.0008)
            with _core.profile("lock"):
                until = time.perf_counter() + 0.0002
                while time.perf_counter() < until:
                    hashlib.sha256(block)
    samples = samples_by_span()
    # On a machine that others keep busy, a thread is stopped most often where it gives up the lock.
    assert samples["python"] > samples.get("lock", 0) / 3


def test_switched_off_nothing_is_sampled_and_on_again_it_goes_on() -> None:
    with a_beat(memory=BEAT):
        _core.switch_off()
        turn_for(0.1)
        drain_stacks()
        _core.drain_memory()
        turn_for(0.1)
        assert drain_stacks()[1] == []
        assert _core.drain_memory() == []
        switch_on()
        turn_for(0.2)
    assert sum(samples_by_span().values()) > 5


@pytest.mark.skipif(sys.platform != "linux", reason="the core reads memory itself on Linux")
def test_memory_is_read_without_the_lock_and_seen_by_open_spans() -> None:
    with a_beat(memory=BEAT, stacks=False), _core.profile("grow"):
        turn_for(0.05)
        block = bytearray(64 << 20)
        turn_for(0.1)
        del block
    rows = _core.drain_memory()
    assert len(rows) > 5
    assert [at for at, _ in rows] == sorted(at for at, _ in rows)
    assert max(rss for _, rss in rows) - min(rss for _, rss in rows) > 60 << 20


def test_memory_of_a_device_is_left_to_the_caller() -> None:
    _core.begin_beat(BEAT, BEAT, False, sys._current_frames)
    try:
        _core.read_memory_in_python(True)
        assert _core.keep_beat() is True
    finally:
        _core.read_memory_in_python(False)
        _core.end_beat()
    assert _core.keep_beat() is False


def test_what_a_sample_costs_is_charged_to_the_span_it_stopped() -> None:
    from rlprof.record.layout import ROW

    with a_beat(), _core.profile("work"):
        turn_for(0.3)
    rows = ROW.columns(_core.drain()[1])
    charged = dict(zip(rows["path"], rows["charged"], strict=True))
    (work,) = [path for path, (_, names) in path_keys().items() if names and names[-1][0] == "work"]
    assert 0 < charged[work] < 0.1e9


def test_a_stack_that_cannot_be_read_ends_the_beat_and_not_the_program() -> None:
    def broken() -> dict[int, object]:
        raise OSError("no frames here")

    other = threading.Event()

    def beside() -> None:
        with _core.profile("beside"):
            other.wait(1)

    thread = threading.Thread(target=beside)
    thread.start()
    _core.begin_beat(BEAT, 0.0, True, broken)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="could not be read"):
        _core.keep_beat()
    other.set()
    thread.join()
