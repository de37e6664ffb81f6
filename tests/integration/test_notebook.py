"""A report shows itself in a notebook: in a real kernel, in IPython's own display, and with nothing hostile obeyed."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import rlprof
from rlprof.analyse.report import build_report
from rlprof.model.errors import RecordingNotFound
from rlprof.model.report import Finding, Gain, Place
from rlprof.render.notebook import render_notebook
from support.programs import run_recorded, write_program
from support.recordings import a_recording

HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\ud800"
PROGRAM = f"""
    import time
    from rlprof import count, iteration, profile

    def {"slow_simulation"}():
        time.sleep(0.02)

    for _ in range(60):
        iteration()
        with profile({HOSTILE!r}, phase="env.step"):
            slow_simulation()
        count("env_steps", 4)
        with profile("learn", phase="learn.loss"):
            time.sleep(0.004)
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("<script>alert(2)<")
    return run_recorded(write_program(folder, PROGRAM, "<img src=x onerror=alert(3)>.py")).target


class Seen(HTMLParser):
    """The elements and attributes of a piece of HTML, and that what was opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_ipython_displays_the_report_as_html_with_text_beside_it(recording: Path) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    report = rlprof.open_report(recording)
    shown, _ = formatters.DisplayFormatter().format(report)
    assert {"text/html", "text/plain", "text/markdown"} <= set(shown)
    assert shown["text/plain"] == report.text()
    seen = Seen(shown["text/html"])
    assert seen.open == []
    for words in ("env.step", "learn.loss", "unattributed", "wall clock", report.data.verdict):
        assert str(words).replace("`", "") in seen.words


def test_no_name_of_the_program_becomes_markup(recording: Path) -> None:
    seen = Seen(rlprof.open_report(recording)._repr_html_())
    assert seen.tags <= {"div", "code", "strong", "table", "tbody", "tr", "td"}
    assert seen.attributes == {"style"}
    assert "<img src=x onerror=alert(3)>.py" in seen.words
    assert "\x1b" not in seen.words


def test_findings_are_shown_with_what_they_say_and_as_text_alone() -> None:
    hostile = "<script>alert(1)</script> `code` <b onclick=alert(1)>"
    finding = Finding(
        rule=hostile,
        severity="critical",
        title=hostile,
        evidence={},
        where=(Place(hostile, 7, hostile),),
        gain=Gain(1.5, 1.2, 2.0),
        cure=hostile,
        changes_learning=False,
        verify=hostile,
    )
    report = replace(build_report(a_recording().build()), findings=(finding,) * 7, verdict=hostile)
    seen = Seen(render_notebook(report))
    assert seen.tags <= {"div", "code", "strong", "table", "tbody", "tr", "td"}
    assert seen.attributes == {"style"}
    assert seen.words.count("critical: <script>alert(1)</script> code <b onclick=alert(1)>") == 5
    assert "at most 2.00x faster" in seen.words
    assert "2 more findings" in seen.words


def test_a_notebook_shows_it_in_its_output(recording: Path, tmp_path: Path) -> None:
    client = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell(f"import rlprof\nrlprof.open_report({str(recording)!r})"),
        nbformat.v4.new_code_cell(
            "profiler = rlprof.get_profiler()\nprofiler.enable()\nwith rlprof.profile('env.step'):\n    pass\n"
            "report = profiler.report()\nprofiler.stop()\nreport"
        ),
    ]
    client.NotebookClient(book, timeout=100, kernel_name="python3").execute()
    for cell in book.cells:
        (output,) = cell.outputs  # and nothing that was displayed on the way
        assert "env.step" in Seen(output.data["text/html"]).words
        assert "env.step" in output.data["text/plain"]
    nbformat.validate(book)


def test_a_recording_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(RecordingNotFound):
        rlprof.open_report(tmp_path / "none.rlprof")
