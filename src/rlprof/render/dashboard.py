"""What a run does now, on one screen: speed, phases of the last seconds beside those of the run, memory, advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rlprof.analyse.over_time import Moment
from rlprof.model.clean import clean_text
from rlprof.model.phases import category_of
from rlprof.model.report import Finding, Report
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

LAST_SECONDS: Final = 10.0
TOP_PHASES: Final = 8
BAR_WIDTH: Final = 30


def dashboard(report: Report, moments: Sequence[Moment], width: int, *, plain: bool = False) -> RenderableType:
    """The whole screen."""
    recent = [moment for moment in moments if moment.end_s > moments[-1].end_s - LAST_SECONDS] if moments else []
    parts: list[RenderableType] = [_head(report, width), _speed(report, recent, width, plain=plain), Text()]
    parts.append(_phases(report, recent, plain=plain))
    if report.findings:
        parts += [Text(), *_advice(report.findings[0], width)]
    return Group(*parts)


def _head(report: Report, width: int) -> Text:
    line = Text(clean_text(report.run.command, 200), style="bold")
    line = cut(line, max(width - 24, 20))
    return line.append(f"  {report.run.status}", style="not bold green").append(
        f"  {format_duration(report.run.wall_seconds)}"
    )


def _speed(report: Report, recent: Sequence[Moment], width: int, *, plain: bool) -> Text:
    throughput, line = report.throughput, Text()
    rates = [moment.sps for moment in recent if moment.sps is not None]
    if rates:
        line.append(format_rate(sum(rates) / len(rates)), style="bold").append(" now  ")
        line.append(f"{format_rate(throughput.sps)} overall  {format_count(throughput.env_steps)} env steps  ")
    if report.memory.rss_peak_mb is not None:
        line.append(f"{format_megabytes(report.memory.rss_peak_mb)} peak  ")
    room = min(width - len(line), 60)
    if throughput.windows and room > 8:
        line.append(sparkline([window.sps for window in throughput.windows], room, plain=plain), style="cyan")
    return line if line.plain else Text("no env steps so far", style=QUIET)


def _phases(report: Report, recent: Sequence[Moment], *, plain: bool) -> Table:
    """Shares of the last seconds, with those of the whole run beside them."""
    now = _mean_shares(recent)
    wall = report.ledger.wall_seconds or 1.0
    whole = {entry.phase: entry.share for entry in report.phases}
    whole["unattributed"] = report.ledger.unattributed_seconds / wall
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, justify in (("phase", "left"), ("now", "right"), ("", "left"), ("whole run", "right")):
        table.add_column(name, justify=justify, no_wrap=True, header_style="bold")  # type: ignore[arg-type]
    for phase in sorted(now or whole, key=lambda phase: -(now or whole).get(phase, 0.0))[:TOP_PHASES]:
        share = now.get(phase, 0.0)
        style = CATEGORY_STYLES.get(category_of(phase), QUIET)
        table.add_row(
            Text(clean_text(phase, 24)),
            format_percent(share) if now else "",
            Text(bar(share if now else whole[phase], BAR_WIDTH, plain=plain), style=style),
            Text(format_percent(whole.get(phase, 0.0)), style=QUIET),
        )
    return table


def _mean_shares(moments: Sequence[Moment]) -> Mapping[str, float]:
    sums: dict[str, float] = {}
    for moment in moments:
        for phase, share in moment.shares.items():
            sums[phase] = sums.get(phase, 0.0) + share / len(moments)
    return sums


def _advice(finding: Finding, width: int) -> list[Text]:
    place = f"  {finding.where[0].file}:{finding.where[0].line}" if finding.where else ""
    said = Text(f"{finding.severity}: ", style="bold yellow")
    said.append(clean_text(finding.title, 300), style="not bold white")
    gain = f"at most {format_ratio(finding.gain.high)} faster{clean_text(place, 200)}"
    return [cut(said, width), cut(Text(gain, style=QUIET), width)]
