"""A healthy program whose learning starts late: its regimes are told apart, and nothing is blamed for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.installed import need
from support.programs import run_recorded, write_program

PROGRAM = Path(__file__).parents[1] / "healthy" / "late_learning.py"


@pytest.mark.slow
def test_learning_that_starts_late_is_said_and_is_no_fault(tmp_path: Path) -> None:
    need("stable_baselines3")
    done = run_recorded(write_program(tmp_path, PROGRAM.read_text(encoding="utf-8"), PROGRAM.name))
    assert done.code == 0, done.err
    report = done.report()
    assert [(found["rule"], found["severity"]) for found in report["findings"]] == [("phase-change", "info")]
    assert "learning began" in report["findings"][0]["title"]
    labels = [regime["label"] for regime in report["regimes"]]
    assert labels[:3] == ["start-up", "warm-up", "steady"]
    assert report["regimes"][1]["sps"] > 3 * report["regimes"][2]["sps"]
