"""The batches behind `rlprof.alternate`: who is next, and where in the recording one ends and the next begins."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from rlprof import _core
from rlprof.record.complain import complain
from rlprof.record.noted import note
from rlprof.record.session import Session, current_session

#: A batch lasts at least this long, so that what a switch costs is small beside it.
BATCH_NS: Final = 500_000_000
#: Under these names the recording counts batches of each value, and turns of the loop.
PREFIX: Final = "alternate:"
FACT: Final = "alternate"
_LONGEST_LABEL: Final = 80

_series: dict[str, _Series] = {}
_labels: dict[str, list[str]] = {}


def turn(name: str, values: Sequence[Any]) -> int:
    """Which of the values this turn of the loop has."""
    series = _series.get(name)
    session = current_session()
    if series is None or series.session is not session:
        if session is None:
            return 0
        series = _series[name] = _Series(name, values, session)
    return series.turn()


class _Series:
    """The batches of one name in one recording."""

    def __init__(self, name: str, values: Sequence[Any], session: Session) -> None:
        self.session = session
        self._counters = tuple(f"{PREFIX}{name}:{at}" for at in range(2))
        self._turns = f"{PREFIX}{name}:turns"
        self._source = random.Random(name)  # of its own: the program's random numbers stay as they are
        self._coming: list[int] = []
        self._current = 0
        self._until = 0
        self._works = True
        _labels[name] = [_label(value) for value in values]
        note(FACT, dict(_labels))

    def turn(self) -> int:
        """Which value this turn of the loop has."""
        if _core.clock_ns() >= self._until and self._works:
            self._switch()
        _core.count(self._turns)
        return self._current

    def _switch(self) -> None:
        """Write what was measured so far, so that the next batch begins in a window of its own."""
        if not self._coming:
            first = self._source.randrange(2)
            self._coming = [first, 1 - first, 1 - first, first]
        try:
            self.session.flush()
        except Exception as error:
            self._works, self._current = False, 0
            complain("alternate", f"alternate stays with the first value: {error!r}")
            return
        self._current = self._coming.pop(0)
        _core.count(self._counters[self._current])
        self._until = _core.clock_ns() + BATCH_NS


def _label(value: Any) -> str:
    """What a value is called in reports. Plain ones say it themselves; anything else could be a page long."""
    try:
        said = str(getattr(value, "__name__", None) or repr(value))
    except Exception:
        said = type(value).__name__
    return said[:_LONGEST_LABEL]
