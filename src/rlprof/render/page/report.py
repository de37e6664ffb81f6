"""A report and its figures over time as what the page draws: texts, and places between 0 and 1."""

from __future__ import annotations

from typing import Any

from rlprof.analyse.page import PageFigures
from rlprof.model.report import Report
from rlprof.render.page import boxes, code, device, findings, over_time, overview, rollouts, tables, windows
from rlprof.render.page.excerpts import Excerpts
from rlprof.render.paths import Paths


def report_payload(report: Report, figures: PageFigures) -> dict[str, Any]:
    """Everything, in the order in which it is read."""
    excerpts = Excerpts(report.run.started)
    paths = Paths(report.run.directory)
    return {
        "kind": "report",
        "head": overview.head(report, paths),
        "verdict": paths.in_words(report.verdict or ""),
        "findings": findings.findings(report.findings, excerpts, paths),
        "ledger": overview.ledger(report),
        "course": over_time.course(figures.course, report),
        "rollouts": rollouts.rollouts(figures.rollouts),
        "speeds": rollouts.speeds(figures.speeds),
        "trees": boxes.trees(figures.trees),
        "operations": tables.operations(report),
        "drilldown": code.drilldown(report, excerpts, paths),
        "lanes": over_time.lanes(figures.lanes, report),
        "vectorEnvs": over_time.vector_envs(report),
        "memory": over_time.memory(figures.memory, report),
        "windows": windows.windows(report),
        "device": device.device(report.device),
        "whatif": tables.whatif(report),
        "iterations": boxes.iterations(figures.iterations, report),
        "trust": overview.trust(report, paths),
        "excerpts": excerpts.entries,
    }
