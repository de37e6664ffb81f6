"""`checkpoint-pause`: training stands still while its state is saved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import collected_in, main_operations, outermost, own_lines, part_named, places
from rlprof.analyse.course import course_of
from rlprof.analyse.growth import Growth, growth_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report
from rlprof.model.units import format_duration

RULE: Final = "checkpoint-pause"
CHECKPOINT: Final = "checkpoint"
#: Fewer are the one at the end, and perhaps one on the way.
FEWEST: Final = 3


def checkpoint_pause(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when saving is repeated and takes time that matters; of one or two saves only for information."""
    found = outermost(main_operations(report), CHECKPOINT)
    calls, seconds = sum(entry.calls for entry in found), sum(entry.total_seconds for entry in found)
    lines = own_lines(part_named(report, CHECKPOINT))
    if not calls or not lines:
        return
    longest = max(entry.max_seconds or 0.0 for entry in found)
    median = _median_iteration(recording)
    name = max(found, key=lambda entry: entry.total_seconds).path[-1]
    steps = report.throughput.env_steps
    growth = _growth(recording)
    yield from Claim(
        RULE,
        f"{calls:,d} times training waits for {name}, {format_duration(longest)} at the longest: "
        f"{format_duration(seconds)}{_and_longer(growth)}",
        Saving(0.0, seconds),
        places(lines),
        f"{lines[0].file}:{lines[0].line}: save less often; save the network alone and leave the replay buffer out, or "
        "write the buffer's arrays with `numpy.save` instead of pickling objects; copy the state and write it in a "
        "thread (`threading.Thread(target=torch.save, args=(copy.deepcopy(model.state_dict()), path))`)",
        {
            "phases": [CHECKPOINT, *(["gc"] if collected_in(report, found) else [])],
            "saves": calls,
            "operation": name,
            "checkpoint_seconds": seconds,
            "longest_seconds": longest,
            "median_iteration_seconds": median,
            "longest_in_iterations": longest / median if median else None,
            "env_steps_between": steps / calls if steps else None,
            "first_seconds_per_call": growth.first_per_call if growth else None,
            "last_seconds_per_call": growth.last_per_call if growth else None,
        },
        at_most="critical" if calls >= FEWEST else "info",
    ).findings(report)


def _median_iteration(recording: Recording) -> float | None:
    durations = recording.main.iterations.duration_ns
    return float(np.median(durations)) / 1e9 if len(durations) else None


def _growth(recording: Recording) -> Growth | None:
    """How saves get longer, as those of a buffer that fills do; None where they do not."""
    pace = course_of(recording).pace
    return growth_of(pace, CHECKPOINT) if pace is not None and CHECKPOINT in pace.own_ns else None


def _and_longer(growth: Growth | None) -> str:
    if growth is None or growth.first_per_call is None or growth.last_per_call is None:
        return ""
    return (
        f"; a save grew from {format_duration(growth.first_per_call)} to {format_duration(growth.last_per_call)}, "
        "as what it saves gets longer"
    )
