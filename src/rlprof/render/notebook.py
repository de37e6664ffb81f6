"""The report as a notebook shows it: verdict, findings and ledger, without scripts, in the notebook's own colours.

Styles stand on the elements themselves: a notebook that is not trusted takes style sheets out, and leaves those. Text
takes the colour of the page around it, so that it reads on light and dark ones alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from rlprof.model.clean import clean_text
from rlprof.model.report import Finding, Report
from rlprof.model.units import (
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
    format_ratio,
)
from rlprof.render.paths import Paths

#: Of middle lightness, to be seen on white and on black.
COLOURS: Final = {
    "environment": "#009e73",
    "communication": "#e69f00",
    "policy": "#56b4e9",
    "buffer": "#cc79a7",
    "transfer": "#d3c417",
    "advantage": "#a34a7b",
    "learning": "#0072b2",
    "side work": "#d55e00",
}
REST: Final = "#8b949e"
TOP_FINDINGS: Final = 5

_LEFT: Final = "text-align:left;padding:1px 12px 1px 0;background:none;color:inherit"
_RIGHT: Final = (
    "text-align:right;padding:1px 12px 1px 0;background:none;color:inherit;font-variant-numeric:tabular-nums"
)


def render_notebook(report: Report) -> str:
    """A piece of HTML that any notebook can show."""
    pieces = [piece for section in (_head, _verdict, _figures, _findings, _ledger, _foot) for piece in section(report)]
    return f'<div style="color:inherit;max-width:60em;line-height:1.45">{"".join(pieces)}</div>'


def _marked(text: str, limit: int = 1500) -> str:
    """Harmless text, with what stands between backquotes as code."""
    pieces = clean_text(text, limit).split("`")
    return "".join(f"<code>{escape(piece)}</code>" if at % 2 else escape(piece) for at, piece in enumerate(pieces))


def _line(inner: str, style: str = "") -> str:
    return f'<div style="{style}">{inner}</div>' if style else f"<div>{inner}</div>"


def _quiet(inner: str) -> str:
    return _line(inner, "opacity:.75")


def _head(report: Report) -> Iterator[str]:
    run = report.run
    ending = run.status if run.exit_code in (None, 0) else f"{run.status}, exit code {run.exit_code}"
    command = escape(clean_text(run.command or "(no command)", 300))
    yield _line(f"<code>{command}</code> &ensp;{ending} &ensp;{format_duration(run.wall_seconds)}")


def _verdict(report: Report) -> Iterator[str]:
    if report.verdict:
        yield _line(_marked(report.verdict), "font-weight:600;margin:.4em 0")


def _figures(report: Report) -> Iterator[str]:
    throughput, memory = report.throughput, report.memory
    known = (
        (throughput.sps, f"{format_rate(throughput.sps)} overall"),
        (throughput.sps_steady, f"{format_rate(throughput.sps_steady)} once warm"),
        (throughput.env_steps, f"{format_count(throughput.env_steps)} env steps"),
        (throughput.episodes, f"{format_count(throughput.episodes)} episodes"),
        (memory.rss_peak_mb, f"{format_megabytes(memory.rss_peak_mb)} memory at most"),
    )
    said = [text for value, text in known if value is not None]
    if said:
        yield _quiet(" · ".join(said))


def _findings(report: Report) -> Iterator[str]:
    paths = Paths(report.run.directory)
    for finding in report.findings[:TOP_FINDINGS]:
        yield _finding(finding, paths)
    more = len(report.findings) - TOP_FINDINGS
    if more > 0:
        yield _quiet(f"{more} more findings: print() shows all of them")


def _finding(finding: Finding, paths: Paths) -> str:
    colour = {"critical": "#d1453b", "warning": "#c98a00"}.get(finding.severity, REST)
    places = " ".join(
        f"<code>{escape(clean_text(f'{paths.shown(place.file)}:{place.line}', 300))}</code>"
        for place in finding.where[:3]
    )
    learning = "changes learning" if finding.changes_learning else "learning stays as it is"
    said = (
        _line(f"<strong>{finding.severity}</strong>: {_marked(paths.in_words(finding.title), 600)} {places}"),
        _quiet(
            f"at most {format_ratio(finding.gain.high)} faster · {learning} · rule {escape(clean_text(finding.rule))}"
        ),
        _line(_marked(paths.in_words(finding.cure))),
    )
    return _line("".join(said), f"border-left:3px solid {colour};padding-left:.7em;margin:.6em 0")


def _ledger(report: Report) -> Iterator[str]:
    wall = report.ledger.wall_seconds
    if wall <= 0:
        return
    rows = [(entry.phase, entry.seconds, COLOURS.get(entry.category, REST)) for entry in report.phases]
    rows += [("unattributed", report.ledger.unattributed_seconds, REST)]
    rows += [("rlprof overhead", report.ledger.overhead_seconds, REST)]
    longest = max(seconds for _, seconds, _ in rows) or 1.0
    drawn = "".join(_row(name, seconds, wall, colour, seconds / longest) for name, seconds, colour in rows)
    total = _row("wall clock", wall, wall, REST, None)
    yield f'<table style="border-collapse:collapse;margin:.6em 0;color:inherit"><tbody>{drawn}{total}</tbody></table>'


def _row(name: str, seconds: float, wall: float, colour: str, length: float | None) -> str:
    bar = "" if length is None else _bar(colour, length)
    cells = (
        f'<td style="{_LEFT}">{escape(clean_text(name, 40))}</td>',
        f'<td style="{_RIGHT}">{format_duration(seconds)}</td>',
        f'<td style="{_RIGHT}">{format_percent(seconds / wall)}</td>',
        f'<td style="{_LEFT};width:20em">{bar}</td>',
    )
    return f'<tr style="background:none">{"".join(cells)}</tr>'


def _bar(colour: str, length: float) -> str:
    width = min(max(length, 0.0), 1.0) * 100
    return f'<div style="background:{colour};height:.8em;width:{width:.1f}%"></div>'


def _foot(report: Report) -> Iterator[str]:
    doubts = [warning for warning in report.warnings if not warning.code.startswith("note-")]
    if doubts:
        said = "1 warning" if len(doubts) == 1 else f"{len(doubts)} warnings, the first"
        yield _quiet(f"{said}: {_marked(Paths(report.run.directory).in_words(doubts[0].message), 400)}")
    yield _quiet(f"<code>{escape(clean_text(Paths(report.run.directory).shown(report.recording), 500))}</code>")
