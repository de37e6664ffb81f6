"""The course of a recorded run: what the passes over time share, computed once."""

from __future__ import annotations

from dataclasses import dataclass

from rlprof.analyse.ledger import Account, open_account
from rlprof.analyse.pace import Pace, pace_of
from rlprof.analyse.slices import LaneSlices, lane_slices
from rlprof.analyse.startup import Startup, startup_of
from rlprof.model.recording import Recording


@dataclass(frozen=True, slots=True)
class Course:
    """The main process over time."""

    account: Account
    slices: LaneSlices
    startup: Startup | None
    pace: Pace | None


def course_of(recording: Recording) -> Course:
    """From a recording alone, for those who were not there when its report was built."""
    account = open_account(recording.main)
    slices = lane_slices(account)
    startup = startup_of(account, slices)
    return Course(account, slices, startup, pace_of(recording, account, slices, startup))
