"""`cost-grows` names the line that a growing cost is in, and is silent about everything else."""

from __future__ import annotations

import pytest

from rlprof.advise.relief import relieved
from rlprof.advise.report import complete_report
from rlprof.model.report import Finding, Gain
from support.courses import NO_SPAN, Run, always, jump, rising
from support.recordings import FrameSpec

STEADY = {"env.step": always(1e-4), "policy.forward": always(3e-4), "learn.loss": always(4e-4)}
LIST = FrameSpec("Replay.sample", "/home/ann/train.py", 31)
MAXIMUM = FrameSpec("main", "/home/ann/train.py", 77)
LIBRARY = FrameSpec("choices", "/usr/lib/python3.11/random.py", 400)


def findings(run: Run) -> list[Finding]:
    return [finding for finding in complete_report(run.build().build()).findings if finding.rule == "cost-grows"]


def growing(**changes: object) -> Run:
    costs = {**STEADY, "buffer.sample": rising(1e-4, 1e-7)}
    return Run(costs, stacks={"buffer.sample": ((LIST, always(1.0)),)}, **changes)  # type: ignore[arg-type]


def test_it_names_the_line_the_course_and_what_a_longer_run_takes() -> None:
    (finding,) = findings(growing())
    assert [(place.file, place.line) for place in finding.where] == [(LIST.file, LIST.line)]
    assert finding.evidence["phases"] == ["buffer.sample"]
    assert finding.evidence["exponent"] == 1.0
    assert finding.evidence["slope_low"] <= 1e-4 <= finding.evidence["slope_high"]
    longer = finding.evidence["longer_run"]
    assert longer["seconds"] > 2 * longer["linear_seconds"]
    assert "train.py:31" in finding.cure
    assert finding.severity in ("warning", "critical")
    assert not finding.changes_learning
    assert finding.verify == "rlprof run train.py --envs 8"


def test_a_backward_that_grows_is_a_graph_that_is_carried_on() -> None:
    costs = {**STEADY, "learn.backward": rising(1e-4, 1e-7)}
    (finding,) = findings(Run(costs, stacks={"learn.backward": ((MAXIMUM, always(1.0)),)}))
    assert ".detach()" in finding.cure
    assert "deque" not in finding.cure
    assert "detach" not in findings(growing())[0].cure


def test_the_gain_lies_between_the_first_level_and_free() -> None:
    run = growing(noise=0.0)
    (finding,) = findings(run)
    steps = sum(row[3] for row in run.build().counter_rows if row[2] == "env_steps")
    free, even = 20.0 / (steps * 8e-4), 20.0 / (steps * 9e-4)
    assert finding.gain.low == 1.0
    assert finding.gain.sps_ratio == pytest.approx(even, rel=0.05)
    in_the_last_third = Gain(even, 1.0, 1.5 * free)
    assert free <= finding.gain.high <= relieved(in_the_last_third).high


def test_what_grows_in_no_span_is_no_finding_of_unattributed_time_besides() -> None:
    run = Run({**STEADY, NO_SPAN: rising(1e-5, 8e-8)}, stacks={NO_SPAN: ((MAXIMUM, always(1.0)),)})
    found = complete_report(run.build().build()).findings
    assert [finding.rule for finding in found] == ["cost-grows"]
    assert found[0].where[0].line == MAXIMUM.line
    assert "no span" in found[0].title


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(Run({**STEADY, "buffer.sample": rising(1e-4, 1e-7)}), id="no samples"),
        pytest.param(
            Run({**STEADY, "buffer.sample": rising(1e-4, 1e-7)}, stacks={"buffer.sample": ((LIBRARY, always(1.0)),)}),
            id="no line of the user's",
        ),
        pytest.param(
            Run({**STEADY, "buffer.sample": jump(1e-4, 8e-4, 8000)}, stacks={"buffer.sample": ((LIST, always(1.0)),)}),
            id="a jump",
        ),
        pytest.param(
            Run(
                STEADY,
                often={"learn.loss": rising(0.1, 1e-4)},
                stacks={name: ((LIST, always(1.0)),) for name in STEADY},
            ),
            id="more calls",
        ),
        pytest.param(
            Run(STEADY, machine=rising(1.0, 0.1), stacks={name: ((LIST, always(1.0)),) for name in STEADY}),
            id="the machine",
        ),
    ],
)
def test_it_is_silent_where_nothing_grows_or_nobody_knows_where(run: Run) -> None:
    assert findings(run) == []


def test_a_memory_that_is_saved_whole_is_named_as_saving_that_grows() -> None:
    costs = {**STEADY, "checkpoint": rising(1e-4, 1e-7)}
    found = complete_report(Run(costs, stacks={"checkpoint": ((MAXIMUM, always(1.0)),)}).build().build()).findings
    assert [(finding.rule, finding.where[0].line) for finding in found] == [("checkpoint-pause", MAXIMUM.line)]
    assert "a save grew from" in found[0].title
    assert found[0].evidence["last_seconds_per_call"] > 1.4 * found[0].evidence["first_seconds_per_call"]


def test_saves_that_stay_as_they_are_are_not_said_to_grow() -> None:
    costs = {**STEADY, "checkpoint": always(4e-4)}
    found = complete_report(Run(costs, stacks={"checkpoint": ((MAXIMUM, always(1.0)),)}).build().build()).findings
    assert [finding.rule for finding in found] == ["checkpoint-pause"]
    assert "grew" not in found[0].title
    assert found[0].evidence["last_seconds_per_call"] is None
