"""`evaluation-cost`: testing the policy takes a large part of training it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import own_lines, part_named
from rlprof.advise.steps import evaluations
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import waist
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "evaluation-cost"
EVALUATE: Final = "evaluate"
#: One evaluation at the end is what most programs do.
FEWEST: Final = 2


def evaluation_cost(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when several evaluations, all that happens inside of them included, take time that matters."""
    found = evaluations(report)
    calls, seconds = sum(entry.calls for entry in found), sum(entry.total_seconds for entry in found)
    running = training_seconds(report)
    place = _place(recording, report)
    if calls < FEWEST or place is None or running <= 0:
        return
    steps = report.throughput.env_steps
    between = f", one every {steps / calls:,.0f} env steps" if steps else ""
    yield from Claim(
        RULE,
        f"{calls:,d} evaluations take {format_percent(seconds / running)} of the time{between}",
        Saving(0.0, seconds),
        (place,),
        f"evaluate less often and on fewer episodes ({format_duration(seconds / calls)} each): `eval_freq` and "
        "`n_eval_episodes` of `EvalCallback`, or `if update % 50 == 0:` around your own; several environments at once; "
        "or in another process, from checkpoints, while training goes on",
        {
            "phases": [EVALUATE],
            "evaluations": calls,
            "evaluate_seconds": seconds,
            "seconds_each": seconds / calls,
            "share_of_training": seconds / running,
            "env_steps_between": steps / calls if steps else None,
        },
    ).findings(report)


def _place(recording: Recording, report: Report) -> Place | None:
    frame = waist(open_account(recording.main), EVALUATE)
    if frame is not None:
        return Place(frame.file, frame.line, frame.function)
    lines = own_lines(part_named(report, EVALUATE))
    return Place(lines[0].file, lines[0].line, lines[0].function) if lines else None
