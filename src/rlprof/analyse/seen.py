"""What stacks show again and again in the course of training: where, in which parts of the ledger, for how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.analyse.lines import interval
from rlprof.analyse.places import Spot
from rlprof.analyse.slices import part_of
from rlprof.analyse.stacks import callers, name_of
from rlprof.model.phases import STARTUP, UNATTRIBUTED
from rlprof.model.recording import Frame
from rlprof.model.report import Report

#: The time after start-up in so many pieces: what comes once is in one of them, or two.
PIECES: Final = 8


@dataclass(slots=True)
class Seen:
    """Samples of what was looked for, by part and by line; `pieces` are those of the training that it was seen in."""

    of: int = 0  # all samples of the thread after start-up
    samples: int = 0
    by_part: dict[str, int] = field(default_factory=dict)
    by_spot: dict[Spot, int] = field(default_factory=dict)
    pieces: set[int] = field(default_factory=set)

    @property
    def spots(self) -> list[Spot]:
        return sorted(self.by_spot, key=lambda spot: -self.by_spot[spot])


def seen_in_training(account: Account, report: Report, chosen: Callable[[list[Frame]], Frame | None]) -> Seen:
    """Asks of each stack after start-up, from its leaf outwards, for the frame that shows it; None: it does not."""
    samples, process, seen = account.samples, account.process, Seen()
    if samples.end_ns is None:
        return seen
    begin = process.start_ns + _before_training(report) * NS_PER_SECOND
    length = max(process.end_ns - begin, 1.0) / PIECES
    answers: dict[int, Frame | None] = {}
    rows = zip(
        samples.path.tolist(), samples.frame.tolist(), samples.count.tolist(), samples.end_ns.tolist(), strict=True
    )
    for path, leaf, count, at in rows:
        if at <= begin or path not in account.lane_paths:
            continue
        seen.of += count
        if leaf not in answers:
            answers[leaf] = chosen(callers(samples.frames, leaf))
        frame = answers[leaf]
        if frame is None:
            continue
        part, spot = part_of(account, path) or UNATTRIBUTED, Spot(frame.file, frame.line, name_of(frame)[1])
        seen.samples += count
        seen.by_part[part] = seen.by_part.get(part, 0) + count
        seen.by_spot[spot] = seen.by_spot.get(spot, 0) + count
        seen.pieces.add(int((at - begin) / length))
    return seen


def _before_training(report: Report) -> float:
    """Start-up, and what passed in spans before training: workers that are started for long stand there, too."""
    return (report.ledger.startup_seconds or 0.0) + (report.ledger.setup_seconds or 0.0)


def seconds_seen(report: Report, seen: Seen, running: float) -> tuple[float, float, float]:
    """The main thread's seconds that these samples stand for, with both ends of the 95% interval."""
    seconds = 0.0
    for part in report.drilldown or ():
        if part.part != STARTUP and part.samples and part.part in seen.by_part:
            each = (part.seconds - part.unsampled_seconds) / part.samples
            seconds += each * min(seen.by_part[part.part], part.samples)
    low, high = interval(seen.samples / seen.of, float(seen.of)) if seen.of else (0.0, 0.0)
    return seconds, min(low * running, seconds), max(high * running, seconds)
