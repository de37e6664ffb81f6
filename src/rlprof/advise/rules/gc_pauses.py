"""`gc-pauses`: the garbage collector takes a part of the run that matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import evidence_of, main_operations, own_lines, part_named, places, seconds_of
from rlprof.model.recording import Recording
from rlprof.model.report import Drilldown, Finding, LineEntry, Operation, Report
from rlprof.model.units import format_duration

RULE: Final = "gc-pauses"
GC: Final = "gc"
FULL: Final = "gc generation 2"
YOUNG: Final = "gc generation 1"
COMPILE: Final = "torch.compile"
FEWEST_SAMPLES: Final = 5
#: The collector itself begins far fewer full collections than lesser ones. A program that asks for them does not.
ASKED_FOR: Final = 0.5
FEWEST_FULL: Final = 5
#: Of the samples in collections: what the line that asks for them has.
SMALLEST_LINE: Final = 0.8


def gc_pauses(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when collections take time that matters; those while modules are loaded or compiled are left out."""
    part = part_named(report, GC)
    lines = own_lines(part)
    if part is None or part.samples < FEWEST_SAMPLES or not lines:
        return
    compiling = sum(entry.self_seconds for entry in _collections(report) if _is_compiling(entry))
    seconds = max(seconds_of(report, GC) - _while_importing(part, lines) - compiling, 0.0)
    counts = _counts(report)
    asked = _is_asked_for(part, lines, counts)
    total = sum(counts.values())
    yield from Claim(
        RULE,
        f"{total:,d} garbage collections, {counts.get(FULL, 0):,d} of them full, take {format_duration(seconds)}",
        Saving(0.0, seconds),
        places(lines),
        _cure(lines[0], asked),
        {
            "phases": [GC],
            "gc_seconds": seconds,
            "collections": total,
            "full_collections": counts.get(FULL, 0),
            "asked_for": asked,
            "lines": evidence_of(lines),
        },
    ).findings(report)


def _while_importing(part: Drilldown, lines: list[LineEntry]) -> float:
    """Time of collections that no line of the user's training was on the stack of."""
    return max(part.seconds - part.unsampled_seconds - part.other_seconds - sum(line.seconds for line in lines), 0.0)


def _counts(report: Report) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in _collections(report):
        if not _is_compiling(entry):
            counts[entry.path[-1]] = counts.get(entry.path[-1], 0) + entry.calls
    return counts


def _collections(report: Report) -> list[Operation]:
    return [entry for entry in main_operations(report) if entry.phase == GC]


def _is_compiling(entry: Operation) -> bool:
    """A compiler makes millions of objects, once: what that takes is its own."""
    return any(name.startswith(COMPILE) for name in entry.path)


def _is_asked_for(part: Drilldown, lines: list[LineEntry], counts: dict[str, int]) -> bool:
    full = counts.get(FULL, 0)
    often = full >= FEWEST_FULL and full > ASKED_FOR * counts.get(YOUNG, 0)
    return often and lines[0].seconds > SMALLEST_LINE * part.seconds


def _cure(line: LineEntry, asked: bool) -> str:
    if asked:
        return (
            f"{line.file}:{line.line} asks for full collections: take `gc.collect()` out of the loop (and "
            "`torch.cuda.empty_cache()` beside it), or do it once in some thousand steps. What it frees is freed "
            "anyway when it is no longer referred to; only circles of references wait for the collector"
        )
    return (
        f"most of them come at {line.file}:{line.line}, where objects are made: after set-up call `gc.collect(); "
        "gc.freeze()`, so that what stays is not looked through again and again, and let the collector come less often "
        "(`gc.set_threshold(50_000, 20, 100)`); keep transitions in arrays instead of millions of small objects. "
        "Switching the collector off altogether can leak circles of references"
    )
