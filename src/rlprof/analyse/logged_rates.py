"""Whether a rate that the program logs of itself is one over the whole run, and so lags behind what the run does now.

A cumulative rate is all steps so far by the time since some moment. That moment can be worked out from every value, and
is the same for all of them; of a rate over the last moments it moves along with the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.throughput import ENV_STEPS, counter_slices
from rlprof.model.recording import FloatColumn, Recording
from rlprof.model.report import Place

FEWEST_VALUES: Final = 4
#: The moment that a rate counts from may differ by this part of the time between the first value and the last.
STEADY: Final = 0.1
#: Values are held against the rate of this last part of the run.
LAST_PART: Final = 0.25
#: Values of the last moments are as far from the cumulative rate as the run has changed; less than this is nothing.
CHANGED: Final = 1.3


@dataclass(frozen=True, slots=True)
class CumulativeRate:
    tag: str
    place: Place | None
    values: int
    last: float  # what the program said at the end
    now: float  # steps per second of the last part of the run
    since_seconds: float  # the moment that it counts from, since the start of the process
    spread_seconds: float  # how much that differs between values


def cumulative_rates(recording: Recording) -> list[CumulativeRate]:
    """The logged rates that are cumulative while the run's own rate has changed."""
    return [rate for fact in _facts(recording) if (rate := _rate(recording, fact)) is not None]


def _facts(recording: Recording) -> Iterator[Mapping[str, Any]]:
    facts = recording.main.facts.get("logged_rates")
    for fact in facts if isinstance(facts, list) else ():
        if isinstance(fact, Mapping) and isinstance(fact.get("values"), list):
            yield fact


def _rate(recording: Recording, fact: Mapping[str, Any]) -> CumulativeRate | None:
    values = [value for value in fact["values"] if _is_value(value)]
    if len(values) < FEWEST_VALUES:
        return None
    at, said = np.array(values, np.float64).T
    start = recording.main.start_ns
    steps = _steps_at(recording, at)
    if steps is None:
        return None
    since = (at - start) / NS_PER_SECOND - steps / said
    lasted = float(at[-1] - at[0]) / NS_PER_SECOND
    # The first value may come before anything was counted, or be of the first moments alone.
    spread = float(np.max(np.abs(since[1:] - np.median(since[1:]))))
    begin = at[-1] - LAST_PART * (at[-1] - at[0])
    before = _steps_at(recording, np.array([begin]))
    now = (steps[-1] - (float(before[0]) if before is not None else 0.0)) / max((at[-1] - begin) / NS_PER_SECOND, 1e-9)
    changed = now > 0 and max(said[-1] / now, now / said[-1]) >= CHANGED
    if lasted <= 0 or spread > STEADY * lasted or not changed:
        return None
    place = _place(fact)
    return CumulativeRate(
        tag=str(fact.get("tag")),
        place=place,
        values=len(values),
        last=float(said[-1]),
        now=float(now),
        since_seconds=float(np.median(since[1:])),
        spread_seconds=spread,
    )


def _is_value(value: Any) -> bool:
    """A moment and a positive rate."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in value) and 0 < value[1] < 1e12


def _steps_at(recording: Recording, at: FloatColumn) -> FloatColumn | None:
    """Env steps that were done by these moments; None where nobody counted them."""
    slices = counter_slices(recording, ENV_STEPS)
    if not len(slices.end_ns):
        return None
    order = np.argsort(slices.end_ns, kind="stable")
    moments = np.concatenate(([float(slices.start_ns[order[0]])], slices.end_ns[order].astype(np.float64)))
    return np.asarray(np.interp(at, moments, np.concatenate(([0.0], np.cumsum(slices.amount[order])))), np.float64)


def _place(fact: Mapping[str, Any]) -> Place | None:
    file, line = fact.get("file"), fact.get("line")
    if not isinstance(file, str) or not file or not isinstance(line, int) or line <= 0:
        return None
    return Place(file, line, str(fact.get("function", "")))
