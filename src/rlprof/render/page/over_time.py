"""What the page draws over time: phases and speed, processes as lanes, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rlprof.analyse.lanes import STATES, Lane, Lanes
from rlprof.analyse.memory_course import MemoryCurve
from rlprof.analyse.phase_course import PhaseCourse
from rlprof.model.report import Report
from rlprof.model.units import (
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
)
from rlprof.render.page.axis import rounded, ticks, time_ticks
from rlprof.render.page.tints import stacking, tint
from rlprof.render.workers import WORKER_TITLES, error_text, facts, headline, parts_of, worker_cells

Payload = dict[str, Any]
#: What a reader is told of one moment: its largest parts.
_TOLD: Final = 5
#: So that the highest curve does not run along the edge.
_ROOM_ABOVE: Final = 1.06


def course(found: PhaseCourse | None, report: Report) -> Payload | None:
    """Phases stacked over time, steps a second above them, and the regimes."""
    if found is None:
        return None
    end = found.edges_s[-1]
    parts = sorted(found.shares, key=stacking)
    return {
        "edges": rounded([edge / end for edge in found.edges_s]),
        "series": [{"name": part, "tint": tint(part), "shares": rounded(found.shares[part], 3)} for part in parts],
        "speed": _speed(found.sps),
        "ticks": time_ticks(end),
        "regimes": [
            {
                "from": round(regime.start_s / end, 4),
                "to": round(min(regime.end_s / end, 1.0), 4),
                "label": regime.label,
                "cells": [
                    format_duration(regime.start_s),
                    format_duration(regime.end_s),
                    regime.label,
                    format_rate(regime.sps),
                    regime.cause or "",
                ],
            }
            for regime in report.regimes
        ],
        "moments": list(_moments(found)),
    }


def _speed(sps: tuple[float, ...] | None) -> Payload | None:
    highest = _ROOM_ABOVE * max(sps, default=0.0) if sps is not None else 0.0
    if sps is None or highest <= 0:
        return None
    return {"values": rounded([rate / highest for rate in sps], 3), "ticks": ticks(highest, format_count, 2)}


def _moments(found: PhaseCourse) -> Iterator[str]:
    """Each cell in words: when, how fast, and what took most of it."""
    for cell in range(len(found.edges_s) - 1):
        largest = sorted(((shares[cell], part) for part, shares in found.shares.items()), reverse=True)[:_TOLD]
        parts = ", ".join(f"{part} {format_percent(share)}" for share, part in largest if share >= 0.005)
        speed = f"{format_rate(found.sps[cell])}; " if found.sps is not None else ""
        yield f"{format_duration(found.edges_s[cell])} to {format_duration(found.edges_s[cell + 1])}: {speed}{parts}"


def lanes(found: Lanes | None, report: Report) -> Payload | None:
    """A row per process: what it did in the course of the run."""
    if found is None:
        return None
    end = found.edges_s[-1]
    states = [state for state in STATES if any(state in lane.shares for lane in found.lanes)]
    more = f"{found.left_out} more processes are not drawn" if found.left_out else ""
    notes = "; ".join(filter(None, (more, _with_windows(report))))
    return {
        "edges": rounded([edge / end for edge in found.edges_s]),
        "states": states,
        "lanes": [_lane(lane, states) for lane in found.lanes],
        "ticks": time_ticks(end),
        "note": notes,
    }


def _with_windows(report: Report) -> str:
    """Of what is about all processes: only the main one was looked at, and the others went on meanwhile."""
    return "windows of other profilers are drawn here, too" if any(window.apart for window in report.windows) else ""


def _lane(lane: Lane, states: Sequence[str]) -> Payload:
    whole = sum(lane.seconds.values())
    cells = [_part(lane.seconds.get(state), whole) for state in states]
    return {
        "name": f"{lane.role} {lane.pid}",
        "cells": cells,
        "shares": {state: rounded(shares, 3) for state, shares in lane.shares.items()},
    }


def _part(seconds: float | None, whole: float) -> str:
    return format_percent(seconds / whole) if seconds is not None and whole > 0 else ""


def vector_envs(report: Report) -> list[Payload]:
    """What a step of each vector environment consists of, and its workers."""
    return [
        {
            "title": headline(entry),
            "parts": [
                {
                    "name": name,
                    "note": meaning,
                    "share": round(seconds / entry.step_seconds, 4) if entry.step_seconds > 0 else 0.0,
                    "percent": format_percent(seconds / entry.step_seconds) if entry.step_seconds > 0 else "",
                    "time": format_duration(seconds / entry.steps),
                }
                for name, seconds, meaning in parts_of(entry)
            ],
            "error": error_text(entry),
            "facts": [fact for fact in facts(entry, report.run.cores) if fact != error_text(entry)],
            "head": list(WORKER_TITLES),
            "rows": [list(cells) for cells in worker_cells(entry)],
        }
        for entry in (report.workers.vector_envs if report.workers is not None else ())
    ]


def memory(curves: tuple[MemoryCurve, ...], report: Report) -> Payload | None:
    """Resident memory of each process over time; device memory beside it."""
    if not curves:
        return None
    end = max([report.run.wall_seconds, *(curve.at_s[-1] for curve in curves)])
    highest = _ROOM_ABOVE * max(max(curve.mb) for curve in curves)
    return {
        "curves": [_curve(curve, end, highest) for curve in curves],
        "ticks": time_ticks(end),
        "heights": ticks(highest, format_megabytes),
        "note": _with_windows(report),
    }


def _curve(curve: MemoryCurve, end: float, highest: float) -> Payload:
    figures: Mapping[str, float] = {"start": curve.mb[0], "peak": max(curve.mb), "end": curve.mb[-1]}
    return {
        "name": f"{curve.role} {curve.pid}" + (", device" if curve.device else ""),
        "device": curve.device,
        "x": rounded([max(at, 0.0) / end for at in curve.at_s]),
        "y": rounded([size / highest for size in curve.mb], 3),
        "cells": [format_megabytes(size) for size in figures.values()],
    }
