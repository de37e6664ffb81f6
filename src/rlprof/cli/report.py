"""`rlprof report`: make a report from a recording."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from rlprof.advise.engine import RULES
from rlprof.advise.report import complete_report
from rlprof.cli.charts import HELP as CHARTS_HELP
from rlprof.cli.charts import check_place, write_report_charts
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption, RlprofError
from rlprof.model.recording import Recording
from rlprof.model.report import Report
from rlprof.recording import open_recording

EPILOG = """\b
Examples:
  rlprof report rlprof-runs/train-20260105-101500.rlprof
  rlprof report run.rlprof --json report.json --markdown report.md
  rlprof report run.rlprof --json - | jq .throughput.sps
  rlprof report run.rlprof --text - | less
  rlprof report run.rlprof --charts charts.pdf
  rlprof report run.rlprof --html report.html
  rlprof report run.rlprof --why unattributed-high

A run that was killed, or is still going, is read from its directory of parts in the same way."""

OUTPUT = click.Path(dir_okay=False, allow_dash=True)


@click.command(epilog=EPILOG, short_help="Make a report from a recording.")
@click.argument("recording", type=click.Path())
@click.option("--json", "json_file", metavar="FILE", type=OUTPUT, help="Write the report as JSON; - is stdout.")
@click.option("--markdown", "markdown_file", metavar="FILE", type=OUTPUT, help="Write it as Markdown; - is stdout.")
@click.option("--text", "text_file", metavar="FILE", type=OUTPUT, help="Write it as plain text, in full; - is stdout.")
@click.option("--charts", metavar="FILE|DIR/", help=CHARTS_HELP)
@click.option("--html", "html_file", metavar="FILE", type=OUTPUT, help="Write it as a page for a browser; - is stdout.")
@click.option("--why", metavar="RULE", help="Print the evidence of this rule's findings in full, and nothing else.")
def report(
    recording: str,
    json_file: str | None,
    markdown_file: str | None,
    text_file: str | None,
    charts: str | None,
    html_file: str | None,
    why: str | None,
) -> None:
    """Make a report from RECORDING, a .rlprof file or the directory of a run that did not end.

    Without an option it goes to the terminal. Every number is computed from the recording anew.
    """
    forms = ((json_file, _json), (markdown_file, _markdown), (text_file, _text), (html_file, _html))
    outputs = [(file, render) for file, render in forms if file is not None]
    try:
        _refuse_own_input(recording, [*(file for file, _ in outputs), *([charts] if charts else [])])
        if why is not None and (outputs or charts):
            raise BadOption("--why prints to the terminal: leave out the options that write files, which have it all")
        if charts is not None:
            check_place(charts)
        recorded = open_recording(recording)
        found = complete_report(recorded)
        if charts is not None:
            write_report_charts(charts, recorded, found)
        for file, render in outputs:
            write_output(file, render(found, recorded))
        if why is not None:
            _explain(found, why)
        elif not outputs and charts is None:
            _draw(found)
    except RlprofError as error:
        click.echo(f"rlprof: {clean_text(str(error), 1000)}", err=True)
        sys.exit(error.exit_code)


def _json(found: Report, _: Recording) -> str:
    from rlprof.render.json import render_json

    return render_json(found)


def _markdown(found: Report, _: Recording) -> str:
    from rlprof.render.markdown import render_markdown

    return render_markdown(found)


def _text(found: Report, _: Recording) -> str:
    from rlprof.render.text import render_text

    return render_text(found)


def _html(found: Report, recording: Recording) -> str:
    from rlprof.cli.pages import report_page

    return report_page(recording, found)


def _draw(found: Report) -> None:
    from rich.console import Console

    from rlprof.render.terminal import render_terminal

    render_terminal(found, Console())


def _explain(found: Report, rule: str) -> None:
    from rich.console import Console

    from rlprof.render.why import render_why

    chosen = [finding for finding in found.findings if finding.rule == rule]
    if not chosen:
        raise BadOption(_no_finding(found, rule))
    for number, finding in enumerate(chosen):
        if number:
            click.echo()
        render_why(finding, Console())


def _no_finding(found: Report, rule: str) -> str:
    if rule not in {known.name for known in RULES}:
        return f"there is no rule {rule}: `rlprof rules` lists them"
    held = next((doubt for doubt in found.warnings if doubt.code == "held-back" and f"`{rule}`" in doubt.message), None)
    if held is not None:
        return f"{held.message}: {held.remedy}"
    others = ", ".join(dict.fromkeys(finding.rule for finding in found.findings))
    said = f"it has {others}" if others else "it has none at all"
    return f"{rule} has no finding in this recording; {said}. `rlprof explain {rule}` says when it speaks"


def _refuse_own_input(recording: str, files: list[str]) -> None:
    for file in files:
        if file != "-" and os.path.realpath(file) == os.path.realpath(recording):
            raise BadOption(f"{file} is the recording itself: name another file for the report")


def write_output(file: str, text: str) -> None:
    """Write a whole file or none: a report that was there stays until the new one is complete."""
    if file == "-":
        _to_stdout(text)
        return
    target = Path(os.path.realpath(file))  # a link keeps pointing where it points
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            target.write_text(text, encoding="utf-8")  # a pipe or a device cannot be replaced
        else:
            replace_whole(target, [text])
    except OSError as error:
        raise BadOption(f"cannot write {file}: {error.strerror or error}") from error


def replace_whole(target: Path, pieces: Iterable[str], mode: int = 0o666) -> None:
    """Write a file in pieces. Whatever ends it early, Ctrl-C too, leaves no half of one behind."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(
            draft, "x", encoding="utf-8", newline="\n", opener=lambda name, how: os.open(name, how, mode)
        ) as stream:
            stream.writelines(pieces)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _to_stdout(text: str) -> None:
    from rlprof.render.sections import encodable

    sys.stdout.write(encodable(text, sys.stdout.encoding or "utf-8"))
    sys.stdout.flush()
