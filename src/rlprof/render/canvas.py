"""What the terminal sections share: how much to show, and text that cannot do harm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rlprof.model.clean import clean_text

#: Wider than this, eyes lose the row.
WIDEST: Final = 140
#: Columns between two cells of a table.
GAP: Final = 2

CATEGORY_STYLES: Final = {
    "environment": "green",
    "communication": "yellow",
    "policy": "cyan",
    "buffer": "magenta",
    "transfer": "red",
    "advantage": "blue",
    "learning": "bright_blue",
    "side work": "bright_magenta",
}
QUIET: Final = "bright_black"
SEPARATOR: Final = " · "

#: box.SIMPLE for outputs without line characters; rich would put in a box with bars, which is wider.
_PLAIN_BOX: Final = box.Box("    \n    \n -- \n    \n    \n -- \n    \n    \n", ascii=True)


@dataclass(frozen=True, slots=True)
class Canvas:
    """How wide, with which characters, and in how much detail to draw."""

    width: int
    plain: bool = False  # the output cannot show block characters
    operations: int | None = 25
    iterations: int = 5
    processes: int | None = 12
    every_column: bool = False


def text_console(buffer: TextIO, width: int) -> Console:
    """A console for plain text. Inside a notebook, too, where rich would show it at once instead of writing it."""
    return Console(
        file=buffer, width=width, color_system=None, force_terminal=False, force_jupyter=False, legacy_windows=False
    )


def safe(text: str, style: str = "", limit: int = 200) -> Text:
    """Text from the recorded program: shown as it is, never as markup or terminal controls."""
    return Text(clean_text(text, limit), style=style)


def title(name: str, note: str = "", room: int = WIDEST) -> Text:
    """The heading of a section, on one line."""
    heading = Text().append(name, style="bold")
    return cut(heading.append("  ").append_text(safe(note, QUIET)), room) if note else heading


def grid(canvas: Canvas, *, footer: bool = False) -> Table:
    """A table with a line under its head and nothing else."""
    return Table(
        box=_PLAIN_BOX if canvas.plain else box.SIMPLE,
        show_edge=False,
        pad_edge=False,
        show_footer=footer,
        padding=(0, 1),
        collapse_padding=True,
    )


def cut(text: Text, room: int) -> Text:
    """At most `room` columns of a text: figures beside it must not be squeezed by a long name."""
    short = text.copy()
    short.truncate(max(room, 1), overflow="ellipsis")
    return short


def widest(cells: Iterable[str]) -> int:
    """The room a column of these cells takes, the gap after it included."""
    return max((cell_len(cell) for cell in cells), default=0) + GAP


def flow(parts: Iterable[str], width: int, style: str = "") -> Text:
    """Parts one after the other, broken only between them."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1]) + cell_len(part) + len(SEPARATOR) <= width:
            lines[-1] += SEPARATOR + part
        else:
            lines.append(part)
    return Text("\n").join(cut(Text(line, style=style), width) for line in lines)


def first_that_fit(parts: Sequence[str], room: int) -> Text:
    """As many of the first parts as fit on one line."""
    shown = ""
    for part in parts:
        longer = f"{shown}{SEPARATOR}{part}" if shown else part
        if shown and cell_len(longer) > room:
            break
        shown = longer
    return cut(Text(shown), room)
