"""The top of the terminal report: the run, its throughput, its ledger."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import PhaseEntry, Report, RunEntry, Throughput
from rlprof.model.units import format_count, format_duration, format_percent, format_rate, three_digits
from rlprof.render.bars import bar, sparkline
from rlprof.render.canvas import CATEGORY_STYLES, QUIET, Canvas, cut, flow, grid, safe, title

_STATUS_STYLES = {"completed": "green", "running": "cyan", "failed": "red", "killed": "red", "interrupted": "yellow"}

#: What the columns of the ledger beside the bar take, for a bar that fills the rest.
_BESIDE_BAR = 62
_WIDEST_BAR = 40


def share(part: float, whole: float) -> float:
    """A part of the whole as it is drawn; nothing is a share of nothing."""
    return part / whole if whole > 0 else 0.0


def head(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """What ran, how it ended, on which machine."""
    run = report.run
    ending = run.status if run.exit_code in (None, 0) else f"{run.status}, exit code {run.exit_code}"
    line = Table.grid(padding=(0, 2), expand=True)
    line.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text("" if run.command.startswith("rlprof ") else "rlprof  ", style="bold").append_text(
            safe(run.command or "(no command)", "bold")
        ),
        Text(ending, style=_STATUS_STYLES[run.status]).append(f"  {format_duration(run.wall_seconds)}", style="bold"),
    )
    facts = (
        when(run),
        run.host,
        f"Python {run.python}" if run.python else None,
        f"torch {run.torch}" if run.torch else None,
        run.cpu,
        f"{run.cores} cores" if run.cores else None,
        run.gpu or ("no GPU" if report.memory.gpu_peak_mb is None else None),
    )
    yield Group(
        line,
        flow((clean_text(fact, 60) for fact in facts if fact), canvas.width, QUIET),
        *(safe(said, "yellow", limit=1000) for said in treated(report)),
    )


def when(run: RunEntry) -> str | None:
    """When it began, to the minute; what was imported does not say."""
    if run.started.startswith("1970-01-01T00:00:00"):
        return None
    return run.started[:16].replace("T", " ") + (" UTC" if run.started.endswith("+00:00") else "")


def treated(report: Report) -> Iterator[str]:
    """What was changed in the program from outside: its numbers are not those of the bare program."""
    applied = [entry.text for entry in report.run.treatments if entry.applied]
    if applied:
        yield f"run with treatments: {', '.join(applied)} (this is not the bare program)"


def throughput(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Steps per second and what was done in all."""
    figures = report.throughput
    if figures.env_steps is None:
        yield Group(
            title("Throughput"),
            Text('no env steps were counted: call rlprof.count("env_steps", n) where the program steps its envs'),
        )
        return
    line = Text(format_rate(figures.sps), style="bold").append(" overall", style="not bold")
    if figures.sps_steady is not None:
        line.append("   ").append(format_rate(figures.sps_steady), style="bold").append(" once warm (median)")
    lines = [title("Throughput"), line, flow(_amounts(figures), canvas.width, QUIET)]
    if len(figures.windows) >= 10:
        lines.append(_over_time(figures, canvas))
    yield Group(*lines)


def _amounts(figures: Throughput) -> Iterator[str]:
    yield f"{format_count(figures.env_steps)} env steps"
    if figures.episodes is not None:
        yield f"{format_count(figures.episodes)} episodes"
    if figures.iterations is not None:
        yield f"{format_count(figures.iterations)} iterations"
    if figures.updates is not None:
        per_step = figures.updates_per_env_step
        beside = f" ({three_digits(per_step)} per env step)" if per_step is not None else ""
        yield f"{format_count(figures.updates)} updates{beside}"


def _over_time(figures: Throughput, canvas: Canvas) -> Text:
    rates = [window.sps for window in figures.windows]
    highest = f" {format_rate(max(rates))} at most"
    curve = sparkline(rates, min(canvas.width - len(highest), 60), plain=canvas.plain)
    return Text(curve, style="cyan").append(highest, style=QUIET)


def ledger(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Every phase with its part of the wall clock; the rows add up to the last line."""
    main = report.run.processes[0]
    where = f"{main.role} process {main.pid}" + (f", thread {clean_text(main.thread, 40)}" if main.thread else "")
    width = max(min(canvas.width - _BESIDE_BAR, _WIDEST_BAR), 0)
    wall = report.ledger.wall_seconds
    longest = max([entry.seconds for entry in report.phases] + [seconds for _, seconds, _ in _rest(report)])
    table = grid(canvas, footer=True)
    table.add_column("phase", footer="wall clock", no_wrap=True)
    table.add_column("time", footer=format_duration(wall), justify="right", no_wrap=True)
    table.add_column("share", footer=format_percent(1.0), justify="right", no_wrap=True)
    table.add_column("", min_width=width, no_wrap=True)
    table.add_column("calls", justify="right", no_wrap=True)
    table.add_column("per step", justify="right", no_wrap=True)
    for entry in sorted(report.phases, key=lambda entry: entry.seconds, reverse=True):
        table.add_row(*_phase_cells(entry, bar(share(entry.seconds, longest), width, plain=canvas.plain)))
    for name, seconds, beside in _rest(report):
        table.add_row(
            Text(name, style=QUIET),
            format_duration(seconds),
            format_percent(share(seconds, wall)),
            Text(bar(share(seconds, longest), width, plain=canvas.plain), style=QUIET),
            Text(beside, style=QUIET),
            "",
        )
        if name == "unattributed" and report.ledger.startup_seconds:
            before = report.ledger.startup_seconds
            cells = ("  of it start-up", format_duration(before), format_percent(share(before, wall)))
            table.add_row(*(Text(cell, style=QUIET) for cell in cells), "", "", "")
    yield Group(title("Where the time went", where, canvas.width), table)


def _phase_cells(entry: PhaseEntry, drawn: str) -> tuple[RenderableType, ...]:
    style = CATEGORY_STYLES.get(entry.category, "white")
    return (
        safe(entry.phase, style),
        format_duration(entry.seconds),
        format_percent(entry.share),
        Text(drawn, style=style),
        format_count(entry.calls),
        format_duration(entry.seconds_per_env_step) if entry.seconds_per_env_step is not None else "",
    )


def _rest(report: Report) -> Iterator[tuple[str, float, str]]:
    figures = report.ledger
    yield "unattributed", figures.unattributed_seconds, ""
    yield "rlprof overhead", figures.overhead_seconds, f"± {format_duration(figures.overhead_error_seconds)}"


def sampling(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Gathering experience against learning from it, in one line."""
    split = report.sampling
    wall = report.ledger.wall_seconds
    if split.collect_seconds <= 0 and split.train_seconds <= 0:
        return
    line = Text()
    for name, seconds, style in (
        ("collecting", split.collect_seconds, "green"),
        ("training", split.train_seconds, "bright_blue"),
        ("neither", split.other_seconds, QUIET),
    ):
        line.append(f"{name} ", style=style).append(format_duration(seconds), style="bold")
        line.append(f" {format_percent(share(seconds, wall))}  ")
    if split.ratio is not None:
        line.append(f"({three_digits(split.ratio)} : 1)", style=QUIET)
    yield cut(line, canvas.width)
