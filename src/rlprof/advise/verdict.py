"""What bounds the run, in the one or two sentences that a person would say first. Over the time after start-up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from rlprof.advise.bounds import LARGEST_RATIO, gain_if_free, training_seconds
from rlprof.advise.culprit import culprit_of
from rlprof.advise.trust import SHORTEST_SECONDS
from rlprof.model.clean import clean_text
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.report import Finding, LineEntry, Report, StepSplit
from rlprof.model.units import format_duration, format_ratio

#: The largest part bounds the run if it has half of the time, or this much and clearly more than the next.
LARGE: Final = 0.5
CLEAR: Final = 0.4
AHEAD: Final = 1.5
#: With so much of rlprof's own cost taken out, shares of what is left are not to be relied on.
MOST_OVERHEAD: Final = 0.25
#: A phase with less than this of its category is not worth a word.
NAMED_PHASE: Final = 0.15
MOST_NAMED: Final = 3
#: Where the phases that are named have less than this of their category, others are mentioned.
MOSTLY_NAMED: Final = 0.85
#: What one place must have of the run to be called what slows it down.
LARGE_PLACE: Final = 0.25

_BOUND: Final[Mapping[str, str]] = {
    "environment": "environment-bound",
    "communication": "communication-bound",
    "policy": "policy-bound",
    "buffer": "buffer-bound",
    "transfer": "transfer-bound",
    "advantage": "bound by the computation of advantages",
    "learning": "learning-bound",
    "side work": "bound by side work",
}
_IN: Final[Mapping[str, str]] = {
    "environment": "in the environment",
    "communication": "in talk with workers",
    "policy": "in the policy",
    "buffer": "in the buffer",
    "transfer": "in transfers",
    "advantage": "in advantages",
    "learning": "in learning",
    "side work": "in side work",
    UNATTRIBUTED: "in no span",
}
#: What programs say to workers of their own, or wait to hear from them, passes in whatever phase comes around it.
TALK: Final = "talk with other processes or threads"
_MAY_TALK: Final = frozenset({"other", "learning", UNATTRIBUTED})
_TALKS: Final = re.compile(
    r"[\\/]multiprocessing[\\/](?!popen|process)\w+\.py$|[\\/]concurrent[\\/]futures[\\/]|[\\/](threading|queue|selectors)\.py$"
)
#: Of a phase: less of it is beside the point.
MOST_TALK: Final = 0.5
FEWEST_SAMPLES: Final = 20
#: Categories of what a program does that has come to train, or to play at least.
_TRAINS: Final = frozenset(_BOUND) - {"side work"}
#: Rules that say where to look, not what it is.
_NO_CAUSES: Final = frozenset({"unattributed-high", "below-expectation"})
_OWN: Final = "in spans without a phase"


@dataclass(frozen=True, slots=True)
class _Part:
    """A category, or unattributed time. Its phases are what its time was booked under."""

    name: str
    seconds: float
    phases: Mapping[str, float]
    workers: int = 0  # in whose simulators the environment's time passed


def verdict_of(report: Report, findings: Sequence[Finding] = ()) -> str | None:
    """What bounds the run; None where nothing at all was recorded."""
    training = training_seconds(report)
    if not report.phases:
        return None
    if report.run.status == "failed" and not any(entry.category in _TRAINS for entry in report.phases):
        return "It failed before it was seen to train: nothing bounds it yet."
    when = " after start-up" if report.ledger.startup_seconds else ""
    if training < SHORTEST_SECONDS:
        return f"Too short to tell what bounds it: {format_duration(training)} of training{when}."
    if report.ledger.overhead_seconds > MOST_OVERHEAD * training:
        own = _percent(report.ledger.overhead_seconds, training)
        return f"Too disturbed to tell what bounds it: rlprof itself took {own} of the time{when}."
    parts = _parts(report)
    largest, following = parts[0], parts[1].seconds if len(parts) > 1 else 0.0
    if not _stands_out(largest.seconds / training, following / training):
        return _one_cause(findings) or _nothing(report, parts, training, when)
    if largest.name == UNATTRIBUTED:
        said = f"{_percent(largest.seconds, training)} of the time{when} is in no span"
        return f"What bounds it has no name yet: {said}{_culprit(report, largest)}."
    return f"{_bound(report, largest, training, when)} {_at_most(report, largest.seconds, 'that were free')}"


def _parts(report: Report) -> list[_Part]:
    """The categories and the unattributed time after start-up, the largest first."""
    phases: dict[str, dict[str, float]] = {}
    for entry in report.phases:
        phases.setdefault(entry.category, {})[entry.phase] = entry.seconds - (entry.setup_seconds or 0.0)
    free = max(report.ledger.unattributed_seconds - (report.ledger.startup_seconds or 0.0), 0.0)
    phases[UNATTRIBUTED] = {UNATTRIBUTED: free}
    _move_talk(report, phases)
    moved, workers = _simulated(report)
    moved = _move(phases, moved)
    parts = [
        _Part(name, sum(own.values()), own, workers if name == "environment" and moved >= sum(own.values()) / 2 else 0)
        for name, own in phases.items()
    ]
    return sorted(parts, key=lambda part: part.seconds, reverse=True)


def _move_talk(report: Report, phases: dict[str, dict[str, float]]) -> None:
    """What samples saw in talk with worker processes of the program's own is not what its phase says, but that talk.

    That of a library's vector environment has phases of its own.
    """
    if report.workers is not None and report.workers.vector_envs:
        return
    categories = {phase: name for name, own in phases.items() for phase in own}
    for part in report.drilldown or ():
        name = categories.get(part.part)
        if name in _MAY_TALK and part.samples >= FEWEST_SAMPLES:
            talk = min(sum(_talk_seconds(line) for line in part.lines if line.own), phases[name][part.part])
            if talk >= MOST_TALK * phases[name][part.part]:
                phases[name][part.part] -= talk
                talks = phases.setdefault("communication", {})
                talks[TALK] = talks.get(TALK, 0.0) + talk


def _talk_seconds(line: LineEntry) -> float:
    return sum(call.seconds for call in line.calling if _TALKS.search(call.file))


def _simulated(report: Report) -> tuple[float, int]:
    """The parent's time in steps that its slowest worker's simulator took, and how many workers those are."""
    main = report.run.processes[0].id
    known: list[tuple[StepSplit, int]] = [
        (entry.split, entry.workers)
        for entry in (report.workers.vector_envs if report.workers is not None else ())
        if entry.split is not None and entry.process == main
    ]
    ran = sum(split.simulator_seconds + split.straggler_seconds for split, _ in known)
    return ran, sum(workers for _, workers in known)


def _move(phases: dict[str, dict[str, float]], seconds: float) -> float:
    """Waiting for simulators is the environment's time, not that of pipes: book it there. Returns how much that was."""
    left = seconds
    waiting = phases.get("communication", {})
    for phase in ("env.wait", "env.ipc"):
        taken = min(waiting.get(phase, 0.0), left)
        if taken > 0:
            waiting[phase] -= taken
            environment = phases.setdefault("environment", {})
            environment[phase] = environment.get(phase, 0.0) + taken
            left -= taken
    return seconds - left


