"""Quick wins for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from rlprof.model.quickwins import QuickWins
from rlprof.render import quickwins_words as words
from rlprof.render.markdown import code, escape


def render_quickwins_markdown(found: QuickWins) -> str:
    """In GitHub's dialect."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: QuickWins) -> Iterator[str]:
    yield f"## rlprof quickwins: {code(found.command)}"
    yield ""
    yield f"**{escape(words.headline(found))}.** {escape(words.circumstances(found))}."
    yield ""
    yield from _table(found)
    for line in words.result_notes(found):
        yield f"- {escape(line)}"
    yield ""
    for tried in words.to_keep(found):
        yield f"{code(tried.cure.name)}: {escape(tried.cure.summary)}"
        yield ""
        yield from (f"    {line}" for line in tried.cure.permanent.splitlines())
        yield ""
    for line in words.left_out(found):
        yield f"- {escape(line)}"
    for warning in found.warnings:
        yield f"- **{escape(warning.code)}**: {escape(warning.message)}. Remedy: {escape(warning.remedy)}"


def _table(found: QuickWins) -> Iterator[str]:
    rows = [
        (code(tried.cure.name, cell=True) + (f" ({said})" if (said := words.mark(tried.cure)) else ""), cells)
        for tried, cells in words.rows(found)
    ]
    combined = words.together_cells(found.together) if found.together is not None else None
    if combined is not None:
        rows.append(("**all together**", combined))
    if not rows:
        return
    yield "| cure | speed | likely | pairs | verdict | results |"
    yield "| --- | ---: | --- | ---: | --- | --- |"
    for name, cells in rows:
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
