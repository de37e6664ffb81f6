"""The charts of a report: shares, bottlenecks, speed and memory over time. Each draws into axes it is given."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from rlprof.analyse.chart_data import Curve, ReportCurves, share_bars
from rlprof.model.report import Report
from rlprof.model.units import format_duration, format_megabytes, format_percent, format_rate
from rlprof.render.charts.style import (
    DARK,
    FILLS,
    LIGHT,
    ending,
    head,
    label,
    name_rows,
    patches,
    write_beside,
)

Draw = Callable[[Any], None]

TOP_BOTTLENECKS: Final = 8
_MARKERS: Final = 9


def report_charts(report: Report, curves: ReportCurves) -> dict[str, Draw]:
    """By name, in the order in which they are shown; a chart that has nothing to show is left out."""
    charts: dict[str, Draw] = {"shares": partial(_shares, report)}
    if report.bottlenecks:
        charts["bottlenecks"] = partial(_bottlenecks, report)
    if len(curves.sps.t) > 1:
        charts["speed"] = partial(_speed, report, curves.sps)
    if len(curves.rss_mb.t) > 1:
        charts["memory"] = partial(_memory, report, curves)
    return charts


def _shares(report: Report, axes: Any) -> None:
    bars = share_bars(report)
    for place, bar in enumerate(bars):
        colour, hatch = FILLS[bar.group]
        axes.barh(place, 100 * bar.share, 0.72, color=colour, hatch=hatch, edgecolor="black", linewidth=0.4)
        write_beside(axes, f"{format_percent(bar.share)}  {format_duration(bar.seconds)}", (100 * bar.share, place))
    name_rows(axes, [label(bar.name) for bar in bars])
    axes.set_xlim(0, 1.42 * 100 * max((bar.share for bar in bars), default=1.0))
    axes.set_xlabel(f"% of the wall clock ({format_duration(report.ledger.wall_seconds)})")
    groups = {bar.group for bar in bars}
    shown = [(group, fill) for group, fill in FILLS.items() if group in groups]
    head(axes, "Where the time goes", patches(shown))


def _bottlenecks(report: Report, axes: Any) -> None:
    found = report.bottlenecks[:TOP_BOTTLENECKS]
    for place, entry in enumerate(found):
        axes.barh(place, entry.score, 0.72, color=DARK, edgecolor="black", linewidth=0.4)
        write_beside(axes, f"{entry.score:.0f}", (entry.score, place))
    name_rows(axes, [ending(entry.operation) for entry in found])
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 25))
    axes.set_xlabel("score, 0 to 100")
    head(axes, "Bottlenecks")


def _speed(report: Report, curve: Curve, axes: Any) -> None:
    axes.plot(curve.t, curve.value, color=LIGHT, linewidth=0.8, label="measured")
    steady = report.throughput.sps_steady
    if steady is not None:
        said = f"steady {format_rate(steady)}"
        axes.axhline(steady, color="black", linestyle="--", linewidth=0.9, label=said)
    for number, regime in enumerate(report.regimes):
        axes.plot(
            [regime.start_s, regime.end_s], [regime.sps, regime.sps], color=DARK, linewidth=2.0, marker="|",
            markersize=7, label="regimes" if number == 0 else None,
        )  # fmt: skip
    _over_time(axes, "env steps per second", "Speed over time", 3)


def _memory(report: Report, curves: ReportCurves, axes: Any) -> None:
    peak = format_megabytes(report.memory.rss_peak_mb)
    axes.plot(
        curves.rss_mb.t, curves.rss_mb.value, color=DARK, marker="o", markersize=3,
        markevery=_every(curves.rss_mb), label=f"resident ≤ {peak}",
    )  # fmt: skip
    if len(curves.device_mb.t) > 1:
        peak = format_megabytes(report.memory.gpu_peak_mb)
        axes.plot(
            curves.device_mb.t, curves.device_mb.value, color="#e08e45", linestyle="--", marker="s", markersize=3,
            markevery=_every(curves.device_mb), label=f"device ≤ {peak}",
        )  # fmt: skip
    _over_time(axes, "memory (MB)", "Memory", 2)


def _every(curve: Curve) -> int:
    return max(len(curve.t) // _MARKERS, 1)


def _over_time(axes: Any, what: str, name: str, columns: int) -> None:
    axes.set_ylim(0, 1.08 * (axes.get_ylim()[1] or 1.0))
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds since the run began")
    axes.set_ylabel(what)
    axes.grid(axis="y", color="#d9d9d9", linewidth=0.5)
    head(axes, name, axes.get_legend_handles_labels()[0], columns)
