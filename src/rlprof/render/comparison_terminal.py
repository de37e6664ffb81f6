"""A comparison for a terminal, and as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.comparison import Comparison, ComparisonWarning, PhaseRow, Row
from rlprof.model.units import format_duration
from rlprof.render import comparison_words as words
from rlprof.render.canvas import QUIET, Canvas, cut, grid, safe, title
from rlprof.render.sections import draw_sections, text_of

_STYLES: Final = {"faster": "green", "slower": "red", "same": "cyan", "cannot-tell": QUIET}
#: What the columns beside the name take.
_BESIDE_NAME: Final = 66
#: Below this width, intervals are written shorter.
_NARROW: Final = 92
_LONGEST_NAME: Final = 44
#: Rows that neither matter nor changed are left to --json.
_LEAST_SHARE: Final = 0.0005


def render_comparison(found: Comparison, console: Console, parts: str = "phase") -> None:
    """Draw a comparison on a console. `parts` says what its rows are where they are no phases."""
    draw_sections(lambda canvas: _sections(found, canvas, parts), console)


def render_comparison_text(found: Comparison) -> str:
    """The same without colour, 100 columns wide."""
    return text_of(lambda canvas: _sections(found, canvas, "phase"))


def _sections(found: Comparison, canvas: Canvas, parts: str) -> Iterator[RenderableType]:
    yield _head(found, canvas)
    verdict = Text(words.headline(found), style=f"bold {_STYLES[found.overall.verdict]}")
    yield Group(verdict, *(Text(line) for line in words.explanation(found)))
    phases = [row for row in found.phases if _matters(row, found)]
    if phases:
        note = f"time per {found.per}; what a change saves of A's whole time"
        names = [clean_text(row.phase, _LONGEST_NAME) for row in phases]
        yield Group(title(f"By {parts}", note, canvas.width), _table(parts, names, phases, canvas))
    operations = [row for row in found.operations if row.verdict in ("faster", "slower")]
    if operations:
        names = [clean_text(" / ".join(row.path), 400) for row in operations]
        yield Group(
            title("Operations that changed", "own time", canvas.width), _table("operation", names, operations, canvas)
        )
    if found.memory is not None:
        yield Text("Memory", style="bold").append(f"  {words.memory_line(found.memory)}", style="not bold")
    for name, lines in words.side_notes(found):
        yield Group(title(name), *(Padding(safe(line, limit=300), (0, 0, 0, 2), expand=False) for line in lines))
    if found.warnings:
        yield Group(title("Warnings"), *(part for warning in found.warnings for part in _warning(warning)))


def _head(found: Comparison, canvas: Canvas) -> RenderableType:
    kind = "pair" if found.pairs == 1 else "pairs"
    of = "runs" if found.unit == "run" else "batches in one run"
    lines = [Text("rlprof compare", style="bold").append(f"  {found.pairs} {kind} of {of}", style="not bold")]
    for letter, side in (("A", found.baseline), ("B", found.candidate)):
        lines.append(cut(Text(f"{letter}  ").append_text(safe(side.name, limit=300)), canvas.width))
    return Group(*lines)


def _matters(row: PhaseRow, found: Comparison) -> bool:
    whole = found.overall.baseline_seconds or 0.0
    share = max(row.baseline_seconds, row.candidate_seconds) / whole if whole > 0 else 1.0
    return share >= _LEAST_SHARE or row.verdict in ("faster", "slower")


def _table(kind: str, names: Sequence[str], rows: Sequence[Row], canvas: Canvas) -> RenderableType:
    table = grid(canvas)
    table.add_column(kind, no_wrap=True)
    for name in ("A", "B", "speed-up", "likely", "saves"):
        table.add_column(name, justify="left" if name == "likely" else "right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    narrow = canvas.width < _NARROW
    interval = words.short_interval if narrow else words.interval
    room = min(max(canvas.width - _BESIDE_NAME + 4 * narrow, 14), _LONGEST_NAME)
    for name, row in zip(names, rows, strict=True):
        table.add_row(
            _tail(name, room) if kind == "operation" else cut(Text(name), room),
            format_duration(row.baseline_seconds),
            format_duration(row.candidate_seconds),
            words.change(row),
            interval(row.low, row.high),
            words.saved(row),
            Text(words.WORDS[row.verdict], style=_STYLES[row.verdict]),
        )
    return table


def _tail(name: str, room: int) -> Text:
    """The end of a long path says more than its beginning."""
    return Text(name) if len(name) <= room else cut(Text("…" + name[-(room - 1) :]), room)


def _warning(warning: ComparisonWarning) -> Iterator[RenderableType]:
    yield Text(f"{clean_text(warning.code, 40)}: ", style="yellow").append_text(safe(warning.message, limit=600))
    yield Padding(safe(f"remedy: {warning.remedy}", limit=600), (0, 0, 0, 2), expand=False)
