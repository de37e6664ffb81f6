"""What the recorder promises, written a second time in the plainest Python, and a way to drive both side by side."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import numpy as np

from rlprof import _core
from rlprof.model.histogram import bucket_of
from rlprof.model.phases import PHASES
from rlprof.record import layout
from support import dtypes

Label = tuple[str, str | None, int]  # name, phase, kind
PathKey = tuple[int, tuple[Label, ...]]  # lane, labels from the root down
TURN: Label = ("iteration", None, 5)


# --- the model --------------------------------------------------------------------------------------------------------


@dataclass
class Stats:
    count: int = 0
    total: int = 0
    own: int = 0
    shortest: int = layout.NEVER
    longest: int = 0
    histogram: dict[int, int] = field(default_factory=dict)

    def tally(self, duration: int) -> None:
        self.shortest = min(self.shortest, duration)
        self.longest = max(self.longest, duration)
        self.count += 1
        self.total += duration
        bucket = bucket_of(duration)
        self.histogram[bucket] = self.histogram.get(bucket, 0) + 1

    def is_empty(self) -> bool:
        return self.count == 0 and self.own == 0

    def add(self, other: Stats) -> None:
        """Take in a later window of the same path."""
        self.shortest = min(self.shortest, other.shortest)
        self.longest = max(self.longest, other.longest)
        self.count += other.count
        self.total += other.total
        self.own += other.own
        for bucket, count in other.histogram.items():
            self.histogram[bucket] = self.histogram.get(bucket, 0) + count


@dataclass
class ReferenceSpan:
    label: Label
    opened: int = 0


@dataclass
class ReferenceFrame:
    path: PathKey
    span: ReferenceSpan | None  # None: an iteration
    start: int


@dataclass
class ReferenceStack:
    context: int
    frames: list[ReferenceFrame] = field(default_factory=list)


class ReferenceThread:
    def __init__(self, thread: int, context: int, lane: int, now: int) -> None:
        self.thread = thread
        self.lane = lane
        self.last = now
        self.base = ReferenceStack(context)
        self.current = self.base
        self.stacks = [self.base]
        self.recorded = 0

    def innermost(self) -> PathKey:
        for stack in (self.current, self.base):
            if stack.frames:
                return stack.frames[-1].path
        return self.lane, ()


@dataclass
class Window:
    """One hand-over: what changed since the one before."""

    rows: dict[PathKey, Stats]
    open_spans: list[tuple[PathKey, int]]
    counters: dict[str, tuple[float, int]]
    turns: list[tuple[int, int, float]]
    events: list[tuple[PathKey, int, int]]
    totals: dict[str, Any]


class Reference:
    """The recorder's behaviour without its limits, its clock set by hand."""

    def __init__(self, schedule: tuple[int, int, int, int] | None = None) -> None:
        self.now = 0
        self.schedule = schedule
        self.wipe()

    def wipe(self) -> None:
        self.on = False
        self.threads: list[ReferenceThread] = []  # the newest first
        self.recorded = self.emitted = self.abandoned = self.unmatched = self.turns_closed = self.logged = 0
        self.leader: ReferenceThread | None = None
        self.turn_index = -1
        self.turn_open = False
        self.turn_start = 0
        self.steps = self.steps_at_turn = 0.0
        self.logging = False
        self._begin_window()

    def _begin_window(self) -> None:
        self.rows: dict[PathKey, Stats] = {}
        self.counters: dict[str, tuple[float, int]] = {}
        self.turns: list[tuple[int, int, float]] = []
        self.events: list[tuple[PathKey, int, int]] = []

    def advance(self, nanoseconds: int) -> None:
        self.now += nanoseconds
        if self.on:
            self.recorded += nanoseconds
            for record in self.threads:
                record.recorded += nanoseconds

    def row(self, path: PathKey) -> Stats:
        return self.rows.setdefault(path, Stats())

    def here(self, thread: int, context: int) -> ReferenceThread:
        record = next((r for r in self.threads if r.thread == thread), None)
        if record is None:
            record = ReferenceThread(thread, context, len(self.threads), self.now)
            self.threads.insert(0, record)
        if record.current.context != context:
            self._switch(record, context)
        return record

    def _switch(self, record: ReferenceThread, context: int) -> None:
        self._book(record)
        left = record.current
        for stack in record.stacks:
            if stack.context == context:
                record.current = stack
                break
        else:
            record.current = ReferenceStack(context)
            record.stacks.append(record.current)
        if not left.frames and left is not record.base:
            record.stacks.remove(left)

    def _book(self, record: ReferenceThread) -> None:
        if self.on:
            self.row(record.innermost()).own += self.now - record.last
        record.last = self.now

    def _push(self, record: ReferenceThread, label: Label, span: ReferenceSpan | None) -> None:
        lane, above = record.innermost()
        self._book(record)
        record.current.frames.append(ReferenceFrame((lane, (*above, label)), span, self.now))

    def _take(self, record: ReferenceThread, stack: ReferenceStack, span: ReferenceSpan | None, counts: bool) -> bool:
        for at in range(len(stack.frames) - 1, -1, -1):
            if stack.frames[at].span is span:
                # An iteration cannot outlive the span it was begun in.
                while span is not None and stack is record.current and any(f.span is None for f in stack.frames[at:]):
                    self._end_turn(record)
                self._book(record)
                frame = stack.frames.pop(at)
                if counts:
                    self._finish(frame)
                return True
        return False

    def _take_anywhere(self, span: ReferenceSpan, counts: bool) -> bool:
        for record in self.threads:
            for stack in record.stacks:
                if self._take(record, stack, span, counts):
                    if not stack.frames and stack is not record.base and stack is not record.current:
                        record.stacks.remove(stack)
                    return True
        return False

    def _finish(self, frame: ReferenceFrame) -> None:
        duration = self.now - frame.start
        self.emitted += 1
        self.row(frame.path).tally(duration)
        if self.logging:
            self.logged += 1
            self.events.append((frame.path, frame.start, duration))

    def open(self, thread: int, context: int, span: ReferenceSpan) -> None:
        self._push(self.here(thread, context), span.label, span)
        span.opened += 1

    def close(self, thread: int, context: int, span: ReferenceSpan) -> None:
        if not span.opened:
            self.unmatched += 1
            return
        record = self.here(thread, context)
        if not self._take(record, record.current, span, True) and not self._take_anywhere(span, True):
            self.unmatched += 1
        span.opened -= 1

    def abandon(self, span: ReferenceSpan) -> None:
        while span.opened and self._take_anywhere(span, False):
            self.abandoned += 1

    def turn(self, thread: int, context: int) -> None:
        if not self.on:
            return
        record = self.here(thread, context)
        self.leader = self.leader or record
        self._end_turn(record)
        self._push(record, TURN, None)
        if record is self.leader:
            self.turn_index += 1
            self.turn_start = self.now
            self.turn_open = True
            self.steps_at_turn = self.steps
            self._follow_schedule()

    def end_turn(self, thread: int, context: int) -> None:
        if self.threads:
            self._end_turn(self.here(thread, context))

    def _end_turn(self, record: ReferenceThread) -> None:
        if self._take(record, record.current, None, True) and record is self.leader and self.turn_open:
            self.turn_open = False
            self.logging = False
            self.turns_closed += 1
            self.turns.append((self.turn_start, self.now - self.turn_start, self.steps - self.steps_at_turn))

    def _follow_schedule(self) -> None:
        if self.schedule is not None:
            wait, warmup, active, repeat = self.schedule
            cycle, place = divmod(self.turn_index, wait + warmup + active)
            self.logging = (repeat == 0 or cycle < repeat) and place >= wait + warmup

    def count(self, name: str, amount: float) -> None:
        if self.on:
            before = self.counters.get(name, (0.0, 0))
            self.counters[name] = (before[0] + amount, before[1] + 1)
            self.steps += amount if name == "env_steps" else 0

    def switch_on(self, thread: int, context: int) -> None:
        if not self.on:
            self.here(thread, context)
            for record in self.threads:
                record.last = self.now
            self.on = True

    def switch_off(self) -> None:
        if self.on:
            for record in self.threads:
                self._book(record)
            self.on = False

    def drain(self) -> Window:
        if self.on:
            for record in self.threads:
                self._book(record)
        open_spans = [
            (frame.path, frame.start) for record in self.threads for stack in record.stacks for frame in stack.frames
        ]
        totals = {
            "recorded_ns": self.recorded,
            "iteration_lane": None if self.leader is None else self.leader.lane,
            "iterations": self.turns_closed,
            "spans_emitted": self.emitted,
            "spans_abandoned": self.abandoned,
            "spans_folded": 0,
            "exits_unmatched": self.unmatched,
            "amounts_refused": 0,
            "iterations_dropped": 0,
            "events_emitted": self.logged,
            "events_dropped": 0,
        }
        rows = {path: stats for path, stats in self.rows.items() if not stats.is_empty()}
        window = Window(rows, sorted(open_spans, key=repr), self.counters, self.turns, self.events, totals)
        self._begin_window()
        return window


