"""cProfile in some iterations: every function with its calls and callers, beside the recording."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

from rlprof.record.options import Detailed
from rlprof.record.phase_profile import PhaseProfile
from rlprof.recording.place import profile_of

#: A window lasts for so many iterations and so long, or at most until the first turn after the longest time.
TURNS: Final = 4
SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 10.0


class CProfileWindow:
    """Opens with the second turn of the loop, when torch and caches are warm. It sees the thread that trains."""

    name: Final = "cProfile"
    code: Final = "detailed"

    def __init__(self, target: Path, wanted: Detailed) -> None:
        self._target = target
        self._by_phase = wanted.by_phase
        self._profile: Any = None
        self._ended = False
        self.busy = False

    def in_the_way(self) -> str | None:
        monitoring: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
        taken = sys.getprofile() is not None or (
            monitoring is not None and monitoring.get_tool(monitoring.PROFILER_ID) is not None
        )
        return "the program is profiled by another tool: no detailed profile of rlprof" if taken else None

    def opens(self, turn: int) -> bool:
        return not self._ended

    def is_through(self) -> bool:
        return self._ended

    def open(self) -> None:
        from cProfile import Profile

        self._profile = PhaseProfile() if self._by_phase else Profile()
        self.busy = True
        self._profile.enable()
        self.busy = False

    def turned(self) -> None:
        return None

    def closes(self, turns: int, seconds: float) -> bool:
        return (turns >= TURNS and seconds >= SECONDS) or seconds >= LONGEST_SECONDS

    def close(self) -> dict[str, Any]:
        profile, self._profile = self._profile, None
        self._ended = True
        self._stop(profile)
        phases = profile.phases if self._by_phase else [None]
        files = [profile_of(self._target, phase) for phase in phases]
        for phase, file in zip(phases, files, strict=True):
            if phase is None:
                profile.dump_stats(file)
            else:
                profile.dump(phase, file)
            os.chmod(file, 0o600)
        return {"files": [file.name for file in files]}

    def _stop(self, profile: Any) -> None:
        # Before Python 3.12 there is one profiler per thread, and another one may be in our place by now.
        if self._by_phase or hasattr(sys, "monitoring") or sys.getprofile() is profile:
            profile.disable()

    def abandon(self) -> None:
        profile, self._profile = self._profile, None
        self._ended = True
        if profile is not None:
            self._stop(profile)

    def missed(self) -> tuple[str, str] | None:
        if self._ended:
            return None
        return (
            "the program ended before cProfile could look on for an iteration: the detailed text is from stack samples",
            "train longer",
        )
