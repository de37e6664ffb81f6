"""`phase-change` says that a change of speed is none of a fault."""

from __future__ import annotations

import pytest

from rlprof.advise.report import complete_report
from rlprof.model.report import Finding
from support.courses import Run, always, jump, rising

STEADY = {"env.step": always(1e-4), "policy.forward": always(3e-4), "learn.loss": always(4e-4)}


def findings(run: Run) -> tuple[Finding, ...]:
    return complete_report(run.build().build()).findings


def test_learning_that_starts_late_is_the_only_finding_and_an_info() -> None:
    run = Run(STEADY, often={"learn.loss": jump(0.0, 4.0, 12_000)}, updates=jump(0.0, 1.0, 12_000))
    (finding,) = findings(run)
    assert (finding.rule, finding.severity) == ("phase-change", "info")
    assert "learning began" in finding.title
    assert finding.evidence["sps_before"] > 2 * finding.evidence["sps_after"]
    assert finding.gain.high == 1.0
    assert not finding.changes_learning


def test_evaluation_that_comes_in_is_one_too() -> None:
    (finding,) = findings(Run({**STEADY, "evaluate": jump(0.0, 1e-3, 10_000)}))
    assert finding.evidence["kind"] == "evaluation"


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(Run(STEADY), id="steady"),
        pytest.param(Run({**STEADY, "env.step": jump(1e-4, 1e-3, 10_000)}), id="a part"),
        pytest.param(Run(STEADY, machine=lambda at: 1.0 if at < 12 else 2.0), id="the machine"),
        pytest.param(Run({**STEADY, "buffer.sample": rising(1e-5, 3e-7)}), id="growth"),
    ],
)
def test_other_changes_are_not_excused(run: Run) -> None:
    assert [finding for finding in findings(run) if finding.rule == "phase-change"] == []
