"""An investigation for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlprof.model.investigation import Combination, Investigation, Tested
from rlprof.render import investigation_words as words
from rlprof.render.markdown import code, escape


def render_investigation_markdown(found: Investigation) -> str:
    """In GitHub's dialect."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Investigation) -> Iterator[str]:
    yield "## rlprof: investigation"
    yield ""
    yield f"**{escape(words.headline(found))}.**"
    best = words.best(found)
    if best is not None:
        yield f"**{escape(best)}.**"
    yield ""
    told = words.baseline_line(found)
    yield f"Plan {code(found.plan)} · baseline {code(found.baseline)}" + (f" · {escape(told)}" if told else "")
    yield ""
    yield from _table("hypothesis", found.hypotheses)
    if found.combinations:
        yield from _table("together", found.combinations)
    if found.actions:
        yield "What to do, most for its effort first:"
        yield ""
        yield from (f"{item.rank}. {escape(words.action(item))}" for item in found.actions)
        yield ""
    for warning in found.warnings:
        yield f"- **{escape(warning.code)}**: {escape(warning.message)}. Remedy: {escape(warning.remedy)}"
    yield from (f"{escape(line)}  " for line in words.foot(found))


def _table(kind: str, rows: Sequence[Tested | Combination]) -> Iterator[str]:
    yield f"| {kind} | {' | '.join(words.COLUMNS)} | verdict |"
    yield "| --- | ---: | ---: | --- | ---: | ---: | --- |"
    for row in rows:
        yield f"| {' | '.join((code(row.name, cell=True), *words.cells(row), words.verdict(row)))} |"
    yield ""
    for row in rows:
        lines = [escape(line) for line in words.details(row)]
        if lines:
            yield f"- {code(row.name)}: {'; '.join(lines)}"
    yield ""
