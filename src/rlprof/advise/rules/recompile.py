"""`recompile`: torch.compile compiles the same function again and again after it was warm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import gain_if_free, severity_of
from rlprof.advise.verify import run_again
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Operation, Place, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "recompile"
PREFIX: Final = "torch.compile: "
#: A function is compiled once, and once more when a size turns out to vary.
EXPECTED: Final = 2
FEWEST_AGAIN: Final = 2
_PLACE: Final = re.compile(r"^torch\.compile: (?P<function>.+) (?P<file>\S+):(?P<line>\d+)$")


def recompile(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where compiles beyond the first two of a function take time worth a word."""
    again = [operation for operation in report.operations if _calls_again(operation) >= FEWEST_AGAIN]
    if not again:
        return
    again.sort(key=_seconds_again, reverse=True)
    seconds, times = sum(map(_seconds_again, again)), sum(map(_calls_again, again))
    gain = gain_if_free(report, seconds)
    severity = severity_of(gain)
    if severity is None:
        return
    yield Finding(
        rule=RULE,
        severity=severity,
        title=f"{format_count(times)} compiles of functions that were compiled before, {format_duration(seconds)}",
        evidence={
            "phases": sorted({operation.phase for operation in again}),
            "compiles_again": times,
            "seconds": seconds,
            "functions": [
                {"name": operation.path[-1], "compiles": operation.calls, "seconds": operation.total_seconds}
                for operation in again[:10]
            ],
        },
        where=tuple(place for place in map(_place, again) if place is not None),
        gain=gain,
        cure=(
            "keep shapes and Python values the same from call to call: pad the last minibatch or drop it "
            "(`drop_last=True`), pass numbers that change as tensors, or say which size varies "
            "(`torch._dynamo.mark_dynamic(tensor, 0)`, `torch.compile(f, dynamic=True)`). "
            "`TORCH_LOGS=recompiles` names the guard that failed"
        ),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _calls_again(operation: Operation) -> int:
    return operation.calls - EXPECTED if operation.path[-1].startswith(PREFIX) else 0


def _seconds_again(operation: Operation) -> float:
    return operation.total_seconds * _calls_again(operation) / operation.calls


def _place(operation: Operation) -> Place | None:
    found = _PLACE.match(operation.path[-1])
    return Place(found["file"], int(found["line"]), found["function"]) if found else None
