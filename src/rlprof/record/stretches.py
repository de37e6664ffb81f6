"""When single steps of a vector environment began and ended: in the parent that sends and waits, and in its workers.

Totals cannot say how long the slowest worker of each step took. The moments of some steps can, and all processes note
the same steps: see model.noted_slots.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any, Final

from rlprof import _core
from rlprof.model.noted_slots import SLOT_BITS, is_noted
from rlprof.model.stretch_kinds import SENT, SIMULATED, WAITED
from rlprof.record.core_wait import core_wait_ns

MOST_WAITING: Final = 100_000  # rows between two flushes
MOST_VECTOR_ENVS: Final = 64

_clock = _core.clock_ns

Row = tuple[int, int, int, int]  # what, number of the vector environment, begin, duration


class VectorEnv:
    """One vector environment of this process: what all its steps took, noted or not."""

    def __init__(self, env: Any, number: int, pids: tuple[int, ...], about: dict[str, Any]) -> None:
        self.number = number
        self.about = about
        self.pids = pids
        self.name = type(env).__name__
        self.steps = 0
        self.total_ns = 0
        self.under_way = False  # actions were sent and their answers not waited for yet
        self.noting = False  # the step that is under way is noted
        self.waited_inside_ns = 0  # by the call that sends, where it is also the one that waits
        self.sent_ns = 0  # when the actions of the step that is under way were sent
        self.step_code = getattr(inspect.unwrap(getattr(type(env), "step", _no_step)), "__code__", None)
        self.env: Callable[[], Any] = _reference(env)

    def fact(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pids": list(self.pids),
            "steps": self.steps,
            "total_ns": self.total_ns,
            **self.about,
        }


def _no_step() -> None: ...


def _reference(env: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(env)
    except TypeError:  # of a class that allows none: the environment is kept instead
        return lambda: env


class Simulated:
    """What all steps of this worker's environment took, noted or not."""

    def __init__(self) -> None:
        self.steps = 0
        self.total_ns = 0
        self.first_ns = 0
        self.last_ns = 0
        self.core_wait_before: int | None = None

    def fact(self) -> dict[str, Any]:
        now = core_wait_ns() if self.core_wait_before is not None else None
        return {
            "steps": self.steps,
            "total_ns": self.total_ns,
            "first_ns": self.first_ns,
            "last_ns": self.last_ns,
            "core_wait_ns": None if now is None or self.core_wait_before is None else now - self.core_wait_before,
        }


class Stretches:
    """What this process notes; there is one, which begins anew with each session and so in forked children."""

    def __init__(self) -> None:
        self.begin("main")

    def __reduce__(self) -> str:
        """Wrapped methods of a script's classes travel to other processes whole, and find what is there."""
        return "stretches"

    def begin(self, role: str) -> None:
        self.in_worker = role != "main"
        self.dropped = 0
        self._first_slot = -1  # of the first step; a worker's comes after its parent's
        self._slot = -1
        self._slot_noted = False
        self._simulated = Simulated()
        self._rows: list[Row] = []
        self._by_id: dict[int, VectorEnv] = {}
        self._envs: list[VectorEnv] = []

    def drain(self) -> list[Row]:
        taken, self._rows = self._rows, []
        return taken

    def facts(self) -> dict[str, Any]:
        """Totals up to now, for the process's own row."""
        found: dict[str, Any] = {}
        if self._envs:
            found["vector_envs"] = [env.fact() for env in self._envs]
        if self._simulated.steps:
            found["vector_worker"] = self._simulated.fact()
        return found

    def _add(self, what: int, env: int, begin: int, duration: int) -> None:
        if len(self._rows) < MOST_WAITING:
            self._rows.append((what, env, begin, duration))
        else:
            self.dropped += 1

    # --- in the parent ------------------------------------------------------------------------------------------------

    def known(self, env: Any) -> VectorEnv | None:
        found = self._by_id.get(id(env))
        # An id may come to mean another object.
        return found if found is not None and found.env() is env else None

    def get_to_know(self, env: Any, pids: tuple[int, ...], about: dict[str, Any] | None = None) -> VectorEnv | None:
        """None where there were too many before. `about` is what else is known of it, as plain values."""
        if len(self._envs) >= MOST_VECTOR_ENVS:
            return None
        found = self._by_id[id(env)] = VectorEnv(env, len(self._envs), pids, about or {})
        self._envs.append(found)
        return found

    def sending(self, env: VectorEnv) -> int:
        """A step begins."""
        begin = _clock()
        slot = begin >> SLOT_BITS
        if slot != self._slot:
            self._slot = slot
            if self._first_slot < 0:
                self._first_slot = slot
            self._slot_noted = is_noted(slot, self._first_slot)
        env.noting = self._slot_noted
        env.under_way = True
        env.waited_inside_ns = 0
        env.sent_ns = 0
        return begin

    def sent(self, env: VectorEnv, begin: int, noted: bool) -> None:
        env.sent_ns = _clock()
        duration = env.sent_ns - begin
        env.steps += 1
        env.total_ns += duration - env.waited_inside_ns
        if noted:
            self._add(SENT, env.number, begin, duration)

    def waited(self, env: VectorEnv, begin: int, in_step: bool) -> None:
        """Answers are there; `in_step`: to one call that sends and waits, nobody else does anything in between."""
        if not env.under_way:  # for something else than a step
            return
        if in_step and env.sent_ns:
            begin = env.sent_ns  # a core that is lost in between is lost to the step
        duration = _clock() - begin
        env.under_way = False
        env.total_ns += duration
        env.waited_inside_ns = duration
        if env.noting:
            self._add(WAITED, env.number, begin, duration)

    # --- in a worker --------------------------------------------------------------------------------------------------

    def simulating(self) -> int:
        """A worker's environment begins to step."""
        begin = _clock()
        if self._first_slot < 0:
            self._first_slot = begin >> SLOT_BITS
            self._simulated.first_ns = begin
            self._simulated.core_wait_before = core_wait_ns()
        return begin

    def simulated(self, begin: int) -> None:
        end = _clock()
        sums = self._simulated
        sums.steps += 1
        sums.total_ns += end - begin
        sums.last_ns = end
        slot = begin >> SLOT_BITS
        if slot != self._slot:
            self._slot = slot
            # A worker may come to an action a slot later than its parent sent it.
            self._slot_noted = is_noted(slot, self._first_slot) or is_noted(slot - 1, self._first_slot)
        if self._slot_noted:
            self._add(SIMULATED, 0, begin, end - begin)


stretches: Final = Stretches()
