"""Quick wins for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rlprof.model.quickwins import QuickWins
from rlprof.render import quickwins_words as words
from rlprof.render.canvas import QUIET, Canvas, cut, grid, safe, title
from rlprof.render.sections import draw_sections, text_of

_STYLES: Final = {"faster": "green", "slower": "red", "same": "cyan"}


def render_quickwins(found: QuickWins, console: Console) -> None:
    """Draw them on a console."""
    draw_sections(partial(_sections, found), console)


def render_quickwins_text(found: QuickWins) -> str:
    """The same without colour, 100 columns wide."""
    return text_of(partial(_sections, found))


def _sections(found: QuickWins, canvas: Canvas) -> Iterator[RenderableType]:
    head = Text("rlprof quickwins  ", style="bold").append_text(safe(found.command, limit=300))
    yield Group(cut(head, canvas.width), Text(words.circumstances(found), style=QUIET))
    yield safe(words.headline(found), "bold green" if found.winners else "bold", limit=400)
    if words.rows(found):
        yield Group(title("Cures", "measured against the program as it is"), _table(found, canvas))
        notes = words.result_notes(found)
        marks = {words.mark(tried.cure): words.SIGNS[words.mark(tried.cure)] for tried, _ in words.rows(found)}
        notes += [f"{sign} {said}" for said, sign in sorted(marks.items()) if said]
        yield Group(*(safe(line, QUIET, limit=600) for line in notes))
    keep = words.to_keep(found)
    if keep:
        lines: list[RenderableType] = [title("To keep them")]
        for tried in keep:
            lines.append(safe(tried.cure.name, "green").append(f"  {tried.cure.summary}", style=QUIET))
            shown = [safe(line, limit=300) for line in tried.cure.permanent.splitlines()]
            lines += [Padding(line, (0, 0, 0, 4), expand=False) for line in shown]
        yield Group(*lines)
    gone = list(words.left_out(found))
    if gone:
        yield Group(title("Left out"), *(Padding(safe(line, limit=600), (0, 0, 0, 2), expand=False) for line in gone))
    for warning in found.warnings:
        yield Group(
            Text(f"{warning.code}: ", style="yellow").append_text(safe(warning.message, limit=600)),
            Padding(safe(f"remedy: {warning.remedy}", limit=600), (0, 0, 0, 2), expand=False),
        )
    yield Text("Trials  ", style="bold").append_text(safe(found.directory, limit=300))


def _table(found: QuickWins, canvas: Canvas) -> RenderableType:
    table = grid(canvas)
    table.add_column("cure", no_wrap=True)
    for name in ("speed", "likely", "pairs", "verdict", "results"):
        table.add_column(name, justify="right" if name in ("speed", "pairs") else "left", no_wrap=True)
    for tried, cells in words.rows(found):
        sign = words.SIGNS[words.mark(tried.cure)]
        table.add_row(safe(f"{tried.cure.name} {sign}".rstrip(), limit=60), *_styled(cells))
    combined = words.together_cells(found.together) if found.together is not None else None
    if combined is not None:
        table.add_row(Text("all together", style="bold"), *_styled(combined))
    return table


def _styled(cells: tuple[str, ...]) -> list[Text]:
    speed, likely, pairs, verdict, results = cells
    style = _STYLES.get(verdict, QUIET)
    return [
        Text(speed),
        Text(likely),
        Text(pairs),
        Text(verdict, style=style),
        Text(results, style="red" if results == words.RESULTS["different"] else ""),
    ]
