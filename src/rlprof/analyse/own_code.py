"""The program's own code in the recording: what was taken for what, and what was named and never found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlprof.model.recording import Recording
from rlprof.model.report import Inferred, ReportWarning


def inferred_of(recording: Recording) -> tuple[Inferred, ...]:
    """What was recognised by its shape, over all processes, each once."""
    found: dict[tuple[str, str], Inferred] = {}
    for process in recording.processes:
        for entry in _entries(process.facts.get("inferred")):
            item = Inferred(str(entry["name"]), str(entry["file"]), int(entry["line"]), str(entry["role"]))
            found.setdefault((item.name, item.role), item)
    return tuple(found.values())


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    for entry in value if isinstance(value, list) else ():
        whole = isinstance(entry, dict) and {"name", "file", "line", "role"} <= entry.keys()
        if whole and isinstance(entry["line"], int):
            yield entry


def spans_not_found(recording: Recording) -> Iterator[ReportWarning]:
    """Functions that were to be timed and that no process has come across."""
    sides = [process.facts.get("spans") for process in recording.processes]
    known = [side for side in sides if isinstance(side, dict)]
    found = {str(name) for side in known for name in _names(side, "found")}
    no_function = {str(name) for side in known for name in _names(side, "no_function")} - found
    missing = {str(name) for side in known for name in _names(side, "missing")} - found - no_function
    if missing:
        yield ReportWarning(
            "span-not-found",
            f"nothing in the program is called {', '.join(sorted(missing))}, so it was not timed",
            "write --span module:function or module:Class.method as the program's own import would name it",
        )
    if no_function:
        yield ReportWarning(
            "span-no-function",
            f"{', '.join(sorted(no_function))}: only functions and methods can be timed",
            "name the method of the class, or the function that is called inside",
        )


def _names(side: Mapping[str, Any], key: str) -> list[Any]:
    value = side.get(key)
    return value if isinstance(value, list) else []
