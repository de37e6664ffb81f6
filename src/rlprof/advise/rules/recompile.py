"""`recompile`: torch.compile compiles the same function again and again after it was warm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "recompile"
PREFIX: Final = "torch.compile: "
#: A function is compiled once, and once more when a size turns out to vary.
EXPECTED: Final = 2
FEWEST_AGAIN: Final = 2
_PLACE: Final = re.compile(r"^torch\.compile: (?P<function>.+) (?P<file>\S+):(?P<line>\d+)$")


@dataclass(slots=True)
class _Compiled:
    """One function, wherever in the program it had to be compiled."""

    name: str
    compiles: int = 0
    seconds: float = 0.0
    shortest: float = float("inf")
    phases: set[str] = field(default_factory=set)

    @property
    def again(self) -> int:
        return self.compiles - EXPECTED

    @property
    def seconds_again(self) -> float:
        """At most: one compile must stay, and which one is not known."""
        return max(self.seconds - self.shortest, 0.0)


def recompile(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where compiles beyond the first two of a function take time worth a word."""
    again = [compiled for compiled in _by_function(report) if compiled.again >= FEWEST_AGAIN]
    if not again:
        return
    again.sort(key=lambda compiled: -compiled.seconds_again)
    seconds, times = sum(each.seconds_again for each in again), sum(each.again for each in again)
    yield from Claim(
        rule=RULE,
        title=f"{format_count(times)} compiles of functions that were compiled before, {format_duration(seconds)}",
        evidence={
            "phases": sorted({phase for each in again for phase in each.phases}),
            "compiles_again": times,
            "seconds": seconds,
            "functions": [
                {"name": each.name, "compiles": each.compiles, "seconds": each.seconds} for each in again[:10]
            ],
        },
        saving=Saving(0.0, seconds),
        where=tuple(place for place in map(_place, again) if place is not None),
        cure=(
            "keep shapes and Python values the same from call to call: pad the last minibatch or drop it "
            "(`drop_last=True`), pass numbers that change as tensors, or say which size varies "
            "(`torch._dynamo.mark_dynamic(tensor, 0)`, `torch.compile(f, dynamic=True)`). "
            "`TORCH_LOGS=recompiles` names the guard that failed"
        ),
    ).findings(report)


def _by_function(report: Report) -> Iterable[_Compiled]:
    found: dict[str, _Compiled] = {}
    for operation in report.operations:
        name = operation.path[-1]
        if name.startswith(PREFIX):
            compiled = found.setdefault(name, _Compiled(name))
            compiled.compiles += operation.calls
            compiled.seconds += operation.total_seconds
            if operation.min_seconds is not None:
                compiled.shortest = min(compiled.shortest, operation.min_seconds)
            compiled.phases.add(operation.phase)
    return found.values()


def _place(compiled: _Compiled) -> Place | None:
    found = _PLACE.match(compiled.name)
    return Place(found["file"], int(found["line"]), found["function"]) if found else None
