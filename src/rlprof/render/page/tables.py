"""The operations as a table that can be sorted and filtered, and the projections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rlprof.model.clean import clean_text
from rlprof.model.report import Operation, ProcessEntry, Report, WhatIf
from rlprof.model.units import format_percent, format_ratio
from rlprof.render.columns import columns_with_data
from rlprof.render.overview import share
from rlprof.render.page.tints import tint

Payload = dict[str, Any]
MOST_OPERATIONS: Final = 2000

#: What each column is sorted by.
_VALUES: Final[dict[str, Callable[[Operation], float | None]]] = {
    "calls": lambda operation: operation.calls,
    "total": lambda operation: operation.total_seconds,
    "self": lambda operation: operation.self_seconds,
    "avg": lambda operation: operation.avg_seconds,
    "min": lambda operation: operation.min_seconds,
    "max": lambda operation: operation.max_seconds,
    "p50": lambda operation: operation.p50_seconds,
    "p99": lambda operation: operation.p99_seconds,
    "memory": lambda operation: operation.memory_peak_mb,
    "gpu mem": lambda operation: operation.gpu_memory_peak_mb,
}


def operations(report: Report) -> Payload:
    """Every operation with what it is sorted by and what is shown."""
    shown = report.operations[:MOST_OPERATIONS]
    columns = columns_with_data(shown)
    walls = {process.id: process.wall_seconds for process in report.run.processes}
    processes = {process.id: process for process in report.run.processes}
    several = len({(operation.process, operation.thread) for operation in shown}) > 1
    rows = []
    for operation in shown:
        part = share(operation.self_seconds, walls.get(operation.process, 0.0))
        rows.append(
            {
                "path": [clean_text(name) for name in operation.path],
                "phase": operation.phase,
                "tint": tint(operation.phase),
                "where": _where(processes.get(operation.process), operation.thread) if several else "",
                "labels": list(operation.labels),
                "open": operation.open,
                "cells": [format_percent(part), *(column.cell(operation) for column in columns)],
                "values": [part, *(_VALUES[column.title](operation) for column in columns)],
            }
        )
    return {
        "head": ["self, share", *(column.title for column in columns)],
        "rows": rows,
        "several": several,
        "leftOut": len(report.operations) - len(shown),
    }


def _where(process: ProcessEntry | None, thread: str) -> str:
    """The process, and a thread that is not the one that its ledger is about."""
    if process is None:
        return thread
    return f"{process.role} {process.pid}" + (f" {thread}" if thread != process.thread else "")


def whatif(report: Report) -> list[Payload]:
    """Every phase with its computed projections; `at` and the interval are places on one scale for all."""
    by_phase: dict[str, list[WhatIf]] = {}
    for entry in report.whatif:
        by_phase.setdefault(entry.phase, []).append(entry)
    highest = max((entry.high for entry in report.whatif), default=1.0)
    return [
        {"phase": phase, "tint": tint(phase), "points": [_now(highest), *(_point(entry, highest) for entry in entries)]}
        for phase, entries in by_phase.items()
    ]


def _now(highest: float) -> Payload:
    at = _at(1.0, highest)
    return {"label": "as it is", "ratio": format_ratio(1.0), "interval": "", "at": at, "low": at, "high": at}


def _point(entry: WhatIf, highest: float) -> Payload:
    return {
        "label": "free" if entry.speedup is None else f"{entry.speedup:g}x faster",
        "ratio": format_ratio(entry.sps_ratio),
        "interval": f"{format_ratio(entry.low)} to {format_ratio(entry.high)}",
        "at": _at(entry.sps_ratio, highest),
        "low": _at(entry.low, highest),
        "high": _at(entry.high, highest),
    }


def _at(ratio: float, highest: float) -> float:
    """On a scale from what is now to the highest of all."""
    return round(min(max((ratio - 1.0) / (highest - 1.0), 0.0), 1.0), 4) if highest > 1 else 0.0
