"""`--charts`: where charts go, and in which form."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rlprof.model.comparison import Comparison
from rlprof.model.errors import BadOption
from rlprof.model.recording import Recording
from rlprof.model.report import Report

#: Of charts in a directory, one file each.
SINGLE_FORM = "pdf"

HELP = "Write charts: FILE.png, .svg or .pdf has them all, DIR/ gets a PDF of each."


def write_report_charts(place: str, recording: Recording, report: Report) -> None:
    from rlprof.analyse.chart_data import report_curves
    from rlprof.render.charts.report_charts import report_charts

    _write(place, report_charts(report, report_curves(recording, report)))


def write_comparison_charts(place: str, comparison: Comparison) -> None:
    from rlprof.render.charts.comparison_charts import comparison_charts

    charts = comparison_charts(comparison)
    if not charts:
        raise BadOption("there is nothing to draw: the comparison has no phases and no ratio")
    _write(place, charts)


def check_place(place: str) -> None:
    """Before anything is computed: whether charts can be written there."""
    from rlprof.render.charts.figure import FORMATS
    from rlprof.render.charts.style import drawing

    if not _is_directory(place) and Path(place).suffix.lower().removeprefix(".") not in FORMATS:
        raise BadOption(f"{place}: charts are written as .png, .svg or .pdf, or each into a directory: --charts DIR/")
    with drawing():
        pass  # matplotlib is there


def _is_directory(place: str) -> bool:
    return place.endswith(("/", os.sep)) or os.path.isdir(place)


def _write(place: str, charts: Mapping[str, Callable[[Any], None]]) -> None:
    from rlprof.render.charts.figure import grid_figure, single_figure

    try:
        if not _is_directory(place):
            form = Path(place).suffix.lower().removeprefix(".")
            _replace(Path(os.path.realpath(place)), grid_figure(charts, form))
            return
        Path(place).mkdir(parents=True, exist_ok=True)
        for name, draw in charts.items():
            _replace(Path(place) / f"{name}.{SINGLE_FORM}", single_figure(draw, SINGLE_FORM))
    except OSError as error:
        raise BadOption(f"cannot write {place}: {error.strerror or error}") from error


def _replace(target: Path, content: bytes) -> None:
    """A whole file or none."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(content)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
