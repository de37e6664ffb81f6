"""Each part of the ledger down to functions and lines, with the source around them."""

from __future__ import annotations

from typing import Any, Final

from rlprof.model.report import Drilldown, LineEntry, Report
from rlprof.model.units import format_count, format_duration, format_percent
from rlprof.render.code_lines import called, few, margin, name_of, rest_of, samples_text, short_place, unseen
from rlprof.render.overview import share
from rlprof.render.page.excerpts import Excerpts
from rlprof.render.page.tints import tint
from rlprof.render.paths import Paths

Payload = dict[str, Any]
MOST_LINES: Final = 20


def drilldown(report: Report, excerpts: Excerpts, paths: Paths) -> Payload:
    """The parts that have lines, the largest first."""
    parts = sorted((part for part in report.drilldown or () if part.lines), key=lambda part: part.seconds, reverse=True)
    return {
        "parts": [_part(part, report, excerpts, paths) for part in parts],
        "notes": list(unseen(report)),
        "sampled": report.drilldown is not None,
    }


def _part(part: Drilldown, report: Report, excerpts: Excerpts, paths: Paths) -> Payload:
    shown = list(part.lines[:MOST_LINES])
    return {
        "name": name_of(part),
        "tint": tint(part.part),
        "time": format_duration(part.seconds),
        "percent": format_percent(share(part.seconds, report.ledger.wall_seconds)),
        "samples": few(part) or samples_text(part),
        "lines": [_line(line, part, excerpts, paths) for line in shown],
        "rest": [
            [name, format_duration(seconds)]
            for name, seconds in rest_of(part, shown)
            if seconds >= 0.005 * part.seconds
        ],
    }


def _line(line: LineEntry, part: Drilldown, excerpts: Excerpts, paths: Paths) -> Payload:
    return {
        "place": short_place(line),
        "file": paths.shown(line.file),
        "function": line.function,
        "own": line.own,
        "time": format_duration(line.seconds),
        "margin": margin(line),
        "percent": format_percent(line.share),
        "share": round(share(line.seconds, part.seconds), 4),
        "samples": format_count(line.samples),
        "calling": [
            [
                call.function,
                "" if call.function.startswith("import ") else short_place(call),
                format_duration(call.seconds),
            ]
            for call in called(line, part)
        ],
        "excerpt": excerpts.number(line.file, line.line),
    }
