"""Comparing takes whatever a recording holds: hostile names, killed runs, nothing at all."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from rlprof.experiments.compare import Circumstances, Incomparable
from rlprof.experiments.recorded_pairs import match
from rlprof.experiments.regression import Allowed, regressions_of
from rlprof.model.recording import Recording
from rlprof.render.comparison_markdown import render_comparison_markdown
from rlprof.render.comparison_terminal import render_comparison_text
from rlprof.render.json import comparison_schema, render_json
from support.examples import busy_recording, hostile_recording, ppo_recording
from support.recordings import a_recording


@pytest.mark.parametrize("recording", [ppo_recording(), hostile_recording()], ids=["ppo", "hostile"])
def test_a_program_compared_with_itself_is_the_same(recording: Recording) -> None:
    matched = match([recording] * 6, [recording] * 6, ("a", "b"), Circumstances())
    found = matched.compare()
    assert (found.overall.verdict, found.overall.ratio) == ("same", pytest.approx(1.0))
    assert regressions_of(matched.pairs, Allowed()) == []
    told = json.loads(render_json(found))
    assert told["pairs"] == 6
    Draft202012Validator(comparison_schema()).validate(told)
    for text in (render_comparison_text(found), render_comparison_markdown(found)):
        assert not any(bad in text for bad in ("\x1b", "\x00", "\u202e", "\ud800"))


def test_different_programs_are_compared_only_by_force() -> None:
    with pytest.raises(Incomparable, match="cores: 16 against 4"):
        match([ppo_recording()], [hostile_recording()], ("a", "b"), Circumstances())
    found = match([ppo_recording()], [hostile_recording()], ("a", "b"), Circumstances(forced=True)).compare()
    assert found.forced
    Draft202012Validator(comparison_schema()).validate(json.loads(render_json(found)))


def test_runs_that_were_killed_or_did_nothing_leave_nothing_to_compare() -> None:
    with pytest.raises(Incomparable, match="no complete pair"):
        match([busy_recording()], [busy_recording()], ("a", "b"), Circumstances()).compare()
    empty = a_recording(seconds=0.0).spans().build()
    with pytest.raises(Incomparable, match="nothing to compare"):
        match([empty], [empty], ("a", "b"), Circumstances()).compare()
