"""What a span costs here: measured at start, subtracted later.

A span's cost has two parts: what falls between its two clock reads (inside, part of its own duration) and what falls
outside them (in its parent's time). Each kind of span is measured by itself, around a little work, nested and under
changing names as in a program: an empty span that is opened over and over costs a third less than real ones do.
"""

from __future__ import annotations

import contextlib
import operator
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, Final, NamedTuple

from rlprof import _core
from rlprof.model import kinds
from rlprof.model.recording import SpanCost
from rlprof.record.decorate import profile_function
from rlprof.record.layout import ROW
from rlprof.record.own_cost import Calibration, Looks, add_looks
from rlprof.record.sites import Sites, Tensors, counted_method
from rlprof.record.wrap import outermost, timed

TURNS: Final = 60
ROUNDS: Final = 20
WARM_UP: Final = 5
SPANS_A_TURN: Final = 4
_GROUP: Final = 31  # one that no probe uses
_NEVER: Final = 1 << 20  # calls for each one that is timed
WITHOUT_SPANS: Final = frozenset({kinds.PASSED, kinds.UNTIMED})

Loop = Callable[[int], Any]


def calibrate() -> Calibration:
    """The cost of each kind of span, with its error. Must run before anything is recorded: it wipes the recorder.

    All kinds take turns, so that what slows the machine for some milliseconds spoils a round of each and not all rounds
    of one. The first rounds are not counted: the interpreter adapts to code that it runs often.
    """
    rounds: dict[int, list[_Round]] = {kind: [] for kind in _LOOPS}
    for _ in range(ROUNDS):
        for kind, (bare, spanned) in _LOOPS.items():
            rounds[kind].append(_one_round(bare, spanned))
    counted = {kind: measured[WARM_UP:] for kind, measured in rounds.items()}
    _core.wipe()
    costs = {kind: _cost_of(measured, has_span=kind not in WITHOUT_SPANS) for kind, measured in counted.items()}
    costs[kinds.MEMORY] = costs[kinds.WITH]
    costs[kinds.ITERATION] = costs[kinds.WITH]
    looks = {kind: reduce(add_looks, (each.looks for each in measured)) for kind, measured in counted.items()}
    return Calibration(costs, {kind: seen[kind] for kind, seen in looks.items() if kind in seen})


class _Round(NamedTuple):
    """One round of a kind: nanoseconds of a span, those of them inside its own duration, and calls looked at."""

    whole: float
    inside: float
    looks: Looks


def _one_round(bare: Loop, spanned: Loop) -> _Round:
    spans = TURNS * SPANS_A_TURN
    _core.wipe()
    _core.switch_on(threading.get_ident())
    _core.iteration()  # with it runs the flight recorder, as in a training loop
    spanned(2)  # the first span of a path makes it
    _core.drain()
    started = time.perf_counter_ns()
    spanned(TURNS)
    between = time.perf_counter_ns()
    bare(TURNS)
    ended = time.perf_counter_ns()
    _core.switch_off()
    looks = _core.take_looks()
    without = (ended - between) / spans
    return _Round((between - started) / spans - without, _mean_leaf() - without, looks)


def _cost_of(rounds: list[_Round], *, has_span: bool) -> SpanCost:
    cost = max(0.0, statistics.median(each.whole for each in rounds))
    within = min(max(0.0, statistics.median(each.inside for each in rounds)), cost) if has_span else 0.0
    return SpanCost(within, cost - within, statistics.median(abs(each.whole - cost) for each in rounds))


def _mean_leaf() -> float:
    """Mean duration of the spans that hold no others: their work, and what a span costs inside."""
    rows = ROW.columns(_core.drain()[1])
    leaves = [
        (count, total)
        for count, total, own in zip(rows["count"], rows["total"], rows["own"], strict=True)
        if count and own == total
    ]
    calls = sum(count for count, _ in leaves)
    return sum(total for _, total in leaves) / calls if calls else 0.0


# --- the loops: each turn does four pieces of work, timed in four spans, one of them inside another -------------------

_PIECE: Final = tuple(range(24))


def _work() -> int:
    total = 0
    for number in _PIECE:
        total += number
    return total


def _bare_turns(turns: int) -> None:
    for _ in range(turns):
        _work()
        _work()
        _work()
        _work()


def _with_turns(turns: int) -> None:
    for _ in range(turns):
        with _core.profile("(calibration a)"):
            _work()
            with _core.profile("(calibration b)"):
                _work()
        with _core.profile("(calibration c)"):
            _work()
        with _core.profile("(calibration d)"):
            _work()


def _piece() -> None:
    _work()


def _piece_and(inner: Callable[[], None]) -> None:
    _work()
    inner()