# --- the real one, read into the same shapes --------------------------------------------------------------------------


@contextlib.contextmanager
def a_clean_core(
    *, at: int = 0, schedule: tuple[int, int, int, int] | None = None, keep_slowest: int = 0, **settings: Any
) -> Iterator[None]:
    """The compiled recorder, empty and with its clock standing still; put back as it was afterwards."""
    _core.wipe()
    _core.set_fake_clock(at)
    _core.configure(phases=PHASES, schedule=schedule, keep_slowest=keep_slowest, **settings)
    try:
        yield
    finally:
        _core.wipe()
        _core.set_fake_clock(None)
        _core.configure(phases=PHASES, keep_slowest=0)


def switch_on() -> None:
    _core.switch_on(threading.get_ident())


def path_keys() -> dict[int, PathKey]:
    keys: dict[int, PathKey] = {}
    for number, parent, lane, name, phase, kind in _core.paths_since(0):
        keys[number] = (lane, ()) if parent is None else (lane, (*keys[parent][1], (name, phase, kind)))
    return keys


def read_window() -> Window:
    """Drain the compiled recorder."""
    _, row_bytes, bin_bytes, open_bytes, counters, turns, totals = _core.drain()
    events = [event for chunk in _core.drain_events() for event in np.frombuffer(chunk, dtypes.EVENT)]
    keys = path_keys()
    rows: dict[PathKey, Stats] = {}
    order = []
    for row in np.frombuffer(row_bytes, dtypes.ROW):
        key = keys[int(row["path"])]
        assert key not in rows, "a path is handed over once"
        order.append(key)
        rows[key] = Stats(*(int(row[name]) for name in ("count", "total", "own", "shortest", "longest")))
    for entry in np.frombuffer(bin_bytes, dtypes.BIN):
        rows[order[entry["row"]]].histogram[int(entry["bucket"])] = int(entry["count"])
    opened = [(keys[int(path)], int(start)) for path, start in np.frombuffer(open_bytes, dtypes.OPEN_SPAN)]
    return Window(
        rows={key: stats for key, stats in rows.items() if not stats.is_empty()},
        open_spans=sorted(opened, key=repr),
        counters={name: (amount, calls) for name, amount, calls in counters},
        turns=[(int(a), int(b), float(c)) for a, b, c in np.frombuffer(turns, dtypes.TURN)],
        events=[(keys[int(e["path"])], int(e["start"]), int(e["duration"])) for e in events],
        totals=totals,
    )


