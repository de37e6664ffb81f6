"""What a span costs here: measured at start, subtracted later.

A span's cost has two parts: what falls between its two clock reads (inside, part of its own duration) and what falls
outside them (in its parent's time). Each kind of span is measured by itself, as a program would use it.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from rlprof import _core
from rlprof.model import kinds
from rlprof.model.recording import SpanCost
from rlprof.record.decorate import profile_function
from rlprof.record.layout import ROW

SPANS: Final = 500
ROUNDS: Final = 15

_NAME: Final = "(calibration)"

Loop = Callable[[int], Any]


def calibrate() -> dict[int, SpanCost]:
    """The cost of each kind of span, with its error. Must run before anything is recorded: it wipes the recorder."""
    costs = {}
    for kind, (bare, timed) in _LOOPS.items():
        costs[kind] = _cost_of(bare, timed)
    costs[kinds.MEMORY] = costs[kinds.WITH]
    costs[kinds.ITERATION] = costs[kinds.WITH]
    _core.wipe()
    return costs


def _cost_of(bare: Loop, timed: Loop) -> SpanCost:
    inside, whole = [], []
    for _ in range(ROUNDS):
        _core.wipe()
        _core.switch_on(threading.get_ident())
        timed(10)  # the first span of a path makes it
        _core.drain()
        started = time.perf_counter_ns()
        timed(SPANS)
        between = time.perf_counter_ns()
        bare(SPANS)
        ended = time.perf_counter_ns()
        _core.switch_off()
        whole.append(((between - started) - (ended - between)) / SPANS)
        inside.append(_mean_duration())
    # The lower quartile: interruptions only ever add.
    cost = max(0.0, statistics.quantiles(whole, n=4)[0])
    within = min(max(0.0, statistics.quantiles(inside, n=4)[0]), cost)
    return SpanCost(within, cost - within, statistics.median(abs(value - cost) for value in whole))


def _mean_duration() -> float:
    """Mean duration of the calibration's spans: an empty span lasts as long as its own inside cost."""
    rows = np.frombuffer(_core.drain()[1], dtype=ROW)
    spans = rows[rows["count"] > 0]
    return float(spans["total"].sum() / spans["count"].sum()) if len(spans) else 0.0


def _nothing() -> None:
    return None


def _numbers(n: int) -> Iterator[int]:
    yield from range(n)


async def _pause() -> None:
    return None


_timed_nothing = profile_function(_NAME)(_nothing)
_timed_numbers = profile_function(_NAME)(_numbers)
_timed_pause = profile_function(_NAME)(_pause)


def _bare_with(n: int) -> None:
    for _ in range(n):
        pass


def _timed_with(n: int) -> None:
    for _ in range(n):
        with _core.profile(_NAME):
            pass


def _calling(function: Callable[[], None]) -> Loop:
    def loop(n: int) -> None:
        for _ in range(n):
            function()

    return loop


def _walking(function: Callable[[int], Iterator[int]]) -> Loop:
    return lambda n: sum(1 for _ in function(n))


def _awaiting(function: Callable[[], Any]) -> Loop:
    async def loop(n: int) -> None:
        for _ in range(n):
            await function()

    def drive(n: int) -> None:
        # Driven by hand: an event loop would be visible to the program and costs more than what is measured.
        with contextlib.suppress(StopIteration):
            loop(n).send(None)

    return drive


_LOOPS: Final[dict[int, tuple[Loop, Loop]]] = {
    kinds.WITH: (_bare_with, _timed_with),
    kinds.FUNCTION: (_calling(_nothing), _calling(_timed_nothing)),
    kinds.GENERATOR: (_walking(_numbers), _walking(_timed_numbers)),
    kinds.COROUTINE: (_awaiting(_pause), _awaiting(_timed_pause)),
}