_timed_inner = profile_function("(calibration b)")(_piece)
_timed_outer = profile_function("(calibration a)")(_piece_and)
_timed_third = profile_function("(calibration c)")(_piece)


def _plain_calls(turns: int) -> None:
    for _ in range(turns):
        _piece_and(_piece)
        _piece()
        _piece()


def _timed_calls(turns: int) -> None:
    for _ in range(turns):
        _timed_outer(_timed_inner)
        _timed_third()
        _timed_inner()


def _pieces(steps: int) -> Iterator[int]:
    for _ in range(steps):
        yield _work()


_timed_pieces = profile_function("(calibration a)")(_pieces)


def _plain_steps(turns: int) -> None:
    for _ in _pieces(turns * SPANS_A_TURN):
        pass


def _timed_steps(turns: int) -> None:
    for _ in _timed_pieces(turns * SPANS_A_TURN):
        pass


async def _pause() -> int:
    return _work()


_timed_pause = profile_function("(calibration a)")(_pause)


def _awaits(function: Callable[[], Any]) -> Loop:
    async def loop(turns: int) -> None:
        for _ in range(turns * SPANS_A_TURN):
            await function()

    def drive(turns: int) -> None:
        # Driven by hand: an event loop would be visible to the program and costs more than what is measured.
        with contextlib.suppress(StopIteration):
            loop(turns).send(None)

    return drive


_probed_inner = outermost("(calibration b)", None, _GROUP)(_piece)
_probed_third = timed("(calibration c)", None)(_piece)


def _probed_calls(turns: int) -> None:
    for _ in range(turns):
        _probed_third()
        _probed_inner()
        _probed_third()
        _probed_inner()


def _unprobed_calls(turns: int) -> None:
    for _ in range(turns):
        _piece()
        _piece()
        _piece()
        _piece()


class _Value(float):
    """Stands for a tensor: its methods are C, and so is the question whether it is watched, which is answered no."""

    is_cpu = True


class _Counted(_Value):
    """One whose method is counted by place, as tensors' methods are."""


_Counted.hex = counted_method(  # type: ignore[method-assign]
    Sites(), "(calibration)", float.hex, "transfer.sync", Tensors(operator.not_, contextlib.nullcontext)
)


def _reads_of(it: _Value) -> Loop:
    def loop(turns: int) -> None:
        for _ in range(turns):
            it.hex()
            it.hex()
            it.hex()
            it.hex()

    return loop


class _Plain:
    def piece(self) -> None:
        _work()


def _calls_on(it: _Plain) -> Loop:
    def loop(turns: int) -> None:
        for _ in range(turns):
            it.piece()
            it.piece()
            it.piece()
            it.piece()

    return loop


class _Level(_Plain):
    """One whose method is a level inside another call, as environments inside wrappers are."""


_Level.piece = _core.Levels(_Plain.piece, _Plain.piece, _GROUP)  # type: ignore[method-assign]


def _levels(turns: int) -> None:
    first, second = _Level(), _Level()
    with _core.guarded_span("(calibration a)", None, kinds.PROBE, _GROUP):
        for _ in range(turns):
            first.piece()
            second.piece()
            first.piece()
            second.piece()


class _Passing(_Plain):
    """One whose method is looked at and let through, as a module inside a module is."""


_Passing.piece = _core.Levels(_Plain.piece, _Plain.piece, _GROUP, False)  # type: ignore[method-assign]


def _passed_calls(turns: int) -> None:
    # Asked of the type, as the interpreter does for `module(x)`: the object itself shows the original.
    it, piece = _Passing(), vars(_Passing)["piece"]
    with _core.guarded_span("(calibration a)", None, kinds.PROBE, _GROUP):
        for _ in range(turns):
            piece(it)
            piece(it)
            piece(it)
            piece(it)


_counted_loop = _reads_of(_Counted(0.1))


def _untimed_calls(turns: int) -> None:
    _counted_loop(1)
    for path, _ in _core.thinnable():
        _core.thin(path, _NEVER)
    _counted_loop(turns)


_LOOPS: Final[dict[int, tuple[Loop, Loop]]] = {
    kinds.WITH: (_bare_turns, _with_turns),
    kinds.FUNCTION: (_plain_calls, _timed_calls),
    kinds.GENERATOR: (_plain_steps, _timed_steps),
    kinds.COROUTINE: (_awaits(_pause), _awaits(_timed_pause)),
    kinds.PROBE: (_unprobed_calls, _probed_calls),
    kinds.SITE: (_reads_of(_Value(0.1)), _counted_loop),
    kinds.LEVEL: (_calls_on(_Plain()), _levels),
    kinds.PASSED: (_calls_on(_Plain()), _passed_calls),
    kinds.UNTIMED: (_reads_of(_Value(0.1)), _untimed_calls),
}
