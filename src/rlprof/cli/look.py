"""One look at a run that goes on, read from its recording as it grows. Nothing is asked of the run itself."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Final

from rlprof.advise.report import complete_report
from rlprof.analyse.course_so_far import CourseSoFar, course_so_far
from rlprof.analyse.over_time import Moment, moments
from rlprof.model.errors import RlprofError
from rlprof.model.recording import Recording
from rlprof.model.report import Report
from rlprof.recording import open_recording

#: Looking costs time on the same machine: at most this share of a core.
MOST_OF_A_CORE: Final = 0.1
RUNNING: Final = "running"


class Look:
    """What a recording says at one moment. Each part is computed when it is first asked for."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    @cached_property
    def report(self) -> Report:
        return complete_report(self.recording)

    @cached_property
    def moments(self) -> list[Moment]:
        return list(moments(self.recording))

    @cached_property
    def course(self) -> CourseSoFar:
        return course_so_far(self.recording, self.report, self.moments)

    @property
    def goes_on(self) -> bool:
        return self.recording.status == RUNNING


def look_at(name: str | os.PathLike[str]) -> Look:
    """Read a recording as it is now."""
    return Look(open_recording(name))


def pause_after(took: float, every: float) -> float:
    """How long to wait until the next look, where one is wanted `every` so many seconds and the last `took` so long."""
    return max(every - took, took / MOST_OF_A_CORE)


class Lookout:
    """Hands out what was made of the latest look, and looks again when that is old. Any thread may ask."""

    def __init__(self, name: str | os.PathLike[str], made: Callable[[Look], str], every: float = 1.0) -> None:
        self._name = name
        self._make = made
        self._every = every
        self._lock = threading.Lock()
        self._latest: str | None = None
        self._next = 0.0

    def text(self) -> str:
        """The latest; an error where there never was one."""
        with self._lock:
            if self._latest is not None and time.monotonic() < self._next:
                return self._latest
            started = time.monotonic()
            with contextlib.suppress(RlprofError) if self._latest is not None else contextlib.nullcontext():
                self._latest = self._make(look_at(self._name))  # its parts may be being merged just now
            ended = time.monotonic()
            self._next = ended + pause_after(ended - started, self._every)
            assert self._latest is not None
            return self._latest
