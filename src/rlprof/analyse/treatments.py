"""What was changed in the program from outside, over all processes of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlprof.model.recording import Recording
from rlprof.model.report import ReportWarning, TreatmentEntry


def treatments_of(recording: Recording) -> tuple[TreatmentEntry, ...]:
    """Each once, in the order in which they were given; one that took effect in any process was applied.

    Where it did in none, the main process knows the reason best.
    """
    found: dict[str, TreatmentEntry] = {}
    for process in recording.processes:
        for entry in _entries(process.facts.get("treatments")):
            known = found.get(entry.text)
            if known is None or (entry.applied and not known.applied):
                found[entry.text] = entry
    return tuple(found.values())


def _entries(value: Any) -> Iterator[TreatmentEntry]:
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("text"), str):
            why = entry.get("why")
            yield TreatmentEntry(entry["text"], entry.get("applied") is True, None if why is None else str(why))


def treatments_not_applied(recording: Recording) -> Iterator[ReportWarning]:
    for entry in treatments_of(recording):
        if not entry.applied:
            yield ReportWarning(
                "treatment-not-applied",
                f"the treatment {entry.text} was not applied: {entry.why or 'nobody knows why'}",
                "leave it out: apart from it the program ran as it is",
            )
