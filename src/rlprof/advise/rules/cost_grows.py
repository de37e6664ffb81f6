"""`cost-grows`: a part of the loop costs more with every step. The samples say which line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rlprof.advise.bounds import severity_of
from rlprof.advise.verify import run_again
from rlprof.analyse.course import course_of
from rlprof.analyse.growth import Growth, growing_parts, thirds_of
from rlprof.analyse.growth_lines import GrownLine, grown_lines
from rlprof.analyse.growth_paths import GrownPath, grown_path
from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.pace import Pace
from rlprof.analyse.projection import Projection, project
from rlprof.analyse.whatif import ratio_of, share_spread
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Place, Report
from rlprof.model.units import format_duration, three_digits

RULE: Final = "cost-grows"
#: So many times as long a run is what the finding speaks of.
LONGER_RUN: Final = 10.0
PLACES_NAMED: Final = 3
#: A line with a smaller part of the rise than this is chance.
SMALLEST_RISE: Final = 0.2
#: Fewer samples in the growing part than this do not tell one line from another.
FEWEST_SAMPLES: Final = 10
BACKWARD: Final = "learn.backward"
_HISTORY: Final = (
    "draw rows by random index from a preallocated array instead of rebuilding a list, keep a running "
    "maximum, sum or count instead of looking at the whole history, or bound it with deque(maxlen=...)"
)
_GRAPH: Final = (
    "the graph of a tensor that is carried on from update to update, a recurrent network's state or a running sum of "
    "losses. Cut it where an update begins, `state = state.detach()`, and leave `retain_graph=True` out: torch then "
    "says which line still needs the old graph"
)


def cost_grows(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks for each part whose cost grows per call and per env step, with the line that it grows in."""
    course = course_of(recording)
    if course.pace is None:
        return
    growths = growing_parts(course.pace)
    for growth in growths:
        lines = _named(grown_lines(course.account, course.pace, growth))
        if not lines:
            continue
        gain = _gain(course.pace, growth, lines)
        severity = severity_of(gain)
        if severity is not None:
            ahead = project(course.pace, (growth,), LONGER_RUN)
            yield Finding(
                rule=RULE,
                severity=severity,
                title=_title(growth),
                evidence=_evidence(growth, lines, ahead) | _operation(grown_path(course.account, course.pace, growth)),
                where=tuple(Place(line.spot.file, line.spot.line, line.spot.function) for line in lines),
                gain=gain,
                cure=_cure(growth, lines[0], ahead),
                changes_learning=False,
                verify=run_again(report.run.command),
            )


def _named(lines: tuple[GrownLine, ...]) -> list[GrownLine]:
    if not lines or sum(line.samples for line in lines) < FEWEST_SAMPLES:
        return []
    most = lines[0].rise
    return [line for line in lines[:PLACES_NAMED] if line.rise > 0 and line.rise >= SMALLEST_RISE * most]


def _gain(pace: Pace, growth: Growth, lines: list[GrownLine]) -> Gain:
    """At most what the growing lines took, at the pace of the end; likely what they took beyond their first level.

    The whole is the time that was looked at, without start-up and without rlprof's own cost: the program that a cure
    makes faster does not pay it.
    """
    seen = pace.since(growth.since)
    own, total = seen.own_ns[growth.part], np.sum(list(seen.own_ns.values()), axis=0)
    whole = float(total.sum()) / NS_PER_SECOND
    highest = sum(line.high_seconds for line in lines) * share_spread(own, total)[1]
    last = thirds_of(seen.steps)[2]
    at_the_end = sum(line.last_per_step for line in lines) * float(seen.steps[last].sum())
    share = at_the_end / max(float(total[last].sum()) / NS_PER_SECOND, 1e-9)
    most = min(max(highest, share * whole, growth.excess_seconds), whole)
    return Gain(sps_ratio=ratio_of(whole, growth.excess_seconds), low=1.0, high=ratio_of(whole, most))


def _title(growth: Growth) -> str:
    name = "the time in no span" if growth.part == UNATTRIBUTED else growth.part
    first, last = _levels(growth)
    each = "an env step" if growth.first_per_call is None else "a call"
    return (
        f"{name} costs {three_digits(growth.factor)} times as much per env step at the end as at the beginning "
        f"({format_duration(first)} to {format_duration(last)} {each})"
    )


def _levels(growth: Growth) -> tuple[float, float]:
    if growth.first_per_call is None or growth.last_per_call is None:
        return growth.first_per_step, growth.last_per_step
    return growth.first_per_call, growth.last_per_call


def _evidence(growth: Growth, lines: list[GrownLine], ahead: Projection) -> dict[str, object]:
    return {
        "phases": [growth.part],
        "factor": growth.factor,
        "first_seconds_per_env_step": growth.first_per_step,
        "last_seconds_per_env_step": growth.last_per_step,
        "first_seconds_per_call": growth.first_per_call,
        "last_seconds_per_call": growth.last_per_call,
        "slope_seconds_per_1000_env_steps": 1000 * growth.line.slope,
        "slope_low": 1000 * growth.line.low,
        "slope_high": 1000 * growth.line.high,
        "exponent": growth.power.exponent,
        "exponent_low": growth.exponent_low.exponent,
        "exponent_high": growth.exponent_high.exponent,
        "excess_seconds": growth.excess_seconds,
        "longer_run": {
            "times": ahead.times,
            "seconds": ahead.seconds,
            "low_seconds": ahead.low,
            "high_seconds": ahead.high,
            "linear_seconds": ahead.linear_seconds,
        },
        "lines": [
            {
                "file": line.spot.file,
                "line": line.spot.line,
                "function": line.spot.function,
                "samples": line.samples,
                "estimated_seconds": line.seconds,
                "first_seconds_per_env_step": line.first_per_step,
                "last_seconds_per_env_step": line.last_per_step,
            }
            for line in lines
        ],
    }


def _operation(path: GrownPath | None) -> dict[str, object]:
    if path is None:
        return {"operation": None}
    return {
        "operation": {
            "path": list(path.names),
            "seconds_per_call": list(path.per_call),
            "calls_per_env_step": list(path.calls_per_step),
        }
    }


def _cure(growth: Growth, line: GrownLine, ahead: Projection) -> str:
    return (
        f"{line.spot.file}:{line.spot.line} (in {line.spot.function}) works through something that gets longer with "
        f"every step: {_GRAPH if growth.part == BACKWARD else _HISTORY}. "
        f"As it is, a run {three_digits(ahead.times)} times as long takes {format_duration(ahead.seconds)} "
        f"({format_duration(ahead.low)} to {format_duration(ahead.high)}) and not "
        f"{format_duration(ahead.linear_seconds)}"
    )
