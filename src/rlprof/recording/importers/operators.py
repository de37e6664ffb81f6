"""Operators of a torch trace, added up by the span of the recording that was open when they began."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from rlprof.recording.importers.device import CALLS, COPIES, FILLS, KERNELS, Event

OPERATIONS: Final = frozenset({"cpu_op", "Operator"})
ON_DEVICE: Final = KERNELS | COPIES | FILLS
NO_PATH: Final = -1

Timed = tuple[Event, int, int]
Key = tuple[int, str]  # path, operator
Launch = tuple[Key, bool]  # who launched something on the device, and whether that is counted as a call already


class Track:
    """The innermost span over time, of spans as (start, end, path) in the order of their starts, outer ones first."""

    def __init__(self, spans: Iterable[tuple[int, int, int]], base: int | None) -> None:
        self._moments: list[int] = []
        self._paths: list[int] = []
        self._base = NO_PATH if base is None else base
        opened: list[tuple[int, int]] = []
        for start, end, path in spans:
            self._close_until(opened, start)
            self._turn(start, path)
            opened.append((end, path))
        self._close_until(opened, None)

    def _close_until(self, opened: list[tuple[int, int]], moment: int | None) -> None:
        while opened and (moment is None or opened[-1][0] <= moment):
            end, _ = opened.pop()
            self._turn(end, opened[-1][1] if opened else self._base)

    def _turn(self, moment: int, path: int) -> None:
        self._moments.append(max(moment, self._moments[-1]) if self._moments else moment)
        self._paths.append(path)

    def at(self, moment: int) -> int:
        number = bisect_right(self._moments, moment)
        return self._paths[number - 1] if number else self._base


class Operators:
    """Calls, time, own time and device time of every operator in every path."""

    def __init__(self) -> None:
        self._sums: dict[Key, list[int]] = {}

    def add(self, events: Sequence[Timed], track: Track, clock: Sequence[tuple[int, int]]) -> None:
        """Those of one trace. `clock` says how much later the track's clock is, from moments of the trace on."""
        later = _later(clock)
        launches: dict[Any, Launch] = {}
        host = [found for found in events if found[0].get("cat") in OPERATIONS or found[0].get("cat") in CALLS]
        for _, those in groupby(sorted(host, key=_place), _place):
            self._add_thread(sorted(those, key=lambda found: (found[1], -found[2])), track, later, launches)
        for event, _, duration in events:
            if event.get("cat") in ON_DEVICE:
                number = _correlation(event)
                launch = launches.get(number) if number is not None else None
                if launch is not None:
                    key, counted = launch
                    sums = self._of(key)
                    sums[0] += not counted
                    sums[3] += duration
                    launches[number] = (key, True)

    def _add_thread(
        self, events: Sequence[Timed], track: Track, later: Callable[[int], int], launches: dict[Any, Launch]
    ) -> None:
        opened: list[tuple[int, Key]] = []
        for event, start, duration in events:
            while opened and opened[-1][0] <= start:
                opened.pop()
            key = (track.at(start + later(start)), str(event.get("name", "?")))
            if event.get("cat") in CALLS:
                # What no operator launches, as a graph of kernels, is listed by the call that does.
                launches[_correlation(event)] = (opened[-1][1], True) if opened else (key, False)
                continue
            end = min(start + duration, opened[-1][0]) if opened else start + duration
            sums = self._of(key)
            sums[0] += 1
            sums[2] += end - start
            if not any(above == key for _, above in opened):  # an operator inside itself takes no time twice
                sums[1] += end - start
            if opened:
                self._of(opened[-1][1])[2] -= end - start
            opened.append((end, key))

    def _of(self, key: Key) -> list[int]:
        return self._sums.setdefault(key, [0, 0, 0, 0])

    def rows(self, most: int) -> list[list[Any]]:
        """[path, operator, calls, total, own, on the device], in nanoseconds; those with the most time first."""
        ranked = sorted(self._sums.items(), key=lambda item: (-item[1][2] - item[1][3], item[0]))
        return [[path, name, *sums] for (path, name), sums in ranked[:most]]


def _later(clock: Sequence[tuple[int, int]]) -> Callable[[int], int]:
    """How much later our clock is at a moment of the trace: as at the latest mark before it."""
    moments = [moment for moment, _ in clock]

    def later(moment: int) -> int:
        return clock[max(bisect_right(moments, moment) - 1, 0)][1]

    return later


def _place(found: Timed) -> tuple[str, str]:
    return str(found[0].get("pid")), str(found[0].get("tid"))


def _correlation(event: Event) -> Any:
    arguments = event.get("args")
    number = arguments.get("correlation") if isinstance(arguments, dict) else None
    return number if isinstance(number, int) else None
