"""Moments at which the program has got further and something that was not there before may be.

Nothing says when the script itself defines a function: its module is not imported, it runs. So its names are looked at
again when a collection of garbage begins, at the first events of the training loop, and before each flush; once it
trains, before some of them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, Final

from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.record.complain import complain
from rlprof.record.noted import before_flush

LOOP_EVENTS: Final = 64  # a program that has stepped so often has defined its functions
FLUSHES_BETWEEN: Final = 8  # looks, from then on


class Lookout:
    """Calls `look(thorough)` at those moments, for as long as it returns True."""

    def __init__(self, look: Callable[[bool], bool]) -> None:
        self._look = look
        self._looking = False
        self._events = 0
        self._flushes = 0
        self._watching = False
        self._in_loop = False
        self._before: Callable[[], None] | None = None  # who listened to the loop's events before us

    def start(self, patches: Patches) -> None:
        self._watching = True
        gc.callbacks.append(self._collecting)
        before_flush.append(self._flushing)
        self._in_loop = True
        self._before, loop.listener = loop.listener, self._event
        patches.on_undo(self.stop)

    def stop(self) -> None:
        if not self._watching:
            return
        self._watching = False
        before_flush.remove(self._flushing)
        self._leave_loop()

    def _leave_loop(self) -> None:
        """The program trains by now: before some of the flushes is often enough."""
        if self._collecting in gc.callbacks:
            gc.callbacks.remove(self._collecting)
        self._in_loop = False
        if loop.listener == self._event:
            loop.listener = self._before

    def _collecting(self, phase: str, info: Any) -> None:
        if phase == "start":
            self._run(thorough=False)

    def _flushing(self) -> None:
        self._flushes += 1
        if self._in_loop or self._flushes % FLUSHES_BETWEEN == 0:
            self._run(thorough=True)

    def _event(self) -> None:
        if self._before is not None:
            self._before()
        if not self._in_loop:  # somebody listens after us, and passes on what we no longer want to hear
            return
        self._events += 1
        if self._events >= LOOP_EVENTS:
            self._leave_loop()
        self._run(thorough=True)

    def _run(self, *, thorough: bool) -> None:
        if self._looking:  # what looking allocates may begin a collection
            return
        self._looking = True
        try:
            if not self._look(thorough):
                self.stop()
        except Exception as error:
            self.stop()
            complain("lookout", f"functions of the program are not looked for any more: {error!r}")
        finally:
            self._looking = False