def added_up(windows: Sequence[Window]) -> dict[PathKey, Stats]:
    """The statistics of several windows as those of one."""
    sums: dict[PathKey, Stats] = {}
    for window in windows:
        for path, stats in window.rows.items():
            sums.setdefault(path, Stats()).add(stats)
    return sums


class Hands:
    """Threads that do what they are told, one step at a time, each in any of several contexts."""

    def __init__(self, threads: int, contexts: int) -> None:
        self._contexts: dict[tuple[int, int], contextvars.Context] = {}
        self._orders: list[SimpleQueue[Callable[[], None] | None]] = [SimpleQueue() for _ in range(threads)]
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, args=(orders,)) for orders in self._orders]
        for number in range(threads + 1):
            for context in range(1, contexts):
                self._contexts[number, context] = contextvars.Context()
        for thread in self._threads:
            thread.start()

    def _work(self, orders: SimpleQueue[Callable[[], None] | None]) -> None:
        while True:
            order = orders.get()
            if order is None:
                return
            problem: BaseException | None = None
            try:
                order()
            except BaseException as error:
                problem = error
            del order
            self._done.put(problem)

    def do(self, thread: int, context: int, action: Callable[[], None]) -> None:
        """Thread 0 is the calling one; context 0 is the thread's own."""
        if context:
            action = _inside(self._contexts[thread, context], action)
        if thread == 0:
            action()
            return
        self._orders[thread - 1].put(action)
        del action
        problem = self._done.get()
        if problem is not None:
            raise problem

    def close(self) -> None:
        for orders in self._orders:
            orders.put(None)
        for thread in self._threads:
            thread.join()


