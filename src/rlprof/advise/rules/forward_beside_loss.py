"""`forward-beside-loss`: while learning, networks are asked without gradients for longer than for the losses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import part_named
from rlprof.advise.steps import step_calls
from rlprof.analyse.ledger import open_account
from rlprof.analyse.lines import interval
from rlprof.analyse.noted_lines import NotedLines
from rlprof.analyse.stacks import name_of, stacks_in
from rlprof.model.own_files import is_users
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "forward-beside-loss"
LOSS: Final = "learn.loss"
FEWEST_SAMPLES: Final = 30
#: Of the run, surely; and for each second of forwards with gradients. Targets of two critics and an actor come to two.
SMALLEST_SHARE: Final = 0.1
LEAST_TIMES: Final = 3.0
PLACES_NAMED: Final = 3
_NETWORK: Final = re.compile(r"[\\/]torch[\\/]nn[\\/]modules[\\/]")


def forward_beside_loss(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where forwards within `torch.no_grad()`, by the source, take several times what those of the losses do."""
    part, running = part_named(report, LOSS), training_seconds(report)
    if part is None or not part.samples or running <= 0 or not step_calls(report):
        return
    beside, losses = _forwards(recording)
    found, times = sum(beside.values()), sum(beside.values()) / max(losses, 1)
    seen = part.seconds - part.unsampled_seconds
    low, high = (end * seen for end in interval(min(found / part.samples, 1.0), float(part.samples)))
    if found < FEWEST_SAMPLES or low < SMALLEST_SHARE * running or times < LEAST_TIMES:
        return
    seconds, where = seen * found / part.samples, sorted(beside, key=lambda place: -beside[place])[:PLACES_NAMED]
    yield from Claim(
        RULE,
        f"while learning, networks are asked without gradients for {format_duration(seconds)} "
        f"({format_percent(seconds / running)} of the time), {times:.1f} times as long as for the losses",
        Saving(0.0, high),
        tuple(where),
        f"{where[0].file}:{where[0].line} asks about more rows than the loss is of, or more often: take what is only "
        "looked at, as a KL divergence, from what the loss has computed for its minibatch, or ask once an epoch; keep "
        "what stays the same between updates, as old log-probabilities",
        {
            "phases": [LOSS],
            "beside_seconds": seconds,
            "beside_low_seconds": low,
            "share_of_training": seconds / running,
            "times_the_losses": times,
            "samples": found,
            "lines": [{"file": p.file, "line": p.line, "samples": beside[p]} for p in where],
        },
        at_most="info",  # that many actions are weighed for each state may be the method
    ).findings(report)


def _forwards(recording: Recording) -> tuple[dict[Place, int], int]:
    """Samples of networks within blocks without gradients, by the line there, and those of all others."""
    noted, beside, losses = NotedLines(recording, "no_grad"), dict[Place, int](), 0
    for stack, count in stacks_in(open_account(recording.main), LOSS):
        if not any(_NETWORK.search(frame.file) for frame in stack):
            continue
        within = next((one for one in stack if is_users(one.file) and noted.has(one.file, one.line)), None)
        if within is None:
            losses += count
        else:
            place = Place(within.file, within.line, name_of(within)[1])
            beside[place] = beside.get(place, 0) + count
    return beside, losses
