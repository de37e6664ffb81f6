"""Operators of torch by RL phase, and the windows in which they were seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rlprof.analyse.apart import CUT, FACT
from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Recording
from rlprof.model.report import Operator, PhaseOperators, Window

OPERATORS: Final = "torch_operators"
MOST_OPERATORS: Final = 15


def windows_of(recording: Recording) -> tuple[Window, ...]:
    """Iterations in which another profiler looked on; they are in no other figure where `apart` says so."""
    facts = recording.main.facts
    return tuple(
        Window(
            tool=str(found.get("tool")),
            iterations=int(found["iterations"]),
            warmup=int(found.get("warmup") or 0),
            seconds=(found["end_ns"] - found["start_ns"]) / NS_PER_SECOND,
            files=tuple(map(str, found.get("files") or ())),
            apart=name == CUT,
        )
        for name in (CUT, FACT)
        for found in _listed(facts, name)
        if all(isinstance(found.get(key), int) for key in ("iterations", "start_ns", "end_ns"))
    )


def _listed(facts: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    found = facts.get(name)
    yield from (each for each in found if isinstance(each, Mapping)) if isinstance(found, list) else ()


def operators_of(recording: Recording, account: Account) -> tuple[PhaseOperators, ...] | None:
    """By the phase that was open when an operator began, those with the most time first; None without a trace."""
    rows = recording.main.facts.get(OPERATORS)
    if not isinstance(rows, list):
        return None
    phases: dict[str, dict[str, list[int]]] = {}
    for path, name, *figures in filter(_is_row, rows):
        phase = account.phases.get(path, UNATTRIBUTED)
        sums = phases.setdefault(phase, {}).setdefault(name, [0, 0, 0, 0])
        for place, figure in enumerate(figures):
            sums[place] += figure
    on_device = any(sums[3] for found in phases.values() for sums in found.values())
    whole = sum(sums[2] for found in phases.values() for sums in found.values())
    entries = [_phase(phase, found, whole, on_device) for phase, found in phases.items()]
    return tuple(sorted(entries, key=lambda entry: -entry.seconds - (entry.device_seconds or 0.0)))


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 6
        and isinstance(row[1], str)
        and all(isinstance(row[place], int) for place in (0, 2, 3, 4, 5))
    )


def _phase(phase: str, found: Mapping[str, list[int]], whole: int, on_device: bool) -> PhaseOperators:
    operators = [
        Operator(
            name=name,
            calls=calls,
            total_seconds=total / NS_PER_SECOND,
            self_seconds=max(own, 0) / NS_PER_SECOND,
            device_seconds=device / NS_PER_SECOND if on_device else None,
        )
        for name, (calls, total, own, device) in found.items()
    ]
    operators.sort(key=lambda entry: -entry.self_seconds - (entry.device_seconds or 0.0))
    own = sum(entry.self_seconds for entry in operators)
    return PhaseOperators(
        phase=phase,
        calls=sum(entry.calls for entry in operators),
        seconds=own,
        share=own * NS_PER_SECOND / whole if whole else 0.0,
        device_seconds=sum(entry.device_seconds or 0.0 for entry in operators) if on_device else None,
        operators=tuple(operators[:MOST_OPERATORS]),
        other_seconds=sum(entry.self_seconds for entry in operators[MOST_OPERATORS:]),
    )