def _stands_out(largest: float, following: float) -> bool:
    return largest >= LARGE or (largest >= CLEAR and largest >= AHEAD * following)


def _bound(report: Report, part: _Part, training: float, when: str) -> str:
    share = f"{_percent(part.seconds, training)} of the time{when}"
    if part.workers:
        return f"You are environment-bound: {share} passes while the simulators of {part.workers} workers run."
    phases = sorted(part.phases, key=lambda phase: part.phases[phase], reverse=True)
    named = [phase for phase in phases if part.phases[phase] >= NAMED_PHASE * part.seconds][:MOST_NAMED]
    covered = sum(part.phases[phase] for phase in named)
    told = (
        f"{share} is in {_listed([clean_text(phase, 40) for phase in named] + _lesser(covered, part.seconds))}"
        f"{_culprit(report, part)}."
    )
    if part.name not in _BOUND:
        return f"What bounds it is work of your own that belongs to no phase: {told}"
    return f"You are {_BOUND[part.name]}: {told}"


def _lesser(covered: float, seconds: float) -> list[str]:
    """Phases too small to be named are said to be there where they are a part of the share that is given."""
    return ["smaller parts"] if covered < MOSTLY_NAMED * seconds else []


def _culprit(report: Report, part: _Part) -> str:
    """Where most of it is, in words that can follow a share."""
    if 2 * part.phases.get(TALK, 0.0) > part.seconds:
        lines = [line for drilled in report.drilldown or () for line in drilled.lines if line.own]
        line = max(lines, key=_talk_seconds)
        return f", {_much(_talk_seconds(line) / part.seconds)} at {_file(line.file)}:{line.line}"
    found = culprit_of(report, part.phases)
    if found is None:
        return ""
    place = f"{_file(found.file)}:{found.line}"
    if found.within is not None:
        return f", {_much(found.within_share)} in `{clean_text(found.within.function, 60)}`, called at {place}"
    return f", {_much(found.share)} in `{clean_text(found.function, 60)}` at {place}"


def _much(share: float) -> str:
    return "most of it" if share >= 0.5 else f"{share:.0%} of it"


def _one_cause(findings: Sequence[Finding]) -> str | None:
    """The first finding that is more than information: a cause may be spread over phases of which none stands out."""
    found = next((each for each in findings if each.severity != "info" and _says_what(each)), None)
    if found is None:
        return None
    place = f" ({_file(found.where[0].file)}:{found.where[0].line})" if found.where else ""
    gain = f" At most {format_ratio(found.gain.high)} without it." if found.gain.high > 1.0 else ""
    return f"No phase stands out, but one cause does: {clean_text(found.title, 200)}{place}.{gain}"


def _says_what(finding: Finding) -> bool:
    """Whether a finding is a cause. One place that takes a large part of the run is one, though nobody can name it."""
    return finding.rule not in _NO_CAUSES or finding.evidence.get("share_of_training", 0.0) >= LARGE_PLACE


def _nothing(report: Report, parts: list[_Part], training: float, when: str) -> str:
    named = [part for part in parts if part.seconds >= NAMED_PHASE * training][:MOST_NAMED] or parts[:1]
    share, *others = (_percent(part.seconds, training) for part in named)
    shares = [f"{share} of the time{when} is {_IN.get(named[0].name, _OWN)}"]
    shares += [f"{other} {_IN.get(part.name, _OWN)}" for other, part in zip(others, named[1:], strict=True)]
    return f"Nothing stands out: {_listed(shares)}. {_at_most(report, parts[0].seconds, 'the largest were free')}"


def _at_most(report: Report, seconds: float, condition: str) -> str:
    ratio = gain_if_free(report, seconds).high
    return (
        f"Many times as fast if {condition}."
        if ratio >= LARGEST_RATIO
        else f"At most {format_ratio(ratio)} if {condition}."
    )


def _listed(names: list[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _percent(part: float, whole: float) -> str:
    return f"{min(part / whole, 1.0):.0%}"


def _file(path: str) -> str:
    return clean_text(PurePath(path.replace("\\", "/")).name, 60)