def _inside(context: contextvars.Context, action: Callable[[], None]) -> Callable[[], None]:
    return lambda: context.run(action)


# --- both together ----------------------------------------------------------------------------------------------------

Step = tuple[Any, ...]


class SideBySide:
    """Applies each step to the recorder and to the reference."""

    def __init__(self, hands: Hands, schedule: tuple[int, int, int, int] | None = None) -> None:
        self.hands = hands
        self.reference = Reference(schedule)
        self.spans: dict[int, tuple[Any, ReferenceSpan]] = {}
        self.windows: list[tuple[Window, Window]] = []

    def apply(self, step: Step) -> None:
        name, *arguments = step
        getattr(self, f"_{name}")(*arguments)

    def _advance(self, nanoseconds: int) -> None:
        self.reference.advance(nanoseconds)
        _core.set_fake_clock(self.reference.now)

    def _open(self, thread: int, context: int, slot: int, name: str, phase: str | None) -> None:
        if slot not in self.spans:
            if not self.reference.on:
                assert _core.profile(name, phase=phase) is _core.profile("anything"), "off, all spans are the same one"
                return
            self.spans[slot] = (_core.profile(name, phase=phase), ReferenceSpan((name, phase, 0)))
        real, model = self.spans[slot]
        self.hands.do(thread, context, lambda: _enter(real))
        self.reference.open(thread, context, model)

    def _close(self, thread: int, context: int, slot: int) -> None:
        if slot in self.spans:
            real, model = self.spans[slot]
            self.hands.do(thread, context, lambda: real.__exit__(None, None, None))
            self.reference.close(thread, context, model)

    def _drop(self, slot: int) -> None:
        if slot in self.spans:
            model = self.spans.pop(slot)[1]
            self.reference.abandon(model)

    def _turn(self, thread: int, context: int) -> None:
        self.hands.do(thread, context, lambda: _ignore(_core.iteration()))
        self.reference.turn(thread, context)

    def _end_turn(self, thread: int, context: int) -> None:
        self.hands.do(thread, context, lambda: _TURN.__exit__(None, None, None))
        self.reference.end_turn(thread, context)

    def _count(self, name: str, amount: float) -> None:
        _core.count(name, amount)
        self.reference.count(name, amount)

    def _on(self, thread: int, context: int) -> None:
        self.hands.do(thread, context, switch_on)
        self.reference.switch_on(thread, context)

    def _off(self) -> None:
        _core.switch_off()
        self.reference.switch_off()

    def _wipe(self) -> None:
        _core.wipe()
        self.reference.wipe()

    def _drain(self) -> None:
        self.windows.append((read_window(), self.reference.drain()))


def _enter(span: Any) -> None:
    span.__enter__()


def _ignore(_: object) -> None:
    return None


#: What `iteration()` returns. Recording is off while modules load, so this marks no turn.
_TURN: Any = _core.iteration()
