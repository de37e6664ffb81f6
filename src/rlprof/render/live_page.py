"""The live page: its files, and the state of a run as the JSON that its script draws. All figures are made here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final

from rlprof.analyse.course_so_far import CourseSoFar
from rlprof.model.clean import clean_text
from rlprof.model.phases import CATEGORIES, category_of
from rlprof.model.report import Finding, Report
from rlprof.model.units import (
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
    format_ratio,
)

#: The page's files and what they are.
FILES: Final = {
    "live.html": "text/html; charset=utf-8",
    "live.css": "text/css; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
}
_ROUND: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def page_file(name: str) -> str:
    """One of the page's files."""
    return files("rlprof.render").joinpath("web").joinpath(name).read_text(encoding="utf-8")


def live_state(report: Report, course: CourseSoFar, *, goes_on: bool) -> str:
    """The run as it is now. Names are cleaned, and the script sets them as text only."""
    run = report.run
    state = {
        "goesOn": goes_on,
        "command": clean_text(run.command or "(no command)", 500),
        "status": run.status,
        "ending": _ending(report, goes_on),
        "took": format_duration(run.wall_seconds),
        "figures": _figures(report, course),
        "advice": _advice(report),
        "charts": _charts(course),
        "phases": _phases(course),
        "times": [format_duration(point.end_s) for point in course.points],
    }
    return json.dumps(state, allow_nan=False)


def _ending(report: Report, goes_on: bool) -> str:
    if goes_on:
        return ""
    code = report.run.exit_code
    return f"The run has ended{f' with exit code {code}' if code else ''}: nothing here moves any more."


def _figures(report: Report, course: CourseSoFar) -> list[dict[str, str]]:
    throughput = report.throughput
    known = (
        ("now", format_rate(course.sps_now), course.sps_now),
        ("overall", format_rate(throughput.sps), throughput.sps),
        ("env steps", format_count(throughput.env_steps), throughput.env_steps),
        ("memory", format_megabytes(course.rss_now_mb), course.rss_now_mb),
        ("memory, peak", format_megabytes(report.memory.rss_peak_mb), report.memory.rss_peak_mb),
        ("device memory, peak", format_megabytes(report.memory.gpu_peak_mb), report.memory.gpu_peak_mb),
    )
    return [{"name": name, "value": text} for name, text, value in known if value is not None]


def _advice(report: Report) -> dict[str, Any]:
    finding = report.findings[0] if report.findings else None
    more = len(report.findings) - 1
    return {
        "verdict": clean_text(report.verdict or "", 1000),
        "finding": _finding(finding) if finding is not None else None,
        "more": f"{more} more in the report: rlprof report" if more > 0 else "",
    }


def _finding(finding: Finding) -> dict[str, str]:
    places = [f"{place.file}:{place.line} {place.function}" for place in finding.where[:3]]
    return {
        "severity": finding.severity,
        "title": clean_text(finding.title, 500),
        "gain": f"at most {format_ratio(finding.gain.high)} faster",
        "where": clean_text(", ".join(places), 600),
        "cure": clean_text(finding.cure, 1500),
    }


def _charts(course: CourseSoFar) -> dict[str, Any]:
    """Lines on one axis of time, each with the highest value that its axis shows and what each point says."""
    return {
        "at": [point.end_s for point in course.points],
        "speed": _line([point.sps for point in course.points], format_rate),
        "memory": _line([point.rss_mb for point in course.points], format_megabytes),
    }


def _line(values: list[float | None], said: Callable[[float | None], str]) -> dict[str, Any] | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    top = round_above(max(known))
    return {"values": values, "top": top, "topSaid": said(top), "said": [said(value) for value in values]}


def round_above(value: float) -> float:
    """The next round number, for the top of an axis."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((step * power for step in _ROUND if step * power >= value), 10 * power)


def _phases(course: CourseSoFar) -> list[dict[str, Any]]:
    """From the bottom of the stack to its top."""
    seen: dict[str, int] = {}
    rows = []
    for index, phase in enumerate(course.phases):
        category = category_of(phase)
        colour = category.replace(" ", "-") if category in CATEGORIES else "rest"
        shade = seen[colour] = seen.get(colour, -1) + 1
        rows.append(
            {
                "name": clean_text(phase, 40),
                "colour": f"{colour} shade-{shade % 4}",
                "now": format_percent(course.now_of(phase)),
                "whole": format_percent(course.whole_of(phase)),
                "shares": [round(point.shares[index], 4) for point in course.points],
                "said": [format_percent(point.shares[index]) for point in course.points],
            }
        )
    return rows
