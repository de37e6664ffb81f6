"""Probes that look at too many calls to be worth it rest for most of the time: what they wrap is put back as it was.

Even a call that is only counted costs the interpreter a detour. Levels of an environment, wrapper in wrapper in every
one of many environments, are the most frequent by far and the least needed: the step around them is timed all the same.
So in one flush of ten they are looked at. For the other nine, their calls are put down as untimed ones, as many to each
step around them as there were when they were last seen; the report then moves the time where it belongs, as for all
calls that were thinned out. Steps of another length may be those of other environments, of a single one for evaluation
say: then as many to each second of the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rlprof.record.noted import noted

#: The fact that record/alternation.py notes.
ALTERNATES: Final = "alternate"
#: Flushes in which resting probes sleep, for each one in which they are awake.
SLEEPS: Final = 9
#: Calls of a level in flushes that were looked at, before it may rest.
ENOUGH_CALLS: Final = 2000
#: What a call takes that is looked at, at the least: it is no longer inlined.
DETOUR_NS: Final = 100.0
#: How much what was seen before counts beside what is seen now: environments get slower and faster.
BEFORE: Final = 0.5
#: Steps that take so many times as long, or as short, are steps of something else.
OTHER_STEPS: Final = 1.5
#: They rest where their detours alone would take this part of the budget.
WORTH_RESTING: Final = 0.03


class Restable(Protocol):
    def rest(self) -> None:
        """Put back what was there before, as soon as may be."""

    def wake(self) -> None:
        """Look again, as soon as may be."""


#: Who can rest. Probes enter themselves here.
restables: list[Restable] = []


@dataclass(slots=True)
class _Seen:
    """Of a path that rests: its calls while they were looked at, and the calls and the time of the span around it."""

    ever: int = 0
    calls: float = 0.0
    steps: float = 0.0
    steps_ns: float = 0.0
    rest: float = 0.0  # what is left of a call that was put down in part

    def see(self, calls: int, steps: int, steps_ns: int) -> None:
        self.ever += calls
        self.calls = BEFORE * self.calls + calls
        self.steps = BEFORE * self.steps + steps
        self.steps_ns = BEFORE * self.steps_ns + steps_ns

    def missed(self, steps: int, steps_ns: int) -> int:
        """Calls that were not looked at in so many steps around them, which took so long."""
        if not (self.steps and self.steps_ns and steps > 0):
            return 0
        longer = (steps_ns / steps) / (self.steps_ns / self.steps)
        if 1 / OTHER_STEPS < longer < OTHER_STEPS:
            self.rest += steps * self.calls / self.steps
        else:
            self.rest += steps_ns * self.calls / self.steps_ns
        whole = int(self.rest)
        self.rest -= whole
        return whole


class Resting:
    """When levels rest and wake, and which calls of theirs were missed."""

    def __init__(self, share: float) -> None:
        self._worth = WORTH_RESTING * share * 1e9
        self._share = share
        self._seen: dict[int, _Seen] = {}
        self._parent: dict[int, int] = {}
        self._levels: set[int] = set()
        self._sleeps = 0  # flushes still to come

    def learn_path(self, path: int, parent: int | None, *, is_level: bool) -> None:
        if not is_level or parent is None:
            return
        self._levels.add(path)
        if parent not in self._levels:  # what is inside a level is thinned out with it
            self._parent[path] = parent

    def missed(self, rows: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
        """Calls that levels have missed in this flush: (path, how many)."""
        if not self._sleeps:
            return
        timed = _timed_calls(rows)
        counts = dict(zip(rows["path"], rows["count"], strict=True))
        for path, seen in self._seen.items():
            # A class that was ever outermost does not rest with the others: its calls are there already.
            calls = seen.missed(*timed.get(self._parent[path], (0, 0))) - counts.get(path, 0)
            if calls > 0:
                yield path, calls

    def follow(self, seconds: float, rows: Mapping[str, Sequence[int]]) -> None:
        """After a flush: rest, sleep on or wake."""
        if self._share >= 1 or not restables or seconds <= 0:
            return
        if self._sleeps:
            # Two ways that take turns are compared batch by batch: every one of them is looked at.
            self._sleeps = 0 if ALTERNATES in noted() else self._sleeps - 1
            if not self._sleeps:
                for each in tuple(restables):
                    each.wake()
            return
        counts = dict(zip(rows["path"], rows["count"], strict=True))
        timed = _timed_calls(rows)
        for path, parent in self._parent.items():
            steps, steps_ns = timed.get(parent, (0, 0))
            if steps:
                self._seen.setdefault(path, _Seen()).see(counts.get(path, 0), steps, steps_ns)
        calls = sum(counts.get(path, 0) for path in self._levels)
        if calls * DETOUR_NS / seconds < self._worth or self._is_new(counts) or ALTERNATES in noted():
            return
        self._sleeps = SLEEPS
        for each in tuple(restables):
            each.rest()

    def _is_new(self, counts: Mapping[int, int]) -> bool:
        """Whether one that is called now was not seen often enough yet."""
        return any(counts.get(path) and self._seen[path].ever < ENOUGH_CALLS for path in self._seen)


def _timed_calls(rows: Mapping[str, Sequence[int]]) -> dict[int, tuple[int, int]]:
    """Of each path the calls that were timed, and their time: inside the others nothing is looked at anyway."""
    columns = zip(rows["path"], rows["count"], rows["untimed"], rows["total"], strict=True)
    return {path: (count - untimed, total) for path, count, untimed, total in columns}
