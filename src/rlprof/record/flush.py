"""From the core to the recording: drain, add up, write. What cannot be written waits for the next time."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections import Counter
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import LEVEL, PASSED, UNTIMED
from rlprof.model.own_files import is_users
from rlprof.model.recording import SHARED_THREADS, Status
from rlprof.record import layout
from rlprof.record.budget import Budget
from rlprof.record.complain import complain
from rlprof.record.facts import library_facts
from rlprof.record.identity import Identity
from rlprof.record.memory_use import Course, allocated_bytes, major_faults
from rlprof.record.noted import before_flush, noted
from rlprof.record.own_cost import Calibration, OwnCost
from rlprof.record.resting import Resting
from rlprof.record.source_facts import facts_of_files
from rlprof.record.stacks import drain_stacks
from rlprof.record.stretches import stretches
from rlprof.recording.columns import KINDS, join_rows
from rlprof.recording.store import Batch, PartStore, SlowRow

#: Flushes from one look at the slowest iterations to the next. A new one comes up all the time at first, and writing
#: one takes as long as the rest of a flush: most are overtaken before they would be written.
SLOWEST_EVERY: Final = 6
FACTS_EVERY: Final = 20  # flushes: versions and thread counts change as a program imports
MOST_WAITING_ROWS: Final = 20_000
FEWEST_TURNS: Final = 20  # of an environment, before it is said how many take turns with it


class Flusher:
    """Moves what the core measured into a store. One caller at a time: the writer thread, or `stop` after it."""

    def __init__(
        self,
        store: PartStore,
        identity: Identity,
        facts: dict[str, Any],
        calibration: Calibration,
        budget: float = 1.0,
        slowest_every: int = 1,
    ) -> None:
        self.store = store
        self.identity = identity
        self.written_spans = 0
        self.open_spans: list[tuple[int, int]] = []  # path and start of those open at the latest flush
        self._facts = facts
        self._own_cost = OwnCost(calibration)
        self._budget = Budget(budget)
        self._slowest_every = slowest_every
        self._follow_own_cost()
        self._resting = Resting(budget)
        self._totals = _core.PathTotals()
        self._counters: dict[str, list[Any]] = {}  # name -> [id, amount, calls]
        self._waiting: dict[str, list[dict[str, list[Any]]]] = {}
        self._rows = _Waiting()
        self._memory: list[tuple[int, int, int]] = []
        self._files: Counter[str] = Counter()  # places that samples fell on
        self._paths_seen = 0
        self._lanes_seen = 0
        self._last_ns = identity.start_ns
        self._flushes = 0
        self._courses = {"major_faults": Course(major_faults), "allocated_bytes": Course(allocated_bytes)}
        self._write_failed = False
        self._lost = {"events_dropped": 0, "rows_dropped": 0}

    def note_memory(self, at_ns: int, rss: int, device: int | None) -> None:
        self._memory.append((at_ns, rss, -1 if device is None else device))

    def warn(self, code: str, message: str, remedy: str) -> None:
        """Put a warning into the recording."""
        self._rows.warnings.append((code, message, remedy))

    def flush(self, status: Status = "running", exit_code: int | None = None) -> bool:
        """Drain and write. False when it could not be written, in which case nothing of it is lost yet."""
        started_cpu = time.thread_time_ns()
        for look in tuple(before_flush):
            look()
        process = self._drain(status, exit_code)
        ok = self._write(process)
        self._flushes += 1
        self._reap_threads()
        # The writer works beside the program and stops it only when both want the interpreter: the whole of it is
        # booked as our own cost, and half of it as that figure's error.
        _core.charge(time.thread_time_ns() - started_cpu, threading.main_thread().ident)
        return ok

    def _drain(self, status: Status, exit_code: int | None) -> dict[str, Any]:
        now, rows, bins, opened, counters, turns, totals = _core.drain()
        columns = layout.ROW.columns(rows)
        self._totals.add(rows, bins)
        env_steps = sum(amount for name, amount, _ in counters if name == "env_steps")
        for path, calls in self._resting.missed(columns, env_steps):
            self._totals.add_unseen(path, calls)
        self._add_windows(now, columns)
        self._add_counters(now, counters)
        self._add_iterations(layout.TURN.columns(turns))
        self._add_memory()
        self._add_samples(now)
        self._add_events()
        if (self._flushes + 1) % self._slowest_every == 0 or status != "running":
            self._add_slowest()
        self._add_stretches()
        spans = layout.OPEN_SPAN.columns(opened)
        self._rows.open_spans = self.open_spans = list(zip(spans["path"], spans["start"], strict=True))
        self._add_names()
        seconds = (now - self._last_ns) / 1e9
        self._follow_own_cost()
        self._budget.follow(seconds, columns)
        self._resting.follow(seconds, columns, env_steps)
        self._last_ns = now
        return self._process_row(now, totals, status, exit_code)

    def _follow_own_cost(self) -> None:
        self._own_cost.see(_core.take_looks())
        costs = self._own_cost.costs()
        self._costs = {kind: (c.inside_ns, c.outside_ns, c.error_ns) for kind, c in costs.items()}
        _core.set_costs(*(round(costs[kind].outside_ns) if kind in costs else 0 for kind in (PASSED, UNTIMED)))
        self._budget.know(costs)

    def _add(self, kind: str, columns: dict[str, list[Any]]) -> None:
        self._waiting.setdefault(kind, []).append(columns)

    def _add_windows(self, now: int, rows: dict[str, list[int]]) -> None:
        size = len(rows["path"])
        if size:
            self._add(
                "windows",
                {
                    "start_ns": [self._last_ns] * size,
                    "end_ns": [now] * size,
                    "path": rows["path"],
                    "count": rows["count"],
                    "total_ns": rows["total"],
                    "self_ns": rows["own"],
                    "charged_ns": rows["charged"],
                    "min_ns": [-1 if shortest == layout.NEVER else shortest for shortest in rows["shortest"]],
                    "max_ns": rows["longest"],
                },
            )

    def _add_counters(self, now: int, counters: list[tuple[str, float, int]]) -> None:
        for name, amount, calls in counters:
            total = self._counters.setdefault(name, [len(self._counters), 0.0, 0])
            total[1] += amount
            total[2] += calls
        if counters:
            self._add(
                "counters",
                {
                    "start_ns": [self._last_ns] * len(counters),
                    "end_ns": [now] * len(counters),
                    "counter": [self._counters[name][0] for name, _, _ in counters],
                    "amount": [amount for _, amount, _ in counters],
                    "calls": [calls for _, _, calls in counters],
                },
            )

    def _add_iterations(self, turns: dict[str, list[Any]]) -> None:
        if turns["start"]:
            self._add(
                "iterations",
                {"start_ns": turns["start"], "duration_ns": turns["duration"], "env_steps": turns["env_steps"]},
            )

    def _add_memory(self) -> None:
        taken, self._memory = self._memory, []
        taken += [(at_ns, rss, -1) for at_ns, rss in _core.drain_memory()]
        if taken:
            at, rss, device = map(list, zip(*taken, strict=True))
            self._add("memory", {"at_ns": at, "rss_bytes": rss, "device_bytes": device})

    def _add_samples(self, now: int) -> None:
        frames, samples = drain_stacks()
        self._rows.frames += frames
        self._files.update(file for _, _, _, file, _ in frames)
        if samples:
            path, frame, count = map(list, zip(*samples, strict=True))
            self._add("samples", {"path": path, "frame": frame, "count": count})
            self._add("sample_slices", {"end_ns": [now], "rows": [len(path)]})

    def _add_events(self) -> None:
        for chunk in _core.drain_events():
            self._add("events", _event_columns(chunk))

    def _add_slowest(self) -> None:
        fresh, kept = _core.drain_slow_iterations()
        for index, start, duration, elided, below, log in fresh:
            events = _event_columns(log)
            self._rows.slow.append(SlowRow(index, start, duration, elided, below, events))
        self._rows.slow_kept = kept

    def _add_stretches(self) -> None:
        rows = stretches.drain()
        if rows:
            what, env, start, duration = map(list, zip(*rows, strict=True))
            self._add("stretches", {"what": what, "env": env, "start_ns": start, "duration_ns": duration})

    def _add_names(self) -> None:
        paths = _core.paths_since(self._paths_seen)
        self._paths_seen += len(paths)
        self._rows.paths += paths
        self._budget.learn_paths(paths)
        for number, parent, _, _, _, kind in paths:
            self._resting.learn_path(number, parent, is_level=kind == LEVEL)
        lanes = _core.lanes_since(self._lanes_seen)
        self._lanes_seen += len(lanes)
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for number, ident, shared, is_main in lanes:
            name = SHARED_THREADS if shared else names.get(ident, f"thread {ident}")
            self._rows.threads.append((number, name, is_main))

    def _process_row(self, now: int, totals: dict[str, Any], status: Status, code: int | None) -> dict[str, Any]:
        if self._flushes % FACTS_EVERY == 0 or status != "running":
            self._facts.update(library_facts())
            multiprocessing = sys.modules.get("multiprocessing.process")
            if multiprocessing is not None:
                self._facts["name"] = multiprocessing.current_process().name
        if status != "running" and self.identity.role == "main":
            own = Counter({file: places for file, places in self._files.items() if is_users(file)})
            self._facts.update(facts_of_files(own, self.identity.started))
        self._facts.update(noted())
        self._facts.update(stretches.facts())
        turns, steps = _core.envs_in_turn()
        if turns >= FEWEST_TURNS:
            self._facts["envs_in_turn"] = steps / turns
        for name, course in self._courses.items():
            course.note(now)
            self._facts[name] = course.fact()
        recorded = totals.pop("recorded_ns")
        lane = totals.pop("iteration_lane")
        totals["events_dropped"] += self._lost["events_dropped"]
        totals["rows_dropped"] = self._lost["rows_dropped"] + stretches.dropped
        return {
            **self.identity.row(),
            "end_ns": now,
            "recorded_ns": recorded,
            "status": status,
            "exit_code": code,
            "facts": self._facts,
            "costs": self._costs,
            "losses": totals,
            "iteration_thread": lane,
            "wall_drift": self.identity.wall_drift(),
        }

    def _write(self, process: dict[str, Any]) -> bool:
        batch = self._rows.batch(process)
        batch.stats = self._totals.changed_rows()
        batch.counters = [(number, name, amount, calls) for name, (number, amount, calls) in self._counters.items()]
        batch.tables = {kind: join_rows(tables, KINDS[kind]) for kind, tables in self._waiting.items()}
        process["losses"]["spans_written"] = self._totals.spans
        try:
            self.store.write(batch)
        except (sqlite3.Error, OSError, ValueError) as error:
            self._note_failure(error)
            self._bound_what_waits()
            return False
        self.written_spans = self._totals.spans
        self._totals.settle()
        self._waiting.clear()
        self._rows = _Waiting()
        return True

    def _note_failure(self, error: Exception) -> None:
        if self._write_failed:
            return
        self._write_failed = True
        self.warn("write-failed", f"writing failed for a time: {error}", "look at the disk's free space")
        if self.identity.role == "main":  # a full disk is full for all of a run's processes: one says so
            complain("write", f"cannot write the recording ({error}); training goes on, and writing is tried again")

    def _bound_what_waits(self) -> None:
        """Keep memory bounded while nothing can be written: the oldest details go, totals stay whole."""
        for kind, tables in self._waiting.items():
            joined = join_rows(tables, KINDS[kind])
            size = len(next(iter(joined.values())))
            if size > MOST_WAITING_ROWS:
                keep = MOST_WAITING_ROWS // 2
                self._lost["events_dropped" if kind == "events" else "rows_dropped"] += size - keep
                joined = {name: column[-keep:] for name, column in joined.items()}
            self._waiting[kind] = [joined]
        self._rows.slow = [row for row in self._rows.slow if row.iteration in self._rows.slow_kept]

    def _reap_threads(self) -> None:
        _core.reap(frozenset(sys._current_frames()))


class _Waiting:
    """Rows that are not on disk yet."""

    def __init__(self) -> None:
        self.threads: list[tuple[int, str, bool]] = []
        self.paths: list[tuple[int, int | None, int, str, str | None, int]] = []
        self.frames: list[tuple[int, int | None, str, str, int]] = []
        self.open_spans: list[tuple[int, int]] = []
        self.slow: list[SlowRow] = []
        self.slow_kept: list[int] = []
        self.warnings: list[tuple[str, str, str]] = []

    def batch(self, process: dict[str, Any]) -> Batch:
        return Batch(
            process, threads=self.threads, paths=self.paths, open_spans=self.open_spans, frames=self.frames,
            slow=self.slow, slow_kept=self.slow_kept, warnings=self.warnings,
        )  # fmt: skip


def _event_columns(log: bytes) -> dict[str, list[Any]]:
    column = layout.EVENT.column
    return {"path": column(log, "path"), "start_ns": column(log, "start"), "duration_ns": column(log, "duration")}
