"""What a run does now, on one screen: speed, phases of the last seconds beside those of the run, memory, advice."""

from __future__ import annotations

import textwrap
from pathlib import PurePath
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rlprof.analyse.course_so_far import CourseSoFar
from rlprof.model.clean import ELLIPSIS, clean_text
from rlprof.model.phases import category_of
from rlprof.model.report import Report
from rlprof.model.units import (
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
    format_ratio,
)
from rlprof.render.bars import bar, sparkline
from rlprof.render.canvas import CATEGORY_STYLES, QUIET, cut

TOP_PHASES: Final = 8
BAR_WIDTH: Final = 30


#: Rows of a small screen that are not phases: a line above, the command, the speed, the table's head, two of advice.
BESIDE_PHASES: Final = 6


def dashboard(report: Report, course: CourseSoFar, width: int, *, plain: bool = False) -> RenderableType:
    """The whole screen."""
    parts: list[RenderableType] = [_head(report, width), _speed(report, course, width, plain=plain), Text()]
    parts.append(_phases(course, TOP_PHASES, plain=plain))
    if advice := _advice(report, width):
        parts += [Text(), *advice]
    return Group(*parts)


def small_dashboard(
    report: Report, course: CourseSoFar, width: int, rows: int, *, plain: bool = False
) -> RenderableType:
    """The same in so many rows, for the lower end of a screen on which somebody else writes."""
    parts: list[RenderableType] = [Text(("-" if plain else "─") * width, style=QUIET)]
    parts += [_head(report, width), _speed(report, course, width, plain=plain)]
    room = rows - BESIDE_PHASES
    if room > 0:
        parts.append(_phases(course, min(room, TOP_PHASES), plain=plain))
    if rows >= BESIDE_PHASES:
        parts += _advice(report, width)
    return Group(*parts)


def _head(report: Report, width: int) -> Text:
    line = Text(clean_text(report.run.command, 200), style="bold")
    line = cut(line, max(width - 24, 20))
    return line.append(f"  {report.run.status}", style="not bold green").append(
        f"  {format_duration(report.run.wall_seconds)}"
    )


def _speed(report: Report, course: CourseSoFar, width: int, *, plain: bool) -> Text:
    throughput, line = report.throughput, Text()
    if course.sps_now is not None:
        line.append(format_rate(course.sps_now), style="bold").append(" now  ")
        line.append(f"{format_rate(throughput.sps)} overall  {format_count(throughput.env_steps)} env steps  ")
    if report.memory.rss_peak_mb is not None:
        line.append(f"{format_megabytes(report.memory.rss_peak_mb)} peak  ")
    room = min(width - len(line), 60)
    if throughput.windows and room > 8:
        line.append(sparkline([window.sps for window in throughput.windows], room, plain=plain), style="cyan")
    return cut(line, width) if line.plain else Text("no env steps so far", style=QUIET)


def _phases(course: CourseSoFar, most: int, *, plain: bool) -> Table:
    """Shares of the last seconds, with those of the whole run beside them."""
    now, whole = course.shares_now, course.shares_whole
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, justify in (("phase", "left"), ("now", "right"), ("", "left"), ("whole run", "right")):
        table.add_column(name, justify=justify, no_wrap=True, header_style="bold")  # type: ignore[arg-type]
    for phase in sorted(now or whole, key=lambda phase: -(now or whole).get(phase, 0.0))[:most]:
        share = now.get(phase, 0.0)
        style = CATEGORY_STYLES.get(category_of(phase), QUIET)
        table.add_row(
            Text(clean_text(phase, 24)),
            format_percent(share) if now else "",
            Text(bar(share if now else whole[phase], BAR_WIDTH, plain=plain), style=style),
            Text(format_percent(whole.get(phase, 0.0)), style=QUIET),
        )
    return table


def _advice(report: Report, width: int) -> list[Text]:
    """The first finding; what bounds the run where there is none."""
    if not report.findings:
        said = textwrap.wrap(clean_text(report.verdict or "", 500), width, max_lines=2, placeholder=ELLIPSIS)
        return [Text(line, style=QUIET) for line in said]
    finding = report.findings[0]
    place = f"  {_file_name(finding.where[0].file)}:{finding.where[0].line}" if finding.where else ""
    title = Text(f"{finding.severity}: ", style="bold yellow")
    title.append(clean_text(finding.title, 300), style="not bold")
    gain = f"at most {format_ratio(finding.gain.high)} faster{clean_text(place, 200)}"
    return [cut(title, width), cut(Text(gain, style=QUIET), width)]


def _file_name(path: str) -> str:
    """The last part of a path of any system: there is one line for all of it."""
    return PurePath(path.replace("\\", "/")).name
