"""The curves of a sweep as a picture, where matplotlib is installed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rlprof.experiments.sweep_words import RATE_UNITS
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption
from rlprof.model.sweep import Curve, Setting, Sweep
from rlprof.render.sweep_text import curve_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS: Final = (".svg", ".png", ".pdf")


def chart_format(file: Path) -> str:
    """The kind of picture that a file's name asks for, checked before anything is measured."""
    if file.suffix.lower() not in FORMATS:
        raise BadOption(f"--chart {file}: the name has to end in one of {', '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BadOption("--chart draws with matplotlib: pip install 'rlprof[charts]'") from None
    return file.suffix.lower().removeprefix(".")


def draw_sweep(found: Sweep, file: Path) -> None:
    """Write the picture: one line per curve, or bars where no parameter is a number."""
    kind = chart_format(file)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    settings = {setting.name: setting for setting in found.settings}
    if found.curves:
        _draw_curves(axes, found, settings)
    else:
        _draw_bars(axes, [setting for setting in found.settings if setting.rate is not None])
    axes.set_ylabel(RATE_UNITS[found.per])
    axes.set_title(_text(found.recommendation, 90), fontsize="medium")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # drawn as a box, which is good enough
            figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    except OSError as error:
        raise BadOption(f"cannot write {file}: {error.strerror or error}") from None


def _draw_curves(axes: Axes, found: Sweep, settings: dict[str, Setting]) -> None:
    for number, curve in enumerate(found.curves):
        shade = f"C{number % 10}"
        rows = [settings[name] for name in curve.settings]
        axes.errorbar(
            curve.numbers,
            [row.rate or 0.0 for row in rows],
            yerr=_reach(rows),
            fmt="o",
            capsize=3,
            color=shade,
            label=_text(curve_title(curve), 60),
        )
        axes.plot([point.n for point in curve.law.curve], [point.rate for point in curve.law.curve], color=shade)
    _scale(axes, found.curves)
    axes.set_ylim(bottom=0)
    axes.legend()


def _scale(axes: Axes, curves: tuple[Curve, ...]) -> None:
    numbers = sorted({n for curve in curves for n in curve.numbers})
    if numbers and numbers[-1] > 4 * numbers[0]:
        axes.set_xscale("log")
    axes.set_xticks(numbers, [f"{n:g}" for n in numbers])
    axes.minorticks_off()
    axes.set_xlabel(_text(", ".join(dict.fromkeys(curve.parameter for curve in curves)), 60))


def _draw_bars(axes: Axes, rows: list[Setting]) -> None:
    places = range(len(rows))
    axes.bar(places, [row.rate or 0.0 for row in rows], yerr=_reach(rows), capsize=3)
    axes.set_xticks(list(places), [_text(row.name, 30) for row in rows], rotation=30, ha="right")


def _reach(rows: list[Setting]) -> list[list[float]]:
    """How far intervals reach below and above; none where a setting was run once."""
    below = [max((row.rate or 0.0) - (row.low if row.low is not None else row.rate or 0.0), 0.0) for row in rows]
    above = [max((row.high if row.high is not None else row.rate or 0.0) - (row.rate or 0.0), 0.0) for row in rows]
    return [below, [min(reach, 10 * (row.rate or 0.0)) for reach, row in zip(above, rows, strict=True)]]


def _text(text: str, limit: int) -> str:
    """Text that is not taken for a formula."""
    return clean_text(text, limit).replace("$", r"\$")
