"""`distribution-validation`: torch checks the arguments of every distribution, and every value it is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.analyse.ledger import Account, open_account
from rlprof.analyse.lines import interval
from rlprof.analyse.places import Spot
from rlprof.analyse.stacks import spots_with
from rlprof.model.phases import STARTUP
from rlprof.model.recording import Frame, Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "distribution-validation"
FEWEST_SAMPLES: Final = 10
_CHECKS: Final = "torch/distributions/constraints.py"
_BASE: Final = "torch/distributions/distribution.py"


def distribution_validation(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks, for information only, when enough samples fall into these checks: they find NaNs, too."""
    account = open_account(recording.main)
    seconds, counts, total = _validating(account, report)
    samples = sum(counts.values())
    running = training_seconds(report)
    if samples < FEWEST_SAMPLES or running <= 0:
        return
    ranked = sorted(counts, key=lambda spot: -counts[spot])
    _, high = interval(samples / total, total)
    most = max(high * running, seconds)
    yield from Claim(
        RULE,
        f"checking the arguments of distributions takes {format_percent(seconds / running)} of the time "
        f"({format_duration(seconds)})",
        Saving(0.0, most),
        tuple(Place(spot.file, spot.line, spot.function) for spot in ranked[:3]),
        f"{ranked[0].file}:{ranked[0].line}: `Categorical(logits=logits, validate_args=False)`, or for all of them, "
        "also those of libraries, `torch.distributions.Distribution.set_default_validate_args(False)` at the start. "
        "NaNs in the network's output are then no longer found there: keep the checks on while you debug",
        {
            "phases": ["policy.forward", "learn.loss"],
            "validation_seconds": seconds,
            "validation_high_seconds": most,
            "samples": samples,
            "share_of_training": seconds / running,
        },
        at_most="info",
    ).findings(report)


def _validating(account: Account, report: Report) -> tuple[float, dict[Spot, int], int]:
    """Seconds in checks, the user's lines they were made for, and the samples of the whole run after start-up."""
    seconds, total = 0.0, 0
    counts: dict[Spot, int] = {}
    for part in report.drilldown or ():
        if part.part == STARTUP or not part.samples:
            continue
        total += part.samples
        found = spots_with(account, part.part, _is_check)
        seconds += (part.seconds - part.unsampled_seconds) * sum(found.values()) / part.samples
        for spot, count in found.items():
            counts[spot] = counts.get(spot, 0) + count
    return seconds, counts, total


def _is_check(frame: Frame) -> bool:
    """A constraint's check, or what makes a distribution: beside these checks its base class does next to nothing."""
    file = frame.file.replace("\\", "/")
    if file.endswith(_CHECKS) or frame.function.endswith("._validate_sample"):
        return True
    return file.endswith(_BASE) and frame.function.endswith("__init__")
