"""The report for a pull request: tables, and names that can neither break them nor call anybody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rlprof.model.clean import clean_text
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.report import Drilldown, Finding, LineEntry, Report
from rlprof.model.units import (
    format_count,
    format_duration,
    format_megabytes,
    format_percent,
    format_rate,
    three_digits,
)
from rlprof.render.bars import bar
from rlprof.render.bound import bound_of
from rlprof.render.code_lines import (
    TOP_LINES,
    TOP_PHASES,
    TOP_STARTUP_LINES,
    called,
    largest,
    margin,
    name_of,
    note,
    part_named,
    rest_of,
    short_place,
    shown_parts,
    unseen,
    worth_a_table,
)
from rlprof.render.columns import columns_with_data
from rlprof.render.device import device_lines
from rlprof.render.iterations import comparable, stands_out
from rlprof.render.operators import TOP_OPERATORS as TOP_TORCH_OPERATORS
from rlprof.render.operators import TOP_PHASES as TOP_OPERATOR_PHASES
from rlprof.render.operators import note as operators_note
from rlprof.render.operators import operator_cells, operator_titles, window_lines
from rlprof.render.overview import treated
from rlprof.render.paths import Paths
from rlprof.render.regimes import TITLES, regime_cells
from rlprof.render.whatif import TOP_PHASES as TOP_WHATIF
from rlprof.render.whatif import note as whatif_note
from rlprof.render.whatif import whatif_cells, whatif_titles
from rlprof.render.workers import WORKER_TITLES, facts, headline, parts_of, worker_cells

TOP_OPERATIONS: Final = 25
TOP_ITERATIONS: Final = 5
TOP_PROCESSES: Final = 12
_BAR_WIDTH: Final = 20
_PUNCTUATION: Final = re.compile(r"([\\`*_\[\]<>|~$&])")


def render_markdown(report: Report) -> str:
    """The report in GitHub's dialect."""
    return "\n".join(line for section in _SECTIONS for line in section(report)) + "\n"


def escape(text: str, limit: int = 600) -> str:
    """Prose in which nothing from the program is markup, a mention or a reference."""
    shown = _PUNCTUATION.sub(r"\\\1", clean_text(text, limit))
    return re.sub(r"([@#])", r"\1<!-- -->", shown)  # @name would notify a person, #12 would link an issue


def prose(text: str, limit: int = 600) -> str:
    """A sentence of ours: what stands between backquotes is code, and nothing else in it is markup."""
    pieces = clean_text(text, limit).split("`")
    if len(pieces) % 2 == 0:  # one too many, out of a name: none of them counts
        return escape(text, limit)
    return "".join(code(piece) if number % 2 else escape(piece, limit) for number, piece in enumerate(pieces))


def code(text: str, *, cell: bool = False) -> str:
    """A name as code. In a table the bar would end the cell even here, so it is escaped there."""
    shown = clean_text(text) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    padded = f" {shown} " if shown.startswith("`") or shown.endswith("`") else shown
    return fence + (padded.replace("|", "\\|") if cell else padded) + fence


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> Iterator[str]:
    """A table whose first `names` columns are text and whose others are figures."""
    yield f"| {' | '.join(titles)} |"
    yield f"| {' | '.join('---' if index < names else '---:' for index in range(len(titles)))} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _head(report: Report) -> Iterator[str]:
    run = report.run
    yield f"## rlprof: {code(run.command or '(no command)')}"
    yield ""
    machine = [
        f"Python {run.python}" if run.python else None,
        f"torch {run.torch}" if run.torch else None,
        run.cpu,
        f"{run.cores} cores" if run.cores else None,
        run.gpu,
    ]
    parts = [run.status, format_duration(run.wall_seconds), *(escape(part, 80) for part in machine if part)]
    yield " · ".join(parts)
    yield ""
    for said in treated(report):
        yield escape(said, 1000)
        yield ""


def _throughput(report: Report) -> Iterator[str]:
    figures = report.throughput
    if figures.env_steps is None:
        return
    yield f"**{format_rate(figures.sps)}** overall" + (
        f", **{format_rate(figures.sps_steady)}** once warm" if figures.sps_steady is not None else ""
    )
    yield ""
    rows = [
        ("env steps", format_count(figures.env_steps)),
        ("episodes", format_count(figures.episodes)),
        ("iterations", format_count(figures.iterations)),
        ("updates", format_count(figures.updates)),
        ("collecting", format_duration(report.sampling.collect_seconds)),
        ("training", format_duration(report.sampling.train_seconds)),
        ("memory peak", format_megabytes(report.memory.rss_peak_mb)),
        ("device memory peak", format_megabytes(report.memory.gpu_peak_mb)),
    ]
    shown = [row for row in rows if row[1] != "-"]
    yield from _table([name for name, _ in shown], [[value for _, value in shown]], names=0)


