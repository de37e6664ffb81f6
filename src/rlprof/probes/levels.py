"""Environments inside environments: their `step` is looked at as long as that is worth its cost.

A class rests only if none of its environments was ever the outermost one. Whoever makes one the outermost later, to
evaluate say, resets it first: that wakes its class, for good.
"""

from __future__ import annotations

import os
from typing import Any

from rlprof import _core
from rlprof.probes.groups import ENV
from rlprof.probes.patching import Patches
from rlprof.record.resting import restables


class EnvLevels:
    """The classes whose `step` is ours, and whether they rest."""

    def __init__(self) -> None:
        self._known: list[tuple[type, _core.Levels]] = []
        self._awake_for_good: set[type] = set()
        self.resting = False

    def know(self, cls: type) -> None:
        ours = vars(cls).get("step")
        if isinstance(ours, _core.Levels):
            self._known.append((cls, ours))

    def start(self, patches: Patches) -> None:
        if self not in restables:
            restables.append(self)
            patches.on_undo(self._stop)

    def _stop(self) -> None:
        """Those who rest are as they were before us; the others are put back by whoever put them there."""
        restables.remove(self)
        self.resting = False
        self._known.clear()
        self._awake_for_good.clear()

    def rest(self) -> None:
        """Between two steps: one that began without us goes on without us."""
        _core.at_next_step(self.rest_now)

    def wake(self) -> None:
        _core.at_next_step(self.wake_now)

    def rest_now(self) -> None:
        if self not in restables:  # stopped meanwhile
            return
        self.resting = True
        for cls, ours in self._known:
            if not ours.calls_outermost and cls not in self._awake_for_good and vars(cls).get("step") is ours:
                cls.step = ours.original  # type: ignore[attr-defined]

    def wake_now(self) -> None:
        self.resting = False
        for cls, ours in self._known:
            _put(cls, ours)

    def note_reset(self, env: Any, result: Any) -> None:
        """An environment was reset that is in no other."""
        _core.forget_return(env, result)
        if self.resting and not _core.is_busy(ENV):
            for cls, ours in self._known:
                if isinstance(env, cls):
                    self._awake_for_good.add(cls)
                    _put(cls, ours)


def _put(cls: Any, ours: _core.Levels) -> None:
    if vars(cls).get("step") is ours.original:  # else somebody has replaced it
        cls.step = ours


env_levels = EnvLevels()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=env_levels.wake_now)
