"""A recording as a profile for speedscope: what was measured, span in span, and below it the lines that were sampled.

One profile per thread. A stack is the chain of spans and below it the functions on the stack; its weight is the time it
stands for: the own time of the innermost span, divided among the samples taken in it. Where no sample was taken, the
chain of spans stands alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from rlprof import _version
from rlprof.analyse.ledger import NS_PER_SECOND, Account, open_account
from rlprof.analyse.stacks import callers
from rlprof.analyse.tree import names_of
from rlprof.model.clean import clean_text
from rlprof.model.recording import Recording

SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
MOST_NAME: Final = 200
UNSAMPLED_ROOT: Final = "(in no span)"


class _Frames:
    """Frames of all profiles, each once."""

    def __init__(self) -> None:
        self.table: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, str | None, int | None], int] = {}

    def number(self, name: str, file: str | None = None, line: int | None = None) -> int:
        key = (name, file, line)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.table)
            frame: dict[str, Any] = {"name": clean_text(name, MOST_NAME)}
            if file is not None:
                frame |= {"file": clean_text(file, 1000), "line": line}
            self.table.append(frame)
        return found


def speedscope_profile(recording: Recording) -> str:
    """The file's text."""
    frames = _Frames()
    profiles = [
        profile
        for process in recording.processes
        for profile in _profiles(open_account(process), frames, alone=len(recording.processes) == 1)
    ]
    return json.dumps(
        {
            "$schema": SCHEMA,
            "exporter": f"rlprof {_version.__version__}",
            "name": clean_text(" ".join(recording.command), MOST_NAME),
            "activeProfileIndex": 0,
            "shared": {"frames": frames.table},
            "profiles": profiles,
        }
    )


def _profiles(account: Account, frames: _Frames, *, alone: bool) -> Iterator[dict[str, Any]]:
    process = account.process
    lane = account.lane.id if account.lane is not None else None
    names = names_of(process, account.tree)
    for thread in sorted(process.threads, key=lambda thread: thread.id != lane):
        stacks, weights = [], []
        for path in (path for path in account.tree.order if process.paths[path].thread == thread.id):
            for stack, seconds in _stacks(account, path, [frames.number(name) for name in names[path]], frames):
                stacks.append(stack)
                weights.append(seconds)
        if weights:
            name = thread.name if alone else f"{process.role} {process.pid}: {thread.name}"
            yield {
                "type": "sampled", "name": clean_text(name, MOST_NAME), "unit": "seconds", "startValue": 0,
                "endValue": sum(weights), "samples": stacks, "weights": weights,
            }  # fmt: skip


def _stacks(account: Account, path: int, spans: list[int], frames: _Frames) -> Iterator[tuple[list[int], float]]:
    seconds = account.self_ns[path] / NS_PER_SECOND
    if seconds <= 0:
        return
    samples = account.samples
    rows = np.flatnonzero(samples.path == path)
    taken = int(samples.count[rows].sum())
    if not taken:
        yield spans or [frames.number(UNSAMPLED_ROOT)], seconds
        return
    for row in rows.tolist():
        code = _code(account, int(samples.frame[row]), frames)
        yield spans + code or [frames.number(UNSAMPLED_ROOT)], seconds * int(samples.count[row]) / taken


def _code(account: Account, leaf: int, frames: _Frames) -> list[int]:
    """The functions on a sampled stack, the outermost first."""
    stack = callers(account.samples.frames, leaf)
    return [frames.number(frame.function, frame.file, frame.line) for frame in reversed(stack)]
