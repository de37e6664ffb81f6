"""A comparison for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlprof.model.comparison import Comparison, Row
from rlprof.model.units import format_duration
from rlprof.render import comparison_words as words
from rlprof.render.markdown import code, escape

MOST_ROWS = 15


def render_comparison_markdown(found: Comparison, regressions: Sequence[str] | None = None) -> str:
    """In GitHub's dialect. `regressions` is what a check found, an empty list where it found nothing."""
    return "\n".join(_lines(found, regressions)) + "\n"


def _lines(found: Comparison, regressions: Sequence[str] | None) -> Iterator[str]:
    yield "## rlprof: " + ("comparison" if regressions is None else "regression" if regressions else "no regression")
    yield ""
    if regressions:
        yield from (f"- **{escape(line)}**" for line in regressions)
        yield ""
    yield f"**{escape(words.headline(found))}.** " + " ".join(escape(line) for line in words.explanation(found))
    yield ""
    of = "runs" if found.unit == "run" else "batches in one run"
    yield f"{found.pairs} pairs of {of} · A {code(found.baseline.name)} · B {code(found.candidate.name)}"
    yield ""
    yield from _table("phase", [row.phase for row in found.phases[:MOST_ROWS]], found.phases[:MOST_ROWS], found.per)
    changed = [row for row in found.operations if row.verdict in ("faster", "slower")][:MOST_ROWS]
    if changed:
        yield "Operations that changed:"
        yield ""
        yield from _table("operation", [" / ".join(row.path) for row in changed], changed, found.per)
    if found.memory is not None:
        yield f"Memory: {words.memory_line(found.memory)}"
        yield ""
    for name, lines in words.side_notes(found):
        yield f"{name}: {escape('; '.join(lines), 1500)}"
        yield ""
    for warning in found.warnings:
        yield f"- **{escape(warning.code)}**: {escape(warning.message)}. Remedy: {escape(warning.remedy)}"


def _table(kind: str, names: Sequence[str], rows: Sequence[Row], per: str) -> Iterator[str]:
    yield f"| {kind} | A per {per} | B per {per} | speed-up | likely | saves | verdict |"
    yield "| --- | ---: | ---: | ---: | --- | ---: | --- |"
    for name, row in zip(names, rows, strict=True):
        cells = (
            code(name, cell=True),
            format_duration(row.baseline_seconds),
            format_duration(row.candidate_seconds),
            words.change(row),
            words.interval(row.low, row.high),
            words.saved(row),
            words.WORDS[row.verdict],
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
