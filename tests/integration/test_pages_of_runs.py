"""`rlprof run` leaves a page beside its recording, and never lets it matter."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from rlprof.render.page.document import OPENING
from support.programs import RLPROF, Outcome, run, write_program

PROGRAM = """
    import sys
    from rlprof import count, iteration, profile
    for _ in range(3):
        iteration()
        with profile("env_step", phase="env.step"):
            sum(range(20000))
        count("env_steps", 8)
    sys.exit(int(sys.argv[1]))
    """


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return write_program(tmp_path, PROGRAM, "train.py")


def rlprof(script: Path, *words: str) -> Outcome:
    return run([*RLPROF, *words], script.parent)


def test_a_run_leaves_a_page_beside_its_recording_and_says_where(script: Path) -> None:
    done = rlprof(script, "run", "--quiet", "--out", "a.rlprof", "train.py", "7")
    assert done.code == 7
    assert done.own_lines == ["rlprof: recorded into a.rlprof", "rlprof: report as a page: a.html"]
    page = script.parent / "a.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE((script.parent / "a.rlprof").stat().st_mode)


def test_a_run_that_is_not_quiet_has_its_report_and_a_page(script: Path) -> None:
    done = rlprof(script, "run", "--out", "a.rlprof", "train.py", "7")
    assert done.code == 7
    assert "Where the time went" in done.err
    assert done.err.splitlines()[-1] == "rlprof: report as a page: a.html"
    assert done.out == ""


def test_no_page_is_written_where_none_is_wanted(script: Path) -> None:
    done = rlprof(script, "run", "--quiet", "--no-html", "--out", "a.rlprof", "train.py", "7")
    assert done.own_lines == ["rlprof: recorded into a.rlprof"]
    assert not (script.parent / "a.html").exists()


def test_a_page_of_ours_is_replaced_and_another_file_is_left_alone(script: Path) -> None:
    again = ("run", "--quiet", "--overwrite", "--out", "a.rlprof", "train.py", "7")
    page = script.parent / "a.html"
    page.write_text(OPENING + "old", encoding="utf-8")
    assert rlprof(script, *again).own_lines[-1] == "rlprof: report as a page: a.html"
    assert not page.read_text(encoding="utf-8").endswith("old")
    page.write_text("<p>mine</p>", encoding="utf-8")
    done = rlprof(script, *again)
    assert done.code == 7
    assert "no report, so it was left alone" in done.own_lines[-1]
    assert page.read_text(encoding="utf-8") == "<p>mine</p>"


def test_a_page_that_cannot_be_written_is_one_warning(script: Path) -> None:
    (script.parent / "a.html").mkdir()
    done = rlprof(script, "run", "--quiet", "--out", "a.rlprof", "train.py", "7")
    assert done.code == 7
    assert len(done.own_lines) == 2
    assert "the page could not be written" in done.own_lines[-1]
    assert rlprof(script, "report", "a.rlprof", "--text", "-").code == 0


def test_report_and_compare_write_pages_to_a_file_or_to_stdout(script: Path) -> None:
    rlprof(script, "run", "--quiet", "--no-html", "--out", "a.rlprof", "train.py", "0")
    assert rlprof(script, "report", "a.rlprof", "--html", "-").out.startswith("<!doctype html>")
    assert rlprof(script, "report", "a.rlprof", "--html", "report.html", "--json", "report.json").out == ""
    assert (script.parent / "report.html").stat().st_size > 50_000
    assert rlprof(script, "compare", "a.rlprof", "a.rlprof", "--html", "-").out.startswith("<!doctype html>")
    assert rlprof(script, "report", "a.rlprof", "--html", "a.rlprof").code == 2
