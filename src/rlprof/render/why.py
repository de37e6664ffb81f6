"""The evidence of one finding in full: every figure that its rule decided by, with its unit where the name tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import Finding
from rlprof.model.units import (
    ABSENT,
    format_bytes,
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
    format_ratio,
    three_digits,
)
from rlprof.render.canvas import QUIET, WIDEST, Canvas, grid, safe, title
from rlprof.render.sections import encodable
from rlprof.render.verdicts import draw_finding

#: The longest text that a rule may have put into its evidence.
_LONGEST: Final = 500
#: What the end of a name says about its unit, and whether that word is then said twice.
_UNITS: Final[tuple[tuple[str, Callable[[float], str]], ...]] = (
    ("seconds", format_duration),
    ("bytes", format_bytes),
    ("mb", format_megabytes),
    ("share", format_percent),
    ("ratio", format_ratio),
    ("sps", format_rate),
    ("per_second", lambda rate: format_rate(rate, "/s")),
)


def render_why(finding: Finding, console: Console) -> None:
    """Draw a finding with all of its evidence on a console."""
    canvas = Canvas(width=min(console.width, WIDEST), plain=console.options.ascii_only)
    with console.capture() as capture:
        for renderable in (draw_finding(finding), _evidence(finding, canvas)):
            console.print(renderable, width=canvas.width, markup=False, emoji=False, highlight=False, crop=False)
            console.print()
    console.file.write(encodable(capture.get().rstrip("\n") + "\n", console.encoding))


def _evidence(finding: Finding, canvas: Canvas) -> RenderableType:
    return Group(title("Evidence"), *_entries(finding.evidence, canvas))


def _entries(evidence: Mapping[str, Any], canvas: Canvas) -> Iterator[RenderableType]:
    """What is one value in a list with its name, then every table under its own."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(overflow="fold")
    nested = {name: value for name, value in evidence.items() if is_nested(value)}
    for name, value in evidence.items():
        if name not in nested:
            table.add_row(f"  {words_of(name)}", safe(shown(name, value), limit=_LONGEST))
    yield table
    for name, value in nested.items():
        yield Text()
        yield Text(f"  {words_of(name)}", style=QUIET)
        yield Padding(
            _table(value, canvas) if isinstance(value, (list, tuple)) else _inner(value, canvas), (0, 0, 0, 2)
        )


def is_nested(value: Any) -> bool:
    """Whether a value is a table, or has names of its own."""
    return isinstance(value, Mapping) or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _inner(value: Mapping[str, Any], canvas: Canvas) -> RenderableType:
    return Group(*_entries(value, canvas))


def _table(rows: list[Mapping[str, Any]] | tuple[Mapping[str, Any], ...], canvas: Canvas) -> RenderableType:
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = grid(canvas)
    for name in names:
        figures = all(isinstance(row.get(name), (int, float, type(None))) for row in rows)
        table.add_column(words_of(name), justify="right" if figures else "left", overflow="fold")
    for row in rows:
        table.add_row(*(safe(shown(name, row.get(name)), limit=_LONGEST) for name in names))
    return table


def shown(name: str, value: Any) -> str:
    """One value as a person reads it; what its unit is follows from its name."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return _number(name, value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {shown(str(key), item)}" for key, item in value.items()) or ABSENT
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(name, item) for item in value) or ABSENT
    return str(value)


def _number(name: str, value: float) -> str:
    for ending, say in _UNITS:
        if name == ending or name.endswith(f"_{ending}") or f"_{ending}_per_" in f"_{name}":
            return say(value)
    if name == "line":
        return str(value)
    return format_count(value) if isinstance(value, int) else three_digits(value)


def words_of(name: str) -> str:
    """A name without the unit, which its value already shows."""
    text = clean_text(name, 60).replace("_", " ")
    for ending in (" seconds", " bytes", " mb", " ratio"):
        if text.endswith(ending):
            return text.removesuffix(ending)
    return text.replace(" seconds per ", " per ")
