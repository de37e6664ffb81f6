"""What the terminal report says in words: what bounds the run, what to do, what stands out, what to doubt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import Finding, Inferred, ProcessEntry, Report, ReportWarning
from rlprof.model.units import (
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    three_digits,
)
from rlprof.render.bound import bound_of
from rlprof.render.canvas import QUIET, Canvas, cut, first_that_fit, flow, grid, safe, title, widest
from rlprof.render.iterations import comparable, stands_out
from rlprof.render.paths import from_here

_SEVERITY_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
_LABEL_STYLES = {"CRITICAL": "bold red", "SLOW": "yellow", "MEMORY": "magenta", "GPU MEMORY": "magenta"}
#: What the other columns of the bottleneck table take, two labels included.
_BESIDE_NAME = 54
_TOP_PHASES = 3
_SEPARATOR = " / "
_CUT = "… / "
NOTE_PREFIX = "note-"


def bottlenecks(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """The operations to look at first, with what stands out about each."""
    if not report.bottlenecks:
        return
    labels = {_SEPARATOR.join(operation.path): operation.labels for operation in reversed(report.operations)}
    room = max(canvas.width - _BESIDE_NAME, 16)
    table = grid(canvas)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("operation", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("self/call", justify="right", no_wrap=True)
    table.add_column("calls", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for entry in report.bottlenecks[: 5 if canvas.operations is not None else None]:
        table.add_row(
            f"{entry.score:.0f}",
            _tail(entry.operation, room),
            format_percent(entry.share),
            format_duration(entry.avg_ms / 1e3),
            format_count(entry.calls),
            Text(" ").join(Text(label, style=_LABEL_STYLES[label]) for label in labels.get(entry.operation, ())),
        )
    yield Group(title("Bottlenecks", "score 0 to 100: share of time, time per call, memory"), table)


def _tail(path: str, room: int) -> Text:
    """The end of a long path says more than its beginning."""
    text = clean_text(path, 400)
    while cell_len(text) > room and _SEPARATOR in text.removeprefix(_CUT):
        text = _CUT + text.removeprefix(_CUT).partition(_SEPARATOR)[2]
    return cut(Text(text), room)


def slow_iterations(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """The slowest turns of the loop and what they did; one line where none stands out."""
    found = comparable(report)
    if not found:
        return
    slowest = found[0]
    if slowest.times_median is not None and not stands_out(slowest):
        said = f"  number {slowest.index} took {format_duration(slowest.seconds)}"
        yield Text("Slowest iteration", style="bold").append(
            f"{said}, {three_digits(slowest.times_median)} times the median", style="not bold"
        )
        return
    shown = [slow for slow in found if stands_out(slow)][: canvas.iterations]
    figures = [
        (
            format_count(slow.index),
            format_duration(slow.t),
            format_duration(slow.seconds),
            three_digits(slow.times_median) if slow.times_median is not None else "",
        )
        for slow in shown
    ]
    names = ("iteration", "at", "took", "x median")
    table = grid(canvas)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("mostly", no_wrap=True)
    room = canvas.width - sum(widest(column) for column in zip(names, *figures, strict=True))
    for slow, cells in zip(shown, figures, strict=True):
        parts = [f"{clean_text(phase, 40)} {format_duration(seconds)}" for phase, seconds in slow.phases.items()]
        table.add_row(*cells, first_that_fit(parts[:_TOP_PHASES], room))
    yield Group(title("Slowest iterations"), table)


def processes(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Each process with the thread its ledger is about; a single process needs no table."""
    entries = report.run.processes
    if len(entries) < 2:
        return
    shown = entries if canvas.processes is None else entries[: canvas.processes]
    facts = [
        (
            clean_text(entry.role, 12),
            str(entry.pid),
            clean_text(entry.thread or "-", 14),
            format_duration(entry.wall_seconds),
            str(entry.status),
        )
        for entry in shown
    ]
    names = ("process", "pid", "thread", "wall", "status")
    table = grid(canvas)
    for name in names:
        table.add_column(name, justify="right" if name in ("pid", "wall") else "left", no_wrap=True)
    table.add_column("mostly", no_wrap=True)
    room = canvas.width - sum(widest(column) for column in zip(names, *facts, strict=True))
    for entry, cells in zip(shown, facts, strict=True):
        table.add_row(*(Text(cell) for cell in cells), first_that_fit(_mostly(entry), room))
    more = len(entries) - len(shown)
    notes = [Text(f"{more} more processes: rlprof report RECORDING --text -", style=QUIET)] if more else []
    yield Group(title("Processes"), table, *notes)


