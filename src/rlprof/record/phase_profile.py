"""A profile of functions for each RL phase, in cProfile's format.

cProfile cannot tell which phase is open. This does the same in Python, which is dearer, and takes its own time out as
well as it can. A call counts towards the phase that was open when it began; in that phase's profile the time of calls
that began in another phase is not part of it.
"""

from __future__ import annotations

import marshal
import sys
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FrameType, ModuleType
from typing import Any

from rlprof import _core
from rlprof.model.kinds import ITERATION
from rlprof.model.phases import OTHER, UNATTRIBUTED, is_phase

Function = tuple[str, int, str]  # file, line, name, as pstats has them


class _Call:
    """One call that is going on."""

    __slots__ = ("begun_ns", "function", "inside_ns", "phase")

    def __init__(self, function: Any, phase: str, begun_ns: int) -> None:
        self.function = function
        self.phase = phase
        self.begun_ns = begun_ns
        self.inside_ns = 0  # calls below it, whatever their phase


class PhaseProfile:
    """Follows the calls of the thread that enables it."""

    def __init__(self) -> None:
        #: phase -> function -> [calls, those not inside another one of it, own ns, whole ns, callers]
        self._found: dict[str, dict[Any, list[Any]]] = {}
        self._stack: list[_Call] = []
        self._depth: dict[tuple[str, Any], int] = {}
        self._phases: dict[int, str] = {}
        self._away_ns = 0  # spent in here so far
        self._open_path = _core.open_path_here
        self._clock = _core.clock_ns

    def enable(self) -> None:
        sys.setprofile(self._follow)

    def disable(self) -> None:
        if sys.getprofile() == self._follow:
            sys.setprofile(None)
        while self._stack:
            self._end(self._clock() - self._away_ns)

    def _follow(self, frame: FrameType, event: str, argument: Any) -> None:
        entered = self._clock()
        now = entered - self._away_ns
        if event == "call":
            self._begin(frame.f_code, now)
        elif event == "c_call":
            self._begin(argument, now)
        elif self._stack:
            self._end(now)
        self._away_ns += self._clock() - entered

    def _begin(self, function: Any, now: int) -> None:
        path = self._open_path()
        phase = self._phases.get(path) or self._learn(path)
        if not isinstance(function, CodeType):
            function = _label(function)
        self._stack.append(_Call(function, phase, now))
        self._depth[phase, function] = self._depth.get((phase, function), 0) + 1

    def _end(self, now: int) -> None:
        call = self._stack.pop()
        whole = now - call.begun_ns
        above = self._stack[-1] if self._stack else None
        if above is not None:
            above.inside_ns += whole
        key = call.phase, call.function
        self._depth[key] -= 1
        outermost = not self._depth[key]
        figures = (1, int(outermost), whole - call.inside_ns, 0)
        found = self._found.setdefault(call.phase, {}).setdefault(call.function, [0, 0, 0, 0, {}])
        _add(found, figures)
        if above is not None and above.phase == call.phase:
            callers = found[4].setdefault(above.function, [0, 0, 0, 0])
            _add(callers, figures)
        self._book_whole(call, whole - call.inside_ns)

    def _book_whole(self, call: _Call, own: int) -> None:
        """Own time is part of every call around it that began in the same phase, up to the first of another one."""
        phase = call.phase
        found = self._found[phase]
        seen: set[Any] = set()
        below: _Call | None = None
        for each in (call, *reversed(self._stack)):
            if each.phase != phase:
                break
            if each.function not in seen:
                seen.add(each.function)
                found.setdefault(each.function, [0, 0, 0, 0, {}])[3] += own
            if below is not None:
                found[below.function][4].setdefault(each.function, [0, 0, 0, 0])[3] += own
            below = each

    def _learn(self, wanted: int) -> str:
        """The phase of each path that there is by now; one without takes that of the span around it."""
        handed_down: dict[int | None, str | None] = {None: None}
        for number, parent, _, name, phase, kind in _core.paths_since(0):
            own = next((each for each in (phase, name) if each is not None and is_phase(each)), None)
            handed_down[number] = own or handed_down.get(parent)
            structure = parent is None or kind == ITERATION
            self._phases[number] = UNATTRIBUTED if structure else handed_down[number] or OTHER
        return self._phases.setdefault(wanted, UNATTRIBUTED)

    def dump(self, phase: str, file: Path) -> None:
        """Write the profile of one phase; pstats and its viewers read it."""
        stats = {
            _key(function): (outer, calls, own / 1e9, whole / 1e9, _callers(callers))
            for function, (calls, outer, own, whole, callers) in self._found[phase].items()
        }
        file.write_bytes(marshal.dumps(stats))

    @property
    def phases(self) -> list[str]:
        """Those in which functions were called, the one with the most time first."""
        return sorted(self._found, key=lambda phase: -sum(found[2] for found in self._found[phase].values()))


def _add(total: list[Any], figures: tuple[int, int, int, int]) -> None:
    for place, figure in enumerate(figures):
        total[place] += figure


def _callers(callers: dict[Any, list[int]]) -> dict[Function, tuple[int, int, float, float]]:
    return {
        _key(function): (calls, outer, own / 1e9, whole / 1e9)
        for function, (calls, outer, own, whole) in callers.items()
    }


def _key(function: Any) -> Function:
    if isinstance(function, CodeType):
        return function.co_filename, function.co_firstlineno, function.co_name
    return "~", 0, str(function)


def _label(function: Any) -> str:
    """What cProfile calls a function that is not Python's."""
    name = getattr(function, "__name__", type(function).__name__)
    owner = getattr(function, "__self__", None)
    if isinstance(function, BuiltinFunctionType) and owner is not None and not isinstance(owner, ModuleType):
        return f"<method '{name}' of '{type(owner).__name__}' objects>"
    return f"<built-in method {getattr(function, '__module__', None) or 'builtins'}.{name}>"
