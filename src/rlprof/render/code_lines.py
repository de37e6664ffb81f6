"""Where in the code the time went: the lines of the unattributed time, of start-up, and of the largest phases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rlprof.analyse.places import module_path
from rlprof.model.clean import clean_text
from rlprof.model.phases import STARTUP, UNATTRIBUTED, category_of
from rlprof.model.report import Drilldown, LibraryCall, LineEntry, Report
from rlprof.model.units import format_count, format_duration, format_percent
from rlprof.render.bars import bar
from rlprof.render.canvas import CATEGORY_STYLES, QUIET, Canvas, cut, grid, title

TOP_LINES: Final = 5
TOP_STARTUP_LINES: Final = 3
TOP_PHASES: Final = 3
TOP_PHASE_LINES: Final = 2
#: Lines and functions with a smaller part of their part's time than this are left to the JSON report.
SMALLEST: Final = 0.05
#: Shares from fewer samples than this are hardly better than a guess.
FEW_SAMPLES: Final = 20
#: A part with less than this of the samples that it should have was hidden from the sampler.
UNSEEN: Final = 0.25
#: Unattributed time below this share of the wall clock needs no table of its own.
WORTH_A_TABLE: Final = 0.01
NAMES: Final = {UNATTRIBUTED: "unattributed", STARTUP: "start-up"}  # parts that are no phases

_BESIDE_NAME: Final = 46
_PER_STEP: Final = 10
#: From this width on there is room for the time per env step, too.
WIDE: Final = 80
_WIDEST_BAR: Final = 20
_LONGEST: Final = 90


def unattributed_lines(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """The user's lines that the time in no span went to."""
    drilled = part_named(report, UNATTRIBUTED)
    if drilled is None or not worth_a_table(report, drilled):
        return
    steps = _steps(report, canvas)
    table = _table(canvas, steps)
    many = canvas.operations is None
    for line in largest(drilled, 4 * TOP_LINES if many else TOP_LINES):
        _add(table, line, drilled, canvas, steps)
    _add_rest(table, drilled, canvas, many)
    heading = title("Unattributed time, by line", note(report, drilled), canvas.width)
    yield Group(heading, table, *(Text(said, style=QUIET) for said in unseen(report)))