def _mostly(entry: ProcessEntry) -> list[str]:
    parts = [(phase.phase, phase.share) for phase in entry.phases]
    if entry.ledger.wall_seconds > 0:
        parts.append(("unattributed", entry.ledger.unattributed_seconds / entry.ledger.wall_seconds))
    largest = sorted(parts, key=lambda part: part[1], reverse=True)[:_TOP_PHASES]
    return [f"{clean_text(name, 40)} {format_percent(part)}" for name, part in largest if part >= 0.001]


def memory(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Peaks and growth, where they were measured."""
    figures = report.memory
    if figures.rss_peak_mb is None and figures.gpu_peak_mb is None:
        return
    parts = []
    if figures.rss_peak_mb is not None:
        parts.append(f"{format_megabytes(figures.rss_peak_mb)} peak")
    if figures.rss_slope_mb_per_min is not None:
        slope = figures.rss_slope_mb_per_min
        parts.append(f"{'+' if slope >= 0 else '-'}{format_megabytes(abs(slope))}/min")
    if figures.gpu_peak_mb is not None:
        parts.append(f"{format_megabytes(figures.gpu_peak_mb)} device peak")
    yield Text("Memory", style="bold").append("  " + " · ".join(parts), style="not bold")


def verdict(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """What bounds the run: the first thing to know."""
    if report.verdict:
        yield safe(report.verdict, "bold", limit=1000)


def findings(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """What to do, the largest possible gain first, a blank line between two."""
    for index, finding in enumerate(report.findings):
        heading = [title("Findings")] if index == 0 else []
        yield Group(*heading, draw_finding(finding))


def draw_finding(finding: Finding) -> RenderableType:
    """What is claimed, where, what it could bring, the cure, and how to see that it helped."""
    head = Table.grid(padding=(0, 2, 0, 0))
    head.add_column(no_wrap=True)
    head.add_column(overflow="fold")
    head.add_row(
        Text(finding.severity, style=_SEVERITY_STYLES[finding.severity]), safe(finding.title, "bold", limit=400)
    )
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(overflow="fold")
    for index, place in enumerate(finding.where):
        where = safe(f"{from_here(place.file)}:{place.line}", "cyan", limit=300).append_text(
            safe(f"  {place.function}")
        )
        table.add_row("  where" if index == 0 else "", where)
    table.add_row("  gain", Text(bound_of(finding.gain), style="bold"))
    table.add_row("  cure", safe(from_here(finding.cure), limit=1500))
    table.add_row("  learning", Text("changed by the cure" if finding.changes_learning else "not changed by the cure"))
    table.add_row("  verify", safe(finding.verify, limit=500))
    table.add_row("  rule", safe(finding.rule).append(f"  (evidence: --why {clean_text(finding.rule)})", style=QUIET))
    return Group(head, table)


def inferred(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Which of the program's own classes and functions were taken for what."""
    if report.inferred:
        parts = [clean_text(f"{item.name} as {item.role} ({_short(item)})", 120) for item in report.inferred]
        yield Group(title("Inferred", "by shape and use; [tool.rlprof] corrects it"), flow(parts, canvas.width))


def _short(item: Inferred) -> str:
    return f"{PurePath(item.file).name}:{item.line}"


def losses(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """What could not be kept: said even when the answer is nothing."""
    lost = [(kind, number) for kind, number in report.losses.items() if number]
    said = ", ".join(f"{format_count(number)} {clean_text(kind, 40).replace('_', ' ')}" for kind, number in lost)
    yield Text("Losses", style="bold").append(f"  {said or 'none'}", style="red" if lost else "not bold")


def warnings(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Doubts with their remedies; notes last and quietly."""
    doubts = [warning for warning in report.warnings if not warning.code.startswith(NOTE_PREFIX)]
    notes = [warning for warning in report.warnings if warning.code.startswith(NOTE_PREFIX)]
    if doubts:
        yield Group(title("Warnings"), *(part for warning in doubts for part in _warning(warning)))
    if notes:
        yield Group(*(safe(f"note: {note.message}", QUIET, limit=600) for note in notes))


def _warning(warning: ReportWarning) -> Iterator[RenderableType]:
    yield Text(f"{clean_text(warning.code, 40)}: ", style="yellow").append_text(safe(warning.message, limit=600))
    if warning.remedy:
        yield Padding(safe(f"remedy: {warning.remedy}", limit=600), (0, 0, 0, 2), expand=False)


def foot(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Where the recording lies: the last line, so that it is still on the screen."""
    yield Text("Recording  ", style="bold").append_text(safe(report.recording, "not bold", limit=1000))
