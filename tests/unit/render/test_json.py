"""The JSON report keeps its contract."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import Any

import jsonschema
import pytest

from rlprof.advise.report import complete_report
from rlprof.model.comparison import Comparison
from rlprof.model.recording import Recording
from rlprof.model.report import Memory, Report
from rlprof.render.json import comparison_schema, render_json, report_schema
from support.examples import HOSTILE, busy_recording, hostile_recording, ppo_recording
from support.recordings import a_recording
from support.vector_envs import vector_recording


def empty_recording() -> Recording:
    return a_recording(seconds=0.0).build()


RECORDINGS = pytest.mark.parametrize(
    "recording", [ppo_recording, busy_recording, hostile_recording, vector_recording, empty_recording]
)


def parsed(report: Report) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in the report")

    return json.loads(render_json(report), parse_constant=refuse)


@RECORDINGS
def test_the_report_is_valid_against_its_schema(recording: Any) -> None:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(parsed(complete_report(recording())))


def test_the_schema_knows_every_field_and_no_other() -> None:
    schema = report_schema()
    assert set(schema["properties"]) == {field.name for field in fields(Report)} == set(schema["required"])
    assert schema["additionalProperties"] is False
    data = parsed(complete_report(ppo_recording()))
    data["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema)


def test_what_is_not_finite_is_null() -> None:
    report = replace(complete_report(ppo_recording()), memory=Memory(math.nan, math.inf, None))
    assert parsed(report)["memory"] == {"rss_peak_mb": None, "rss_slope_mb_per_min": None, "gpu_peak_mb": None}


def test_the_ledger_closes_in_what_is_written() -> None:
    data = parsed(complete_report(ppo_recording()))
    ledger = data["ledger"]
    phases = sum(phase["seconds"] for phase in data["phases"])
    total = phases + ledger["unattributed_seconds"] + ledger["overhead_seconds"]
    assert total == pytest.approx(ledger["wall_seconds"], rel=1e-9)


def test_hostile_names_survive_as_data_that_any_parser_takes() -> None:
    text = render_json(complete_report(hostile_recording()))
    assert text.isascii()
    name = json.loads(text)["operations"][0]["path"][0]
    assert name == HOSTILE.replace("\ud800", "\\ud800")
    name.encode("utf-8")


def test_the_schema_of_comparisons_knows_every_field_and_no_other() -> None:
    schema = comparison_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == {field.name for field in fields(Comparison)} == set(schema["required"])
    assert schema["additionalProperties"] is False
