"""The slowest iterations span by span, as the flight recorder or a schedule kept them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.iterations import SHOWN
from rlprof.analyse.ledger import NS_PER_SECOND, Account, open_account
from rlprof.analyse.throughput import iterating_process
from rlprof.model.recording import EventTable, Process, Recording, SlowIteration

#: Of all timelines together. Where an iteration has more, its longest spans are shown.
MOST_SPANS: Final = 8_000
#: Even where slower iterations could fill the room alone.
FEWEST_SPANS: Final = 600


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """`start_s` is since the iteration's start, `parent` the number of the span around it."""

    name: str
    phase: str
    parent: int | None
    depth: int
    start_s: float
    seconds: float


@dataclass(frozen=True, slots=True)
class IterationTimeline:
    index: int
    at_s: float
    seconds: float
    spans: tuple[TimedSpan, ...]  # by start, the outer before the inner
    left_out: int  # spans that were shorter than those shown, here or in the recording


def slow_timelines(recording: Recording) -> tuple[IterationTimeline, ...]:
    """Slowest first; only those whose single spans were kept."""
    turning = iterating_process(recording)
    if turning is None:
        return ()
    kept = [slow for slow in turning.slow_iterations or _from_events(turning) if len(slow.events.path)]
    if not kept:
        return ()
    account = open_account(turning)
    slowest = sorted(kept, key=lambda slow: slow.duration_ns, reverse=True)[:SHOWN]
    found: list[IterationTimeline] = []
    room = MOST_SPANS
    for slow, others in zip(slowest, range(len(slowest) - 1, -1, -1), strict=True):
        found.append(_timeline(account, slow, recording.main.start_ns, room - others * FEWEST_SPANS))
        room -= len(found[-1].spans)
    return tuple(found)


def _from_events(turning: Process) -> list[SlowIteration]:
    """The slowest of the iterations in which a schedule logged every span."""
    table, events = turning.iterations, turning.events
    found: list[SlowIteration] = []
    for index in np.argsort(-table.duration_ns, kind="stable").tolist() if len(events.path) else ():
        start, lasted = int(table.start_ns[index]), int(table.duration_ns[index])
        rows = (events.start_ns < start + lasted) & (events.start_ns + events.duration_ns > start)
        if rows.any():
            inside = EventTable(events.path[rows], events.start_ns[rows], events.duration_ns[rows])
            found.append(SlowIteration(int(index), start, lasted, 0, 0, inside))
        if len(found) == SHOWN:
            break
    return found


def _timeline(account: Account, slow: SlowIteration, zero: int, most: int) -> IterationTimeline:
    events = slow.events
    lane = np.isin(events.path, np.array(account.lane_paths, np.int64))
    inside = lane & (events.start_ns + events.duration_ns > slow.start_ns)
    inside &= events.start_ns < slow.start_ns + slow.duration_ns
    rows = np.flatnonzero(inside)
    longest = rows[np.argsort(-events.duration_ns[rows], kind="stable")[:most]]
    order = longest[np.lexsort((events.path[longest], -events.duration_ns[longest], events.start_ns[longest]))]
    return IterationTimeline(
        index=slow.index,
        at_s=(slow.start_ns - zero) / NS_PER_SECOND,
        seconds=slow.duration_ns / NS_PER_SECOND,
        spans=tuple(_nested(account, slow, order.tolist())),
        left_out=len(rows) - len(longest) + slow.elided,
    )


def _nested(account: Account, slow: SlowIteration, order: list[int]) -> list[TimedSpan]:
    """A span lies within those that began before it and have not ended."""
    events, paths = slow.events, account.process.paths
    last = slow.start_ns + slow.duration_ns
    around: list[tuple[int, int]] = []  # when each span that goes on ends, and its number
    found: list[TimedSpan] = []
    for row in order:
        start = max(int(events.start_ns[row]), slow.start_ns)
        end = min(int(events.start_ns[row]) + max(int(events.duration_ns[row]), 0), last)
        while around and around[-1][0] <= start:
            around.pop()
        end = min(end, around[-1][0]) if around else end
        path = int(events.path[row])
        found.append(
            TimedSpan(
                name=paths[path].name,
                phase=account.phases[path],
                parent=around[-1][1] if around else None,
                depth=len(around),
                start_s=(start - slow.start_ns) / NS_PER_SECOND,
                seconds=max(end - start, 0) / NS_PER_SECOND,
            )
        )
        around.append((end, len(found) - 1))
    return found
