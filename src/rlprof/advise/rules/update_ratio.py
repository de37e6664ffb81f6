"""`update-ratio`: most of the time goes into learning because there are so many updates for each env step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import seconds_of
from rlprof.advise.steps import LEARNING
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import waist
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_percent

RULE: Final = "update-ratio"
SMALLEST_SHARE: Final = 0.4
#: Steps of optimizers. One update of SAC is three of them: actor, critic and temperature.
MANY: Final = 4.0
#: From here on it is worth a word, though it is what some algorithms want.
SOME: Final = 0.25
#: What the bound is about: DQN learns once in four steps by default.
USUAL: Final = 0.25


def update_ratio(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when learning takes most of the time and updates are many; loudly beyond what algorithms ask for."""
    ratio = report.throughput.updates_per_env_step
    running = training_seconds(report)
    learning = seconds_of(report, *LEARNING)
    if ratio is None or ratio < SOME or running <= 0 or learning < SMALLEST_SHARE * running:
        return
    frame = waist(open_account(recording.main), "learn.backward")
    if frame is None:
        return
    goal = USUAL if ratio >= MANY else ratio / 2
    yield from Claim(
        RULE,
        f"{ratio:.3g} updates for each env step: learning is {format_percent(learning / running)} of the time",
        Saving(0.0, learning * (1.0 - goal / ratio)),
        (Place(frame.file, frame.line, frame.function),),
        f"fewer updates: {goal:.3g} for each env step would save up to {format_percent(1.0 - goal / ratio)} of the "
        "learning (`gradient_steps`, `train_freq`, `utd_ratio`, or the loop around the update), for less learned from "
        "each step; or cheaper ones: a fused optimizer (`Adam(..., fused=True)`), `torch.compile`, a smaller network. "
        "Compare the returns after the same time, not after the same number of steps",
        {
            "phases": list(LEARNING),
            "updates_per_env_step": ratio,
            "updates": report.throughput.updates,
            "env_steps": report.throughput.env_steps,
            "learning_seconds": learning,
            "learning_share": learning / running,
            "assumed_updates_per_env_step": goal,
        },
        changes_learning=True,
        at_most="critical" if ratio >= MANY else "info",
    ).findings(report)
