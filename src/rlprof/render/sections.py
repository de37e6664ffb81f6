"""Sections one below the other: on a console, whatever characters it has, and as plain text."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Final

from rich.console import Console, RenderableType

from rlprof.render.canvas import WIDEST, Canvas, text_console

#: What there is to draw on a canvas, in order.
Sections = Callable[[Canvas], Iterable[RenderableType]]

#: Of plain text.
WIDTH: Final = 100
#: Stand-ins of the same width, so that columns stay columns.
_PLAIN: Final = str.maketrans("·…µ±─█▏▎▍▌▋▊▉", "-~u~-########")


def draw_sections(sections: Sections, console: Console) -> None:
    """Draw them on a console."""
    canvas = Canvas(width=min(console.width, WIDEST), plain=console.options.ascii_only)
    if not canvas.plain:
        _draw(sections, console, canvas)
        return
    with console.capture() as capture:
        _draw(sections, console, canvas)
    console.file.write(encodable(capture.get(), console.encoding))


def text_of(sections: Sections, canvas: Canvas | None = None) -> str:
    """The same without colour, 100 columns wide, with no trailing blanks."""
    buffer = io.StringIO()
    _draw(sections, text_console(buffer, WIDTH), canvas or Canvas(width=WIDTH))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def encodable(text: str, encoding: str) -> str:
    """Text that a stream of this encoding takes: a report must not fail over a middle dot."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def _draw(sections: Sections, console: Console, canvas: Canvas) -> None:
    for number, part in enumerate(sections(canvas)):
        if number:
            console.print()
        # Names are hostile: nothing in them is markup, an emoji code, or worth a colour of its own.
        console.print(part, width=canvas.width, markup=False, emoji=False, highlight=False, crop=False)
