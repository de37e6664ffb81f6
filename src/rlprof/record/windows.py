"""Windows: some iterations in which a dearer tool looks on. They are kept apart from everything else in the recording.

A window begins and ends between two iterations, and with a flush, so that analysis can take it out whole: what the tool
costs, starting and saving included, is in no other figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from rlprof import _core
from rlprof.record.complain import complain
from rlprof.record.noted import note
from rlprof.record.session import Session

#: Under this name the recording lists its windows; analyse.apart and recording.traces read them.
FACT = "windows"


class Tool(Protocol):
    """What looks on in a window. `turn` counts iterations from 0."""

    @property
    def name(self) -> str: ...
    @property
    def code(self) -> str:
        """Of its warnings."""
        ...

    def in_the_way(self) -> str | None:
        """Why it cannot open, because the program does something like it already."""
        ...

    def opens(self, turn: int) -> bool: ...
    def is_through(self) -> bool:
        """Whether it will not open again: then the next tool may."""
        ...

    def open(self) -> None: ...
    def turned(self) -> None:
        """An iteration of the window has begun."""
        ...

    def closes(self, turns: int, seconds: float) -> bool:
        """Whether so many iterations of the window were enough."""
        ...

    def close(self) -> dict[str, Any]:
        """Stop looking, and say for the recording what there is to say."""
        ...

    def abandon(self) -> None:
        """Look no longer, and leave nothing."""
        ...

    def missed(self) -> tuple[str, str] | None:
        """At the end of the program: why there is nothing to show, and what to do about it."""
        ...


class Windows:
    """Opens the windows of its tools, one tool after the other. A tool that fails is dropped; training goes on."""

    def __init__(self, session: Session, folder: Path, tools: Sequence[Tool]) -> None:
        self._session = session
        self._folder = folder  # where the tools' files are
        self._tools = list(tools)
        self._looking: Tool | None = None
        self._opened = (0, 0)  # turn, moment
        self._begun: dict[str, Any] = {}  # what is known at a window's beginning
        self._turn = -1
        self._found: list[dict[str, Any]] = []

    @property
    def _open(self) -> Tool | None:
        """Whose window is open. What it sees is put into the spans that were open then: all calls have theirs."""
        return self._looking

    @_open.setter
    def _open(self, tool: Tool | None) -> None:
        self._looking = tool
        _core.time_all(tool is not None)

    # --- told by record.turns -----------------------------------------------------------------------------------------

    def ending(self) -> None:
        self._guarded(self._close_in_time)

    def begun(self) -> None:
        self._guarded(self._open_in_time)

    def _guarded(self, action: Callable[[], None]) -> None:
        """A fault of ours costs the windows, not the program."""
        try:
            action()
        except Exception as error:
            self._tools.clear()
            self._open = None
            complain("windows", f"windows failed and were given up: {error!r}; training goes on")

    def _close_in_time(self) -> None:
        tool = self._open
        if tool is None:
            return
        turn, moment = self._opened
        seconds = (_core.clock_ns() - moment) / 1e9
        if self._carefully(tool, lambda: tool.closes(self._turn + 1 - turn, seconds)):
            self._close(self._turn + 1 - turn)

    def _open_in_time(self) -> None:
        self._turn += 1
        tool = self._open
        if tool is not None:
            self._carefully(tool, tool.turned)
            return
        while self._tools and self._tools[0].is_through():
            self._tools.pop(0)
        if self._tools and self._carefully(self._tools[0], lambda: self._tools[0].opens(self._turn)):
            self._begin(self._tools[0])

    # --- windows ------------------------------------------------------------------------------------------------------

    def _begin(self, tool: Tool) -> None:
        taken = self._carefully(tool, tool.in_the_way)
        if taken is not None:
            self.yield_to_program(tool, taken)
            return
        self._opened = (self._turn, _core.clock_ns())
        self._session.flush()
        self._begun = {"base": _core.open_path_here(), "open_at_start": self._session.open_spans}
        self._open = tool
        self._carefully(tool, tool.open)
        self._begun["opened_ns"] = _core.clock_ns()

    def _close(self, turns: int) -> None:
        tool, self._open = self._open, None
        assert tool is not None
        said = self._carefully(tool, tool.close)
        self._keep(tool, turns, said or {"files": []})

    def _keep(self, tool: Tool, turns: int, said: dict[str, Any]) -> None:
        self._session.flush()
        window = {"tool": tool.name, "start_ns": self._opened[1], "end_ns": _core.clock_ns(), "iterations": turns}
        self._found.append({**window, **self._begun, "open_at_end": self._session.open_spans, **said})
        note(FACT, list(self._found))

    def yield_to_program(self, tool: Tool, why: str) -> None:
        """The program itself wants to do what a tool does: the tool lets go and does not come back."""
        if tool is not self._open and tool not in self._tools:
            return
        self._drop(tool)
        self._session.warn(tool.code, why, "leave out rlprof's option, or the program's own profiler")

    def leave_to_parent(self) -> None:
        """In a forked child: windows are the parent's, and the child is not slowed by what looks on there."""
        tool, self._open = self._open, None
        self._tools.clear()
        if tool is not None:
            tool.abandon()

    def _drop(self, tool: Tool) -> None:
        """Without a file of it. What passed in its window is kept apart all the same."""
        if tool in self._tools:
            self._tools.remove(tool)
        if tool is self._open:
            self._open = None
            turns = self._turn + 1 - self._opened[0]
            try:
                files = tool.close()["files"]
            except Exception:  # it was given up
                files = []
            for name in files:
                (self._folder / name).unlink(missing_ok=True)
            self._keep(tool, turns, {"files": []})

    def _carefully(self, tool: Tool, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Exception as error:
            message = f"{tool.name} failed and was given up: {error!r}"
            complain(tool.code, f"{message}; training goes on")
            self._session.warn(tool.code, message, "look at whether it works in this program without rlprof")
            self._drop(tool)
            return None

    def end(self) -> None:
        """The program is over: what is open is closed, and a tool that has nothing to show says why."""
        self._guarded(self._end)

    def _end(self) -> None:
        tools = tuple(self._tools)
        if self._open is not None:
            self._close(self._turn + 1 - self._opened[0])
        for tool in tools:
            missed = tool.missed()
            if missed is not None:
                self._session.warn(tool.code, *missed)
