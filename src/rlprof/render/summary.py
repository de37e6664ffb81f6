"""A short table for a run that is still going: how fast, on what, with how much memory."""

from __future__ import annotations

import io
from typing import Final

from rich.console import Console
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import Report
from rlprof.model.units import format_count, format_duration, format_megabytes, format_percent, format_rate
from rlprof.render.bars import bar
from rlprof.render.canvas import CATEGORY_STYLES, QUIET, text_console

TOP_PHASES: Final = 6
BAR_WIDTH: Final = 24


def draw_summary(report: Report, console: Console, top: int = TOP_PHASES) -> None:
    """Draw the summary on a console."""
    console.print(summary(report, top, plain=console.options.ascii_only), highlight=False, soft_wrap=True)


def render_summary(report: Report, top: int = TOP_PHASES) -> str:
    """The summary without colour, for a log or a pipe."""
    buffer = io.StringIO()
    console = text_console(buffer, 100)
    console.print(summary(report, top), highlight=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def summary(report: Report, top: int = TOP_PHASES, *, plain: bool = False) -> Text:
    """One line of figures, then the largest phases."""
    lines = [_figures(report), *_phases(report, top, plain)]
    return Text("\n").join(lines)


def _figures(report: Report) -> Text:
    throughput = report.throughput
    line = Text("rlprof ", style="bold").append(format_duration(report.run.wall_seconds), style="not bold")
    if throughput.env_steps is not None:
        now = throughput.windows[-1].sps if throughput.windows else None
        line.append(f"  {format_rate(throughput.sps)}", style="bold")
        if now is not None:
            line.append(f" (now {format_rate(now, '').strip()})")
        line.append(f"  {format_count(throughput.env_steps)} env steps")
    if report.memory.rss_peak_mb is not None:
        line.append(f"  {format_megabytes(report.memory.rss_peak_mb)} peak")
    if report.memory.gpu_peak_mb is not None:
        line.append(f"  {format_megabytes(report.memory.gpu_peak_mb)} on the device")
    return line


def _phases(report: Report, top: int, plain: bool) -> list[Text]:
    wall = report.ledger.wall_seconds
    rows = [(entry.phase, entry.share, CATEGORY_STYLES.get(entry.category, "white")) for entry in report.phases]
    if wall > 0:
        rows.append(("unattributed", report.ledger.unattributed_seconds / wall, QUIET))
    largest = sorted(rows, key=lambda row: row[1], reverse=True)[:top]
    return [
        Text(f"  {clean_text(name, 16):<16} {format_percent(share):>6}  ").append(
            bar(share, BAR_WIDTH, plain=plain), style=style
        )
        for name, share, style in largest
    ]
