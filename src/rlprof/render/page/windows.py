"""Windows of other profilers, and the operators of torch that were seen in them, by phase."""

from __future__ import annotations

from typing import Any

from rlprof.model.report import PhaseOperators, Report
from rlprof.model.units import format_count, format_duration, format_percent
from rlprof.render.operators import OTHERS, note, window_files, window_text
from rlprof.render.page.tints import tint

Payload = dict[str, Any]


def windows(report: Report) -> Payload | None:
    """None where nothing but rlprof looked on."""
    if not report.windows and not report.operators:
        return None
    return {
        "entries": [{"said": window_text(window), "files": window_files(window)} for window in report.windows],
        "note": note(),
        "operators": [_phase(found) for found in report.operators or ()],
    }


def _phase(found: PhaseOperators) -> Payload:
    device = found.device_seconds is not None
    rows = [
        [
            operator.name,
            format_count(operator.calls),
            format_duration(operator.self_seconds),
            format_duration(operator.total_seconds),
            *([format_duration(operator.device_seconds)] if device else []),
        ]
        for operator in found.operators
    ]
    if found.other_seconds > 0:
        rows.append([OTHERS, "", format_duration(found.other_seconds), "", *([""] if device else [])])
    return {
        "phase": found.phase,
        "tint": tint(found.phase),
        "calls": f"{format_count(found.calls)} calls",
        "time": format_duration(found.seconds),
        "percent": format_percent(found.share),
        "head": ["operator", "calls", "self", "total", *(["device"] if device else [])],
        "rows": rows,
    }
