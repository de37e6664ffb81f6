"""The charts of a comparison: what each phase takes on both sides, and how sure the speed-ups are."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final

from rlprof.analyse.chart_data import largest_phases, names_apart
from rlprof.model.comparison import Comparison, Overall, PhaseRow
from rlprof.model.units import format_duration, format_ratio
from rlprof.render.charts.style import BASELINE, CANDIDATE, DARK, head, label, name_rows, patches, write_beside

Draw = Callable[[Any], None]

#: Ticks of a ratio's axis, the more welcome first.
ROUND_RATIOS: Final = (
    1,
    2,
    0.5,
    5,
    0.2,
    10,
    0.1,
    1.5,
    0.7,
    3,
    0.3,
    1.2,
    0.8,
    1.1,
    0.9,
    1.05,
    0.95,
    1.02,
    0.98,
    1.01,
    0.99,
)
MOST_TICKS: Final = 7
MOST_PAIRS: Final = 6  # of bars: more, and the figures beside them would touch
MOST_RATIOS: Final = 9
#: Shapes by verdict.
MARKERS: Final = {"faster": "^", "slower": "v", "same": "s", "cannot-tell": "o"}


def comparison_charts(comparison: Comparison) -> dict[str, Draw]:
    """By name; nothing that was not measured is drawn."""
    charts: dict[str, Draw] = {}
    if comparison.phases:
        charts["phases"] = partial(_phases, comparison, largest_phases(comparison, MOST_PAIRS))
    if comparison.overall.ratio is not None:
        charts["speed-up"] = partial(_speed_up, comparison, largest_phases(comparison, MOST_RATIOS))
    return charts


def _phases(comparison: Comparison, rows: list[PhaseRow], axes: Any) -> None:
    for place, row in enumerate(rows):
        for seconds, (colour, hatch), at in (
            (row.baseline_seconds, BASELINE, place - 0.19),
            (row.candidate_seconds, CANDIDATE, place + 0.19),
        ):
            axes.barh(at, seconds, 0.36, color=colour, hatch=hatch, edgecolor="black", linewidth=0.4)
            write_beside(axes, format_duration(seconds), (seconds, at))
    longest = max(max(row.baseline_seconds, row.candidate_seconds) for row in rows)
    name_rows(axes, [label(row.phase) for row in rows])
    axes.set_xlim(0, 1.25 * longest if longest > 0 else 1.0)
    axes.set_xticks([])
    axes.set_xlabel(f"time per {comparison.per}")
    sides = zip("AB", names_apart(comparison), (BASELINE, CANDIDATE), strict=True)
    named = [(f"{side}: {label(name, 19)}" if name else side, fill) for side, name, fill in sides]
    head(axes, "Time by phase", patches(named), columns=2)


def _speed_up(comparison: Comparison, rows: list[PhaseRow], axes: Any) -> None:
    whole = comparison.overall
    entries: list[tuple[str, Overall | PhaseRow]] = [("whole loop", whole)]
    entries += [(row.phase, row) for row in rows if row.ratio is not None]
    for place, (_, row) in enumerate(entries):
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [place, place], color="black", linewidth=1.0)
        axes.plot(row.ratio, place, markersize=6 if place == 0 else 4.5, **_marked(row.verdict))
        axes.annotate(
            format_ratio(row.ratio), (1.0, place), (2, -0.5), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", fontsize=7,
        )  # fmt: skip
    axes.axvline(1.0, color="black", linestyle="--", linewidth=0.7)
    name_rows(axes, [label(name) for name, _ in entries])
    _ratio_axis(axes)
    axes.set_xlabel(f"speed of B over A, {100 * whole.level:g}% intervals")
    verdicts = {row.verdict for _, row in entries}
    head(axes, "Is B faster?", _handles(verdicts), columns=4)


def _marked(verdict: str) -> dict[str, Any]:
    """Shapes differ by verdict, not only tones; what is not proven is hollow."""
    proven = verdict in ("faster", "slower")
    return {
        "marker": MARKERS[verdict], "color": DARK if proven else "white", "markeredgecolor": "black",
        "markeredgewidth": 0.7, "linestyle": "",
    }  # fmt: skip


def _ratio_axis(axes: Any) -> None:
    """Half as fast is as far from the middle as twice as fast; some round ratios that do not crowd each other."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    room = math.log(high / low) / MOST_TICKS
    ticks: list[float] = []
    for ratio in ROUND_RATIOS:
        if low <= ratio <= high and all(abs(math.log(ratio / other)) >= room for other in ticks):
            ticks.append(ratio)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.grid(axis="x", color="#d9d9d9", linewidth=0.5)


def _handles(verdicts: Collection[str]) -> list[Any]:
    from matplotlib.lines import Line2D

    shown = (verdict for verdict in MARKERS if verdict in verdicts)
    return [Line2D([], [], markersize=5, label=name.replace("-", " "), **_marked(name)) for name in shown]
