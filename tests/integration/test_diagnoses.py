"""A program that is slow for one reason gets that diagnosis first, with its line; its healthy twin gets none."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

from rlprof.advise.engine import RULES
from rlprof.advise.pages import page_of, summary_of
from support.installed import need
from support.programs import Json, assert_ledgers_close, run_recorded, write_program
from support.quota import a_quota, entering
from support.sick import SickCase, sick_cases, speed_of

CASES = [pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.slow else []) for case in sick_cases()]


def report_of(program: Path, folder: Path, quota: float | None) -> Json:
    settings = program.with_name("pyproject.toml")
    if settings.is_file():
        shutil.copy(settings, folder)
    copy = write_program(folder, program.read_text(encoding="utf-8"), program.name)
    with contextlib.ExitStack() as stack:
        preexec = None
        if quota is not None:
            try:
                preexec = entering(stack.enter_context(a_quota(quota)))
            except OSError as error:
                pytest.skip(f"no control group with a quota can be made here: {error}")
        done = run_recorded(copy, preexec=preexec)
    assert done.code == 0, done.err
    assert speed_of(done.out) > 0
    report = done.report()
    assert_ledgers_close(report)
    return report


@pytest.mark.parametrize("case", CASES)
def test_a_sick_program_gets_its_diagnosis_first_with_the_line(case: SickCase, tmp_path: Path) -> None:
    need(*case.needs)
    report = report_of(case.sick, tmp_path, case.quota)
    assert report["findings"], "nothing was found"
    first = report["findings"][0]
    assert first["rule"] == case.rule, [(finding["rule"], finding["title"]) for finding in report["findings"]]
    assert first["gain"]["low"] <= first["gain"]["high"]
    assert first["cure"]
    assert first["verify"]
    if case.lines:
        place = first["where"][0]
        assert (Path(place["file"]).name, place["line"] in case.lines) == ("sick.py", True), first["where"]


@pytest.mark.parametrize("case", CASES)
def test_its_healthy_twin_is_left_in_peace(case: SickCase, tmp_path: Path) -> None:
    need(*case.needs)
    report = report_of(case.healthy, tmp_path, case.quota)
    loud = [(found["rule"], found["title"]) for found in report["findings"] if found["severity"] != "info"]
    assert loud == []


def test_every_rule_has_a_page_that_begins_with_what_it_is_about() -> None:
    for rule in RULES:
        page = page_of(rule.name)
        assert page is not None, rule.name
        assert page.startswith(f"# {rule.name}\n\n"), rule.name
        assert 20 < len(summary_of(rule.name)) < 200, rule.name
