"""A sweep for a document."""

from __future__ import annotations

from collections.abc import Iterator

from rlprof.experiments.sweep_words import RATE_UNITS
from rlprof.model.sweep import Setting, Sweep
from rlprof.model.units import format_rate
from rlprof.render import sweep_text as words
from rlprof.render.markdown import code, escape


def render_sweep_markdown(found: Sweep) -> str:
    """In GitHub's dialect."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Sweep) -> Iterator[str]:
    yield "## rlprof: sweep"
    yield ""
    yield f"**{escape(found.recommendation)}**"
    yield ""
    yield f"{words.headline(found)}: {code(found.command)}"
    yield ""
    yield from _table(found)
    for curve in found.curves:
        yield f"**Scaling of {escape(words.curve_title(curve))}.** " + " ".join(
            escape(line) for line in words.law_lines(found, curve)
        )
        yield ""
    if found.confirmation:
        yield f"Neighbours against the best, in runs of their own. {escape(found.confirmation.sentence)}"
        yield ""
        yield from (f"- {escape(words.rival_line(rival, found))}" for rival in found.confirmation.rivals)
        yield ""
    yield from (f"- {escape(line, 600)}" for line in words.notes(found))
    if found.stopped:
        yield f"- stopped: {escape(found.stopped)}"
    for warning in found.warnings:
        yield f"- **{escape(warning.code)}**: {escape(warning.message)}. Remedy: {escape(warning.remedy)}"


def _table(found: Sweep) -> Iterator[str]:
    heads = [*(code(name, cell=True) for name in found.parameters), RATE_UNITS[found.per], "likely", "runs", "trial"]
    yield f"| {' | '.join([*heads, 'verdict', 'phases'])} |"
    yield "|" + " ---: |" * len(heads) + " --- | --- |"
    for setting in found.settings:
        yield f"| {' | '.join(_cells(found, setting))} |"
    yield ""


def _cells(found: Sweep, setting: Setting) -> Iterator[str]:
    for name in found.parameters:
        yield code(setting.values.get(name, ""), cell=True)
    rate = format_rate(setting.rate, "").strip()
    yield f"**{rate}**" if setting.name == found.best else rate
    yield words.likely(setting)
    yield str(setting.runs)
    yield words.trial_time(setting)
    yield words.verdict(setting, found.best)
    yield escape(words.phases(setting))
