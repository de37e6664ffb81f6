"""An investigation for a terminal, and as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.investigation import Combination, Investigation, Tested
from rlprof.render import investigation_words as words
from rlprof.render.canvas import QUIET, Canvas, cut, grid, safe, title
from rlprof.render.sections import draw_sections, text_of

_STYLES: Final = {
    "confirmed": "green",
    "refuted": "red",
    "cannot-tell": QUIET,
    "less-work": "yellow",
    "failed": "red",
    "untested": QUIET,
}
#: Below these widths there are fewer columns, and intervals are written shorter.
_NARROW: Final = 92
_WIDE: Final = 116
#: What the columns beside the name take, by how many they are.
_BESIDE_NAME: Final = {3: 60, 4: 71, 5: 84}
_LONGEST_NAME: Final = 44
_LONGEST_LINE: Final = 400


def render_investigation(found: Investigation, console: Console) -> None:
    """Draw it on a console."""
    draw_sections(partial(_sections, found), console)


def render_investigation_text(found: Investigation) -> str:
    """The same without colour, 100 columns wide."""
    return text_of(partial(_sections, found))


def _sections(found: Investigation, canvas: Canvas) -> Iterator[RenderableType]:
    yield _head(found, canvas)
    yield Group(
        Text(words.headline(found), style="bold"),
        *(safe(line, "bold green", _LONGEST_LINE) for line in [words.best(found)] if line),
    )
    yield Group(
        title("Hypotheses", "speed-up for the same work", canvas.width), _table("hypothesis", found.hypotheses, canvas)
    )
    yield from _details(found.hypotheses)
    if found.combinations:
        yield Group(title("Together"), _table("changes", found.combinations, canvas))
        yield from _details(found.combinations)
    if found.actions:
        lines = [safe(f"{item.rank}. {words.action(item)}", limit=_LONGEST_LINE) for item in found.actions]
        yield Group(title("What to do", "most for its effort first", canvas.width), *_indented(lines))
    if found.warnings:
        said = [safe(f"{w.code}: {w.message}; {w.remedy}", "yellow", _LONGEST_LINE) for w in found.warnings]
        yield Group(title("Warnings"), *_indented(said))
    yield Group(*(safe(line, QUIET, _LONGEST_LINE) for line in words.foot(found)))


def _head(found: Investigation, canvas: Canvas) -> RenderableType:
    lines = [Text("rlprof investigate", style="bold").append("  ").append_text(safe(found.plan, limit=300))]
    lines.append(Text("baseline  ").append_text(safe(found.baseline, limit=300)))
    told = words.baseline_line(found)
    lines += [Text(f"          {told}")] if told else []
    return Group(*(cut(line, canvas.width) for line in lines))


def _table(kind: str, rows: Sequence[Tested | Combination], canvas: Canvas) -> RenderableType:
    columns = words.COLUMNS[: 3 if canvas.width < _NARROW else 4 if canvas.width < _WIDE else 5]
    table = grid(canvas)
    table.add_column(kind, no_wrap=True)
    for name in columns:
        table.add_column(name, justify="left" if name == "likely" else "right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    beside = _BESIDE_NAME[len(columns)]
    room = min(max(canvas.width - beside, 16), _LONGEST_NAME)
    for row in rows:
        figures = words.cells(row, short=canvas.width < _WIDE)[: len(columns)]
        verdict = Text(words.verdict(row), style=_STYLES[row.verdict])
        table.add_row(cut(Text(clean_text(row.name, 80)), room), *figures, verdict)
    return table


def _details(rows: Sequence[Tested | Combination]) -> Iterator[RenderableType]:
    for row in rows:
        lines = list(words.details(row))
        if lines:
            said = [safe(line, limit=_LONGEST_LINE) for line in lines]
            yield Group(Text(clean_text(row.name, 80), style="bold"), *_indented(said))


def _indented(lines: Sequence[Text]) -> Iterator[RenderableType]:
    return (Padding(line, (0, 0, 0, 2), expand=False) for line in lines)
