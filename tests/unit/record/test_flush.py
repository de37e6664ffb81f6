"""From the core to the store: nothing is lost while nothing can be written, and memory stays bounded."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rlprof import _core
from rlprof.model.recording import Process, SpanCost
from rlprof.record import complain as complain_module
from rlprof.record import flush as flush_module
from rlprof.record.background import seconds_between_flushes
from rlprof.record.flush import Flusher
from rlprof.record.identity import Identity
from rlprof.record.own_cost import Calibration
from rlprof.recording.liveness import birth_mark
from rlprof.recording.reader import read_connection
from rlprof.recording.store import Batch, PartStore
from support.parts import codes
from support.reference import a_clean_core, switch_on


class MoodyStore(PartStore):
    """A store that refuses for a while."""

    def __init__(self) -> None:
        super().__init__(None)
        self.refuses: Exception | None = None
        self.batches: list[Batch] = []

    def write(self, batch: Batch) -> None:
        if self.refuses is not None:
            raise self.refuses
        super().write(batch)
        self.batches.append(batch)


@pytest.fixture
def store() -> Iterator[MoodyStore]:
    complain_module.forget()
    store = MoodyStore()
    with a_clean_core(at=1_000, schedule=(0, 0, 1, 0), keep_slowest=2):
        switch_on()
        yield store
    store.close()
    complain_module.forget()


@pytest.fixture
def flusher(store: MoodyStore) -> Flusher:
    facts = {"host": "here", "birth": birth_mark(os.getpid())}
    return Flusher(store, Identity.of_this_process("main", None), facts, Calibration({0: SpanCost(1.0, 2.0, 0.5)}, {}))


def work(turns: int, duration: int = 10) -> None:
    for _ in range(turns):
        with _core.iteration(), _core.profile("step", phase="env.step"):
            _core.count("env_steps", 4)
            _core.set_fake_clock(_core.clock_ns() + duration)


def read(store: PartStore) -> Process:
    return read_connection(store.snapshot(), "memory").main


def named(process: Process, name: str) -> int:
    return next(path.id for path in process.paths.values() if path.name == name)


def test_what_was_measured_can_be_read_after_a_flush(store: MoodyStore, flusher: Flusher) -> None:
    work(3)
    assert flusher.flush()
    found = read(store)
    stats = found.stats[named(found, "step")]
    assert (stats.count, stats.total_ns, stats.self_ns, stats.min_ns, stats.max_ns) == (3, 30, 30, 10, 10)
    assert found.counters["env_steps"].amount == 12
    assert found.iterations.duration_ns.tolist() == [10, 10, 10]
    assert len(found.events.path) == 6
    assert len(found.slow_iterations) == 2
    assert found.status == "running"
    assert found.recorded_ns == 30


def test_windows_add_up_to_the_totals(store: MoodyStore, flusher: Flusher) -> None:
    for turns in (1, 0, 5, 2):
        work(turns)
        flusher.flush()
    flusher.flush("completed", 0)
    found = read(store)
    for path, stats in found.stats.items():
        rows = found.windows.path == path
        assert found.windows.count[rows].sum() == stats.count
        assert found.windows.total_ns[rows].sum() == stats.total_ns
        assert found.windows.self_ns[rows].sum() == stats.self_ns
    assert found.counter_windows.amount.sum() == found.counters["env_steps"].amount == 32
    assert (found.status, found.exit_code) == ("completed", 0)


def test_windows_follow_each_other_without_a_gap(store: MoodyStore, flusher: Flusher) -> None:
    for _ in range(4):
        work(1)
        flusher.flush()
    slices = sorted(set(zip(read(store).windows.start_ns.tolist(), read(store).windows.end_ns.tolist(), strict=True)))
    assert slices == [(1_000, 1_010), (1_010, 1_020), (1_020, 1_030), (1_030, 1_040)]


@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("disk I/O error"), OSError(28, "No space left on device"), ValueError("odd")]
)
def test_nothing_is_lost_when_the_store_fails_for_a_while(
    store: MoodyStore, flusher: Flusher, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    work(2)
    assert flusher.flush()
    store.refuses = error
    for _ in range(5):
        work(3)
        assert not flusher.flush()
    store.refuses = None
    work(1)
    assert flusher.flush()
    found = read(store)
    assert found.stats[named(found, "step")].count == 18
    assert found.counters["env_steps"].amount == 72
    assert len(found.iterations.start_ns) == 18
    assert len(found.events.path) == 36
    assert found.counter_windows.amount.sum() == 72
    assert capsys.readouterr().err.count("cannot write the recording") == 1
    assert codes(found.warnings) == ["write-failed"]
    assert flusher.written_spans == 36


def test_what_waits_is_bounded_and_what_is_given_up_is_counted(
    store: MoodyStore, flusher: Flusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush_module, "MOST_WAITING_ROWS", 100)
    store.refuses = OSError("full")
    for _ in range(200):
        work(4)
        flusher.flush()
        assert all(sum(len(next(iter(t.values()))) for t in tables) <= 100 for tables in flusher._waiting.values())
    store.refuses = None
    assert flusher.flush()
    found = read(store)
    assert found.stats[named(found, "step")].count == 800
    assert found.counters["env_steps"].amount == 3200
    assert len(found.events.path) + found.losses["events_dropped"] == 1600
    kept = len(found.iterations.start_ns) + len(found.windows.path) + len(found.counter_windows.amount)
    assert found.losses["rows_dropped"] > 0
    assert kept < 300


def test_slow_iterations_that_wait_are_bounded(store: MoodyStore, flusher: Flusher) -> None:
    store.refuses = OSError("full")
    for turn in range(100):
        work(1, duration=10 + turn)  # each slower than all before
        flusher.flush()
    assert len(flusher._rows.slow) <= 2
    store.refuses = None
    flusher.flush()
    assert [slow.duration_ns for slow in read(store).slow_iterations] == [109, 108]


def test_slow_iterations_may_be_looked_at_more_seldom_and_the_last_flush_brings_them_all(store: MoodyStore) -> None:
    identity = Identity.of_this_process("main", None)
    seldom = Flusher(store, identity, {"host": "here"}, Calibration({}, {}), slowest_every=3)
    seen = []
    for turn in range(7):
        work(1, duration=10 + turn)
        seldom.flush("completed" if turn == 6 else "running")
        seen.append([slow.duration_ns for slow in read(store).slow_iterations])
    assert seen == [[], [], [12, 11], [12, 11], [12, 11], [15, 14], [16, 15]]


def test_the_newest_detail_is_what_is_kept(
    store: MoodyStore, flusher: Flusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush_module, "MOST_WAITING_ROWS", 10)
    store.refuses = OSError("full")
    for _ in range(30):
        work(1)
        flusher.flush()
    store.refuses = None
    flusher.flush()
    starts = read(store).iterations.start_ns.tolist()
    assert starts == sorted(starts)
    assert starts[-1] == 1_000 + 29 * 10


def test_emitted_spans_are_written_or_waiting(store: MoodyStore, flusher: Flusher) -> None:
    work(7)
    flusher.flush()
    tally = store.batches[-1].process["losses"]
    assert tally["spans_emitted"] == tally["spans_written"] == 14


def test_memory_samples_without_a_device_say_so(store: MoodyStore, flusher: Flusher) -> None:
    flusher.note_memory(1_005, 500, None)
    flusher.note_memory(1_006, 600, 70)
    flusher.flush()
    memory = read(store).memory
    assert memory.rss_bytes.tolist() == [500, 600]
    assert memory.device_bytes.tolist() == [-1, 70]


def test_spans_that_are_open_are_listed_with_their_start(store: MoodyStore, flusher: Flusher) -> None:
    with _core.profile("open"):
        _core.set_fake_clock(1_500)
        flusher.flush()
        found = read(store)
        assert found.stats[named(found, "open")].open_since_ns == (1_000,)
        assert found.stats[named(found, "open")].self_ns == 500
    flusher.flush()
    assert read(store).stats[named(found, "open")].open_since_ns == ()


def test_a_warning_is_written_once(store: MoodyStore, flusher: Flusher) -> None:
    flusher.warn("odd", "something was odd", "do this")
    flusher.flush()
    flusher.flush()
    assert codes(read(store).warnings) == ["odd"]


def test_names_of_threads_and_libraries_are_noted(
    store: MoodyStore, flusher: Flusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", type(sys)("gymnasium"))
    monkeypatch.setattr(sys.modules["gymnasium"], "__version__", "9.9", raising=False)
    flusher.flush()
    found = read(store)
    assert [thread.name for thread in found.threads] == ["MainThread"]
    assert found.threads[0].is_main
    assert found.facts["gymnasium"] == "9.9"
    assert found.facts["host"] == "here"


def test_columns_of_a_batch_have_the_types_that_are_stored(store: MoodyStore, flusher: Flusher) -> None:
    work(1)
    flusher.flush()
    tables: dict[str, Any] = store.batches[-1].tables
    assert set(tables) == {"windows", "counters", "iterations", "events"}
    assert all(np.asarray(column).ndim == 1 for table in tables.values() for column in table.values())


def test_flushes_that_cost_much_come_more_seldom_and_never_so_seldom_that_a_kill_costs_more_than_a_second() -> None:
    cheap, dear, very_dear = (seconds_between_flushes(cost) for cost in (0.001, 0.0024, 0.5))
    assert cheap == 0.5
    assert dear == pytest.approx(0.6)
    assert dear < very_dear < 0.8
