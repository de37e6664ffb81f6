"""`rlprof investigate --resume` goes by its own copy of the plan, and says so where that may surprise."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.cli.investigate import _case
from rlprof.experiments.investigate.case import begin
from rlprof.experiments.investigate.parse import read_plan
from support.investigations import PLAN


@pytest.mark.parametrize(
    ("edited", "said"),
    [(PLAN, False), (PLAN + "# an afterthought\n", True), (None, False)],
    ids=["as it was", "edited", "gone"],
)
def test_a_plan_that_differs_from_its_copy_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, edited: str | None, said: bool
) -> None:
    plan, folder = tmp_path / "plan.toml", tmp_path / "run"
    monkeypatch.chdir(tmp_path)
    plan.write_text(PLAN)
    (tmp_path / "train.py").write_text("")
    begin(folder, plan, read_plan(plan), 1)
    plan.write_text(edited) if edited is not None else plan.unlink()
    _case(None, None, folder)
    assert ("the latter counts" in capsys.readouterr().err) == said
