"""`process-wait`: the program talks to worker processes of its own for longer than these work."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.analyse.ledger import NS_PER_SECOND, open_account
from rlprof.analyse.lines import interval
from rlprof.analyse.places import Spot
from rlprof.analyse.stacks import callers, callers_with
from rlprof.model.own_files import is_users
from rlprof.model.phases import STARTUP
from rlprof.model.recording import Frame, Process, Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "process-wait"
FEWEST_SAMPLES: Final = 30
FEWEST_OF_WORKER: Final = 10
#: Of the run: less is what any program with workers spends on them.
SMALLEST_SHARE: Final = 0.2
#: What all workers did beside talking, as a part of the time that is spent on talking to them: above it, processes pay.
MOST_WORKED: Final = 0.9
PLACES_NAMED: Final = 3

_TALKS: Final = re.compile(r"[\\/](multiprocessing[\\/](?!popen|process|util)\w+|concurrent[\\/]futures[\\/]\w+)\.py$")
#: What may run between a line of the user's and that.
_STANDARD: Final = re.compile(r"[\\/](multiprocessing|concurrent)[\\/]|[\\/](threading|queue|selectors)\.py$")


@dataclass(slots=True)
class _Talk:
    seconds: float = 0.0
    samples: int = 0
    of: int = 0  # all samples after start-up
    phases: list[str] = field(default_factory=list)
    spots: dict[Spot, float] = field(default_factory=dict)


def process_wait(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where a good part of the run is talk with processes that do little meanwhile."""
    workers = [seconds for process in recording.processes[1:] if (seconds := _worked(process)) is not None]
    running = training_seconds(report)
    if not workers or running <= 0:
        return
    talk, worked = _talk(recording, report), sum(workers)
    if talk.samples < FEWEST_SAMPLES or talk.seconds < SMALLEST_SHARE * running:
        return
    if worked > MOST_WORKED * talk.seconds:
        return
    named = sorted(talk.spots, key=lambda spot: -talk.spots[spot])[:PLACES_NAMED]
    most = max(interval(talk.samples / talk.of, talk.of)[1] * running, talk.seconds)
    yield from Claim(
        RULE,
        f"{format_percent(talk.seconds / running)} of the time ({format_duration(talk.seconds)}) is talk with "
        f"{len(workers)} processes of the program's own, which work for {format_duration(worked)} in all",
        Saving(0.0, most),
        tuple(Place(spot.file, spot.line, spot.function) for spot in named),
        f"{named[0].file}:{named[0].line} sends to other processes or waits for them, and messages cost more than the "
        "work: do it in this process; or give each worker more to do for a message (several environments, a whole "
        "rollout), keep there what does not change, and put arrays and weights into shared memory "
        "(`multiprocessing.shared_memory`, `tensor.share_memory_()`) instead of sending them",
        {
            "phases": talk.phases,
            "talk_seconds": talk.seconds,
            "share_of_training": talk.seconds / running,
            "samples": talk.samples,
            "workers": len(workers),
            "workers_worked_seconds": worked,
            "lines": [{"file": s.file, "line": s.line, "estimated_seconds": talk.spots[s]} for s in named],
        },
    ).findings(report)


def _worked(process: Process) -> float | None:
    """Seconds in which a worker did something else than to talk or wait for that, by its own stacks."""
    samples, life = process.samples, (process.end_ns - process.start_ns) / NS_PER_SECOND
    total = int(samples.count.sum())
    if total < FEWEST_OF_WORKER:
        return None
    rows = zip(samples.frame.tolist(), samples.count.tolist(), strict=True)
    worked = sum(int(count) for leaf, count in rows if not _is_talk(callers(samples.frames, leaf)))
    return life * worked / total


def _is_talk(stack: list[Frame]) -> bool:
    """Whether such a module runs below the innermost line of the user's. What started the worker lies above it."""
    below = itertools.takewhile(lambda frame: not is_users(frame.file), stack)
    return any(_TALKS.search(frame.file) for frame in below)


def _talk(recording: Recording, report: Report) -> _Talk:
    account, talk = open_account(recording.main), _Talk()
    for part in report.drilldown or ():
        if part.part == STARTUP or not part.samples:
            continue
        talk.of += part.samples
        found = callers_with(account, part.part, _talking)
        each = (part.seconds - part.unsampled_seconds) / part.samples
        for spot, count in found.items():
            talk.spots[spot] = talk.spots.get(spot, 0.0) + each * count
            talk.samples += count
            talk.seconds += each * count
        if found:
            talk.phases.append(part.part)
    return talk


def _talking(stack: list[Frame]) -> Frame | None:
    """The line of the user's that called into such a module itself: a library's workers are not the program's own."""
    inside = False
    for frame in stack:
        if _TALKS.search(frame.file):
            inside = True
        elif inside and not _STANDARD.search(frame.file):
            return frame if is_users(frame.file) else None
    return None
