"""Treatments in a report: those of all processes, once each, and harmless whatever they are called."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.analyse.report import build_report
from rlprof.model.report import TreatmentEntry
from rlprof.render.markdown import render_markdown
from rlprof.render.text import render_text
from support.recordings import a_child, a_recording


def entry(text: str, why: str | None = None) -> dict[str, Any]:
    return {"text": text, "applied": why is None, "why": why}


def test_a_treatment_that_took_effect_in_a_worker_was_applied() -> None:
    worker = a_child(facts={"treatments": [entry("threads=1"), entry("skip:a:b", "nowhere here")]})
    main = a_recording(facts={"treatments": [entry("threads=1", "no numpy"), entry("skip:a:b", "nowhere")]})
    report = build_report(main.child(worker).build())
    assert report.run.treatments == (
        TreatmentEntry("threads=1", applied=True, why=None),
        TreatmentEntry("skip:a:b", applied=False, why="nowhere"),
    )
    said = [warning.message for warning in report.warnings if warning.code == "treatment-not-applied"]
    assert said == ["the treatment skip:a:b was not applied: nowhere"]


@pytest.mark.parametrize("fact", [None, 3, "threads=1", [1, {"applied": True}, {"text": 5}], {"text": "x"}])
def test_what_is_no_list_of_treatments_is_none(fact: Any) -> None:
    assert build_report(a_recording(facts={"treatments": fact}).build()).run.treatments == ()


def test_names_and_reasons_are_text_and_nothing_else() -> None:
    hostile = "<script>alert(1)</script>\x1b[31m|\x00"
    facts = {"treatments": [entry(hostile), entry("skip:a:b", hostile)]}
    report = build_report(a_recording(facts=facts).build())
    for shown in (render_text(report), render_markdown(report)):
        assert "\x1b" not in shown
        assert "\x00" not in shown
    assert "<script>" not in render_markdown(report)


def test_a_bare_program_is_not_called_treated() -> None:
    assert "treatments" not in render_text(build_report(a_recording().build()))
