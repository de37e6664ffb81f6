"""`tiny-minibatch`: rollouts are learned from in very many updates, each of a few transitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import phase_named, seconds_of
from rlprof.advise.steps import LEARNING
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import waist
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "tiny-minibatch"
SMALLEST_SHARE: Final = 0.5
#: Updates for each env step. With ten passes over a rollout, these are minibatches of 40 transitions; with four, of 16.
MANY: Final = 0.25
#: What the bound is about: minibatches of 1024 with four passes.
USUAL: Final = 4 / 1024
#: An update that takes longer than this has work to do; the fixed cost of one is about a millisecond.
LONGEST_UPDATE: Final = 10e-3


def tiny_minibatch(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of programs with advantages, which learn from a rollout and throw it away, when learning is most of it."""
    ratio, updates = report.throughput.updates_per_env_step, report.throughput.updates
    advantages = phase_named(report, "advantage")
    running = training_seconds(report)
    learning = seconds_of(report, *LEARNING)
    if advantages is None or not advantages.calls or not updates or ratio is None or ratio < MANY:
        return
    if learning < SMALLEST_SHARE * running or learning / updates > LONGEST_UPDATE:
        return
    frame = waist(open_account(recording.main), "learn.backward")
    if frame is None:
        return
    yield from Claim(
        RULE,
        f"{ratio:.3g} updates for each env step of a rollout, {format_duration(learning / updates)} each: learning is "
        f"{format_percent(learning / running)} of the time",
        Saving(0.0, learning * (1.0 - USUAL / ratio)),
        (Place(frame.file, frame.line, frame.function),),
        "an update this short is mostly fixed cost (calls, the optimizer), whatever the size of its minibatch: take "
        "256 transitions or more at a time (`batch_size`, `num_minibatches`), raise the learning rate with it, and try "
        "`Adam(..., fused=True)`; compare the returns after the same time",
        {
            "phases": list(LEARNING),
            "updates_per_env_step": ratio,
            "updates": updates,
            "seconds_per_update": learning / updates,
            "learning_seconds": learning,
            "learning_share": learning / running,
            "assumed_updates_per_env_step": USUAL,
        },
        changes_learning=True,
    ).findings(report)