def _regimes(report: Report) -> Iterator[str]:
    rows = regime_cells(report)
    if rows:
        yield "### Regimes"
        yield ""
        yield from _table([*TITLES, "because of"], ([*row[:-1], escape(row[-1])] for row in rows), names=0)


def _what_if(report: Report) -> Iterator[str]:
    rows = whatif_cells(report, TOP_WHATIF)
    if rows:
        yield "### What if"
        yield ""
        yield whatif_note(report)
        yield ""
        yield from _table(whatif_titles(report), ([code(row[0], cell=True), *row[1:]] for row in rows))


def _ledger(report: Report) -> Iterator[str]:
    wall = report.ledger.wall_seconds
    rest = (
        ("unattributed", report.ledger.unattributed_seconds),
        ("rlprof overhead", report.ledger.overhead_seconds),
    )
    rows = [
        [
            code(entry.phase, cell=True),
            bar(entry.share, _BAR_WIDTH),
            format_duration(entry.seconds),
            format_percent(entry.share),
            format_count(entry.calls),
        ]
        for entry in sorted(report.phases, key=lambda entry: entry.seconds, reverse=True)
    ]
    for name, seconds in rest:
        share = seconds / wall if wall > 0 else 0.0
        rows.append([name, bar(share, _BAR_WIDTH), format_duration(seconds), format_percent(share), ""])
        before = report.ledger.startup_seconds
        if name == "unattributed" and before:
            rows.append(["of it start-up", "", format_duration(before), format_percent(before / wall), ""])
    rows.append(["**wall clock**", "", f"**{format_duration(wall)}**", "**100.0%**", ""])
    yield "### Where the time went"
    yield ""
    yield from _table(["phase", "", "time", "share", "calls"], rows, names=2)


def _unattributed_lines(report: Report) -> Iterator[str]:
    drilled = part_named(report, UNATTRIBUTED)
    if drilled is None or not worth_a_table(report, drilled):
        return
    shown = largest(drilled, TOP_LINES)
    rows = [_line_cells(line, drilled) for line in shown]
    for name, seconds in rest_of(drilled, shown):
        if seconds >= 0.005 * drilled.seconds:
            rows.append([name, "", "", "", format_duration(seconds), "", ""])
    yield "### Unattributed time, by line"
    yield ""
    yield note(report, drilled)
    yield ""
    yield from _table(["line", "function", "mostly in", "", "time", "±", "share"], rows, names=4)
    for said in unseen(report):
        yield escape(said)
        yield ""


def _phase_lines(report: Report) -> Iterator[str]:
    rows = [
        [escape(name_of(drilled)), *_line_cells(line, drilled)]
        for drilled in shown_parts(report, TOP_PHASES)
        for line in largest(drilled, TOP_STARTUP_LINES)
    ]
    if rows:
        yield "### Largest parts, by line"
        yield ""
        yield from _table(["part", "line", "function", "mostly in", "", "time", "±", "share"], rows, names=5)


