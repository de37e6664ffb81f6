"""The operations table: a tree of names with as many columns as the width allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group as Together
from rich.console import RenderableType
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.phases import category_of
from rlprof.model.report import Report
from rlprof.render.canvas import CATEGORY_STYLES, GAP, QUIET, Canvas, cut, grid, safe, title
from rlprof.render.columns import Column, columns_with_data, fitting, width_of
from rlprof.render.tree import Group, Row, arrange

_INDENT = 2
#: Names keep at least this much room before columns are let in.
_NAME_ROOM = 24
_LONGEST_NAME = 80


def operations(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Where the time goes by name, with a line on what is not shown."""
    if not report.operations:
        return
    groups = arrange(report.operations, canvas.operations)
    shown = [row.operation for group in groups for row in group.rows]
    available = columns_with_data(shown)
    headings = [_heading(group, report) for group in groups] if len(groups) > 1 else []
    columns = _chosen(available, groups, headings, canvas)
    table = grid(canvas)
    room = max(canvas.width - sum(width_of(column, shown) + GAP for column in columns), 8)
    table.add_column("operation", no_wrap=not canvas.every_column, overflow="fold", max_width=room)
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    for index, group in enumerate(groups):
        if headings:
            table.add_row(headings[index] if canvas.every_column else cut(headings[index], room))
        for row in group.rows:
            # Where nothing may be cut, a long name takes a second line instead.
            name = _name_text(row) if canvas.every_column else cut(_name_text(row), room)
            table.add_row(name, *(column.cell(row.operation) for column in columns))
    notes = list(_notes(report, len(shown), available, columns))
    yield Together(title("Operations", "self: without the operations inside"), table, *notes)


def _chosen(
    available: tuple[Column, ...], groups: Sequence[Group], headings: Sequence[Text], canvas: Canvas
) -> tuple[Column, ...]:
    if canvas.every_column:
        return available
    rows = [row for group in groups for row in group.rows]
    longest = max([_name_text(row).cell_len for row in rows] + [heading.cell_len for heading in headings])
    widths = [width_of(column, [row.operation for row in rows]) for column in available]
    return fitting(available, widths, canvas.width - min(longest, _NAME_ROOM), GAP)


def _name(row: Row) -> str:
    return " " * (_INDENT * row.depth) + clean_text(row.operation.path[-1], _LONGEST_NAME)


def _name_text(row: Row) -> Text:
    text = Text(_name(row), style=CATEGORY_STYLES.get(category_of(row.operation.phase), ""))
    return text.append(" …", style=QUIET) if row.operation.open else text


def _heading(group: Group, report: Report) -> Text:
    process = next((entry for entry in report.run.processes if entry.id == group.process), None)
    who = f"{process.role} {process.pid}" if process is not None else str(group.process)
    return safe(f"[{who}, {group.thread}]", QUIET)


def _notes(
    report: Report, shown: int, available: Sequence[Column], columns: Sequence[Column]
) -> Iterator[RenderableType]:
    if any(operation.open for operation in report.operations):
        yield Text("… still running when the recording ended", style=QUIET)
    left_out = [column.title for column in available if column not in columns]
    more = len(report.operations) - shown
    if more > 0:
        noun = "operation" if more == 1 else "operations"
        yield Text(f"{more} more {noun}: rlprof report RECORDING --text -", style=QUIET)
    if left_out:
        yield Text(f"{', '.join(left_out)}: in a wider terminal, or with --text -", style=QUIET)
