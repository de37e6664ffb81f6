"""`float64`: the networks are trained in double precision, which costs twice the memory and more of the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import own_lines, part_named, places, seconds_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_count, format_percent

RULE: Final = "float64"
DOUBLE: Final = "torch.float64"
NETWORK: Final = ("policy.forward", "learn.loss", "learn.backward", "learn.optimizer", "learn.other", "advantage")
#: Most of what is trained is double. A few values, a temperature say, may be for good reason.
SMALLEST_SHARE: Final = 0.5
#: On a CPU single precision has half the bytes and twice the numbers in a register, and more of it fits into caches:
#: networks of 512 units took less than half the time.
SAVED: Final = 0.75
#: On a device double precision may be many times as slow.
SAVED_ON_DEVICE: Final = 0.97


def float64(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where most parameters that an optimizer moves are of double precision."""
    counts = _counts(recording.main.facts.get("trained_parameters"))
    double, whole = counts.get(DOUBLE, 0), sum(counts.values())
    if not whole or double < SMALLEST_SHARE * whole:
        return
    seconds = seconds_of(report, *NETWORK)
    saved = SAVED if report.run.gpu is None else SAVED_ON_DEVICE
    asked = recording.main.facts.get("double_precision_asked")
    place = _place(asked)
    what = str(asked.get("what")) if isinstance(asked, Mapping) else None
    yield from Claim(
        RULE,
        f"{format_count(double)} trained parameters ({format_percent(double / whole)}) are of double precision",
        Saving(0.0, saved * seconds),
        (place,) if place is not None else _lines(report),
        _cure(what),
        {
            "phases": list(NETWORK),
            "parameters": counts,
            "network_seconds": seconds,
            "asked_for_by": what,
            "on_device": report.run.gpu is not None,
        },
        changes_learning=True,
        at_most="warning",
    ).findings(report)


def _counts(fact: Any) -> dict[str, int]:
    if not isinstance(fact, Mapping):
        return {}
    return {str(name): count for name, count in fact.items() if type(count) is int and count > 0}


def _place(fact: Any) -> Place | None:
    if not isinstance(fact, Mapping) or not isinstance(fact.get("file"), str) or type(fact.get("line")) is not int:
        return None
    return Place(fact["file"], fact["line"], str(fact.get("function", "")))


def _lines(report: Report) -> tuple[Place, ...]:
    """Where the networks are used, if no line was seen to ask for double precision."""
    lines = [line for phase in NETWORK for line in own_lines(part_named(report, phase))]
    return places(sorted(lines, key=lambda line: -line.seconds))


def _cure(what: str | None) -> str:
    asked = f"leave out `{what}`" if what else "make the networks in single precision (`network.float()`)"
    return (
        f"{asked}, and turn observations into float32 once, where they leave the environment "
        "(`np.asarray(obs, np.float32)`, an observation space of float32): a float64 array turns everything that it "
        "meets into float64. Sums over many steps may want double precision: keep those few, and round after them"
    )
