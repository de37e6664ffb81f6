"""Reports and comparisons as pages for a browser: made for a file that was asked for, or beside a new recording."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rlprof.recording.place import PARTS_SUFFIX, SUFFIX

if TYPE_CHECKING:
    from rlprof.model.comparison import Comparison
    from rlprof.model.recording import Recording
    from rlprof.model.report import Report

#: A larger recording takes long to draw, and nobody who waits for the end of a run has asked for it.
LARGEST_BYTES: Final = 64_000_000


def report_page(recording: Recording, report: Report) -> str:
    from rlprof.analyse.page import page_figures
    from rlprof.render.page import document, report_payload

    payload = report_payload(report, page_figures(recording, report))
    command = report.run.command
    return document(payload, command if command.startswith("rlprof ") else f"rlprof: {command}", report.verdict or "")


def comparison_page(found: Comparison) -> str:
    from rlprof.render.comparison_words import headline
    from rlprof.render.page import comparison_payload, document

    return document(comparison_payload(found), f"rlprof: {headline(found)}", "")


def page_beside(recorded: Path) -> Path:
    """NAME.html for NAME.rlprof, and for the parts that could not be joined to it."""
    return recorded.with_name(recorded.name.removesuffix(PARTS_SUFFIX).removesuffix(SUFFIX) + ".html")


def write_beside(recorded: Path, recording: Recording, report: Report) -> str:
    """Write the page of a new recording beside it; what there is to say about that. It never raises."""
    from rlprof.cli.report import replace_whole

    page = page_beside(recorded)
    again = _again(recorded)
    large = too_large(recorded)
    if large is not None:
        return large
    try:
        if page.exists() and not _is_ours(page):
            return f"{_short(page)} is there and no report, so it was left alone: {again}"
        replace_whole(page, [report_page(recording, report)], 0o600)  # as private as the recording
    except Exception as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
        return f"the page could not be written ({why}); the recording is whole: {again}"
    return f"report as a page: {_short(page)}"


def too_large(recorded: Path) -> str | None:
    """What to say of a recording that gets no page by itself; None where it gets one."""
    try:
        large = recorded.is_file() and recorded.stat().st_size > LARGEST_BYTES
    except OSError:
        return None
    return f"the recording is large, so its page was left out: {_again(recorded)} makes one" if large else None


def _again(recorded: Path) -> str:
    return f"rlprof report {_short(recorded)} --html FILE"


def _is_ours(page: Path) -> bool:
    from rlprof.render.page.document import OPENING

    with open(page, "rb") as stream:
        return stream.read(len(OPENING)) == OPENING.encode()


def _short(path: Path) -> str:
    try:
        return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    except OSError:
        return str(path)
