"""Probes that look at too many calls to be worth it rest for most of the time: what they wrap is put back as it was.

Even a call that is only counted costs the interpreter a detour. Levels of an environment, wrapper in wrapper in every
one of many environments, are the most frequent by far and the least needed: the step around them is timed all the same.
So in one flush of ten, and later of sixty, they are looked at. For the others, their calls are put down as untimed
ones, as many to each step around them as there were when they were last seen; the report then moves the time where it
belongs, as for all calls that were thinned out. A step may be that of many environments or of one: where env steps are
counted, there are as many calls to each of those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rlprof.record.noted import noted

#: The fact that record/alternation.py notes.
ALTERNATES: Final = "alternate"
#: Flushes in which resting probes sleep, before they are looked at for the second time.
SLEEPS: Final = 9
#: Each night is half as long again as the one before, up to this: what levels take for each step is known better and
#: better, and a class that was changed a thousand times is one that Python 3.12 makes quick no more.
MOST_SLEEPS: Final = 60
#: Calls of a level in flushes that were looked at, before it may rest.
ENOUGH_CALLS: Final = 2000
#: What a call takes that is looked at, at the least: it is no longer inlined.
DETOUR_NS: Final = 100.0
#: How much what was seen before counts beside what is seen now: environments get slower and faster.
BEFORE: Final = 0.5
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
    """Of a path that rests: its calls while they were looked at, and the env steps inside the span around it."""

    ever: int = 0
    calls: float = 0.0
    env_steps: float = 0.0
    rest: float = 0.0  # what is left of a call that was put down in part

    def see(self, calls: int, env_steps: float) -> None:
        self.ever += calls
        self.calls = BEFORE * self.calls + calls
        self.env_steps = BEFORE * self.env_steps + env_steps

    def missed(self, env_steps: float) -> int:
        """Calls that were not looked at in so many env steps."""
        if not (self.env_steps and env_steps > 0):
            return 0
        self.rest += env_steps * self.calls / self.env_steps
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
        self._night = SLEEPS  # how many it will be next time

    def learn_path(self, path: int, parent: int | None, *, is_level: bool) -> None:
        if not is_level or parent is None:
            return
        self._levels.add(path)
        if parent not in self._levels:  # what is inside a level is thinned out with it
            self._parent[path] = parent

    def missed(self, rows: Mapping[str, Sequence[int]], env_steps: float) -> Iterator[tuple[int, int]]:
        """Calls that levels have missed in this flush of so many env steps: (path, how many)."""
        if not self._sleeps:
            return
        inside = self._env_steps_inside(rows, env_steps)
        counts = dict(zip(rows["path"], rows["count"], strict=True))
        for path, seen in self._seen.items():
            # A class that was ever outermost does not rest with the others: its calls are there already.
            calls = seen.missed(inside.get(self._parent[path], 0.0)) - counts.get(path, 0)
            if calls > 0:
                yield path, calls

    def follow(self, seconds: float, rows: Mapping[str, Sequence[int]], env_steps: float) -> None:
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
        inside = self._env_steps_inside(rows, env_steps)
        for path, parent in self._parent.items():
            if inside.get(parent):
                self._seen.setdefault(path, _Seen()).see(counts.get(path, 0), inside[parent])
        calls = sum(counts.get(path, 0) for path in self._levels)
        if calls * DETOUR_NS / seconds < self._worth or self._is_new(counts) or ALTERNATES in noted():
            return
        self._sleeps = self._night
        self._night = min(self._night + self._night // 2, MOST_SLEEPS)
        for each in tuple(restables):
            each.rest()

    def _is_new(self, counts: Mapping[int, int]) -> bool:
        """Whether one that is called now was not seen often enough yet."""
        return any(counts.get(path) and self._seen[path].ever < ENOUGH_CALLS for path in self._seen)

    def _env_steps_inside(self, rows: Mapping[str, Sequence[int]], env_steps: float) -> dict[int, float]:
        """The env steps in the timed calls of each span around levels: inside the others nothing is looked at anyway.

        All these calls are taken to step as many environments each, one where env steps are not counted.
        """
        around = set(self._parent.values())
        columns = zip(rows["path"], rows["count"], rows["untimed"], strict=True)
        steps = {path: (count, count - untimed) for path, count, untimed in columns if path in around}
        whole = sum(count for count, _ in steps.values())
        each = env_steps / whole if whole and env_steps else 1.0
        return {path: timed * each for path, (_, timed) in steps.items()}