def _line_cells(line: LineEntry, drilled: Drilldown) -> list[str]:
    calls = called(line, drilled)
    return [
        code(short_place(line), cell=True),
        code(line.function, cell=True),
        code(calls[0].function, cell=True) if calls else "",
        bar(line.seconds / drilled.seconds if drilled.seconds > 0 else 0.0, _BAR_WIDTH // 2),
        format_duration(line.seconds),
        margin(line),
        format_percent(line.share),
    ]


def _device(report: Report) -> Iterator[str]:
    if report.device:
        yield "### Device"
        yield ""
        yield from (f"- {escape(line.strip())}" for line in device_lines(report.device))
        yield ""


def _windows(report: Report) -> Iterator[str]:
    if report.windows:
        yield "### Windows of other profilers"
        yield ""
        yield from (f"{'  ' if line.startswith(' ') else ''}- {escape(line.strip())}" for line in window_lines(report))
        yield ""


def _operators(report: Report) -> Iterator[str]:
    rows = list(operator_cells(report, TOP_OPERATOR_PHASES, TOP_TORCH_OPERATORS))
    if rows:
        yield "### Operators"
        yield ""
        yield operators_note()
        yield ""
        named = ([code(row[0], cell=True) if row[0] else "", code(row[1].strip(), cell=True), *row[2:]] for row in rows)
        yield from _table(operator_titles(report), named, names=2)


def _vector_envs(report: Report) -> Iterator[str]:
    for entry in report.workers.vector_envs if report.workers is not None else ():
        yield "### Vector env"
        yield ""
        yield escape(headline(entry))
        yield ""
        whole = entry.step_seconds
        rows = [
            [name, meaning, format_duration(seconds / entry.steps), format_percent(seconds / whole)]
            for name, seconds, meaning in parts_of(entry)
        ]
        if rows:
            each = f"**{format_duration(whole / entry.steps)}**"
            rows.append(["**step in the parent**", "", each, "**100.0%**"])
            yield from _table(["part of a step", "", "per step", "share"], rows, names=2)
        yield " · ".join(facts(entry, report.run.cores))
        yield ""
        yield from _table(WORKER_TITLES, worker_cells(entry)[:TOP_PROCESSES], names=0)


def _operations(report: Report) -> Iterator[str]:
    shown = report.operations[:TOP_OPERATIONS]
    if not shown:
        return
    several = len(report.run.processes) > 1
    columns = columns_with_data(shown)
    rows = []
    for operation in shown:
        name = code(" / ".join(operation.path), cell=True) + (" …" if operation.open else "")
        who = [str(operation.process)] if several else []
        labels = ", ".join(operation.labels)
        rows.append([name, labels, *who, *(column.cell(operation) for column in columns)])
    titles = ["operation", "", *(["process"] if several else []), *(column.title for column in columns)]
    yield "### Operations"
    yield ""
    yield from _table(titles, rows, names=2)
    more = len(report.operations) - len(shown)
    if more:
        yield f"{more} more in the recording."
        yield ""


def _verdict(report: Report) -> Iterator[str]:
    if report.verdict:
        yield f"**{prose(Paths(report.run.directory).in_words(report.verdict), 1000)}**"
        yield ""


def _findings(report: Report) -> Iterator[str]:
    if report.findings:
        yield "### Findings"
        yield ""
        paths = Paths(report.run.directory)
        for finding in report.findings:
            yield from _finding(finding, paths)
        yield ""


def _finding(finding: Finding, paths: Paths) -> Iterator[str]:
    yield f"- **{finding.severity}: {prose(paths.in_words(finding.title))}**"
    for place in finding.where:
        yield f"  - {code(f'{paths.shown(place.file)}:{place.line}')} {code(place.function)}"
    yield f"  - gain: {bound_of(finding.gain)}"
    yield f"  - cure: {prose(paths.in_words(finding.cure), 1500)}"
    yield f"  - learning: {'changed by the cure' if finding.changes_learning else 'not changed by the cure'}"
    yield f"  - verify: {code(finding.verify)}"
    yield f"  - rule: {code(finding.rule)}"


def _slow_iterations(report: Report) -> Iterator[str]:
    found = [slow for slow in comparable(report) if stands_out(slow)]
    if not found:
        return
    rows = [
        [
            format_count(slow.index),
            format_duration(slow.t),
            format_duration(slow.seconds),
            three_digits(slow.times_median) if slow.times_median is not None else "",
        ]
        for slow in found[:TOP_ITERATIONS]
    ]
    yield "### Slowest iterations"
    yield ""
    yield from _table(["iteration", "at", "took", "x median"], rows, names=0)


def _processes(report: Report) -> Iterator[str]:
    entries = report.run.processes
    if len(entries) < 2:
        return
    rows = [
        [
            code(entry.role, cell=True),
            entry.status,
            str(entry.id),
            str(entry.pid),
            format_duration(entry.wall_seconds),
            format_duration(entry.ledger.attributed_seconds),
            format_duration(entry.ledger.unattributed_seconds),
            format_duration(entry.ledger.overhead_seconds),
        ]
        for entry in entries[:TOP_PROCESSES]
    ]
    titles = ["process", "status", "id", "pid", "wall", "in phases", "unattributed", "overhead"]
    yield "### Processes"
    yield ""
    yield from _table(titles, rows, names=2)
    more = len(entries) - len(rows)
    if more:
        yield f"{more} more in the recording."
        yield ""


def _inferred(report: Report) -> Iterator[str]:
    if report.inferred:
        paths = Paths(report.run.directory)
        parts = (
            f"{code(item.name)} as {code(item.role)} ({code(f'{paths.shown(item.file)}:{item.line}')})"
            for item in report.inferred
        )
        yield f"Inferred by shape and use: {', '.join(parts)}"
        yield ""


def _warnings(report: Report) -> Iterator[str]:
    lost = {kind: number for kind, number in report.losses.items() if number}
    if lost:
        yield "Losses: " + ", ".join(f"{format_count(number)} {escape(kind)}" for kind, number in lost.items())
        yield ""
    if report.warnings:
        yield "### Warnings"
        yield ""
        paths = Paths(report.run.directory)
        for warning in report.warnings:
            message, remedy = (prose(paths.in_words(text)) for text in (warning.message, warning.remedy))
            yield f"- **{escape(warning.code)}**: {message}. Remedy: {remedy}"
        yield ""


def _foot(report: Report) -> Iterator[str]:
    yield f"Recording: {code(Paths(report.run.directory).shown(report.recording))}"


_SECTIONS: Final = (
    _head, _verdict, _findings, _throughput, _regimes, _ledger, _vector_envs, _windows, _device, _operators,
    _unattributed_lines, _operations, _phase_lines, _what_if, _slow_iterations, _processes, _inferred, _warnings, _foot,
)  # fmt: skip
