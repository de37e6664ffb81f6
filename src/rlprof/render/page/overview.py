"""The top of the page: the run, its figures, what bounds it, and where its wall clock went."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rlprof.model.phases import OVERHEAD, STARTUP, UNATTRIBUTED
from rlprof.model.report import Report, ReportWarning
from rlprof.model.units import (
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
    three_digits,
)
from rlprof.render.overview import share, treated, when
from rlprof.render.page.tints import stacking, tint
from rlprof.render.paths import Paths

Payload = dict[str, Any]


def head(report: Report, paths: Paths) -> Payload:
    """What ran, how it ended, on which machine."""
    run = report.run
    ending = run.status if run.exit_code in (None, 0) else f"{run.status}, exit code {run.exit_code}"
    facts = (
        when(run),
        run.host,
        f"Python {run.python}" if run.python else None,
        f"torch {run.torch}" if run.torch else None,
        run.cpu,
        f"{run.cores} cores" if run.cores else None,
        run.gpu or ("no GPU" if report.memory.gpu_peak_mb is None else None),
    )
    return {
        "command": run.command or "(no command)",
        "status": run.status,
        "ending": ending,
        "facts": [fact for fact in facts if fact],
        "figures": list(_figures(report)),
        "recording": paths.shown(report.recording),
        "treated": list(treated(report)),
    }


def _figures(report: Report) -> Iterator[Payload]:
    done, ledger = report.throughput, report.ledger
    yield _figure("wall clock", format_duration(report.run.wall_seconds), _processes(report))
    if done.sps is not None:
        warm = f"{format_rate(done.sps_steady)} once warm" if done.sps_steady is not None else "overall"
        yield _figure("throughput", format_rate(done.sps), warm)
    if done.env_steps is not None:
        beside = f"{format_count(done.episodes)} episodes" if done.episodes is not None else ""
        yield _figure("env steps", format_count(done.env_steps), beside)
    if done.updates is not None:
        per = done.updates_per_env_step
        beside = f"{three_digits(per)} per env step" if per is not None else ""
        yield _figure("updates", format_count(done.updates), beside)
    if done.iterations is not None:
        yield _figure("iterations", format_count(done.iterations), "")
    split = report.sampling
    if split.collect_seconds > 0 or split.train_seconds > 0:
        parts = (share(seconds, ledger.wall_seconds) for seconds in (split.collect_seconds, split.train_seconds))
        collecting, training = (format_percent(part) for part in parts)
        yield _figure("collecting", collecting, f"training {training}")
    if report.memory.rss_peak_mb is not None:
        slope = report.memory.rss_slope_mb_per_min
        beside = f"{'+' if slope >= 0 else '-'}{format_megabytes(abs(slope))}/min" if slope is not None else ""
        yield _figure("memory, peak", format_megabytes(report.memory.rss_peak_mb), beside)
    if ledger.overhead_seconds <= 0 and ledger.overhead_error_seconds <= 0:
        return  # imported: rlprof took no part in it
    error = format_duration(ledger.overhead_error_seconds)
    cost = format_percent(share(ledger.overhead_seconds, ledger.wall_seconds))
    yield _figure("rlprof's own cost", cost, f"{format_duration(ledger.overhead_seconds)} ± {error}")


def _figure(name: str, value: str, note: str) -> Payload:
    return {"name": name, "value": value, "note": note}


def _processes(report: Report) -> str:
    count = len(report.run.processes)
    return f"{count} processes" if count > 1 else "1 process"


def ledger(report: Report) -> Payload:
    """Every part of the wall clock; the shares add up to one."""
    main, book = report.run.processes[0], report.ledger
    rows = [
        _row(entry.phase, entry.seconds, entry.share, format_count(entry.calls), entry.seconds_per_env_step)
        for entry in sorted(report.phases, key=lambda entry: stacking(entry.phase))
        if entry.seconds > 0
    ]
    before = book.startup_seconds or 0.0
    wall = book.wall_seconds
    rest = max(book.unattributed_seconds - before, 0.0)
    rows += [_row(STARTUP, before, share(before, wall), "", None, "start-up, in no span")] if before > 0 else []
    rows.append(_row(UNATTRIBUTED, rest, share(rest, wall), "", None))
    rows.append(_row(OVERHEAD, book.overhead_seconds, share(book.overhead_seconds, wall), "", None, "rlprof overhead"))
    return {
        "rows": rows,
        "wall": format_duration(wall),
        "of": f"{main.role} process {main.pid}" + (f", thread {main.thread}" if main.thread else ""),
    }


def _row(part: str, seconds: float, of_wall: float, calls: str, each: float | None, name: str = "") -> Payload:
    return {
        "name": name or part,
        "tint": tint(part),
        "share": round(of_wall, 5),
        "time": format_duration(seconds),
        "percent": format_percent(of_wall),
        "calls": calls,
        "perStep": format_duration(each) if each is not None else "",
    }


def trust(report: Report, paths: Paths) -> Payload:
    """What to doubt: warnings with their remedies, notes, and what was lost."""
    doubts = [entry for entry in report.warnings if not entry.code.startswith("note-")]
    notes = [entry for entry in report.warnings if entry.code.startswith("note-")]
    return {
        "warnings": [
            {"code": entry.code, "message": paths.in_words(entry.message), "remedy": paths.in_words(entry.remedy)}
            for entry in doubts
        ],
        "notes": [paths.in_words(entry.message) for entry in notes],
        "losses": [f"{format_count(lost)} {kind.replace('_', ' ')}" for kind, lost in report.losses.items() if lost],
        "inferred": [f"{item.name} as {item.role} ({paths.shown(item.file)}:{item.line})" for item in report.inferred],
    }


def _warning(entry: ReportWarning, paths: Paths) -> Payload:
    return {"code": entry.code, "message": paths.in_words(entry.message), "remedy": paths.in_words(entry.remedy)}