def phase_lines(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Start-up and the largest phases, each with the lines it consists of."""
    parts = list(shown_parts(report, None if canvas.operations is None else TOP_PHASES))
    if not parts:
        return
    steps = _steps(report, canvas)
    table = _table(canvas, steps)
    for drilled in parts:
        style = CATEGORY_STYLES.get(category_of(drilled.part), QUIET)
        table.add_row(
            Text(name_of(drilled), style=style),
            format_duration(drilled.seconds),
            "",
            format_percent(_share(drilled.seconds, report.ledger.wall_seconds)),
            *_per_step(drilled.seconds if drilled.part != STARTUP else None, steps),
            Text(few(drilled), style=QUIET),
        )
        most = TOP_STARTUP_LINES if drilled.part == STARTUP else TOP_PHASE_LINES
        for line in largest(drilled, TOP_LINES if canvas.operations is None else most):
            _add(table, line, drilled, canvas, steps, indent="  ")
    yield Group(title("Largest parts, by line", "from stack samples; ±: 95%", canvas.width), table)


def part_named(report: Report, part: str) -> Drilldown | None:
    return next((drilled for drilled in report.drilldown or () if drilled.part == part), None)


def worth_a_table(report: Report, drilled: Drilldown) -> bool:
    return bool(drilled.lines) and drilled.seconds >= WORTH_A_TABLE * report.ledger.wall_seconds


def shown_parts(report: Report, most: int | None) -> Iterator[Drilldown]:
    """Start-up, then the largest phases; what nobody saw a line of is left out."""
    startup = part_named(report, STARTUP)
    if startup is not None and worth_a_table(report, startup):
        yield startup
    phases = [drilled for drilled in report.drilldown or () if drilled.part not in NAMES and drilled.lines]
    yield from sorted(phases, key=lambda drilled: drilled.seconds, reverse=True)[:most]


def largest(drilled: Drilldown, most: int) -> list[LineEntry]:
    return [line for line in drilled.lines if line.seconds >= SMALLEST * drilled.seconds][:most]


def name_of(drilled: Drilldown) -> str:
    return NAMES.get(drilled.part, clean_text(drilled.part, 40))


def note(report: Report, drilled: Drilldown) -> str:
    """How much time it is, and how many samples say so."""
    when = " after start-up" if report.ledger.startup_seconds else ""
    return f"{format_duration(drilled.seconds)}{when}, {few(drilled) or samples_text(drilled)}; ±: 95%"


def samples_text(drilled: Drilldown) -> str:
    return f"{format_count(drilled.samples)} samples"


def few(drilled: Drilldown) -> str:
    """A word of caution where there are too few samples."""
    noun = "sample" if drilled.samples == 1 else "samples"
    return f"only {drilled.samples} {noun}" if drilled.samples < FEW_SAMPLES else ""


def unseen(report: Report) -> Iterator[str]:
    """Parts that went by without the sampler: what they owe may have been booked on lines that came after them."""
    hidden = [
        f"{name_of(drilled)} ({drilled.samples} of about {format_count(round(drilled.expected_samples))})"
        for drilled in report.drilldown or ()
        if drilled.expected_samples >= FEW_SAMPLES and drilled.samples < UNSEEN * drilled.expected_samples
    ]
    if hidden:
        yield f"samples are missing in {', '.join(hidden)}: lines that ran just after may show too much time"


def short_place(line: LineEntry | LibraryCall) -> str:
    """A file without the folders it lies in; a library's from its package on."""
    inside = module_path(line.file)
    name = inside if inside != line.file else re.split(r"[\\/]", line.file)[-1]
    return f"{name}:{line.line}"


def margin(line: LineEntry) -> str:
    return format_duration(max((line.high_seconds - line.low_seconds) / 2, 0.0))


def called(line: LineEntry, drilled: Drilldown) -> list[LibraryCall]:
    """The functions of libraries that are worth a word; a few samples name them by chance."""
    if few(drilled):
        return []
    return [call for call in line.calling if call.seconds >= SMALLEST * drilled.seconds]


def rest_of(drilled: Drilldown, shown: list[LineEntry]) -> Iterator[tuple[str, float]]:
    """What the shown lines leave of the part's time."""
    other = drilled.seconds - drilled.unsampled_seconds - sum(line.seconds for line in shown)
    yield "other lines", max(other, 0.0)
    yield "without a sample", drilled.unsampled_seconds


def _steps(report: Report, canvas: Canvas) -> float | None:
    """Env steps to divide by, where they are known and the terminal is wide."""
    return report.throughput.env_steps or None if canvas.width >= WIDE else None


def _per_step(seconds: float | None, steps: float | None) -> tuple[str, ...]:
    """A cell for what one env step takes; start-up is no part of a step."""
    if steps is None:
        return ()
    return ("" if seconds is None else format_duration(seconds / steps),)


def _table(canvas: Canvas, steps: float | None) -> Table:
    table = grid(canvas)
    table.add_column("line", no_wrap=True)
    for name in ("time", "±", "share", *(["per step"] if steps is not None else [])):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    return table


def _add(
    table: Table, line: LineEntry, drilled: Drilldown, canvas: Canvas, steps: float | None, indent: str = ""
) -> None:
    room = max(canvas.width - _BESIDE_NAME - (_PER_STEP if steps is not None else 0), 16)
    table.add_row(
        _line_name(line, indent, room),
        format_duration(line.seconds),
        margin(line),
        format_percent(line.share),
        *_per_step(line.seconds if drilled.part != STARTUP else None, steps),
        Text(bar(_share(line.seconds, drilled.seconds), _bar_width(canvas, steps), plain=canvas.plain), style=QUIET),
    )
    for call in called(line, drilled):
        below = Text(f"{indent}  in {clean_text(call.function, 60)}", style=QUIET)
        if not call.function.startswith("import "):
            below.append(f"  {clean_text(short_place(call), _LONGEST)}")
        table.add_row(cut(below, room), Text(format_duration(call.seconds), style=QUIET))


def _line_name(line: LineEntry, indent: str, room: int) -> Text:
    """The place first: where there is no room for both, the function's name goes."""
    name = Text(indent).append(clean_text(short_place(line), _LONGEST), style="cyan" if line.own else QUIET)
    function = clean_text(line.function, 60)
    if name.cell_len + 2 + min(cell_len(function), 8) <= room:
        name.append(f"  {function}", style=QUIET)
    return cut(name, room)


def _add_rest(table: Table, drilled: Drilldown, canvas: Canvas, many: bool) -> None:
    shown = largest(drilled, 4 * TOP_LINES if many else TOP_LINES)
    for name, seconds in rest_of(drilled, shown):
        if seconds >= 0.005 * drilled.seconds:
            table.add_row(Text(name, style=QUIET), Text(format_duration(seconds), style=QUIET))


def _bar_width(canvas: Canvas, steps: float | None) -> int:
    room = canvas.width - 66 - (_PER_STEP if steps is not None else 0)
    return max(min(room, _WIDEST_BAR), 8)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
