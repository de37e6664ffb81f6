"""Traces of torch.profiler that a run wrote beside its recording, folded into it.

Operators are added up by the span that was open when they began. The trace has a clock of its own; ranges in it, begun
at moments that the recording notes, tie the two together.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import NotARecording
from rlprof.model.recording import Process
from rlprof.recording.importers.device import device_summary, joined
from rlprof.recording.importers.files import parse_json
from rlprof.recording.importers.operators import Operators, Track
from rlprof.recording.importers.torch_trace import Timed, timed_events
from rlprof.recording.reader import open_recording
from rlprof.recording.store import plain

#: Facts of the main process: what a run's windows were, and what is folded into its recording from them.
WINDOWS: Final = "windows"
OPERATORS: Final = "torch_operators"
DEVICE: Final = "device"
CLOCK: Final = "rlprof.clock#"
MOST_ROWS: Final = 5000


def fold_traces(target: Path) -> None:
    """Read the traces that the recording names, once, at the end of its run."""
    main = open_recording(target).main
    windows = [window for window in main.facts.get(WINDOWS, ()) if window.get("marks") and window.get("files")]
    if not windows or OPERATORS in main.facts:
        return
    sums, devices, failed = Operators(), list[dict[str, Any]](), list[str]()
    for window in windows:
        try:
            events = list(timed_events(parse_json(target.with_name(window["files"][0]))))
            _fold(events, window, main, sums)
        except NotARecording as error:
            failed.append(str(error))
            continue
        found = device_summary(events, _length(events))
        devices += [found] if found is not None else []
    facts = {OPERATORS: sums.rows(MOST_ROWS), **({DEVICE: joined(devices)} if devices else {})}
    _write(target, main, facts, failed)


def _fold(events: list[Timed], window: Mapping[str, Any], main: Process, sums: Operators) -> None:
    clock = _clock(events, window["marks"])
    if not clock:
        raise NotARecording(f"{window['files'][0]} does not say when it was taken")
    sums.add(events, _track(main, window), clock)


def _clock(events: Iterable[Timed], marks: list[int]) -> list[tuple[int, int]]:
    """(moment in the trace, how much later the recording's clock is) of every mark, in order."""
    found: list[tuple[int, int]] = []
    for event, start, _ in events:
        name = str(event.get("name", ""))
        number = name.removeprefix(CLOCK)
        if name.startswith(CLOCK) and number.isdecimal() and int(number) < len(marks) and marks[int(number)] >= 0:
            found.append((start, marks[int(number)] - start))
    return sorted(found)


def _track(main: Process, window: Mapping[str, Any]) -> Track:
    """Which span was the innermost one of the training thread at every moment of the window."""
    lane = main.iteration_thread
    events = main.events
    spans = sorted(
        (start, -duration, path)
        for path, start, duration in zip(
            events.path.tolist(), events.start_ns.tolist(), events.duration_ns.tolist(), strict=True
        )
        if start + duration >= window["start_ns"]
        and start <= window["end_ns"]
        and (lane is None or (path in main.paths and main.paths[path].thread == lane))
    )
    return Track(((start, start - negative, path) for start, negative, path in spans), window.get("base"))


def _length(events: list[Timed]) -> int:
    return max(start + duration for _, start, duration in events) - min(start for _, start, _ in events)


def _write(target: Path, main: Process, facts: dict[str, Any], failed: list[str]) -> None:
    with contextlib.closing(sqlite3.connect(target)) as connection, connection:
        whole = json.dumps({**main.facts, **facts})
        connection.execute("UPDATE processes SET facts = ? WHERE id = ?", (whole, main.id))
        warnings = [(main.id, "torch-trace", plain(said), "its figures are missing below") for said in failed]
        connection.executemany("INSERT INTO warnings VALUES (?, ?, ?, ?)", warnings)
