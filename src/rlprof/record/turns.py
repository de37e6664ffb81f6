"""The turns of the training loop, for whoever wants to do something between two of them."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any, Protocol

from rlprof import _core


class Listener(Protocol):
    """Told in the thread whose turns count: before an iteration ends, and after the next one has begun."""

    def ending(self) -> None: ...
    def begun(self) -> None: ...


class _Turns:
    """As the core does, it follows the first thread that turns, and the program's own marks once there are any."""

    def __init__(self) -> None:
        self.listener: Listener | None = None
        self.forget()

    def forget(self) -> None:
        self._thread: int | None = None
        self._marked = False

    def heard(self, *, marked: bool) -> Listener | None:
        """Who is to be told of a turn that was marked or inferred in this thread."""
        if self.listener is None or not _core.is_on() or (self._marked and not marked):
            return None
        self._thread = self._thread or threading.get_ident()
        if self._thread != threading.get_ident():
            return None
        self._marked = marked
        return self.listener


_turns = _Turns()


def listen(listener: Listener | None) -> None:
    """From now on this one is told; there is one at most."""
    _turns.forget()
    _turns.listener = listener
    _core.hear_turns(listener is not None)


def infer_turn() -> int:
    """The loop was seen to turn. How long the listener took."""
    listener = _turns.heard(marked=False)
    if listener is None:
        _core.infer_turn()
        return 0
    began = _core.clock_ns()
    listener.ending()
    _core.infer_turn()
    listener.begun()
    return _core.clock_ns() - began


def mark_turn() -> AbstractContextManager[Any]:
    """What `rlprof.iteration` is while somebody listens."""
    listener = _turns.heard(marked=True)
    if listener is not None:
        listener.ending()
    turn = _core.iteration()
    if listener is not None:
        listener.begun()
    return turn
