"""`evaluation-cost`: testing the policy takes a large part of training it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import own_lines, part_named
from rlprof.advise.steps import evaluations
from rlprof.analyse.ledger import open_account
from rlprof.analyse.plays_beside import plays_beside
from rlprof.analyse.seen import seconds_seen
from rlprof.analyse.stacks import waist
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "evaluation-cost"
EVALUATE: Final = "evaluate"
#: One evaluation at the end is what most programs do.
FEWEST: Final = 2
#: Samples of such a function, the eighths of the training that it must be seen in, and what it surely takes of it.
FEWEST_SAMPLES: Final = 20
FEWEST_PIECES: Final = 5
SMALLEST_SEEN: Final = 0.05
_CURE: Final = (
    "do so less often and on fewer episodes (`if update % 50 == 0:` around the call), many at once, "
    "or in another process, from checkpoints, while training goes on"
)


def evaluation_cost(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when evaluations, all that happens inside of them included, take time that matters."""
    yield from [*_recognised(recording, report)] or _beside(recording, report)


def _beside(recording: Recording, report: Report) -> Iterator[Finding]:
    """A function that plays beside the training loop, and whose name says nothing: samples alone tell what it takes."""
    found, running = plays_beside(recording, open_account(recording.main), report), training_seconds(report)
    if found is None or found.seen.samples < FEWEST_SAMPLES or len(found.seen.pieces) < FEWEST_PIECES:
        return
    seconds, least, most = seconds_seen(report, found.seen, running)
    if least < SMALLEST_SEEN * running:
        return
    spots = found.seen.spots[:3]
    yield from Claim(
        RULE,
        f"{found.function} plays episodes beside training and learns nothing from them: "
        f"{format_percent(seconds / running)} of the time ({format_duration(seconds)})",
        Saving(0.0, most),
        tuple(Place(spot.file, spot.line, spot.function) for spot in spots),
        f"{spots[0].file}:{spots[0].line} calls it: if it tests the policy, {_CURE}",
        {
            "phases": sorted(found.seen.by_part),
            "function": found.function,
            "evaluate_seconds": seconds,
            "evaluate_low_seconds": least,
            "share_of_training": seconds / running,
            "samples": found.seen.samples,
            "lines": [{"file": s.file, "line": s.line, "samples": found.seen.by_spot[s]} for s in spots],
        },
        at_most="warning",
    ).findings(report)


def _recognised(recording: Recording, report: Report) -> Iterator[Finding]:
    """Several evaluations of a library, or functions whose name says so."""
    found = evaluations(report)
    calls, seconds = sum(entry.calls for entry in found), sum(entry.total_seconds for entry in found)
    running = training_seconds(report)
    place = _place(recording, report)
    if calls < FEWEST or place is None or running <= 0:
        return
    steps = report.throughput.env_steps
    between = f", one every {steps / calls:,.0f} env steps" if steps else ""
    yield from Claim(
        RULE,
        f"{calls:,d} evaluations take {format_percent(seconds / running)} of the time{between}",
        Saving(0.0, seconds),
        (place,),
        f"evaluate less often and on fewer episodes ({format_duration(seconds / calls)} each): `eval_freq` and "
        "`n_eval_episodes` of `EvalCallback`, or `if update % 50 == 0:` around your own; several environments at once; "
        "or in another process, from checkpoints, while training goes on",
        {
            "phases": [EVALUATE],
            "evaluations": calls,
            "evaluate_seconds": seconds,
            "seconds_each": seconds / calls,
            "share_of_training": seconds / running,
            "env_steps_between": steps / calls if steps else None,
        },
    ).findings(report)


def _place(recording: Recording, report: Report) -> Place | None:
    frame = waist(open_account(recording.main), EVALUATE)
    if frame is not None:
        return Place(frame.file, frame.line, frame.function)
    lines = own_lines(part_named(report, EVALUATE))
    return Place(lines[0].file, lines[0].line, lines[0].function) if lines else None
