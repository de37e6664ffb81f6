"""An investigation in words: the same on a terminal and in a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.model.investigation import ActionItem, Combination, Finding, Investigation, Measured, Tested, Work
from rlprof.model.units import format_count, format_duration, format_percent, format_rate, three_digits
from rlprof.render.comparison_words import interval, ratio, short_interval

VERDICTS: Final[dict[Finding, str]] = {
    "confirmed": "confirmed",
    "refuted": "refuted",
    "cannot-tell": "cannot tell",
    "less-work": "does less work",
    "failed": "failed",
    "untested": "not tested",
}
_BESIDE: Final = {"met": "", "exceeded": ", above expected", "short": ", below expected"}
#: The last ones go first where there is no room.
COLUMNS: Final = ("expected", "measured", "likely", "whole run", "pairs")


def verdict(one: Tested | Combination) -> str:
    return VERDICTS[one.verdict] + (_BESIDE[one.expectation] if one.expectation is not None else "")


def cells(one: Tested | Combination, short: bool = False) -> tuple[str, ...]:
    """The figures of a row, in the order of COLUMNS."""
    found = one.measured
    if found is None:
        return (ratio(one.expected), "", "", "", "")
    likely = (short_interval if short else interval)(found.low, found.high)
    return (ratio(one.expected), ratio(found.ratio), likely, ratio(found.end_to_end), str(found.pairs))


def headline(found: Investigation) -> str:
    """What came of it, in a sentence."""
    count = {kind: sum(one.verdict == kind for one in found.hypotheses) for kind in VERDICTS}
    said = [f"{count[kind]} {VERDICTS[kind]}" for kind in VERDICTS if count[kind]]
    kind = "hypothesis" if len(found.hypotheses) == 1 else "hypotheses"
    return f"{len(found.hypotheses)} {kind}: {', '.join(said)}"


def best(found: Investigation) -> str | None:
    """The combination that brings most, in a sentence; None where none is proven to help."""
    helps = [one for one in found.combinations if one.verdict == "confirmed" and one.measured and one.measured.ratio]
    if not helps:
        return None
    one = max(helps, key=lambda team: (team.measured.ratio or 0.0) if team.measured else 0.0)
    assert one.measured is not None
    whole = f"; a whole run {ratio(one.measured.end_to_end)}" if one.measured.end_to_end is not None else ""
    likely = interval(one.measured.low, one.measured.high)
    return f"{one.name[0].upper()}{one.name[1:]} together: {ratio(one.measured.ratio)} as fast ({likely}){whole}"


def baseline_line(found: Investigation) -> str | None:
    """A typical run of the program as it is."""
    measured = next((one.measured for one in found.hypotheses if one.measured is not None), None)
    if measured is None:
        return None
    speed = [format_rate(measured.baseline_sps)] if measured.baseline_sps is not None else []
    return ", ".join([*speed, f"{format_duration(measured.baseline_seconds)} a run", *_work(measured.baseline_work)])


def _work(work: Work) -> Iterator[str]:
    if work.env_steps is not None:
        yield f"{format_count(work.env_steps)} env steps"
    if work.episodes is not None:
        yield f"{format_count(work.episodes)} episodes"
    if work.steps_per_episode is not None:
        yield f"{three_digits(work.steps_per_episode)} steps per episode"
    if work.updates is not None:
        yield f"{format_count(work.updates)} updates"


def details(one: Tested | Combination) -> Iterator[str]:
    """What a reader should know about a row besides its figures."""
    if isinstance(one, Tested):
        kinds = [*(["for diagnosis"] if one.diagnosis else []), *(["changes learning"] if one.changes_learning else [])]
        if kinds:
            yield ", ".join(kinds)
    else:
        yield "together: " + ", ".join(one.members)
        for entry in one.left_out:
            yield f"without {entry.name}: {entry.why}"
    yield from one.notes
    if one.measured is not None and one.verdict in ("confirmed", "less-work", "cannot-tell"):
        yield from _speeds(one.measured)


def _speeds(found: Measured) -> Iterator[str]:
    work = ", ".join(_work(found.work))
    if found.sps is not None:
        yield f"{format_rate(found.sps)}, {format_duration(found.seconds)} a run" + (f": {work}" if work else "")


def action(item: ActionItem) -> str:
    gain = f" ({ratio(item.gain)})" if item.gain is not None else ""
    why = f" – {item.why}" if item.why else ""
    return f"{item.name}{gain}: {item.action}{why}"


def foot(found: Investigation) -> Iterator[str]:
    yield f"{found.runs} runs in {format_duration(found.seconds)}; trials and their recordings are in {found.directory}"
    if found.budget_spent:
        yield f"the budget was spent: rlprof investigate --resume {found.directory} goes on"
    if found.other_load is not None and found.other_load >= 0.05:
        yield f"others used {format_percent(found.other_load)} of the machine in a typical run"
