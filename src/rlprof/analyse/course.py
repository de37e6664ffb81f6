"""The course of a recorded run: what the passes over time share, computed once for each recording."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Final

from rlprof.analyse.ledger import Account, open_account
from rlprof.analyse.pace import Pace, pace_of
from rlprof.analyse.slices import LaneSlices, lane_slices
from rlprof.analyse.startup import Startup, startup_of
from rlprof.model.recording import Recording

#: Windows in which changes of speed are looked for; longer runs have wider ones.
MOST_WINDOWS: Final = 120


@dataclass(frozen=True, slots=True)
class Course:
    """The main process over time. `pace` is in long stretches, `windows` in short ones."""

    account: Account
    slices: LaneSlices
    startup: Startup | None
    pace: Pace | None
    windows: Pace | None


#: By the identity of a recording, for as long as it lives: several rules ask for the same, and an hour is a long table.
_known: dict[int, Course] = {}


def course_of(recording: Recording) -> Course:
    """What a recording says about its main process over time."""
    found = _known.get(id(recording))
    if found is None:
        found = _known[id(recording)] = _course(recording)
        weakref.finalize(recording, _known.pop, id(recording), None)
    return found


def _course(recording: Recording) -> Course:
    account = open_account(recording.main)
    slices = lane_slices(account)
    startup = startup_of(account, slices)
    return Course(
        account=account,
        slices=slices,
        startup=startup,
        pace=pace_of(recording, account, slices, startup),
        windows=pace_of(recording, account, slices, startup, MOST_WINDOWS),
    )
