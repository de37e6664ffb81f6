"""Time in no span leads to the lines of a real program that it was spent on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlprof.advise.report import complete_report
from rlprof.recording import open_recording
from rlprof.render.markdown import render_markdown
from rlprof.render.text import render_text
from support.programs import Json, assert_ledgers_close, run_recorded, write_program

pytestmark = pytest.mark.timed

HOSTILE_NAME = "hot\x1b[31m<b>.py"

PROGRAM = """
    import json
    import time

    import rlprof


    def relabel(seconds):
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline: sum(number * number for number in range(400))  # hot line


    def write_log(seconds, table):
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline: json.dumps(table, indent=1)  # log line


    def build():
        time.sleep(1.0)  # set-up line


    build()
    table = {str(number): list(range(10)) for number in range(20)}
    for turn in range(15):
        rlprof.iteration()
        with rlprof.profile("env.step"):
            time.sleep(0.03)  # step line
        relabel(0.1)
        write_log(0.034, table)
"""


def line_with(program: Path, mark: str) -> int:
    lines = program.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(mark))


def drilled(report: Json, part: str) -> Json:
    found: Json = next(entry for entry in report["drilldown"] if entry["part"] == part)
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_program(tmp_path_factory.mktemp("drill"), PROGRAM, HOSTILE_NAME)


@pytest.fixture(scope="module")
def recorded(program: Path) -> Path:
    outcome = run_recorded(program)
    assert outcome.code == 0, outcome.err
    return outcome.target


@pytest.fixture(scope="module")
def report(recorded: Path) -> Json:
    from rlprof.render.json import render_json

    found: Json = json.loads(render_json(complete_report(open_recording(recorded))))
    return found


def test_the_hot_line_comes_first_with_its_seconds(report: Json, program: Path) -> None:
    line = drilled(report, "unattributed")["lines"][0]
    assert (Path(line["file"]).parent, line["line"]) == (program.parent, line_with(program, "# hot line"))
    assert line["function"].startswith("relabel")
    assert line["seconds"] == pytest.approx(1.5, rel=0.25)
    assert line["low_seconds"] <= line["seconds"] <= line["high_seconds"]


def test_a_librarys_time_counts_for_the_line_that_called_it_and_is_named(report: Json, program: Path) -> None:
    line = drilled(report, "unattributed")["lines"][1]
    assert line["line"] == line_with(program, "# log line")
    assert line["seconds"] == pytest.approx(0.5, rel=0.4)
    assert any("json" in call["file"] for call in line["calling"])


def test_set_up_is_start_up_and_the_ledger_still_closes(report: Json, program: Path) -> None:
    assert_ledgers_close(report)
    assert report["ledger"]["startup_seconds"] == pytest.approx(1.0, abs=0.25)
    assert drilled(report, "startup")["lines"][0]["line"] == line_with(program, "# set-up line")
    lines = {line["line"] for line in drilled(report, "unattributed")["lines"][:2]}
    assert line_with(program, "# set-up line") not in lines


def test_the_parts_add_up_to_the_unattributed_time(report: Json) -> None:
    parts = [drilled(report, "startup"), drilled(report, "unattributed")]
    lines = sum(line["seconds"] for part in parts for line in part["lines"])
    rest = sum(part["other_seconds"] + part["unsampled_seconds"] for part in parts)
    assert lines + rest == pytest.approx(report["ledger"]["unattributed_seconds"], rel=1e-6)


def test_a_phase_leads_to_its_line(report: Json, program: Path) -> None:
    (line, *_) = drilled(report, "env.step")["lines"]
    assert line["line"] == line_with(program, "# step line")


def test_the_findings_name_the_hot_line_and_then_the_one_that_waits(report: Json, program: Path) -> None:
    hot, waiting = report["findings"]
    assert (hot["rule"], hot["where"][0]["line"]) == ("unattributed-high", line_with(program, "# hot line"))
    assert hot["evidence"]["startup_seconds"] == report["ledger"]["startup_seconds"]
    assert (waiting["rule"], waiting["where"][0]["line"]) == ("env-hotspot", line_with(program, "# step line"))


def test_a_hostile_file_name_is_shown_and_not_obeyed(recorded: Path) -> None:
    report = complete_report(open_recording(recorded))
    for shown in (render_text(report), render_markdown(report)):
        assert "Unattributed time, by line" in shown
        assert "of it start-up" in shown
        assert "\x1b" not in shown
        assert "hot\u241b[31m" in shown.replace("\\", "")


def test_without_the_sampler_nothing_is_claimed_about_lines(program: Path) -> None:
    outcome = run_recorded(program, options=["--sampler-hz", "0", "--out", str(program.with_name("unsampled.rlprof"))])
    report = complete_report(open_recording(program.with_name("unsampled.rlprof")))
    assert outcome.code == 0, outcome.err
    assert report.drilldown is None
    assert report.findings == ()
    assert "by line" not in render_text(report)
    assert report.ledger.startup_seconds == pytest.approx(1.0, abs=0.25)  # measured by spans, not by samples


LOOP = """
    import rlprof

    def search(number):  # head of it
        found = 0
        for step in range(number):
            if step % 3:
                found += 1
        return found

    for turn in range(40):
        rlprof.iteration()
        with rlprof.profile("env.step"):
            search(400_000)
"""


def test_the_jump_back_at_the_end_of_a_loop_counts_for_the_loop(tmp_path: Path) -> None:
    """The compiler gives it no line where several lines lead to it, and samples are taken there."""
    program = write_program(tmp_path, LOOP)
    part = drilled(run_recorded(program).report(), "env.step")
    assert part["samples"] >= 30
    assert line_with(program, "# head of it") not in {line["line"] for line in part["lines"]}
